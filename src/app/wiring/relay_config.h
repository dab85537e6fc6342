// The relay's part of the configuration: the bots that the connector owns and the issuers whose
// tokens it takes. Both are lists of tables in the file:
//
//     [[relay.bot]]
//     platform = "telegram"
//     bot_id = "123"
//     public_url = "https://chat.example"
//     token_file = "/etc/interlock/telegram.token"
//
// Every secret can be written in place or, better, as the path of a file under `<key>_file`. None
// is ever shown.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_string.h"
#include "relay/rules/delivery_queue.h"
#include "relay/service/relay_issuers.h"

namespace toml {
inline namespace v3 {
class table;
}
}  // namespace toml

namespace interlock {

inline constexpr std::size_t kRelayBotsMax = 64;

// One [[relay.bot]], its secrets read.
struct RelayBotConfig {
    std::string platform;  // "discord", "telegram", "sms", "wecom", "local"
    std::string bot_id;
    std::string public_url;  // Where webhooks reach us; without a slash at the end.
    // Tells strangers how to get in. Unless it is said: where a message costs nothing.
    bool answers_strangers = true;
    std::map<std::string, std::string> values;  // The platform's own keys.

    std::string value(std::string_view key) const;
    SecretString secret(std::string_view key) const { return SecretString(value(key)); }
};

struct RelayConfig {
    std::vector<RelayBotConfig> bots;
    std::vector<RelayIssuer> issuers;
    std::vector<std::string> wake_allow_cidrs;
    std::vector<std::string> require_address;  // Platforms.
    DeliveryBounds delivery;
};

// The keys that a bot of a platform may have besides platform, bot_id, public_url and
// answer_strangers.
struct RelayBotKey {
    std::string_view name;
    bool is_required = false;
    bool is_secret = false;
    std::string_view help;
};
const std::vector<RelayBotKey>& relay_bot_keys(std::string_view platform);

// Takes relay.bot and relay.issuer out of the document; `invalid_config` with the key that is
// wrong. Relative paths of secrets are taken from the folder of the file.
Result<void> take_relay_config(toml::table& document, const std::string& path, RelayConfig& into);

// What is left of a bot when it is shown to people.
std::string shown(const RelayBotConfig& bot);

}  // namespace interlock
