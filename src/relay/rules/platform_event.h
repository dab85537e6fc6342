// What a platform sent, made into what gateways read, with the facts that routing and the delivery
// gate need beside it. Credentials that act for the shared bot are taken out here: `capability`
// goes into the vault and never into the event.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/secret_string.h"
#include "relay/rules/webhook_signature.h"
#include "relay/wire/message_event.h"

namespace interlock {

// Our own bot on that platform, to know its own messages and whom a message speaks to.
struct BotIdentity {
    std::string bot_id;
    std::string username;  // Telegram: without the @.
};

// Something to fetch with the bot's credential before a gateway can have it; the URL would hold a
// token, so it is not in the event.
struct PlatformFile {
    std::string file_id;  // What the platform calls it; for Twilio its address.
    std::string kind;
    std::string mime;
    std::string filename;
    std::optional<std::int64_t> size;
    std::string public_url;  // Where anybody can have it, for when we cannot.
};

struct PlatformEvent {
    MessageEvent event;
    std::string event_id;       // The platform's; duplicates are known by it.
    std::string discriminator;  // What the tenant is routed by: guild, chat; empty in a DM.
    bool is_dm = false;
    bool is_author_bot = false;
    bool is_own_bot = false;
    bool addresses_bot = false;
    std::vector<PlatformFile> files;
    std::string capability_kind;  // "discord.interaction_token"
    SecretString capability;
    std::string prompt_button;  // The data of a pressed button that is not one of our prompts.
    std::string moved_to;       // The chat goes on under this id; there is no message.
};

// Either an event, or the reason why there is none to deliver. An input that is not what the
// platform sends is an error instead.
struct Normalised {
    std::optional<PlatformEvent> event;
    std::string skipped;
};

// What is known of a Discord channel from elsewhere; a message does not say what it was written in.
struct DiscordChannel {
    std::string name;
    std::string topic;
    std::string thread_parent_id;  // Set: the channel is a thread.
};

// The `d` of MESSAGE_CREATE.
Result<Normalised> normalise_discord_message(
    const Json& json, const BotIdentity& bot, const DiscordChannel& channel);
// An interaction, from the webhook or the gateway.
Result<Normalised> normalise_discord_interaction(const Json& json, const BotIdentity& bot);
// An update of Telegram.
Result<Normalised> normalise_telegram(const Json& json, const BotIdentity& bot);
// The form of a Twilio SMS webhook.
Result<Normalised> normalise_twilio(const FormFields& form);
// A decrypted WeCom message.
Result<Normalised> normalise_wecom(std::string_view xml);

// "hp1:<prompt>:<option>", the data of our buttons (at most 64 bytes).
std::optional<PromptResponse> read_prompt_button(std::string_view data);
std::string prompt_button(std::string_view prompt_id, std::string_view option_id);

}  // namespace interlock
