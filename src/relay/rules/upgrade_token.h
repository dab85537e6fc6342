// The bearer of a gateway's dial and of its calls
// (docs/contracts/relay-connector.md#upgrade-token): base64url(gatewayId ":" expiry ":" hex
// HMAC-SHA256(secret, gatewayId ":" expiry)).
//
// A secret is known by the gateway it was given to, so a token is first read for its gateway, whose
// secrets (the current one and those being rotated out) then verify it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

inline constexpr std::size_t kUpgradeTokenBytesMax = 4096;
inline constexpr std::int64_t kUpgradeTokenSeconds = 300;

struct UpgradeToken {
    std::string gateway_id;       // May hold colons.
    std::int64_t expires_at = 0;  // Unix seconds; 0: never.
    std::string signature;        // 32 raw bytes.
};
// Nothing when it is no token at all. Padding, upper-case digits and a plus before the expiry are
// taken, as the client's own check does.
std::optional<UpgradeToken> read_upgrade_token(std::string_view text);

enum class TokenVerdict {
    accepted,
    expired,   // The signature is good: the gateway is known and only has to dial again.
    rejected,  // Wrong, or signed by no secret of the list.
};
struct TokenCheck {
    std::int64_t now_seconds = 0;
    std::int64_t skew_seconds = 0;  // So much past its expiry it still counts.
};
// Looks at every secret whatever the earlier ones say, each in constant time.
TokenVerdict verify_upgrade_token(
    const UpgradeToken& token, const std::vector<std::string>& secrets, const TokenCheck& check);

std::string mint_upgrade_token(
    std::string_view gateway_id, std::string_view secret, std::int64_t expires_at);

}  // namespace interlock
