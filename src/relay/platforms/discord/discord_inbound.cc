#include "relay/platforms/discord/discord_inbound.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/errors.h"
#include "base/log.h"
#include "relay/platforms/discord/discord_requests.h"
#include "relay/rules/message_split.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

// Kinds of interactions.
constexpr std::int64_t kPing = 1;
constexpr std::int64_t kCommand = 2;
constexpr std::int64_t kComponent = 3;
constexpr std::int64_t kAutocomplete = 4;
// Kinds of answers.
constexpr std::int64_t kPong = 1;
constexpr std::int64_t kMessage = 4;
constexpr std::int64_t kThinking = 5;
constexpr std::int64_t kSeen = 6;
constexpr std::int64_t kChoices = 8;

constexpr std::int64_t kDiscordEpochMilliseconds = 1'420'070'400'000;
constexpr int kSnowflakeTimeShift = 22;
// A token shorter than this may stand in any text by chance.
constexpr std::size_t kTokenBytesMin = 8;
constexpr std::string_view kNobody = "Nobody is there to answer that at the moment.";

constexpr std::array<std::string_view, 16> kForwardedKeys{
    "id",
    "application_id",
    "type",
    "data",
    "guild_id",
    "guild",
    "channel_id",
    "channel",
    "member",
    "user",
    "version",
    "message",
    "app_permissions",
    "locale",
    "guild_locale",
    "context"};

Json without_secret_names(const Json& json) {
    if (json.is_array()) {
        Json copy = Json::array();
        for (const Json& item : json.items()) {
            copy.push(without_secret_names(item));
        }
        return copy;
    }
    if (!json.is_object()) {
        return json;
    }
    Json copy = Json::object();
    for (const auto& [key, value] : json.members()) {
        if (!is_secret_name(key)) {
            copy.members().emplace_back(key, without_secret_names(value));
        }
    }
    return copy;
}

Json private_message(std::string_view text) {
    const std::string_view shown = prefix_in(text, kDiscordTextMax, kDiscordTextUnit);
    return Json::object(
        {{"type", kMessage},
         {"data",
          Json::object(
              {{"content", shown},
               {"flags", kDiscordPrivateMessage},
               {"allowed_mentions", Json::object({{"parse", Json::array()}})}})}});
}

Json answer_of(std::int64_t type) {
    switch (type) {
        case kPing:
            return Json::object({{"type", kPong}});
        case kCommand:
            return Json::object({{"type", kThinking}});
        case kComponent:
            return Json::object({{"type", kSeen}});
        case kAutocomplete:
            return Json::object(
                {{"type", kChoices}, {"data", Json::object({{"choices", Json::array()}})}});
        default:
            return private_message(kNobody);
    }
}

std::optional<PassthroughForward> forward_of(
    const Json& json, const BotKey& bot, const SecretString& token) {
    PassthroughForward forward{
        .platform = bot.platform,
        .bot_id = bot.bot_id,
        .method = "POST",
        .path = "/webhooks/discord/" + bot.bot_id,
        .headers = {{"content-type", "application/json"}},
        .body = to_text(sanitised_interaction(json)),
        .profile = {}};
    // A request that names it elsewhere too stays here; gateways then get the plain event, which is
    // made of the command's words alone.
    if (token.reveal().size() >= kTokenBytesMin &&
        forward.body.find(token.reveal()) != std::string::npos) {
        return std::nullopt;
    }
    return forward;
}

WebhookAnswer refuse(int status, std::string_view code) {
    WebhookAnswer answer;
    answer.status = status;
    answer.content_type = "application/json";
    answer.body = to_text(Json::object({{"error", code}}));
    answer.refusal = code;
    return answer;
}

}  // namespace

Json sanitised_interaction(const Json& json) {
    Json kept = Json::object();
    for (const std::string_view key : kForwardedKeys) {
        if (const Json* const value = json.find(key)) {
            kept.members().emplace_back(std::string(key), without_secret_names(*value));
        }
    }
    return kept;
}

Json undelivered_interaction(const InboxAnswer& answer) {
    return private_message(answer.notice.empty() ? kNobody : std::string_view(answer.notice));
}

Result<ReadInteraction> read_interaction(
    const Json& json, const BotKey& bot, const BotIdentity& identity) {
    auto normalised = normalise_discord_interaction(json, identity);
    if (!normalised) {
        return std::unexpected(std::move(normalised).error());
    }
    WireReader in(json);
    const std::int64_t type = in.integer("type").value_or(0);
    ReadInteraction read{
        .id = in.text("id"),
        .token = SecretString(in.text("token", kRelayUrlBytesMax)),
        .arrival = std::nullopt,
        .answer = answer_of(type)};
    if (type != kPing && (!is_snowflake(read.id) || !is_interaction_token(read.token.reveal()))) {
        return fail(errors::invalid_request, "An interaction needs its id and its token.");
    }
    if (!normalised->event) {
        return read;
    }
    PlatformArrival arrival;
    arrival.bot = bot;
    arrival.event = *std::move(normalised->event);
    if (type == kCommand) {
        arrival.forward = forward_of(json, bot, read.token);
    }
    read.arrival = std::move(arrival);
    return read;
}

WebhookAnswer receive_interaction(const WebhookRequest& request, const DiscordFace& face) {
    const WebhookVerdict verdict = verify_discord(request, face.config.public_key);
    if (!verdict.accepted) {
        return refuse(401, verdict.code);
    }
    const auto json = parse_json(request.body);
    if (!json) {
        return refuse(400, "bad_body");
    }
    auto read = read_interaction(*json, face.bot, face.identity);
    if (!read) {
        return refuse(400, "bad_body");
    }
    WebhookAnswer answer;
    answer.content_type = "application/json";
    answer.body = to_text(read->answer);
    if (read->arrival) {
        answer.arrivals.push_back(*std::move(read->arrival));
        answer.undelivered_body = [](const InboxAnswer& stored) {
            return to_text(undelivered_interaction(stored));
        };
    }
    return answer;
}

Timestamp snowflake_time(std::string_view id) {
    std::uint64_t number = 0;
    std::from_chars(id.data(), id.data() + id.size(), number);
    const auto milliseconds = static_cast<std::int64_t>(number >> kSnowflakeTimeShift);
    return {(milliseconds + kDiscordEpochMilliseconds) * 1000};
}

}  // namespace interlock
