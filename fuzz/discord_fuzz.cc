// Fuzzes what Discord's gateway and webhook send: lines of payloads for a shard's machine, its
// guild cache and the reading of interactions. A line of digits settles the event of that number.
// Discord is never told a sequence that was not settled, and no token is in what gateways get.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "relay/platforms/discord/discord_calls.h"
#include "relay/platforms/discord/discord_gateway.h"
#include "relay/platforms/discord/discord_guilds.h"
#include "relay/platforms/discord/discord_inbound.h"
#include "relay/platforms/discord/discord_limits.h"

namespace interlock {

constexpr std::size_t kLinesMax = 200;

void try_interaction(const Json& json) {
    const auto read = read_interaction(
        json, {.platform = "discord", .bot_id = "900"}, {.bot_id = "900", .username = "helper"});
    if (!read) {
        CHECK(!read.error().message.empty());
        return;
    }
    CHECK(read->answer.is_object());
    if (read->arrival && read->arrival->forward) {
        const auto forwarded = parse_json(read->arrival->forward->body);
        CHECK(forwarded && forwarded->is_object() && forwarded->find("token") == nullptr);
    }
}

void try_guilds(DiscordGuilds& guilds, const Dispatched& event, Duration now) {
    guilds.on_event(event.type, event.data, now);
    guilds.put_guild(event.data, now);
    guilds.put_channel(event.data, now);
    for (const std::string channel : {"10", "30"}) {
        const ViewState state = guilds.view({"1", channel, "", "7"}, now);
        CHECK(state.can_view.has_value() == (state.missing == MissingFact::none));
        (void)guilds.channel("1", channel);
    }
}

// The machine, and what was settled of what it gave out.
class Session {
public:
    void feed(std::string_view line) {
        now_.microseconds += 1'000'000;
        std::int64_t number = 0;
        for (const char c : line.substr(0, 9)) {
            number = c >= '0' && c <= '9' ? number * 10 + (c - '0') : -1;
            if (number < 0) {
                break;
            }
        }
        if (line.empty()) {
            now_.microseconds += 30'000'000;
        } else if (number >= 0) {
            settled_.insert(number);
            machine_.settle(machine_.epoch(), number);
        } else {
            machine_.on_text(line, now_);
        }
        machine_.on_tick(now_);
        take();
    }

private:
    void take() {
        for (const GatewayStep& step : machine_.take_steps()) {
            if (std::holds_alternative<OpenSocket>(step)) {
                machine_.on_opened(now_);
            } else if (const auto* const event = std::get_if<Dispatched>(&step)) {
                try_guilds(guilds_, *event, now_);
                try_interaction(event->data);
            } else if (const auto* const sent = std::get_if<SendText>(&step)) {
                check_sent(sent->text);
            }
        }
    }
    void check_sent(const std::string& text) {
        CHECK(text.size() <= 4096);
        const auto json = parse_json(text);
        CHECK(json.has_value());
        const Json* const data = json->find("d");
        if (json->find("op")->as_int64() == 1 && data->is_number()) {
            CHECK(settled_.contains(*data->as_int64()));
        }
    }

    Duration now_ = Duration::of_seconds(100);
    IdentifyGate gate_;
    DiscordGuilds guilds_;
    std::set<std::int64_t> settled_;
    DiscordGateway machine_{
        {.token = SecretString("t"),
         .intents = 1,
         .shard = 0,
         .shard_count = 1,
         .url = "wss://gateway.test",
         .random = [] { return 500'000U; }},
        gate_,
        std::nullopt};
};

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    interlock::Session session;
    std::size_t count = 0;
    for (const std::string_view line : interlock::split(text, '\n')) {
        if (++count > interlock::kLinesMax) {
            break;
        }
        session.feed(line);
    }
    if (const auto json = interlock::parse_json(text)) {
        interlock::try_interaction(*json);
        (void)interlock::chat_info_of(*json);
        (void)interlock::read_limit_signal({429, {}, {}}, *json);
    }
    (void)interlock::read_discord_cursor(text);
    (void)interlock::read_seconds(text);
    return 0;
}
