#include "app/wiring/config_values.h"

#include <charconv>

#include "base/ip_address.h"
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

std::string set_proxies(std::vector<std::string>& into, const std::string& text) {
    std::vector<std::string> ranges = split_list(text);
    for (const std::string& range : ranges) {
        const auto cidr = parse_cidr(range);
        if (!cidr) {
            return "must be addresses or ranges such as 127.0.0.1 or 10.0.0.0/8";
        }
        if (cidr->prefix == (cidr->address.is_v4() ? 96 : 0)) {
            return "must not trust everybody";
        }
    }
    if (ranges.size() > kTrustedProxiesMax) {
        return "must not be more than " + std::to_string(kTrustedProxiesMax);
    }
    into = std::move(ranges);
    return {};
}

std::optional<ListenAddress> parse_listen(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
    if (is_bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    ListenAddress address{.host = std::string(host == "localhost" ? "127.0.0.1" : host)};
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    const auto ip = parse_ip(address.host);
    if (!ip || is_bracketed != host.contains(':') || digits.empty() || problem != std::errc() ||
        end != digits.data() + digits.size() || address.port == 0) {
        return std::nullopt;
    }
    return address;
}

std::string set_listen(std::string& into, const std::string& text) {
    if (!text.empty() && !parse_listen(text)) {
        return "must be an address and a port such as 127.0.0.1:9420";
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

std::string set_duration(
    Duration& into, const std::string& text, Duration unit, std::pair<int, int> bounds) {
    std::int64_t count = 0;
    const std::string problem = set_integer<std::int64_t>(count, text, bounds.first, bounds.second);
    if (problem.empty()) {
        into = {count * unit.microseconds};
    }
    return problem;
}

}  // namespace interlock
