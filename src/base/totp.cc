// One-time codes (RFC 6238 over RFC 4226): the low 31 bits of an HMAC of the time step, six digits.
#include <array>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::int64_t kStepSeconds = 30;
constexpr std::size_t kDigits = 6;
constexpr std::uint32_t kModulus = 1'000'000;

std::string code_of_step(std::string_view key, std::int64_t step) {
    std::string counter(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) {
        counter[7 - i] = static_cast<char>(static_cast<std::uint64_t>(step) >> (8 * i));
    }
    const std::string mac = hmac_sha1(key, counter);
    const auto byte = [&](std::size_t at) {
        return std::uint32_t{static_cast<unsigned char>(mac[at])};
    };
    const std::size_t offset = byte(mac.size() - 1) & 15;
    const std::uint32_t number = (byte(offset) & 0x7F) << 24 | byte(offset + 1) << 16 |
                                 byte(offset + 2) << 8 | byte(offset + 3);
    const std::string digits = std::to_string(number % kModulus);
    return std::string(kDigits - digits.size(), '0') + digits;
}

std::int64_t step_of(std::int64_t unix_seconds) {
    return unix_seconds < 0 ? 0 : unix_seconds / kStepSeconds;
}

}  // namespace

std::string totp_code(std::string_view key, std::int64_t unix_seconds) {
    return code_of_step(key, step_of(unix_seconds));
}

Result<std::int64_t> totp_verify(
    std::string_view key, std::string_view code, std::int64_t unix_seconds) {
    const std::int64_t now = step_of(unix_seconds);
    std::int64_t matched = -1;
    // Every step is computed, so that the time taken does not tell which one matched.
    for (const std::int64_t step : {now - 1, now + 1, now}) {
        if (step >= 0 && equal_in_constant_time(code_of_step(key, step), code)) {
            matched = step;
        }
    }
    if (matched < 0) {
        return fail(errors::unauthenticated, "the one-time code does not match");
    }
    return matched;
}

}  // namespace interlock
