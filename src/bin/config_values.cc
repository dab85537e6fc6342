#include "bin/config_values.h"

#include <string_view>

#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kUrlLengthMax = 200;
// What needs no escape in JSON, Markdown or a shell.
constexpr std::string_view kUrlCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/.-_~[]";

}  // namespace

std::string set_tenants(std::set<TenantId>& into, const std::string& text) {
    std::set<TenantId> tenants;
    for (const std::string_view part : split(text, ',')) {
        const std::string_view name = trim(part);
        if (name.empty()) {
            continue;
        }
        if (!is_tenant_text(name)) {
            return "must be tenant ids separated by commas";
        }
        tenants.insert(TenantId::trusted(std::string(name)));
    }
    into = std::move(tenants);
    return {};
}

std::string set_confidence(Decimal& into, const std::string& text) {
    const auto value = Decimal::parse(text);
    if (!value || value->is_negative() || *value > Decimal(1)) {
        return "must be a number from 0 to 1";
    }
    into = *value;
    return {};
}

std::string set_url(std::string& into, const std::string& text) {
    std::string_view rest = text;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (rest.starts_with(scheme)) {
            rest.remove_prefix(scheme.size());
            break;
        }
    }
    const bool has_scheme = rest.size() < text.size();
    const bool has_host = !rest.empty() && !rest.starts_with('/') && !rest.ends_with('/');
    const bool is_plain = text.find_first_not_of(kUrlCharacters) == std::string::npos;
    if (!text.empty() && !(has_scheme && has_host && is_plain && text.size() <= kUrlLengthMax)) {
        return "must begin with http:// or https:// and not end with a slash";
    }
    into = text;
    return {};
}

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts;
    for (const std::string_view part : split(text, ',')) {
        if (!trim(part).empty()) {
            parts.emplace_back(trim(part));
        }
    }
    return parts;
}

std::string join_list(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) {
        text += (text.empty() ? "" : ",") + part;
    }
    return text;
}

}  // namespace interlock
