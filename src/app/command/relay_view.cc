#include "app/command/relay_view.h"

#include <algorithm>
#include <vector>

#include "app/command/console.h"

namespace interlock {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string number_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value == nullptr || value->is_null() ? "-" : to_text(*value);
}

bool truth_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_bool() && value->as_bool();
}

const Json::Array& list_at(const Json& json, std::string_view key) {
    static const Json::Array kNone;
    const Json* list = json.find(key);
    return list != nullptr && list->is_array() ? list->items() : kNone;
}

std::string table_or(
    const std::vector<std::string>& header, const Rows& rows, const std::string& otherwise) {
    return rows.empty() ? otherwise + "\n" : render_table(header, rows);
}

std::string cut_note(const Json& answer) {
    return truth_at(answer, "is_cut") ? "There are more; name a tenant with --tenant.\n" : "";
}

std::string secret_lines(const Json& gateway, const std::string& url) {
    const std::string shown = url.empty() ? "ws://HOST:PORT/relay" : url;
    return "GATEWAY_RELAY_URL=" + print_safe(shown) +
           "\nGATEWAY_RELAY_ID=" + print_safe(text_at(gateway, "gateway_id")) +
           "\nGATEWAY_RELAY_SECRET=" + print_safe(text_at(gateway, "secret")) + "\n";
}

// Which bots the gateway speaks as. A client that is told nothing of them says hello as nobody: it
// hears messages and its answers are declined.
std::string identity_lines(const Json& status) {
    std::string platforms;
    Json ids = Json::object();
    const Json* first = nullptr;
    for (const Json& bot : list_at(status, "bots")) {
        const std::string platform = text_at(bot, "platform");
        if (ids.find(platform) != nullptr) {
            continue;  // A client speaks as one bot of a platform.
        }
        first = first == nullptr ? &bot : first;
        platforms += (platforms.empty() ? "" : ",") + platform;
        ids.set(platform, Json::object({{"botId", text_at(bot, "bot_id")}}));
    }
    if (first == nullptr) {
        return {};
    }
    return "GATEWAY_RELAY_PLATFORMS=" + print_safe(platforms) + "\nGATEWAY_RELAY_BOT_IDS='" +
           print_safe(to_text(ids)) +
           "'\n\nClients of before August 2026 speak as one bot, and read these for the last "
           "two:\n\n"
           "GATEWAY_RELAY_PLATFORM=" +
           print_safe(text_at(*first, "platform")) +
           "\nGATEWAY_RELAY_BOT_ID=" + print_safe(text_at(*first, "bot_id")) + "\n";
}

// What became of an event for one instance; the gate's word is only the beginning of it.
std::string fate_of(const Json& decision) {
    const std::string outcome = text_at(decision, "outcome");
    return outcome == "laid_aside"      ? "laid aside, because its buffer was full"
           : outcome == "not_delivered" ? "not delivered"
                                        : outcome;
}

}  // namespace

bool is_unrouted_chat(const Json& stranger) {
    return text_at(stranger, "tenant_id") == "-" && text_at(stranger, "discriminator") != "-";
}

std::string receivers_of(const Json& event) {
    std::string names;
    // Of events before it was kept, what the gate said stands for what happened.
    if (event.find("delivered") != nullptr) {
        for (const Json& name : list_at(event, "delivered")) {
            names += (names.empty() ? "" : ", ") + name.as_string();
        }
        for (const Json& name : list_at(event, "laid_aside")) {
            names += (names.empty() ? "" : ", ") + name.as_string() + " (laid aside)";
        }
        return names.empty() ? "-" : names;
    }
    for (const Json& decision : list_at(event, "decisions")) {
        if (truth_at(decision, "delivers")) {
            names += (names.empty() ? "" : ", ") + text_at(decision, "instance_id");
        }
    }
    return names.empty() ? "-" : names;
}

std::string describe_relay_status(const Json& status) {
    Rows bots;
    for (const Json& bot : list_at(status, "bots")) {
        bots.push_back(
            {text_at(bot, "platform"),
             text_at(bot, "bot_id"),
             text_at(bot, "state"),
             text_at(bot, "detail")});
    }
    std::string instances;
    if (const Json* by_health = status.find("instances");
        by_health != nullptr && by_health->is_object()) {
        for (const auto& [health, count] : by_health->members()) {
            instances += (instances.empty() ? "" : ", ") + to_text(count) + " " + health;
        }
    }
    std::string text = table_or(
        {"platform", "bot", "state", "detail"},
        bots,
        "No bots. Declare one as [[relay.bot]] in the configuration file.");
    text += "\n" + render_fields(
                       {{"sockets", number_at(status, "sockets")},
                        {"instances", instances.empty() ? "none" : instances},
                        {"waiting", number_at(status, "waiting")},
                        {"dead letters", number_at(status, "dead_letters")},
                        {"waiting for facts", number_at(status, "waiting_for_facts")},
                        {"files under way", number_at(status, "files_under_way")},
                        {"sends under way", number_at(status, "outbounds_pending")}});
    for (const Json& bot : list_at(status, "bots")) {
        if (text_at(bot, "deaf_since") != "-") {
            text += print_safe(text_at(bot, "platform") + " " + text_at(bot, "bot_id")) +
                    " has not heard its platform since " + text_at(bot, "deaf_since") +
                    ". Look at its detail above and at the server's log.\n";
        }
    }
    for (const Json& one : list_at(status, "shedding")) {
        text += print_safe(text_at(one, "instance_id")) + " of " +
                print_safe(text_at(one, "tenant_id")) + " has a full buffer since " +
                text_at(one, "since") + ": " + number_at(one, "laid_aside") + " laid aside, " +
                number_at(one, "dropped") +
                " dead letters dropped. Start its gateway, or `interlock relay deprovision` it.\n";
    }
    if (number_at(status, "sleepers_without_wake_url") != "0") {
        text += "Sleeping with mail and no wake URL: " +
                number_at(status, "sleepers_without_wake_url") +
                ". Add their gateways with --wake-url, or start them.\n";
    }
    return text;
}

std::string describe_relay_instances(const Json& answer) {
    Rows rows;
    for (const Json& one : list_at(answer, "instances")) {
        rows.push_back(
            {text_at(one, "instance_id"),
             text_at(one, "tenant_id"),
             text_at(one, "health"),
             number_at(one, "waiting"),
             number_at(one, "outstanding"),
             number_at(one, "dead_letters"),
             one.find("shedding") != nullptr && one.find("shedding")->is_object()
                 ? "since " + text_at(*one.find("shedding"), "since")
                 : "-",
             text_at(one, "oldest"),
             text_at(one, "seen_at")});
    }
    return table_or(
        {"instance", "tenant", "health", "waiting", "unacked", "dead", "full", "oldest", "seen"},
        rows,
        "No instances. `interlock relay gateway add` makes the first.");
}

std::string describe_relay_buffer(const Json& answer) {
    const Json* instance = answer.find("instance");
    std::string text;
    if (instance != nullptr) {
        text = text_at(*instance, "instance_id") + " is " + text_at(*instance, "health") + "; " +
               number_at(*instance, "waiting") + " waiting, " + number_at(*instance, "bytes") +
               " bytes.\n";
        text = print_safe(text, true);
    }
    Rows rows;
    for (const Json& entry : list_at(answer, "entries")) {
        rows.push_back(
            {text_at(entry, "buffer_id"),
             text_at(entry, "kind"),
             text_at(entry, "at"),
             number_at(entry, "attempts"),
             number_at(entry, "bytes"),
             text_at(entry, "event")});
    }
    return text +
           table_or(
               {"buffer id", "kind", "at", "attempts", "bytes", "event"}, rows, "Nothing waits.");
}

std::string describe_relay_dead_letters(const Json& answer) {
    Rows rows;
    for (const Json& letter : list_at(answer, "dead_letters")) {
        rows.push_back(
            {text_at(letter, "instance_id"),
             text_at(letter, "buffer_id"),
             text_at(letter, "reason"),
             text_at(letter, "dead_at"),
             text_at(letter, "event")});
    }
    std::string text =
        table_or({"instance", "buffer id", "reason", "since", "event"}, rows, "No dead letters.");
    if (!rows.empty()) {
        text +=
            "`interlock relay dead-letters requeue|discard --instance I --buffer-id B` settles "
            "one, with --all in place of --buffer-id all of them.\n";
    }
    return text;
}

std::string describe_relay_events(const Json& answer) {
    Rows rows;
    for (const Json& event : list_at(answer, "events")) {
        rows.push_back(
            {text_at(event, "at"),
             text_at(event, "event"),
             text_at(event, "tenant_id"),
             text_at(event, "user_id"),
             receivers_of(event),
             text_at(event, "note")});
    }
    std::string text = table_or(
        {"at", "event", "tenant", "user", "delivered to", "note"}, rows, "No events are kept.");
    if (!rows.empty()) {
        text += "`interlock relay why EVENT` explains one.\n";
    }
    return text;
}

std::string describe_relay_why(const Json& event) {
    std::string text = render_fields(
        {{"event", text_at(event, "event")},
         {"tenant", text_at(event, "tenant_id")},
         {"at", text_at(event, "at")},
         {"user", text_at(event, "user_id")},
         {"chat", text_at(event, "chat_id")},
         {"delivered to", receivers_of(event)},
         {"note", text_at(event, "note")}});
    if (const std::string because = text_at(event, "because"); because != "-") {
        text += "\n" + print_safe(because) + "\n";
    }
    for (const Json& decision : list_at(event, "decisions")) {
        const std::string instance = text_at(decision, "instance_id");
        text += "\n" + print_safe(instance) + ": " + fate_of(decision) + "\n";
        Rows rows;
        for (const Json& step : list_at(decision, "steps")) {
            rows.push_back({"  " + text_at(step, "code"), text_at(step, "reason")});
        }
        text += render_table({"  step", "because"}, rows);
    }
    return text;
}

std::string describe_relay_log(const Json& answer) {
    Rows rows;
    bool can_replay = false;
    for (const Json& one : list_at(answer, "outbounds")) {
        const bool may_go_again = truth_at(one, "can_replay");
        can_replay = can_replay || may_go_again;
        rows.push_back(
            {text_at(one, "asked_at"),
             text_at(one, "instance_id"),
             text_at(one, "platform"),
             text_at(one, "chat_id"),
             text_at(one, "op"),
             text_at(one, "state") + (may_go_again ? " *" : ""),
             text_at(one, "outbound_id")});
    }
    std::string text = table_or(
        {"asked", "instance", "platform", "chat", "op", "state", "id"}, rows, "Nothing was sent.");
    if (can_replay) {
        text += "* `interlock relay replay ID` sends it again.\n";
    }
    if (const std::string next = text_at(answer, "next"); next != "-") {
        text += "There are more: --after " + print_safe(next) + "\n";
    }
    return text;
}

std::string describe_relay_gateways(const Json& answer) {
    Rows rows;
    for (const Json& one : list_at(answer, "gateways")) {
        rows.push_back(
            {text_at(one, "gateway_id"),
             text_at(one, "tenant_id"),
             text_at(one, "instance_id"),
             truth_at(one, "is_revoked") ? "revoked" : number_at(one, "secrets") + " secret(s)",
             text_at(one, "wake_url"),
             text_at(one, "made_by")});
    }
    return table_or(
               {"gateway", "tenant", "instance", "credential", "wake", "made by"},
               rows,
               "No gateways. `interlock relay gateway add` makes the first.") +
           cut_note(answer);
}

std::string describe_relay_routes(const Json& answer) {
    Rows rows;
    for (const Json& one : list_at(answer, "routes")) {
        rows.push_back(
            {text_at(one, "platform"),
             text_at(one, "bot_id"),
             text_at(one, "discriminator"),
             text_at(one, "tenant_id"),
             text_at(one, "made_at")});
    }
    return table_or(
               {"platform", "bot", "discriminator", "tenant", "since"},
               rows,
               "No routes. Direct messages need none; a guild, chat or room does: "
               "`interlock relay route add`.") +
           cut_note(answer);
}

std::string describe_relay_instance(const Json& instance) {
    std::string text = render_fields(
        {{"instance", text_at(instance, "instance_id")},
         {"tenant", text_at(instance, "tenant_id")}});
    Rows users;
    for (const Json& user : list_at(instance, "users")) {
        users.push_back(
            {text_at(user, "platform"),
             text_at(user, "bot_id"),
             text_at(user, "user_id"),
             text_at(user, "user_name"),
             text_at(user, "made_by")});
    }
    text += "\n" + table_or(
                       {"platform", "bot", "owner", "name", "linked by"},
                       users,
                       "Nobody is linked. `interlock relay bind` links a user.");
    Rows scopes;
    for (const Json& scope : list_at(instance, "scopes")) {
        scopes.push_back(
            {text_at(scope, "platform"), text_at(scope, "guild_id"), text_at(scope, "channel_id")});
    }
    text += "\n" + table_or(
                       {"platform", "guild", "channel"},
                       scopes,
                       "No channel is claimed. `interlock relay scope claim` claims one.");
    Rows policies;
    for (const Json& policy : list_at(instance, "principals")) {
        const std::string platform = text_at(policy, "platform");
        policies.push_back(
            {platform == "-" ? "every" : platform,
             text_at(policy, "policy"),
             text_at(policy, "allow")});
    }
    return text + "\n" +
           table_or(
               {"platform", "who may speak in channels", "allowed"},
               policies,
               "Owners only may speak to it in channels. `interlock relay principal` changes "
               "that.");
}

std::string describe_relay_strangers(const Json& answer) {
    Rows rows;
    for (const Json& one : list_at(answer, "strangers")) {
        const bool is_chat = is_unrouted_chat(one);
        rows.push_back(
            {number_at(one, "number"),
             text_at(one, "platform") + " " + text_at(one, "bot_id"),
             is_chat ? "chat " + text_at(one, "discriminator") : "user " + text_at(one, "user_id"),
             text_at(one, is_chat ? "chat_name" : "user_name"),
             is_chat                                ? "-"
             : text_at(one, "discriminator") == "-" ? "direct message"
                                                    : text_at(one, "chat_id"),
             text_at(one, "tenant_id"),
             text_at(one, "last_seen")});
    }
    std::string text = table_or(
        {"no.", "bot", "who", "name", "where", "tenant", "last seen"},
        rows,
        "Nobody has written in vain in the last 7 days.");
    if (!rows.empty()) {
        text +=
            "A user is let in by `interlock relay bind --stranger NO --instance I`, or links "
            "himself with a code: `interlock relay link create --instance I --platform P`. A chat "
            "is given to a tenant by `interlock relay route add --stranger NO --tenant T`.\n";
    }
    return text + cut_note(answer);
}

std::string describe_relay_link(const Json& link) {
    return "Good once, until " + text_at(link, "expires_at") +
           ". The person sends this to the bot in a direct message:\n\n/link " +
           print_safe(text_at(link, "code")) + "\n";
}

std::string describe_new_gateway(const Json& gateway, const std::string& url, const Json& status) {
    return render_fields(
               {{"gateway", text_at(gateway, "gateway_id")},
                {"tenant", text_at(gateway, "tenant_id")},
                {"instance", text_at(gateway, "instance_id")}}) +
           "\nThe secret is shown this once. Set these where the gateway runs:\n\n" +
           secret_lines(gateway, url) + identity_lines(status) +
           "\nNext: link a user, so that somebody reaches it: interlock relay bind --platform P "
           "--user U --instance " +
           print_safe(text_at(gateway, "instance_id")) +
           "\nWho has written to a bot in vain, with ids: interlock relay strangers\n";
}

std::string describe_rotation(const Json& rotated) {
    return "The new secret is shown this once. Set it where the gateway runs:\n\n"
           "GATEWAY_RELAY_ID=" +
           print_safe(text_at(rotated, "gateway_id")) +
           "\nGATEWAY_RELAY_SECRET=" + print_safe(text_at(rotated, "secret")) +
           "\n\nOlder secrets count until " + text_at(rotated, "older_retire_at") + ".\n";
}

std::string describe_enrollment(const Json& enrollment, const std::string& url) {
    const std::string shown = url.empty() ? "ws://HOST:PORT/relay" : url;
    return "For one gateway of " + print_safe(text_at(enrollment, "tenant_id")) + ", until " +
           text_at(enrollment, "expires_at") +
           ", shown this once. Set these where it runs:\n\n"
           "GATEWAY_RELAY_URL=" +
           print_safe(shown) +
           "\nGATEWAY_RELAY_ENROLL_TOKEN=" + print_safe(text_at(enrollment, "enrollment_token")) +
           "\n\nEnrolling also takes a bearer of the tenant: interlock relay token create "
           "--tenant " +
           print_safe(text_at(enrollment, "tenant_id")) + "\n";
}

std::string describe_tenant_token(const Json& token) {
    return "A bearer with which gateways of " + print_safe(text_at(token, "tenant_id")) +
           " enrol and provision, shown this once:\n\n" + print_safe(text_at(token, "token")) +
           "\n\nTo end it: interlock relay token revoke --token-id " +
           print_safe(text_at(token, "token_id")) + "\n";
}

}  // namespace interlock
