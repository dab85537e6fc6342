// What an exchange key may do and whether we take it, as pure functions
// (docs/contracts/vault.md#2-what-a-key-may-do).
//
// A key must read and trade spot. One that can move money away or borrow is refused however it came
// to us: what an agent cannot be trusted with must not be possible at the venue either.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "host/wire/exchange_keys.h"

namespace interlock {

enum class KeyFault {
    cannot_read,
    cannot_trade_spot,
    can_withdraw,
    can_transfer_internal,
    can_transfer_universal,
    can_margin,
    can_futures,
    can_options,
    can_portfolio_margin,
    expired,
};
std::string_view to_word(KeyFault fault);
std::string_view sentence_of(KeyFault fault);
std::span<const KeyFault> all_key_faults();

enum class KeyWarning { no_ip_restriction, expires_soon };
std::string_view to_word(KeyWarning warning);

// An expiry nearer than this is a warning.
inline constexpr Duration kExpiryWarning = Duration::of_days(7);

enum class KeyStanding {
    good,
    refused,     // A hard reject: the secrets are wiped.
    unverified,  // The venue did not say; nothing is known against the key.
};
std::string_view to_word(KeyStanding standing);

struct KeyVerdict {
    KeyStanding standing = KeyStanding::unverified;
    std::vector<KeyFault> faults;  // Of a refused key: all of them, in declaration order.
    std::vector<KeyWarning> warnings;
    friend bool operator==(const KeyVerdict&, const KeyVerdict&) = default;
};

// `permissions`: nothing when the venue could not be asked.
KeyVerdict judge_key(const std::optional<KeyPermissions>& permissions, Timestamp now);

// What cannot be verified trades on paper and nowhere else.
bool may_use_key(const KeyVerdict& verdict, std::string_view exchange);

// {"standing", "faults", "warnings"}, by their words.
Json encode(const KeyVerdict& verdict);

}  // namespace interlock
