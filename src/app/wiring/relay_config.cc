#include "app/wiring/relay_config.h"

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kSecretFileBytesMax = 16 * 1024;

// Other names that people know a platform or a key by.
std::string platform_name(std::string_view word) {
    if (word == "twilio") {
        return "sms";
    }
    return std::string(word == "console" ? "local" : word);
}

std::unexpected<Error> refuse(const std::string& where, std::string_view what) {
    return fail(errors::invalid_config, where + " " + std::string(what) + ".");
}

Result<std::string> text_of(const toml::node& node, const std::string& where) {
    if (const auto text = node.value_exact<std::string>()) {
        return *text;
    }
    if (const auto number = node.value_exact<std::int64_t>()) {
        return std::to_string(*number);
    }
    return refuse(where, "must be a text or a whole number");
}

Result<std::string> read_secret(
    const std::string& file, const std::string& config_path, const std::string& where) {
    std::filesystem::path path(file);
    if (path.is_relative()) {
        path = std::filesystem::path(config_path).parent_path() / path;
    }
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in.is_open() || text.size() > kSecretFileBytesMax) {
        return refuse(where, "names a file that cannot be read or is too large");
    }
    return std::string(trim(text));
}

const RelayBotKey* find_key(std::string_view platform, std::string_view name) {
    const auto& keys = relay_bot_keys(platform);
    const auto found = std::ranges::find(keys, name, &RelayBotKey::name);
    return found == keys.end() ? nullptr : &*found;
}

Result<void> take_value(
    RelayBotConfig& bot,
    const std::string& name,
    const std::string& text,
    const std::string& path) {
    const std::string where = "relay.bot." + name;
    constexpr std::string_view kFile = "_file";
    if (find_key(bot.platform, name) != nullptr) {
        bot.values[name] = text;
        return {};
    }
    const bool names_file = name.ends_with(kFile);
    const std::string secret =
        names_file ? name.substr(0, name.size() - kFile.size()) : std::string();
    const RelayBotKey* key = names_file ? find_key(bot.platform, secret) : nullptr;
    if (key == nullptr || !key->is_secret) {
        return refuse(where, "is no key of a " + bot.platform + " bot");
    }
    TRY_ASSIGN(bot.values[secret], read_secret(text, path, where));
    return {};
}

Result<RelayBotConfig> read_bot(const toml::table& table, const std::string& path) {
    RelayBotConfig bot;
    const auto platform = table["platform"].value<std::string>();
    if (!platform) {
        return refuse("relay.bot.platform", "is required");
    }
    bot.platform = platform_name(*platform);
    if (relay_bot_keys(bot.platform).empty()) {
        return refuse("relay.bot.platform", "must be one of discord, telegram, sms, wecom, local");
    }
    bot.answers_strangers = bot.platform != "sms";
    for (const auto& [key, node] : table) {
        const std::string name(key.str());
        if (name == "answer_strangers") {
            const auto answers = node.value_exact<bool>();
            if (!answers) {
                return refuse("relay.bot.answer_strangers", "must be true or false");
            }
            bot.answers_strangers = *answers;
            continue;
        }
        TRY_ASSIGN(std::string text, text_of(node, "relay.bot." + name));
        if (name == "platform") {
            continue;
        }
        if (name == "bot_id") {
            bot.bot_id = std::move(text);
        } else if (name == "public_url") {
            bot.public_url = std::move(text);
            while (bot.public_url.ends_with('/')) {
                bot.public_url.pop_back();
            }
        } else {
            TRY(take_value(bot, name, text, path));
        }
    }
    if (bot.bot_id.empty() && bot.platform == "local") {
        bot.bot_id = "console";
    }
    if (bot.bot_id.empty()) {
        return refuse("relay.bot.bot_id", "is required");
    }
    for (const RelayBotKey& key : relay_bot_keys(bot.platform)) {
        if (key.is_required && bot.value(key.name).empty()) {
            return refuse(
                "relay.bot." + std::string(key.name), "is required for a " + bot.platform + " bot");
        }
    }
    return bot;
}

Result<RelayIssuer> read_issuer(const toml::table& table) {
    RelayIssuer issuer;
    for (const auto& [key, node] : table) {
        const std::string name(key.str());
        TRY_ASSIGN(std::string text, text_of(node, "relay.issuer." + name));
        if (name == "issuer") {
            issuer.issuer = std::move(text);
        } else if (name == "audience") {
            issuer.audience = std::move(text);
        } else if (name == "tenant_claim") {
            issuer.tenant_claim = std::move(text);
        } else if (name == "jwks_url") {
            issuer.jwks_url = std::move(text);
        } else {
            return refuse("relay.issuer." + name, "is no key of an issuer");
        }
    }
    if (issuer.issuer.empty() || issuer.audience.empty() || issuer.tenant_claim.empty() ||
        issuer.jwks_url.empty()) {
        return refuse("relay.issuer", "needs all of issuer, audience, tenant_claim and jwks_url");
    }
    return issuer;
}

template <class Take>
Result<void> each_table(toml::table& relay, std::string_view name, Take&& take) {
    const toml::node* node = relay.get(name);
    if (node == nullptr) {
        return {};
    }
    const toml::array* list = node->as_array();
    const std::string where = "relay." + std::string(name);
    if (list == nullptr) {
        return refuse(where, "must be a list of tables, [[" + where + "]]");
    }
    for (const toml::node& item : *list) {
        const toml::table* table = item.as_table();
        if (table == nullptr) {
            return refuse(where, "must be a list of tables, [[" + where + "]]");
        }
        TRY(take(*table));
    }
    relay.erase(name);
    return {};
}

}  // namespace

std::string RelayBotConfig::value(std::string_view key) const {
    const auto found = values.find(std::string(key));
    return found == values.end() ? std::string() : found->second;
}

const std::vector<RelayBotKey>& relay_bot_keys(std::string_view platform) {
    static const std::vector<RelayBotKey> kDiscord = {
        {"token", true, true, "The bot's token."},
        {"public_key", false, false, "Of the application, for the interactions webhook."},
        {"application_id", false, false, "When it differs from the bot's id."},
        {"api_base", false, false, "Where its API is."},
        {"gateway_url", false, false, "In place of the one that the API tells."},
        {"intents", false, false, "The sum of the intents to ask for."},
        {"shards", false, false, "0: as many as Discord recommends."}};
    static const std::vector<RelayBotKey> kTelegram = {
        {"token", true, true, "The bot's token."},
        {"secret_token", false, true, "Of the webhook; with public_url."},
        {"api_base", false, false, "Where its API is."}};
    static const std::vector<RelayBotKey> kSms = {
        {"account_sid", true, false, "Of the Twilio account."},
        {"auth_token", true, true, "Signs its webhooks and our calls."},
        {"from", false, false, "The number to send from; else the bot's id."},
        {"api_base", false, false, "Where its API is."}};
    static const std::vector<RelayBotKey> kWecom = {
        {"token", true, true, "Of the callback."},
        {"encoding_aes_key", true, true, "Of the callback, 43 characters."},
        {"corp_id", true, false, "Whom messages are for."},
        {"corp_secret", false, true, "For sending."},
        {"agent_id", false, false, "For sending; else the bot's id."},
        {"api_base", false, false, "Where its API is."}};
    static const std::vector<RelayBotKey> kLocal = {
        {"name", false, false, "What addresses it in a room, without the @."}};
    static const std::vector<RelayBotKey> kNone;
    return platform == "discord"    ? kDiscord
           : platform == "telegram" ? kTelegram
           : platform == "sms"      ? kSms
           : platform == "wecom"    ? kWecom
           : platform == "local"    ? kLocal
                                    : kNone;
}

Result<void> take_relay_config(toml::table& document, const std::string& path, RelayConfig& into) {
    toml::table* relay = document.get_as<toml::table>("relay");
    if (relay == nullptr) {
        return {};
    }
    std::set<std::pair<std::string, std::string>> seen;
    TRY(each_table(*relay, "bot", [&](const toml::table& table) -> Result<void> {
        TRY_ASSIGN(RelayBotConfig bot, read_bot(table, path));
        if (into.bots.size() >= kRelayBotsMax) {
            return refuse("relay.bot", "has more than " + std::to_string(kRelayBotsMax) + " bots");
        }
        if (!seen.emplace(bot.platform, bot.bot_id).second) {
            return refuse(
                "relay.bot", "names the " + bot.platform + " bot " + bot.bot_id + " twice");
        }
        into.bots.push_back(std::move(bot));
        return {};
    }));
    TRY(each_table(*relay, "issuer", [&](const toml::table& table) -> Result<void> {
        TRY_ASSIGN(RelayIssuer issuer, read_issuer(table));
        into.issuers.push_back(std::move(issuer));
        return {};
    }));
    return {};
}

std::string shown(const RelayBotConfig& bot) {
    std::string text =
        bot.platform + " " + bot.bot_id + (bot.answers_strangers ? "" : ", silent to strangers");
    for (const auto& [name, value] : bot.values) {
        const RelayBotKey* key = find_key(bot.platform, name);
        text += ", " + name + "=" + (key != nullptr && key->is_secret ? "(secret)" : value);
    }
    return bot.public_url.empty() ? text : text + ", public_url=" + bot.public_url;
}

}  // namespace interlock
