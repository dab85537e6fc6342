#include "relay/face/relay_schemas.h"

#include <algorithm>

#include "base/check.h"
#include "codec/json_list.h"
#include "relay/ports/console_chat.h"
#include "relay/service/relay_credentials.h"
#include "relay/service/relay_views.h"
#include "relay/wire/relay_requests.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

Json typed(std::string_view type) {
    return Json::object({{"type", std::string(type)}});
}
Json text() {
    return typed("string");
}
Json number() {
    return typed("integer");
}
Json truth() {
    return typed("boolean");
}
Json text_or_null() {
    return Json::object({{"type", Json::array({"string", "null"})}});
}
Json list_of(Json item) {
    return Json::object({{"type", "array"}, {"items", std::move(item)}});
}

struct Member {
    std::string name;
    Json schema;
    bool is_required = true;
};

Json answer_of(std::vector<Member> members) {
    Json properties = Json::object();
    Json required = Json::array();
    for (Member& member : members) {
        if (member.is_required) {
            required.push(member.name);
        }
        properties.set(member.name, std::move(member.schema));
    }
    return Json::object(
        {{"type", "object"},
         {"properties", std::move(properties)},
         {"required", std::move(required)}});
}

struct Described {
    std::string_view name;
    std::string_view description;
    std::size_t bytes_max = kRelayIdBytesMax;
    std::size_t bytes_min = 1;
};
constexpr Described kTexts[] = {
    {"tenant_id", "The tenant.", 64},
    {"gateway_id", "The gateway's name, unique on this server.", kGatewayIdBytesMax},
    {"instance_id", "The agent's instance; a gateway's own unless told.", kGatewayIdBytesMax},
    {"secret", "Pins the secret.", kPinnedSecretBytesMax, kPinnedSecretBytesMin},
    {"wake_url", "Called when mail waits for a sleeping gateway.", 4096},
    {"display_name", "For people.", kDisplayNameBytesMax, 0},
    {"buffer_id", "As the list shows it."},
    {"outbound_id", "As the log shows it."},
    {"session_key", "The session whose turn is stopped.", 4096},
    {"token_id", "As it was told when the token was made."},
    {"platform", "discord, telegram, sms, wecom, local, …"},
    {"bot_id", "The bot's id as configured."},
    {"discriminator", "The guild, chat or number."},
    {"user_id", "The user's id on the platform."},
    {"user_name", "For people."},
    {"guild_id", "The guild or workspace; of a room the room."},
    {"channel_id", "The channel."},
    {"user", "Who speaks.", 128},
    {"chat_id", "`dm:<user>`, or a room.", 128},
    {"text", "What is said.", 64 * 1024},
    {"message_id", "The question."},
    {"option_id", "The button."},
};

Json field_schema(const std::string& name) {
    if (name == "grace_seconds") {
        return Json::object(
            {{"type", "integer"},
             {"minimum", 0},
             {"maximum", kSecretGraceMax.microseconds / 1'000'000},
             {"description", "How long the older secrets still count."}});
    }
    if (name == "older_than_seconds") {
        return Json::object(
            {{"type", "integer"},
             {"minimum", 0},
             {"maximum", kOlderThanSecondsMax},
             {"description", "Only those that have been dead for so long."}});
    }
    if (name == "all") {
        Json schema = truth();
        schema.set("description", "Of every instance.");
        return schema;
    }
    const auto* const found = std::ranges::find(kTexts, name, &Described::name);
    CHECK(found != std::end(kTexts));
    return Json::object(
        {{"type", "string"},
         {"minLength", found->bytes_min},
         {"maxLength", found->bytes_max},
         {"description", std::string(found->description)}});
}

Json identity_schema() {
    return answer_of({{"platform", text()}, {"bot_id", text()}});
}

std::vector<Member> entry_members() {
    return {
        {"buffer_id", text()},
        {"kind", text()},
        {"event", text()},
        {"at", text()},
        {"attempts", number()},
        {"bytes", number()}};
}

std::vector<Member> gateway_members() {
    return {
        {"gateway_id", text()},
        {"tenant_id", text()},
        {"instance_id", text()},
        {"secrets", number()},
        {"display_name", text()},
        {"wake_url", text()},
        {"is_wake_trusted", truth()},
        {"made_by", text()},
        {"made_at", text()},
        {"is_revoked", truth()},
        {"revoked_at", text(), false}};
}

Json outbound_schema() {
    return answer_of(
        {{"outbound_id", text()},
         {"tenant_id", text()},
         {"instance_id", text()},
         {"platform", text()},
         {"bot_id", text()},
         {"chat_id", text()},
         {"op", text()},
         {"state", text()},
         {"digest", text()},
         {"message_ids", list_of(text())},
         {"can_replay", truth()},
         {"replay_of", text_or_null()},
         {"asked_at", text()},
         {"settled_at", text_or_null()}});
}

Json shed_or_null() {
    Json schema = answer_of({{"since", text()}, {"laid_aside", number()}, {"dropped", number()}});
    schema.set("type", Json::array({"object", "null"}));
    return schema;
}

Json principal_policy_schema() {
    return answer_of(
        {{"platform", text(), false}, {"policy", text()}, {"allow", list_of(text()), false}});
}

}  // namespace

Json relay_request_schema(const std::vector<RelayField>& fields) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const RelayField& field : fields) {
        properties.set(field.name, field_schema(field.name));
        if (field.is_required) {
            required.push(field.name);
        }
    }
    return Json::object(
        {{"type", "object"},
         {"additionalProperties", false},
         {"properties", std::move(properties)},
         {"required", std::move(required)}});
}

Json relay_principal_request_schema() {
    Json schema = relay_request_schema({{"instance_id", true}, {"platform", false}});
    Json properties = *schema.find("properties");
    properties.set(
        "policy", Json::object({{"type", "string"}, {"enum", json_list(kAudienceWords)}}));
    Json users = list_of(text());
    users.set("maxItems", kAllowedUsersMax);
    properties.set("allow", std::move(users));
    schema.set("properties", std::move(properties));
    schema.set("required", Json::array({"instance_id", "policy"}));
    return schema;
}

Json relay_ok_schema() {
    return answer_of(
        {{"ok", truth()},
         {"principal", text(), false},
         {"instance_id", text(), false},
         {"channel_id", text(), false},
         {"bot_id", text(), false},
         {"seen_by", text(), false},
         {"policy", principal_policy_schema(), false}});
}

Json relay_list_schema(const std::string& name, Json item) {
    return answer_of({{name, list_of(std::move(item))}});
}

Json relay_cut_list_schema(const std::string& name, Json item) {
    return answer_of({{name, list_of(std::move(item))}, {"is_cut", truth()}});
}

Json relay_status_schema() {
    Json by_health = typed("object");
    by_health.set("additionalProperties", number());
    return answer_of(
        {{"bots",
          list_of(answer_of(
              {{"platform", text()},
               {"bot_id", text()},
               {"state", text()},
               {"detail", text()},
               {"deaf_since", text_or_null()}}))},
         {"sockets", number()},
         {"instances", std::move(by_health)},
         {"waiting", number()},
         {"dead_letters", number()},
         {"shedding",
          list_of(answer_of(
              {{"instance_id", text()},
               {"tenant_id", text()},
               {"since", text()},
               {"laid_aside", number()},
               {"dropped", number()}}))},
         {"sleepers_without_wake_url", number()},
         {"waiting_for_facts", number()},
         {"files_under_way", number()},
         {"outbounds_pending", number()}});
}

Json relay_instance_schema() {
    return answer_of(
        {{"instance_id", text()},
         {"tenant_id", text()},
         {"health", text()},
         {"waiting", number()},
         {"bytes", number()},
         {"outstanding", number()},
         {"dead_letters", number()},
         {"dead_bytes", number()},
         {"shedding", shed_or_null()},
         {"epoch", number()},
         {"oldest", text_or_null()},
         {"seen_at", text_or_null()},
         {"identities", list_of(identity_schema())}});
}

Json relay_instance_detail_schema() {
    return answer_of(
        {{"instance_id", text()},
         {"tenant_id", text()},
         {"principals", list_of(principal_policy_schema())},
         {"relevance",
          list_of(answer_of(
              {{"platform", text()},
               {"require_address", truth()},
               {"free_response_scopes", list_of(text())},
               {"allow_other_bots", truth()}}))},
         {"users",
          list_of(answer_of(
              {{"platform", text()},
               {"bot_id", text()},
               {"user_id", text()},
               {"user_name", text()},
               {"made_by", text()}}))},
         {"scopes",
          list_of(
              answer_of({{"platform", text()}, {"guild_id", text()}, {"channel_id", text()}}))}});
}

Json relay_buffer_schema() {
    return answer_of(
        {{"instance", relay_instance_schema()}, {"entries", list_of(answer_of(entry_members()))}});
}

Json relay_dead_letter_schema() {
    std::vector<Member> members = entry_members();
    members.push_back({"instance_id", text()});
    members.push_back({"tenant_id", text()});
    members.push_back({"reason", text()});
    members.push_back({"dead_at", text()});
    return answer_of(std::move(members));
}

Json relay_event_schema() {
    Json step = answer_of({{"code", text()}, {"reason", text()}});
    Json decision = answer_of(
        {{"instance_id", text()},
         {"delivers", truth()},
         {"outcome", text()},
         {"steps", list_of(std::move(step))}});
    return answer_of(
        {{"event", text()},
         {"tenant_id", text_or_null()},
         {"at", text()},
         {"digest", text()},
         {"decisions", list_of(std::move(decision)), false},
         {"delivered", list_of(text()), false},
         {"laid_aside", list_of(text()), false},
         {"user_id", text(), false},
         {"chat_id", text(), false},
         {"note", text(), false},
         {"because", text(), false}});
}

Json relay_letters_schema() {
    return answer_of({{"done", number()}, {"left", number()}, {"no_room", number()}});
}

Json relay_outbounds_schema() {
    return answer_of({{"outbounds", list_of(outbound_schema())}, {"next", text()}});
}

Json relay_replay_schema() {
    return answer_of({{"ok", truth()}, {"outbound_id", text()}});
}

Json relay_gateway_schema() {
    return answer_of(gateway_members());
}

Json relay_new_gateway_schema() {
    std::vector<Member> members = gateway_members();
    members.push_back({"secret", text()});
    members.push_back({"delivery_key", text()});
    return answer_of(std::move(members));
}

Json relay_rotation_schema() {
    return answer_of({{"gateway_id", text()}, {"secret", text()}, {"older_retire_at", text()}});
}

Json relay_revoked_schema() {
    return answer_of({{"ok", truth()}, {"revoked", list_of(text())}});
}

Json relay_enrollment_schema() {
    return answer_of({{"enrollment_token", text()}, {"tenant_id", text()}, {"expires_at", text()}});
}

Json relay_token_schema() {
    return answer_of({{"token", text()}, {"token_id", text()}, {"tenant_id", text()}});
}

Json relay_route_schema() {
    return answer_of(
        {{"platform", text()},
         {"bot_id", text()},
         {"discriminator", text()},
         {"tenant_id", text()},
         {"made_at", text()}});
}

Json relay_stranger_schema() {
    return answer_of(
        {{"number", number()},
         {"tenant_id", text_or_null()},
         {"platform", text()},
         {"bot_id", text()},
         {"user_id", text()},
         {"user_name", text()},
         {"chat_id", text()},
         {"chat_name", text()},
         {"chat_type", text()},
         {"discriminator", text()},
         {"first_seen", text()},
         {"last_seen", text()}});
}

Json relay_link_schema() {
    return answer_of(
        {{"ok", truth()}, {"code", text()}, {"platform", text()}, {"expires_at", text()}});
}

Json console_said_schema() {
    return answer_of(
        {{"event", text()}, {"message_id", text()}, {"is_delivered", truth()}, {"notice", text()}});
}

Json console_messages_schema() {
    Json message = answer_of(
        {{"chat_id", text()},
         {"message_id", text()},
         {"change", number()},
         {"user", text()},
         {"text", text()},
         {"thread_id", text()},
         {"reply_to", text()},
         {"edits", number()},
         {"options", list_of(answer_of({{"id", text()}, {"label", text()}, {"style", text()}}))},
         {"media_kind", text()},
         {"media_url", text()},
         {"media_bytes", number()},
         {"reactions", list_of(text())}});
    return answer_of({{"messages", list_of(std::move(message))}, {"next", number()}});
}

}  // namespace interlock
