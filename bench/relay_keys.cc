// `bench relay --only keys`: what an event costs before it is stored.
#include <chrono>
#include <functional>
#include <memory>

#include "base/errors.h"
#include "bench/relay_bench.h"
#include "relay/rules/delivery_gate.h"
#include "relay/rules/platform_event.h"
#include "relay/rules/session_key.h"

namespace interlock {
namespace {

// A message in a guild as Discord's gateway sends it, with what it always carries.
constexpr std::string_view kDiscordMessage =
    R"({"type":0,"tts":false,"timestamp":"2026-11-15T21:04:11.327000+00:00","pinned":false,)"
    R"("nonce":"1307104338239094784","mentions":[{"username":"helper","public_flags":0,)"
    R"("member":{"roles":[],"premium_since":null,"pending":false,"nick":null,"mute":false,)"
    R"("joined_at":"2026-06-01T09:00:00.000000+00:00","flags":0,"deaf":false,"avatar":null},)"
    R"("id":"900000000000000001","global_name":null,"discriminator":"4711","clan":null,)"
    R"("avatar":"0f0e0d0c0b0a09080706050403020100"}],"mention_roles":[],"mention_everyone":false,)"
    R"("member":{"roles":["1100000000000000001","1100000000000000002","1100000000000000003"],)"
    R"("premium_since":null,"pending":false,"nick":"Ann of the desk","mute":false,)"
    R"("joined_at":"2025-02-11T18:22:01.113000+00:00","flags":2,"deaf":false,)"
    R"("communication_disabled_until":null,"banner":null,"avatar":null},)"
    R"("id":"1307104339912622080","flags":0,"embeds":[],"edited_timestamp":null,)"
    R"("content":"<@900000000000000001> please compare last week's fills with the plan, say which )"
    R"(orders slipped more than ten basis points, and tell me whether the limit for SOL should )"
    R"(change before Monday","components":[],"channel_id":"1200000000000000007",)"
    R"("author":{"username":"ann","public_flags":64,"id":"800000000000000009",)"
    R"("global_name":"Ann","discriminator":"0","clan":null,"avatar_decoration_data":null,)"
    R"("avatar":"a1b2c3d4e5f60718293a4b5c6d7e8f90"},"attachments":[],)"
    R"("guild_id":"1000000000000000003"})";

constexpr std::string_view kTelegramUpdate =
    R"({"update_id":824911573,"message":{"message_id":51872,"from":{"id":5550001111,)"
    R"("is_bot":false,"first_name":"Ann","last_name":"Desk","username":"ann_desk",)"
    R"("language_code":"en","is_premium":true},"chat":{"id":-1001987654321,)"
    R"("title":"Desk and agents","is_forum":true,"type":"supergroup"},"date":1763240651,)"
    R"("message_thread_id":42,"is_topic_message":true,"reply_to_message":{"message_id":42,)"
    R"("from":{"id":5550001111,"is_bot":false,"first_name":"Ann","username":"ann_desk"},)"
    R"("chat":{"id":-1001987654321,"title":"Desk and agents","is_forum":true,)"
    R"("type":"supergroup"},"date":1763000000,"message_thread_id":42,)"
    R"("forum_topic_created":{"name":"Fills","icon_color":7322096},"is_topic_message":true},)"
    R"("text":"@HelperBot please compare last week's fills with the plan and say which orders )"
    R"(slipped more than ten basis points","entities":[{"offset":0,"length":10,)"
    R"("type":"mention"}]}})";

constexpr std::string_view kTwilioForm =
    "ToCountry=US&ToState=CA&SmsMessageSid=SM0123456789abcdef0123456789abcdef&NumMedia=0&ToCity=&"
    "FromZip=94105&SmsSid=SM0123456789abcdef0123456789abcdef&FromState=CA&SmsStatus=received&"
    "FromCity=SAN+FRANCISCO&Body=please+compare+last+week%27s+fills+with+the+plan+and+say+which+"
    "orders+slipped+more+than+ten+basis+points&FromCountry=US&To=%2B14155550100&"
    "MessagingServiceSid=MG0123456789abcdef0123456789abcdef&ToZip=&NumSegments=1&"
    "MessageSid=SM0123456789abcdef0123456789abcdef&AccountSid=AC0123456789abcdef0123456789abcdef&"
    "From=%2B14155550199&ApiVersion=2010-04-01";

const BotIdentity kDiscordBot{.bot_id = "900000000000000001", .username = "helper"};
const BotIdentity kTelegramBot{.bot_id = "77", .username = "HelperBot"};

struct KeysCase {
    std::string platform;
    std::string_view raw;
    std::function<bool()> read;
    std::function<Result<Normalised>()> normalise;
};

std::vector<KeysCase> keys_cases() {
    const auto discord = std::make_shared<const Json>(parse_json(kDiscordMessage).value());
    const auto telegram = std::make_shared<const Json>(parse_json(kTelegramUpdate).value());
    const auto twilio = std::make_shared<const FormFields>(read_form(kTwilioForm).value());
    return {
        {.platform = "discord",
         .raw = kDiscordMessage,
         .read = [] { return parse_json(kDiscordMessage).has_value(); },
         .normalise =
             [discord] {
                 return normalise_discord_message(
                     *discord,
                     kDiscordBot,
                     {.name = "desk", .topic = "fills and plans", .thread_parent_id = {}});
             }},
        {.platform = "telegram",
         .raw = kTelegramUpdate,
         .read = [] { return parse_json(kTelegramUpdate).has_value(); },
         .normalise = [telegram] { return normalise_telegram(*telegram, kTelegramBot); }},
        {.platform = "sms",
         .raw = kTwilioForm,
         .read = [] { return read_form(kTwilioForm).has_value(); },
         .normalise = [twilio] { return normalise_twilio(*twilio); }},
    };
}

GateEvent gate_event_of(const PlatformEvent& event) {
    const SessionSource& source = event.event.source;
    return {
        .tenant = TenantId::trusted("desk"),
        .platform = source.platform,
        .is_dm = event.is_dm,
        .channel_id = source.chat_id,
        .parent_channel_id = source.parent_chat_id,
        .author_id = source.user_id,
        .is_author_linked = true,
        .is_author_bot = event.is_author_bot,
        .is_own_bot = event.is_own_bot,
        .addresses_bot = event.addresses_bot};
}

// It passes every step, so that none is left out.
GateInstance gate_instance_of(const PlatformEvent& event) {
    GateInstance instance;
    instance.instance_id = "agent-1";
    instance.tenant = TenantId::trusted("desk");
    instance.is_author_owner = false;
    instance.is_dm_choice = event.is_dm;
    instance.holds_scope = true;
    instance.principal = {
        .platform = {},
        .audience = PrincipalAudience::allow_list,
        .allow = {"0", event.event.source.user_id, "~"}};
    instance.owner_can_view = true;
    instance.relevance = {
        .platform = event.event.source.platform,
        .require_address = true,
        .free_response_scopes = {},
        .allow_other_bots = false};
    if (event.is_dm) {
        instance.is_author_owner = true;
    }
    return instance;
}

// Nanoseconds of one call; the calls' answers are counted so that none can be left out.
template <class Call>
Result<std::int64_t> time_calls(int samples, const Call& call) {
    std::int64_t good = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < samples; ++i) {
        good += call() ? 1 : 0;
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    if (good != samples) {
        return fail(errors::invalid_request, "An event of the benchmark was not understood.");
    }
    return std::chrono::duration_cast<std::chrono::nanoseconds>(took).count() / samples;
}

Result<RelayKeysRow> measure(const KeysCase& one, const RelayBenchOptions& options) {
    const auto normalised = one.normalise();
    if (!normalised || !normalised->event) {
        return fail(errors::invalid_request, "The event of " + one.platform + " makes no message.");
    }
    const PlatformEvent& event = *normalised->event;
    const GateInstance instance = gate_instance_of(event);
    std::vector<std::int64_t> reads;
    std::vector<std::int64_t> normalises;
    std::vector<std::int64_t> keys;
    std::vector<std::int64_t> gates;
    std::vector<std::int64_t> sums;
    for (int round = 0; round < options.rounds; ++round) {
        TRY_ASSIGN(const std::int64_t read, time_calls(options.samples, one.read));
        TRY_ASSIGN(const std::int64_t normalise, time_calls(options.samples, [&] {
                       return one.normalise().has_value();
                   }));
        TRY_ASSIGN(const std::int64_t key, time_calls(options.samples, [&] {
                       return !build_session_key(event.event.source).empty();
                   }));
        TRY_ASSIGN(const std::int64_t gate, time_calls(options.samples, [&] {
                       return judge_delivery(gate_event_of(event), instance).delivers;
                   }));
        reads.push_back(read);
        normalises.push_back(normalise);
        keys.push_back(key);
        gates.push_back(gate);
        sums.push_back(normalise + key + gate);
    }
    RelayKeysRow row;
    row.platform = one.platform;
    row.bytes = static_cast<std::int64_t>(one.raw.size());
    row.read_ns = row.spreads.note("read_ns", reads);
    row.normalise_ns = row.spreads.note("normalise_ns", normalises);
    row.session_key_ns = row.spreads.note("session_key_ns", keys);
    row.gate_ns = row.spreads.note("gate_ns", gates);
    row.spreads.note("sum_ns", sums);
    return row;
}

}  // namespace

Result<std::vector<RelayKeysRow>> run_relay_keys(const RelayBenchOptions& options) {
    std::vector<RelayKeysRow> rows;
    for (const KeysCase& one : keys_cases()) {
        TRY_ASSIGN(RelayKeysRow row, measure(one, options));
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace interlock
