#include "host/rules/login_policy.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;

}  // namespace

Duration lock_after(std::int64_t failures) {
    if (failures < kFailuresBeforeLock) {
        return {};
    }
    Duration lock = kLockFirst;
    for (std::int64_t i = kFailuresBeforeLock; i < failures && lock < kLockLongest; ++i) {
        lock.microseconds *= 2;
    }
    return std::min(lock, kLockLongest);
}

LoginCounter after_failure(LoginCounter counter, Timestamp at) {
    ++counter.failed;
    if (const Duration lock = lock_after(counter.failed); lock > Duration{}) {
        counter.locked_until = at + lock;
    }
    return counter;
}

Result<void> check_not_locked(const LoginCounter& counter, Timestamp at) {
    if (at >= counter.locked_until) {
        return {};
    }
    const std::int64_t wait =
        ((counter.locked_until - at).microseconds + kMicrosecondsPerSecond - 1) /
        kMicrosecondsPerSecond;
    auto refusal = fail(
        errors::rate_limited,
        "Too many failed logins for this account; it takes new ones in " + std::to_string(wait) +
            " seconds.");
    refusal.error().retry_after_seconds = static_cast<int>(wait);
    return refusal;
}

Result<void> check_one_time_code(const Human& human, std::string_view code_hash, Timestamp at) {
    const auto& code = human.one_time_code;
    if (!code || human.is_activated() || !equal_in_constant_time(code->code_hash, code_hash) ||
        at >= code->expires_at) {
        return fail(errors::unauthenticated, "The one-time code is not valid.");
    }
    return {};
}

std::optional<std::int64_t> accepted_totp_step(const TotpQuestion& question, Timestamp at) {
    const auto key = from_base32(question.key_text);
    if (!key) {
        return std::nullopt;
    }
    const auto step = totp_verify(*key, question.code, at.microseconds / kMicrosecondsPerSecond);
    if (!step || *step <= question.last_step) {
        return std::nullopt;
    }
    return *step;
}

}  // namespace interlock
