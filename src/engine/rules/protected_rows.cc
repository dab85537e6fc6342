#include "engine/rules/protected_rows.h"

#include <algorithm>

namespace interlock {
namespace {

constexpr std::string_view kAccountPrefix = "account/";
constexpr std::string_view kKillPrefix = "kill/";
constexpr std::string_view kReferenceMember = ",\"audit_ref\":\"";
constexpr std::string_view kTradingMember = "\"trading_enabled\":";
constexpr std::string_view kLimitsMember = "\"limits\":";

bool tells_who_exists(std::string_view machine_key) {
    return machine_key.starts_with("tenant") || machine_key.starts_with("human/") ||
           machine_key.starts_with("email/");
}

// Between the first slash and the next.
std::string_view second_part(std::string_view machine_key) {
    const std::size_t begin = machine_key.find('/');
    if (begin == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = machine_key.substr(begin + 1);
    return rest.substr(0, rest.find('/'));
}

// The members `trading_enabled` and `limits` of an account's text. They come before every other
// member that is an object, so nothing in front of them can pretend to be them. Without them
// nothing is protected, which a verifier that expects the old bytes notices.
std::string_view rights_of_account(std::string_view json) {
    const std::size_t begin = json.find(kTradingMember);
    const std::size_t brace = json.find('{', 1);
    if (begin == std::string_view::npos || brace == std::string_view::npos || brace < begin ||
        !json.substr(0, brace).ends_with(kLimitsMember)) {
        return {};
    }
    const std::size_t end = json.find('}', brace);  // Limits are texts only.
    return end == std::string_view::npos ? std::string_view() : json.substr(begin, end + 1 - begin);
}

// All of a stop's text but its last member, the reference to the record of it: no record can name a
// row that holds the record's own hash.
std::string_view without_reference(std::string_view json) {
    const std::size_t begin = json.rfind(kReferenceMember);
    if (begin == std::string_view::npos) {
        return json;
    }
    const std::string_view value = json.substr(begin + kReferenceMember.size());
    const bool is_last = value.size() >= 2 && value.find('"') == value.size() - 2;
    return is_last ? json.substr(0, begin) : json;
}

}  // namespace

std::optional<ProtectedRow> protected_row(std::string_view machine_key, std::string_view json) {
    const bool is_protected = std::ranges::any_of(kProtectedPrefixes, [&](std::string_view prefix) {
        return machine_key.starts_with(prefix);
    });
    if (!is_protected) {
        return std::nullopt;
    }
    if (tells_who_exists(machine_key)) {
        return ProtectedRow{system_tenant(), json};
    }
    const std::string_view text = machine_key.starts_with(kAccountPrefix) ? rights_of_account(json)
                                  : machine_key.starts_with(kKillPrefix)  ? without_reference(json)
                                                                          : json;
    return ProtectedRow{TenantId::trusted(std::string(second_part(machine_key))), text};
}

TenantId tenant_of_row(std::string_view machine_key) {
    if (machine_key.starts_with("human/") || machine_key.starts_with("email/") ||
        machine_key == "tenant_count") {
        return system_tenant();
    }
    return TenantId::trusted(std::string(second_part(machine_key)));
}

}  // namespace interlock
