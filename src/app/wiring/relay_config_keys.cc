// The keys of the configuration that bound what the relay keeps for agents, and say whom it may
// call; a bot's own keys are in relay_config.cc.
#include "app/wiring/config_keys.h"
#include "app/wiring/config_values.h"
#include "base/ip_address.h"

namespace interlock {
namespace {

// The bounds of what is kept for one instance.
std::vector<ConfigKey> relay_bound_keys() {
    constexpr std::size_t kEntriesMost = 1'000'000;
    constexpr std::int64_t kBytesLeast = 65'536;
    constexpr std::int64_t kBytesMost = std::int64_t{1} << 34U;
    const auto count = [](std::string name, std::string help, std::size_t DeliveryBounds::* bound) {
        return ConfigKey{
            std::move(name),
            std::move(help),
            [bound](const Config& c) { return std::to_string(c.relay.delivery.*bound); },
            [bound](Config& c, const std::string& text) {
                return set_integer<std::size_t>(c.relay.delivery.*bound, text, 1, kEntriesMost);
            }};
    };
    const auto bytes =
        [](std::string name, std::string help, std::int64_t DeliveryBounds::* bound) {
            return ConfigKey{
                std::move(name),
                std::move(help),
                [bound](const Config& c) { return std::to_string(c.relay.delivery.*bound); },
                [bound](Config& c, const std::string& text) {
                    return set_integer<std::int64_t>(
                        c.relay.delivery.*bound, text, kBytesLeast, kBytesMost);
                }};
        };
    return {
        count(
            "relay.buffer.entries_max",
            "Messages that wait for one agent; what comes then is laid aside as a dead letter.",
            &DeliveryBounds::entries_max),
        bytes("relay.buffer.bytes_max", "Their bytes, likewise.", &DeliveryBounds::bytes_max),
        count(
            "relay.dead_letters.entries_max",
            "Dead letters of one agent; beyond them the one that died first goes.",
            &DeliveryBounds::dead_entries_max),
        bytes(
            "relay.dead_letters.bytes_max",
            "Their bytes, likewise.",
            &DeliveryBounds::dead_bytes_max),
        {"relay.dead_letters.life_hours",
         "Hours that a dead letter is kept for somebody to look at.",
         [](const Config& c) {
             const Duration life = c.relay.delivery.dead_life;
             return std::to_string(life.microseconds / Duration::of_hours(1).microseconds);
         },
         [](Config& c, const std::string& text) {
             return set_duration(
                 c.relay.delivery.dead_life, text, Duration::of_hours(1), {1, 8784});
         }},
    };
}

}  // namespace

std::vector<ConfigKey> relay_config_keys() {
    std::vector<ConfigKey> keys{
        {"relay.require_address",
         "Platforms on which agents without a policy of their own hear only what speaks to the "
         "bot.",
         [](const Config& c) { return join_list(c.relay.require_address); },
         [](Config& c, const std::string& text) {
             c.relay.require_address = split_list(text);
             for (const std::string& platform : c.relay.require_address) {
                 if (relay_bot_keys(platform).empty()) {
                     return std::string(
                         "must name platforms: discord, telegram, sms, wecom, local");
                 }
             }
             return std::string();
         }},
        {"relay.wake.allow_cidrs",
         "Private ranges that a gateway's own wake URL may point into.",
         [](const Config& c) { return join_list(c.relay.wake_allow_cidrs); },
         [](Config& c, const std::string& text) {
             c.relay.wake_allow_cidrs = split_list(text);
             for (const std::string& range : c.relay.wake_allow_cidrs) {
                 if (!parse_cidr(range)) {
                     return std::string("must be ranges such as 10.0.0.0/8");
                 }
             }
             return std::string();
         }},
    };
    const std::vector<ConfigKey> bounds = relay_bound_keys();
    keys.insert(keys.end(), bounds.begin(), bounds.end());
    return keys;
}

}  // namespace interlock
