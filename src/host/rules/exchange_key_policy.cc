#include "host/rules/exchange_key_policy.h"

#include <array>

#include "base/check.h"

namespace interlock {
namespace {

struct FaultRule {
    KeyFault fault;
    std::string_view word;
    std::string_view sentence;
    // The permission it looks at, and the value that is at fault; null for the expiry.
    bool KeyPermissions::* member;
    bool at_fault;
};

constexpr std::array<FaultRule, 10> kRules = {{
    {KeyFault::cannot_read, "cannot_read", "may not read", &KeyPermissions::can_read, false},
    {KeyFault::cannot_trade_spot,
     "cannot_trade_spot",
     "may not trade spot",
     &KeyPermissions::can_trade_spot,
     false},
    {KeyFault::can_withdraw, "can_withdraw", "may withdraw", &KeyPermissions::can_withdraw, true},
    {KeyFault::can_transfer_internal,
     "can_transfer_internal",
     "may transfer internally",
     &KeyPermissions::can_transfer_internal,
     true},
    {KeyFault::can_transfer_universal,
     "can_transfer_universal",
     "may transfer between accounts",
     &KeyPermissions::can_transfer_universal,
     true},
    {KeyFault::can_margin, "can_margin", "may trade on margin", &KeyPermissions::can_margin, true},
    {KeyFault::can_futures, "can_futures", "may trade futures", &KeyPermissions::can_futures, true},
    {KeyFault::can_options, "can_options", "may trade options", &KeyPermissions::can_options, true},
    {KeyFault::can_portfolio_margin,
     "can_portfolio_margin",
     "may use portfolio margin",
     &KeyPermissions::can_portfolio_margin,
     true},
    {KeyFault::expired, "expired", "has expired", nullptr, true},
}};

constexpr auto kFaults = [] {
    std::array<KeyFault, kRules.size()> faults{};
    for (std::size_t i = 0; i < kRules.size(); ++i) {
        faults[i] = kRules[i].fault;
    }
    return faults;
}();

const FaultRule& rule_of(KeyFault fault) {
    const auto& rule = kRules[static_cast<std::size_t>(fault)];
    CHECK(rule.fault == fault);
    return rule;
}

bool is_at_fault(const FaultRule& rule, const KeyPermissions& permissions, Timestamp now) {
    if (rule.member == nullptr) {
        return permissions.expires_at && *permissions.expires_at <= now;
    }
    return permissions.*rule.member == rule.at_fault;
}

}  // namespace

std::string_view to_word(KeyFault fault) {
    return rule_of(fault).word;
}

std::string_view sentence_of(KeyFault fault) {
    return rule_of(fault).sentence;
}

std::span<const KeyFault> all_key_faults() {
    return kFaults;
}

std::string_view to_word(KeyWarning warning) {
    return warning == KeyWarning::no_ip_restriction ? "no_ip_restriction" : "expires_soon";
}

std::string_view to_word(KeyStanding standing) {
    switch (standing) {
        case KeyStanding::good:
            return "good";
        case KeyStanding::refused:
            return "refused";
        case KeyStanding::unverified:
            break;
    }
    return "unverified";
}

KeyVerdict judge_key(const std::optional<KeyPermissions>& permissions, Timestamp now) {
    KeyVerdict verdict;
    if (!permissions) {
        return verdict;
    }
    for (const FaultRule& rule : kRules) {
        if (is_at_fault(rule, *permissions, now)) {
            verdict.faults.push_back(rule.fault);
        }
    }
    verdict.standing = verdict.faults.empty() ? KeyStanding::good : KeyStanding::refused;
    if (!permissions->is_ip_restricted) {
        verdict.warnings.push_back(KeyWarning::no_ip_restriction);
    }
    const auto& expiry = permissions->expires_at;
    if (expiry && *expiry > now && *expiry - now < kExpiryWarning) {
        verdict.warnings.push_back(KeyWarning::expires_soon);
    }
    return verdict;
}

bool may_use_key(const KeyVerdict& verdict, std::string_view exchange) {
    switch (verdict.standing) {
        case KeyStanding::good:
            return true;
        case KeyStanding::refused:
            return false;
        case KeyStanding::unverified:
            break;
    }
    return exchange == kPaperExchange;
}

Json encode(const KeyVerdict& verdict) {
    Json faults = Json::array();
    for (const KeyFault fault : verdict.faults) {
        faults.push(to_word(fault));
    }
    Json warnings = Json::array();
    for (const KeyWarning warning : verdict.warnings) {
        warnings.push(to_word(warning));
    }
    return Json::object(
        {{"standing", to_word(verdict.standing)},
         {"faults", std::move(faults)},
         {"warnings", std::move(warnings)}});
}

}  // namespace interlock
