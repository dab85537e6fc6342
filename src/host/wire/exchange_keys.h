// Exchange credentials as they come in (`update_exchange_keys`), and the venue's word on what a key
// may do. docs/contracts/vault.md is the table of these fields.
//
// There is no encode() of ExchangeKeys, on purpose: a secret that can be written as JSON will one
// day stand in an answer or a log line. Only the vault turns one into bytes, to seal them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/secret_string.h"
#include "base/time.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind key_rejected{
    "key_rejected",
    422,
    false,
    "Make a key at the exchange that may read and trade spot, and nothing else, and send that."};
inline constexpr ErrorKind permissions_unverified{
    "permissions_unverified",
    503,
    true,
    "The exchange did not say what the key may do; try again when it can be reached."};
inline constexpr ErrorKind unknown_exchange{
    "unknown_exchange", 422, false, "Name an exchange that this server can reach, such as paper."};
inline constexpr ErrorKind keys_not_loaded{
    "keys_not_loaded", 409, false, "Provision keys with update_exchange_keys first."};
}  // namespace errors

inline constexpr std::size_t kExchangeLengthMax = 32;
inline constexpr std::size_t kApiKeyLengthMax = 512;
inline constexpr std::size_t kApiSecretLengthMax = 4096;  // Room for a private key in PEM.
inline constexpr std::size_t kApiPasswordLengthMax = 512;

// The venue that is part of this program: no real money behind it.
inline constexpr std::string_view kPaperExchange = "paper";

// 1 to 32 of a–z, 0–9, '-' and '_'.
bool is_exchange_text(std::string_view text);

struct ExchangeKeys {
    std::string exchange;
    SecretString api_key;
    SecretString api_secret;
    std::optional<SecretString> api_password;  // For venues that ask for a passphrase.

    ExchangeKeys clone() const;
};

// Strict: unknown fields are refused. No problem text ever holds a value.
Result<ExchangeKeys> decode_exchange_keys(const Json& json);
Json exchange_keys_schema();

struct KeyPermissions {
    bool can_read = false;
    bool can_trade_spot = false;
    bool can_withdraw = false;
    bool can_transfer_internal = false;
    bool can_transfer_universal = false;
    bool can_margin = false;
    bool can_futures = false;
    bool can_options = false;
    bool can_portfolio_margin = false;
    bool is_ip_restricted = false;
    std::optional<Timestamp> expires_at;  // Nothing: it does not expire.

    friend bool operator==(const KeyPermissions&, const KeyPermissions&) = default;
};

Json encode(const KeyPermissions& permissions);
Result<KeyPermissions> decode_key_permissions(const Json& json);
Json key_permissions_schema();

// May read and trade spot from fixed addresses, for ever; nothing else.
KeyPermissions good_spot_permissions();

}  // namespace interlock
