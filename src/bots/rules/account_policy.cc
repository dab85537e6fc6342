#include "bots/rules/account_policy.h"

#include <algorithm>

#include "host/wire/exchange_keys.h"

namespace interlock {
bool must_propose(const Principal& principal) {
    return principal.kind == PrincipalKind::agent || principal.kind == PrincipalKind::host_operator;
}

bool needs_grant(const Principal& principal, std::string_view exchange) {
    return must_propose(principal) && exchange != kPaperExchange;
}

bool covers(const KeyGrant& grant, std::string_view exchange, Timestamp now) {
    return now < grant.expires_at && (!grant.exchange || *grant.exchange == exchange);
}

std::vector<Symbol> refused_assets(
    const OnboardingRow& row, const Principal& principal, std::span<const Symbol> wanted) {
    std::vector<Symbol> refused;
    if (principal.kind != PrincipalKind::agent) {
        return refused;
    }
    const auto list = row.asset_lists.find(KeyId::trusted(principal.id));
    if (list == row.asset_lists.end()) {
        return refused;
    }
    for (const Symbol& symbol : wanted) {
        if (!std::binary_search(list->second.begin(), list->second.end(), symbol)) {
            refused.push_back(symbol);
        }
    }
    return refused;
}

}  // namespace interlock
