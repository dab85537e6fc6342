#include "app/command/table_call.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/command/bot_words.h"
#include "base/check.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

using Kind = CallField::Kind;
using Names = std::pair<std::string_view, std::string_view>;

constexpr std::size_t kFileBytesMax = std::size_t{1024} * 1024;

// Beside whatever has the name of a secret.
constexpr std::array<std::string_view, 2> kNeverTyped{"idempotency_key", "agent_metadata"};

// What an operation's id begins with when it says what is done.
constexpr std::array<std::string_view, 46> kVerbs{
    "accept",  "add",     "apply",    "approve",   "ask",       "bind",       "book",    "change",
    "claim",   "confirm", "connect",  "control",   "create",    "delete",     "discard", "enable",
    "explain", "get",     "grant",    "interrupt", "invite",    "list",       "make",    "object",
    "open",    "pause",   "put",      "read",      "reconcile", "regenerate", "reject",  "release",
    "remove",  "replay",  "requeue",  "resend",    "reset",     "resume",     "revoke",  "rotate",
    "set",     "submit",  "suppress", "switch",    "transfer",  "update"};

// Known by another name than the rule gives, most of them since before there was a rule.
constexpr std::array<Names, 64> kNamed{{
    {"account_status", "bot account"},
    {"accept_chain_break", "audit accept-break"},
    {"apply_control_decision", "decide"},
    {"approve_approval", "approvals approve"},
    {"archive_segment", "audit archive"},
    {"bind_relay_user", "relay bind"},
    {"confirm_access_key", "key confirm"},
    {"control_strategy", "strategy start"},
    {"create_access_key", "key create"},
    {"delete_notice_webhook", "notices webhook remove"},
    {"deprovision_relay_instance", "relay deprovision"},
    {"discard_relay_dead_letter", "relay dead-letters discard"},
    {"discard_relay_dead_letters", "relay dead-letters discard"},
    {"enrol_totp", ""},
    {"explain_relay_event", "relay why"},
    {"get_account", "account"},
    {"get_approval", "approvals show"},
    {"get_audit_record", "audit record"},
    {"get_decision", "decision"},
    {"get_kill_switch", "kill status"},
    {"get_notices", "notices show"},
    {"get_relay_instance", "relay show"},
    {"interrupt_relay_session", "relay interrupt"},
    {"list_access_keys", "key list"},
    {"list_approvals", "approvals list"},
    {"list_checkpoints", "audit checkpoints"},
    {"list_relay_dead_letters", "relay dead-letters"},
    {"list_relay_events", "relay events"},
    {"list_relay_instances", "relay instances"},
    {"list_relay_outbounds", "relay log"},
    {"list_relay_strangers", "relay strangers"},
    {"list_strategy_types", "strategy types"},
    {"list_supervisor_decisions", "supervisor decisions"},
    {"logout", ""},
    {"make_recovery_codes", "human codes"},
    {"notice_status", "notices status"},
    {"object_to_recovery", "human object"},
    {"press_on_console", "chat"},
    {"read_console", "chat"},
    {"read_relay_buffer", "relay buffers"},
    {"reauthenticate", ""},
    {"reconcile_instance", "strategy reconcile"},
    {"reject_approval", "approvals reject"},
    {"replay_relay_outbound", "relay replay"},
    {"requeue_relay_dead_letter", "relay dead-letters requeue"},
    {"requeue_relay_dead_letters", "relay dead-letters requeue"},
    {"resume_recovery", "trading resume"},
    {"revoke_access_key", "key revoke"},
    {"revoke_relay_gateway", "relay revoke"},
    {"rotate_relay_secret", "relay gateway rotate"},
    {"say_on_console", "chat"},
    {"seal_backup", "backup"},
    {"set_kill_switch", "kill on"},
    {"set_notice_webhook", "notices webhook set"},
    {"set_notices", "notices letters"},
    {"set_plan", "bot plan"},
    {"set_relay_principal", "relay principal"},
    {"set_strategy_policy", "strategy policy"},
    {"set_stop_policy", "bot stop-policy"},
    {"set_trading", "trading on"},
    {"start_recovery", "human recover"},
    {"test_notices", "notices test"},
    {"unbind_relay_user", "relay unbind"},
    {"witnessed_heads", "witness heads"},
}};

std::string text_in(const Json& json, std::string_view key) {
    const Json* const value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

bool is_word(const Json& json, std::string_view word) {
    return json.is_string() && json.as_string() == word;
}

bool has_word(const Json* list, std::string_view word) {
    return list != nullptr && list->is_array() &&
           std::ranges::any_of(list->items(), [&](const Json& one) { return is_word(one, word); });
}

bool has_type(const Json& schema, std::string_view type) {
    const Json* const types = schema.find("type");
    return types != nullptr && (is_word(*types, type) || has_word(types, type));
}

Kind kind_of(const Json& schema) {
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{{
        {"object", Kind::object},
        {"array", Kind::list},
        {"boolean", Kind::flag},
        {"integer", Kind::integer},
        {"number", Kind::number},
    }};
    // What may be text is text: no digit of a decimal is lost on the way.
    for (const auto& [type, kind] : kKinds) {
        if (has_type(schema, type) && !(kind == Kind::number && has_type(schema, "string"))) {
            return kind;
        }
    }
    return Kind::text;
}

CallField field_of(std::string name, CallField::Place place, const Json& schema) {
    CallField field{.name = std::move(name), .place = place, .kind = kind_of(schema)};
    field.help = text_in(schema, "description");
    const Json* const items = schema.find("items");
    field.has_object_items = items != nullptr && has_type(*items, "object");
    const Json* const words = (items == nullptr ? schema : *items).find("enum");
    for (const Json& word : words == nullptr ? Json::Array() : words->items()) {
        if (word.is_string()) {
            field.words.push_back(word.as_string());
        }
    }
    return field;
}

void add_path_fields(TableCall& call) {
    for (const std::string_view segment : split(call.path, '/')) {
        if (segment.starts_with('{') && segment != "{tenant_id}") {
            call.fields.push_back(
                {.name = std::string(segment.substr(1, segment.size() - 2)),
                 .place = CallField::Place::path,
                 .help = "Which one.",
                 .is_required = true});
        }
    }
}

void add_body_fields(TableCall& call, const Json& schema) {
    const Json* const properties = schema.find("properties");
    const Json* const required = schema.find("required");
    for (const auto& [name, property] :
         properties == nullptr ? Json::Object() : properties->members()) {
        CallField field = field_of(name, CallField::Place::body, property);
        field.is_required = has_word(required, name);
        call.fields.push_back(std::move(field));
    }
}

TableCall call_of(const Json& json) {
    TableCall call{
        .id = text_in(json, "id"),
        .method = text_in(json, "method"),
        .path = text_in(json, "path"),
        .summary = text_in(json, "summary"),
        .description = text_in(json, "description")};
    const Json* const callers = json.find("callers");
    call.by_operator = has_word(callers, "operator");
    call.by_human = has_word(callers, "human");
    call.by_agent = has_word(callers, "agent");
    add_path_fields(call);
    const Json* const query = json.find("query");
    for (const Json& one : query == nullptr ? Json::Array() : query->items()) {
        CallField field =
            field_of(text_in(one, "name"), CallField::Place::query, *one.find("schema"));
        field.help = text_in(one, "description");
        call.fields.push_back(std::move(field));
    }
    if (const Json* const request = json.find("request")) {
        add_body_fields(call, *request);
    }
    return call;
}

std::unexpected<Error> bad_value(const CallField& field, std::string_view expected) {
    return fail(errors::invalid_request, field.flag() + " takes " + std::string(expected) + ".");
}

Result<Json> typed_json(const CallField& field, const std::string& typed) {
    std::string text = typed;
    if (typed.starts_with('@')) {
        TRY_ASSIGN(text, read_small_file(typed.substr(1), kFileBytesMax));
    }
    auto json = parse_json(text);
    if (!json) {
        return bad_value(field, "JSON, and this is none: " + json.error().message);
    }
    return json;
}

bool is_json_text(const std::string& typed) {
    return typed.starts_with('{') || typed.starts_with('[') || typed.starts_with('@');
}

Result<Json> typed_list(const CallField& field, const std::vector<std::string>& typed) {
    if (typed.size() == 1 && typed[0].starts_with('@')) {
        return typed_json(field, typed[0]);
    }
    Json list = Json::array();
    for (const std::string& text : typed) {
        if (field.has_object_items) {
            TRY_ASSIGN(Json item, typed_json(field, text));
            list.push(std::move(item));
            continue;
        }
        for (const std::string_view item : split(text, ',')) {
            list.push(trim(item));
        }
    }
    return list;
}

Json value_in_pair(std::string_view typed) {
    if (typed == "true" || typed == "false") {
        return typed == "true";
    }
    return typed == "null" ? Json() : Json(typed);
}

Result<Json> typed_object(const CallField& field, const std::string& typed) {
    if (is_json_text(typed)) {
        return typed_json(field, typed);
    }
    Json object = Json::object();
    for (const std::string_view item : split(typed, ',')) {
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            return bad_value(field, "JSON, @FILE, or pairs such as BTCUSDT=0.1,ETHUSDT=2");
        }
        object.set(
            std::string(trim(item.substr(0, equals))),
            value_in_pair(trim(item.substr(equals + 1))));
    }
    return object;
}

std::string dashed(std::string_view words) {
    std::string text;
    for (const char c : words) {
        text += c == '_' ? '-' : c;
    }
    return text;
}

// "strategies" → "strategy", "limits" → "limit", "status" as it is.
std::string singular(std::string noun) {
    if (noun.ends_with("ies")) {
        return noun.substr(0, noun.size() - 3) + "y";
    }
    if (noun.ends_with('s') && !noun.ends_with("ss") && !noun.ends_with("us")) {
        noun.pop_back();
    }
    return noun;
}

// Verb first as most ids have it, noun first as some do, or a noun alone.
std::string command_by_rule(const TableCall& call) {
    std::string_view id = call.id;
    if (id.starts_with("py_")) {
        return "tool " + dashed(id.substr(3));
    }
    const std::size_t end = id.find('_');
    if (end == std::string_view::npos) {
        const std::string noun = singular(std::string(id));
        return noun + (noun == id ? " show" : " list");
    }
    std::string_view verb = id.substr(0, end);
    std::string_view noun = id.substr(end + 1);
    if (std::ranges::find(kVerbs, verb) == kVerbs.end()) {
        return std::string(verb) + " " + dashed(noun);
    }
    std::string room;
    if (noun.starts_with("relay_")) {
        room = "relay ";
        noun.remove_prefix(room.size());
    }
    return room + singular(dashed(noun)) + " " + (verb == "get" ? "show" : std::string(verb));
}

}  // namespace

std::string CallField::flag() const {
    return "--" + to_lower(dashed(name));
}

const CallField* TableCall::find(std::string_view field) const {
    const auto found = std::ranges::find(fields, field, &CallField::name);
    return found == fields.end() ? nullptr : &*found;
}

const std::vector<TableCall>& table_calls() {
    static const std::vector<TableCall> calls = [] {
        const auto list = parse_json(call_files().front().bytes);
        CHECK(list.has_value());
        std::vector<TableCall> read;
        for (const Json& one : list->items()) {
            read.push_back(call_of(one));
        }
        return read;
    }();
    return calls;
}

const TableCall* find_table_call(std::string_view id) {
    const auto& calls = table_calls();
    const auto found = std::ranges::find(calls, id, &TableCall::id);
    return found == calls.end() ? nullptr : &*found;
}

bool is_never_typed(std::string_view field) {
    return is_secret_name(field) || std::ranges::find(kNeverTyped, field) != kNeverTyped.end();
}

Result<Json> typed_value(const CallField& field, const std::vector<std::string>& typed) {
    switch (field.kind) {
        case Kind::text:
            return Json(typed.back());
        case Kind::flag:
            return Json(typed.back() == "true");
        case Kind::number:
        case Kind::integer: {
            const bool is_whole = field.kind == Kind::integer;
            if (!is_json_number(typed.back()) ||
                (is_whole && !Json::number(typed.back()).as_int64())) {
                return bad_value(field, is_whole ? "a whole number" : "a number");
            }
            return Json::number(typed.back());
        }
        case Kind::list:
            return typed_list(field, typed);
        case Kind::object:
            break;
    }
    return typed_object(field, typed.back());
}

std::string command_of(const TableCall& call) {
    const bool is_anyones = !call.by_operator && !call.by_human && !call.by_agent;
    const bool takes_secret = std::ranges::any_of(call.fields, [](const CallField& field) {
        return field.is_required && is_never_typed(field.name) && field.name != "idempotency_key";
    });
    const auto* const named = std::ranges::find(kNamed, call.id, &Names::first);
    if (named != kNamed.end()) {
        return std::string(named->second);
    }
    if (const BotEndpoint* const endpoint = find_bot_endpoint(call.id)) {
        return "bot " + bot_word(*endpoint);
    }
    return is_anyones || takes_secret ? "" : command_by_rule(call);
}

}  // namespace interlock
