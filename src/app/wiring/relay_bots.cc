#include "app/wiring/relay_bots.h"

#include <charconv>

#include "base/errors.h"
#include "relay/platforms/common/web_platform_http.h"
#include "relay/platforms/discord/discord_net_wire.h"
#include "relay/platforms/discord/discord_platform.h"
#include "relay/platforms/sms/twilio_platform.h"
#include "relay/platforms/telegram/telegram_platform.h"
#include "relay/platforms/wecom/wecom_platform.h"

namespace interlock {
namespace {

// Where a platform reaches this bot's webhook; empty without a public URL.
std::string webhook_url(const RelayBotConfig& config) {
    return config.public_url.empty()
               ? std::string()
               : config.public_url + "/webhooks/" + config.platform + "/" + config.bot_id;
}

template <class Number>
Result<Number> number_of(const RelayBotConfig& config, std::string_view key, Number otherwise) {
    const std::string text = config.value(key);
    if (text.empty()) {
        return otherwise;
    }
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return fail(
            errors::invalid_config, "relay.bot." + std::string(key) + " must be a whole number.");
    }
    return number;
}

std::string or_else(std::string text, std::string_view otherwise) {
    return text.empty() ? std::string(otherwise) : text;
}

struct Ground {
    Clock& clock;
    IdSource& ids;
    PlatformHttp http;
    const std::string& site;
};

Result<std::unique_ptr<ChatPlatform>> make_discord(
    const RelayBotConfig& config, const Ground& ground) {
    DiscordConfig discord;
    discord.bot_id = config.bot_id;
    discord.token = config.secret("token");
    discord.public_key = config.value("public_key");
    discord.application_id = config.value("application_id");
    discord.api_base = or_else(config.value("api_base"), kDiscordApiBase);
    discord.gateway_url = config.value("gateway_url");
    discord.public_url = or_else(config.public_url, ground.site);
    TRY_ASSIGN(discord.intents, number_of(config, "intents", discord_intents::usual));
    TRY_ASSIGN(discord.shards, number_of(config, "shards", 0));
    TRY(check_discord_config(discord));
    TRY_ASSIGN(
        auto platform,
        DiscordPlatform::open(
            {.config = std::move(discord),
             .wire = std::make_unique<DiscordNetWire>(),
             .clock = ground.clock,
             .ids = ground.ids}));
    return platform;
}

std::unique_ptr<ChatPlatform> make_telegram(const RelayBotConfig& config, const Ground& ground) {
    TelegramConfig telegram;
    telegram.bot_id = config.bot_id;
    telegram.token = config.secret("token");
    telegram.api_base = or_else(config.value("api_base"), telegram.api_base);
    telegram.public_url = webhook_url(config);
    telegram.webhook_secret = config.secret("secret_token");
    return std::make_unique<TelegramPlatform>(TelegramPlatform::Parts{
        .config = std::move(telegram), .http = ground.http, .clock = ground.clock});
}

std::unique_ptr<ChatPlatform> make_sms(const RelayBotConfig& config, const Ground& ground) {
    TwilioConfig twilio;
    twilio.bot_id = config.bot_id;
    twilio.account_sid = config.value("account_sid");
    twilio.auth_token = config.secret("auth_token");
    twilio.from = or_else(config.value("from"), config.bot_id);
    twilio.public_url = webhook_url(config);
    twilio.api_base = or_else(config.value("api_base"), twilio.api_base);
    return std::make_unique<TwilioPlatform>(TwilioPlatform::Parts{
        .config = std::move(twilio), .http = ground.http, .clock = ground.clock});
}

Result<std::unique_ptr<ChatPlatform>> make_wecom(
    const RelayBotConfig& config, const Ground& ground) {
    WecomConfig wecom;
    wecom.bot_id = config.bot_id;
    wecom.corp_id = config.value("corp_id");
    TRY_ASSIGN(wecom.agent_id, number_of(config, "agent_id", std::int64_t{0}));
    wecom.corp_secret = config.secret("corp_secret");
    wecom.callback_token = config.secret("token");
    wecom.encoding_aes_key = config.secret("encoding_aes_key");
    wecom.api_base = or_else(config.value("api_base"), wecom.api_base);
    return std::make_unique<WecomPlatform>(WecomPlatform::Parts{
        .config = std::move(wecom), .http = ground.http, .clock = ground.clock});
}

std::unique_ptr<ConsolePlatform> make_console(const RelayBotConfig& config, const Ground& ground) {
    return std::make_unique<ConsolePlatform>(ConsolePlatform::Parts{
        .bot_id = config.bot_id,
        .bot_name = or_else(config.value("name"), "interlock"),
        .clock = ground.clock,
        // Ids of an earlier run are still known to the store.
        .id_prefix = std::to_string(ground.clock.now().microseconds) + "-"});
}

}  // namespace

Result<RelayBots> make_relay_bots(
    const std::vector<RelayBotConfig>& configs, const RelayBotParts& parts) {
    const Ground ground{parts.clock, parts.ids, web_platform_http(), parts.site};
    RelayBots bots;
    for (const RelayBotConfig& config : configs) {
        if (config.platform == "discord") {
            TRY_ASSIGN(auto bot, make_discord(config, ground));
            bots.all.push_back(std::move(bot));
        } else if (config.platform == "telegram") {
            bots.all.push_back(make_telegram(config, ground));
        } else if (config.platform == "sms") {
            bots.all.push_back(make_sms(config, ground));
        } else if (config.platform == "wecom") {
            TRY_ASSIGN(auto bot, make_wecom(config, ground));
            bots.all.push_back(std::move(bot));
        } else {
            auto console = make_console(config, ground);
            bots.console = console.get();
            bots.all.push_back(std::move(console));
        }
    }
    return bots;
}

}  // namespace interlock
