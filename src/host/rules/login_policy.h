// The rules of proving who a human is, as pure functions: lockout after failures, when a one-time
// code is good. What a password must be like is in host/rules/password_policy.h.
//
// A failed login never says what was wrong. The lockout counts per account and grows from one
// minute to fifteen; it bounds guessing to a hundred tries a day without letting a stranger shut an
// account for good.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "host/rules/password_policy.h"
#include "host/wire/human.h"

namespace interlock {

inline constexpr std::int64_t kFailuresBeforeLock = 5;
inline constexpr Duration kLockFirst = Duration::of_minutes(1);
inline constexpr Duration kLockLongest = Duration::of_minutes(15);
inline constexpr Duration kOneTimeCodeLife = Duration::of_hours(24);

// How long an account stays shut after so many failures in a row.
Duration lock_after(std::int64_t failures);

LoginCounter after_failure(LoginCounter counter, Timestamp at);

// `rate_limited` with the seconds to wait while the account is shut.
Result<void> check_not_locked(const LoginCounter& counter, Timestamp at);

// `unauthenticated` unless this is the human's open code, in time.
Result<void> check_one_time_code(const Human& human, std::string_view code_hash, Timestamp at);

// The step that `code` proves, when it is right for this key and later than every step used so far;
// nothing otherwise.
struct TotpQuestion {
    std::string_view key_text;  // Base32.
    std::string_view code;
    std::int64_t last_step = 0;
};
std::optional<std::int64_t> accepted_totp_step(const TotpQuestion& question, Timestamp at);

}  // namespace interlock
