#include "venues/paper/paper_keys.h"

#include "base/crypto.h"
#include "base/errors.h"
#include "host/rules/exchange_key_policy.h"

namespace interlock {
namespace {

constexpr Duration kSoon = Duration::of_hours(1);

KeyPermissions with_fault(KeyFault fault) {
    KeyPermissions permissions = good_spot_permissions();
    switch (fault) {
        case KeyFault::cannot_read:
            permissions.can_read = false;
            break;
        case KeyFault::cannot_trade_spot:
            permissions.can_trade_spot = false;
            break;
        case KeyFault::can_withdraw:
            permissions.can_withdraw = true;
            break;
        case KeyFault::can_transfer_internal:
            permissions.can_transfer_internal = true;
            break;
        case KeyFault::can_transfer_universal:
            permissions.can_transfer_universal = true;
            break;
        case KeyFault::can_margin:
            permissions.can_margin = true;
            break;
        case KeyFault::can_futures:
            permissions.can_futures = true;
            break;
        case KeyFault::can_options:
            permissions.can_options = true;
            break;
        case KeyFault::can_portfolio_margin:
            permissions.can_portfolio_margin = true;
            break;
        case KeyFault::expired:
            permissions.expires_at = Timestamp{0};
            break;
    }
    return permissions;
}

}  // namespace

PaperKeys::PaperKeys(Clock& clock) : clock_(clock) {
    for (const KeyFault fault : all_key_faults()) {
        add_example(std::string(to_word(fault)), {.permissions = with_fault(fault)});
    }
    KeyPermissions anywhere = good_spot_permissions();
    anywhere.is_ip_restricted = false;
    add_example(std::string(to_word(KeyWarning::no_ip_restriction)), {.permissions = anywhere});
    add_example(
        std::string(to_word(KeyWarning::expires_soon)),
        {.permissions = good_spot_permissions(), .expires_soon = true});
    add_example("unreachable", {.answers = false});
}

void PaperKeys::add_example(const std::string& word, Registered registered) {
    keys_.insert_or_assign(sha256_hex("paper_key_" + word), std::move(registered));
}

Result<KeyPermissions> PaperKeys::permissions(const ExchangeKeys& keys) {
    if (keys.exchange != kPaperExchange) {
        return fail(errors::unknown_exchange, "The paper venue knows no keys of other exchanges.");
    }
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(sha256_hex(keys.api_key.reveal()));
    if (!reachable_ || (found != keys_.end() && !found->second.answers)) {
        return fail(errors::unavailable, "The paper venue does not answer.");
    }
    if (found == keys_.end()) {
        return good_spot_permissions();
    }
    KeyPermissions permissions = found->second.permissions;
    if (found->second.expires_soon) {
        permissions.expires_at = clock_.now() + kSoon;
    }
    return permissions;
}

Result<void> PaperKeys::set(const SecretString& api_key, const KeyPermissions& permissions) {
    const std::lock_guard lock(mutex_);
    std::string hash = sha256_hex(api_key.reveal());
    if (keys_.size() >= kKeysMax && !keys_.contains(hash)) {
        return fail(errors::out_of_range, "The paper venue holds as many keys as it can.");
    }
    keys_.insert_or_assign(std::move(hash), Registered{.permissions = permissions});
    return {};
}

void PaperKeys::set_reachable(bool reachable) {
    const std::lock_guard lock(mutex_);
    reachable_ = reachable;
}

}  // namespace interlock
