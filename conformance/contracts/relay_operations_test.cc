// Walks the operator's operations of the relay (docs/contracts/api.md, "The relay") as somebody
// would who sets up an agent: each answer is held to its schema, and nothing shows a secret or a
// text that it should not.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "api_world.h"
#include "base/text.h"

namespace interlock {
namespace {

std::string text_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    EXPECT_TRUE(value != nullptr && value->is_string()) << key << " in " << to_text(json);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

bool truth_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    EXPECT_TRUE(value != nullptr && value->is_bool()) << key << " in " << to_text(json);
    return value != nullptr && value->is_bool() && value->as_bool();
}

std::string type_of(const Json& value) {
    return value.is_null()     ? "null"
           : value.is_bool()   ? "boolean"
           : value.is_string() ? "string"
           : value.is_array()  ? "array"
           : value.is_object() ? "object"
                               : "integer";
}

// Every member declared, everything required there, every type as it says.
void expect_fits(const Json& value, const Json& schema, const std::string& where) {
    const Json* type = schema.find("type");
    ASSERT_NE(type, nullptr) << where;
    std::set<std::string> types;
    if (type->is_string()) {
        types.insert(type->as_string());
    } else {
        for (const Json& one : type->items()) {
            types.insert(one.as_string());
        }
    }
    ASSERT_TRUE(types.contains(type_of(value))) << where << " is " << to_text(value);
    if (value.is_array()) {
        for (const Json& item : value.items()) {
            expect_fits(item, *schema.find("items"), where + "[]");
        }
    }
    if (!value.is_object()) {
        return;
    }
    const Json* properties = schema.find("properties");
    const Json* others = schema.find("additionalProperties");
    for (const auto& [key, member] : value.members()) {
        const Json* declared = properties == nullptr ? nullptr : properties->find(key);
        declared = declared == nullptr ? others : declared;
        ASSERT_NE(declared, nullptr) << where << " has an undeclared " << key;
        expect_fits(member, *declared, where + "." + key);
    }
    if (const Json* required = schema.find("required")) {
        for (const Json& name : required->items()) {
            EXPECT_NE(value.find(name.as_string()), nullptr) << where << " lacks " << to_text(name);
        }
    }
}

class RelayOperations : public ::testing::Test {
protected:
    struct Asked {
        std::string id;
        Json body = {};
        std::string query = {};
    };
    HttpResponse send(const Asked& asked) {
        const Operation* operation = world.table().find(asked.id);
        EXPECT_NE(operation, nullptr) << asked.id;
        walked.insert(asked.id);
        return world.send(
            {.as = "operator",
             .method = operation->method,
             .path = operation->path + (asked.query.empty() ? "" : "?" + asked.query),
             .body = asked.body.is_null() ? "" : to_text(asked.body)});
    }
    Json ask(const Asked& asked) {
        const HttpResponse response = send(asked);
        const Operation* operation = world.table().find(asked.id);
        EXPECT_EQ(response.status, operation->statuses.front())
            << asked.id << ": " << response.body;
        auto json = parse_json(response.body);
        EXPECT_TRUE(json.has_value());
        if (!json) {
            return {};
        }
        expect_fits(*json, operation->answer_schema, asked.id);
        return *std::move(json);
    }
    std::string refusal(const Asked& asked) {
        const HttpResponse response = send(asked);
        EXPECT_GE(response.status, 400) << response.body;
        const auto json = parse_json(response.body);
        const Json* error = json ? json->find("error") : nullptr;
        return error == nullptr ? response.body : text_at(*error, "code");
    }

    std::string add_gateway(const std::string& gateway, const std::string& instance) {
        const Json made = ask(
            {"add_relay_gateway",
             Json::object(
                 {{"tenant_id", "demo"}, {"gateway_id", gateway}, {"instance_id", instance}})});
        return text_at(made, "secret");
    }
    void bind(const std::string& user, const std::string& instance) {
        ask(
            {"bind_relay_user",
             Json::object({{"platform", "local"}, {"user_id", user}, {"instance_id", instance}})});
    }
    Json say(const std::string& user, const std::string& text) {
        return ask(
            {"say_on_console",
             Json::object({{"user", user}, {"chat_id", "dm:" + user}, {"text", text}})});
    }

    struct Dialled {
        RelaySessionPtr session = std::make_shared<RelaySession>();
        std::shared_ptr<RecordingSocket> socket = std::make_shared<RecordingSocket>();
    };
    Dialled dial(const std::string& gateway, const std::string& instance) {
        Dialled dialled;
        dialled.session->caller = {TenantId::trusted("demo"), instance, gateway};
        dialled.session->socket = dialled.socket;
        EXPECT_TRUE(world.relay().plane().desk.open(dialled.session));
        tell(dialled, HelloFrame{"local", "console", {}});
        return dialled;
    }
    void tell(const Dialled& dialled, GatewayFrame frame) {
        EXPECT_TRUE(world.relay().plane().desk.take(dialled.session, std::move(frame), [] {}));
        world.relay().settle();
    }

    ApiWorld world;
    std::set<std::string> walked;
};

TEST_F(RelayOperations, AGatewaysSecretIsToldOnceAndNeverAgain) {
    const std::string secret = add_gateway("gw1", "i1");
    EXPECT_GE(secret.size(), 32U);
    const Json list = ask({"list_relay_gateways", {}, "tenant_id=demo"});
    ASSERT_EQ(list.find("gateways")->items().size(), 1U);
    EXPECT_EQ(to_text(list).find(secret), std::string::npos);
    EXPECT_TRUE(
        ask({"list_relay_gateways", {}, "tenant_id=other"}).find("gateways")->items().empty());
    const Json rotated = ask({"rotate_relay_secret", Json::object({{"gateway_id", "gw1"}})});
    EXPECT_NE(text_at(rotated, "secret"), secret);
    EXPECT_EQ(
        refusal(
            {"add_relay_gateway", Json::object({{"tenant_id", "demo"}, {"gateway_id", "gw1"}})}),
        "relay_name_taken");
    EXPECT_EQ(
        refusal(
            {"add_relay_gateway",
             Json::object({{"tenant_id", "other"}, {"gateway_id", "gw2"}, {"instance_id", "i1"}})}),
        "relay_name_taken");
}

TEST_F(RelayOperations, APinnedSecretIsTakenAndAShortOneIsNot) {
    const std::string pinned = "a-secret-that-somebody-chose";
    const Json made = ask(
        {"add_relay_gateway",
         Json::object(
             {{"tenant_id", "demo"},
              {"gateway_id", "gw1"},
              {"secret", pinned},
              {"wake_url", "http://127.0.0.1:1/wake"},
              {"display_name", "One"}})});
    EXPECT_EQ(text_at(made, "secret"), pinned);
    EXPECT_EQ(text_at(made, "instance_id"), "gw1");
    EXPECT_EQ(
        refusal(
            {"add_relay_gateway",
             Json::object({{"tenant_id", "demo"}, {"gateway_id", "gw2"}, {"secret", "short"}})}),
        "invalid_request");
}

TEST_F(RelayOperations, AMessageIsBufferedExplainedDeliveredAndAnswered) {
    add_gateway("gw1", "i1");
    EXPECT_FALSE(truth_at(say("ann", "anybody?"), "is_delivered"));
    bind("ann", "i1");
    const Json said = say("ann", "a private word");
    EXPECT_TRUE(truth_at(said, "is_delivered"));
    const Json buffer = ask({"read_relay_buffer", {}, "instance_id=i1"});
    ASSERT_EQ(buffer.find("entries")->items().size(), 1U);
    EXPECT_EQ(text_at(buffer.find("entries")->items()[0], "event"), text_at(said, "event"));
    const Json why =
        ask({"explain_relay_event", {}, "event=" + percent_encode(text_at(said, "event"))});
    EXPECT_TRUE(truth_at(why.find("decisions")->items().at(0), "delivers"));
    EXPECT_EQ(ask({"list_relay_events", {}, "limit=1"}).find("events")->items().size(), 1U);
    for (const Json& shown : {buffer, why}) {
        EXPECT_EQ(to_text(shown).find("private word"), std::string::npos);
    }

    const Dialled gateway = dial("gw1", "i1");
    const auto inbound = gateway.socket->take_inbound();
    ASSERT_EQ(inbound.size(), 1U);
    EXPECT_EQ(inbound[0].first, "a private word");
    tell(gateway, InboundAckFrame{inbound[0].second});
    EXPECT_TRUE(ask({"read_relay_buffer", {}, "instance_id=i1"}).find("entries")->items().empty());
    EXPECT_EQ(
        text_at(
            ask({"list_relay_instances", {}, "tenant_id=demo"}).find("instances")->items().at(0),
            "health"),
        "live");

    tell(gateway, OutboundFrame{"r1", SendAction{"dm:ann", "an answer", {}, {}}, {}, {}});
    world.relay().settle_until([&] { return !gateway.socket->lines.empty(); });
    const Json read = ask({"read_console", {}, "chat_id=dm%3Aann"});
    ASSERT_EQ(read.find("messages")->items().size(), 3U);
    const Json& answer = read.find("messages")->items().back();
    EXPECT_EQ(text_at(answer, "text"), "an answer");
    EXPECT_EQ(text_at(answer, "user"), "");
    const std::string next = to_text(*read.find("next"));
    EXPECT_TRUE(ask({"read_console", {}, "chat_id=dm%3Aann&after=" + next})
                    .find("messages")
                    ->items()
                    .empty());
    const Json log = ask({"list_relay_outbounds", {}, "instance_id=i1&state=sent"});
    ASSERT_EQ(log.find("outbounds")->items().size(), 1U);
    EXPECT_EQ(to_text(log).find("an answer"), std::string::npos);
    const std::string outbound = text_at(log.find("outbounds")->items()[0], "outbound_id");
    EXPECT_EQ(
        refusal({"replay_relay_outbound", Json::object({{"outbound_id", outbound}})}), "conflict");
    const Json status = ask({"relay_status"});
    EXPECT_EQ(to_text(*status.find("sockets")), "1");
}

TEST_F(RelayOperations, APromptIsPressedFromTheConsole) {
    add_gateway("gw1", "i1");
    bind("ann", "i1");
    say("ann", "hello");
    const Dialled gateway = dial("gw1", "i1");
    const auto inbound = gateway.socket->take_inbound();
    ASSERT_EQ(inbound.size(), 1U);
    tell(gateway, InboundAckFrame{inbound[0].second});
    PromptAction prompt;
    prompt.chat_id = "dm:ann";
    prompt.content = "Go on?";
    prompt.prompt_kind = "choice";
    prompt.prompt_id = "q1";
    prompt.options = {{"yes", "Yes", {}}, {"no", "No", {}}};
    tell(gateway, OutboundFrame{"r1", prompt, {}, {}});
    world.relay().settle_until([&] { return !gateway.socket->lines.empty(); });
    gateway.socket->take_frames();
    const Json read = ask({"read_console", {}, "chat_id=dm%3Aann"});
    const Json& question = read.find("messages")->items().back();
    ASSERT_EQ(question.find("options")->items().size(), 2U);
    const auto press = [&](const std::string& option) {
        return Json::object(
            {{"user", "ann"},
             {"chat_id", "dm:ann"},
             {"message_id", text_at(question, "message_id")},
             {"option_id", option}});
    };
    ask({"press_on_console", press("yes")});
    const auto frames = gateway.socket->take_frames();
    ASSERT_EQ(frames.size(), 1U);
    const auto* heard = std::get_if<InboundFrame>(&frames[0]);
    ASSERT_NE(heard, nullptr);
    ASSERT_TRUE(heard->event.prompt_response.has_value());
    EXPECT_EQ(heard->event.prompt_response->option_id, "yes");
    EXPECT_EQ(refusal({"press_on_console", press("maybe")}), "not_found");

    // 003 §3: a second press is allowed by the gate and reaches nobody, and that is what is told.
    const Json closed = ask({"press_on_console", press("no")});
    EXPECT_FALSE(truth_at(closed, "is_delivered"));
    EXPECT_TRUE(gateway.socket->take_frames().empty());
    const Json why =
        ask({"explain_relay_event", {}, "event=" + percent_encode(text_at(closed, "event"))});
    const Json& decision = why.find("decisions")->items().at(0);
    EXPECT_TRUE(truth_at(decision, "delivers"));
    EXPECT_EQ(text_at(decision, "outcome"), "not_delivered");
    EXPECT_EQ(text_at(why, "note"), "prompt_closed");
    EXPECT_NE(text_at(why, "because").find("answered already"), std::string::npos);
}

TEST_F(RelayOperations, ThreeSocketsWithoutAnAckMakeADeadLetterThatMayBeHadBack) {
    add_gateway("gw1", "i1");
    bind("ann", "i1");
    say("ann", "hello");
    for (int i = 0; i < 4; ++i) {
        const Dialled gateway = dial("gw1", "i1");
        world.relay().plane().desk.closed(gateway.session);
        world.advance(Duration::of_minutes(1));
        world.relay().settle();
    }
    const Json dead = ask({"list_relay_dead_letters", {}, "instance_id=i1"});
    ASSERT_EQ(dead.find("dead_letters")->items().size(), 1U);
    const Json& letter = dead.find("dead_letters")->items()[0];
    EXPECT_FALSE(text_at(letter, "reason").empty());
    const auto named = [](const Json& which) {
        return Json::object({{"instance_id", "i1"}, {"buffer_id", text_at(which, "buffer_id")}});
    };
    ask({"requeue_relay_dead_letter", named(letter)});
    EXPECT_EQ(refusal({"requeue_relay_dead_letter", named(letter)}), "not_found");
    EXPECT_EQ(refusal({"discard_relay_dead_letter", named(letter)}), "not_found");
    EXPECT_EQ(ask({"read_relay_buffer", {}, "instance_id=i1"}).find("entries")->items().size(), 1U);
    EXPECT_EQ(
        refusal(
            {"requeue_relay_dead_letter",
             Json::object({{"instance_id", "i1"}, {"buffer_id", "one"}})}),
        "invalid_request");
}

TEST_F(RelayOperations, AFullBufferIsToldAndItsDeadLettersAreSettledTogether) {  // R16
    add_gateway("gw1", "i1");
    bind("ann", "i1");
    for (int i = 1; i <= 12; ++i) {
        say("ann", "hello " + std::to_string(i));
    }
    const Json status = ask({"relay_status"});
    ASSERT_EQ(status.find("shedding")->items().size(), 1U);
    EXPECT_EQ(text_at(status.find("shedding")->items()[0], "instance_id"), "i1");
    const Json shown = ask({"list_relay_instances"});
    const Json& instance = shown.find("instances")->items()[0];
    EXPECT_EQ(to_text(*instance.find("shedding")->find("laid_aside")), "4");
    const Json events = ask({"list_relay_events", {}, "limit=1"});
    EXPECT_EQ(to_text(*events.find("events")->items()[0].find("laid_aside")), R"(["i1"])");
    const Json whose = Json::object({{"instance_id", "i1"}});
    EXPECT_EQ(
        to_text(ask({"requeue_relay_dead_letters", whose})), R"({"done":0,"left":4,"no_room":4})");
    EXPECT_EQ(refusal({"discard_relay_dead_letters", Json::object()}), "invalid_request");
    EXPECT_EQ(
        to_text(ask(
            {"discard_relay_dead_letters",
             Json::object({{"all", true}, {"older_than_seconds", 3600}})})),
        R"({"done":0,"left":0,"no_room":0})");
    EXPECT_EQ(
        to_text(ask({"discard_relay_dead_letters", whose})), R"({"done":4,"left":0,"no_room":0})");
}

TEST_F(RelayOperations, ARevokedGatewaysSocketClosesAndItsInstanceCanBeForgotten) {
    add_gateway("gw1", "i1");
    bind("ann", "i1");
    const Dialled gateway = dial("gw1", "i1");
    EXPECT_EQ(refusal({"revoke_relay_gateway", Json::object()}), "invalid_request");
    const Json revoked = ask({"revoke_relay_gateway", Json::object({{"gateway_id", "gw1"}})});
    EXPECT_EQ(to_text(*revoked.find("revoked")), R"(["gw1"])");
    EXPECT_EQ(gateway.socket->close_code, kCloseUnauthorised);
    ask({"deprovision_relay_instance", Json::object({{"instance_id", "i1"}})});
    EXPECT_EQ(refusal({"get_relay_instance", {}, "instance_id=i1"}), "not_found");
    EXPECT_FALSE(truth_at(say("ann", "still there?"), "is_delivered"));
}

TEST_F(RelayOperations, RoutesScopesLinksAndPoliciesAreShownAsTheyWereSet) {
    add_gateway("gw1", "i1");
    bind("ann", "i1");
    const Json route = Json::object(
        {{"platform", "local"},
         {"bot_id", "console"},
         {"discriminator", "kitchen"},
         {"tenant_id", "demo"}});
    const Json scope = Json::object(
        {{"instance_id", "i1"},
         {"platform", "local"},
         {"guild_id", "kitchen"},
         {"channel_id", "kitchen"}});
    EXPECT_EQ(refusal({"claim_relay_scope", scope}), "guild_not_routed");
    ask({"add_relay_route", route});
    EXPECT_EQ(ask({"list_relay_routes"}).find("routes")->items().size(), 1U);
    ask({"claim_relay_scope", scope});
    ask(
        {"set_relay_principal",
         Json::object(
             {{"instance_id", "i1"},
              {"policy", "allow-list"},
              {"allow", Json::array({"ann", "bob"})}})});
    const Json shown = ask({"get_relay_instance", {}, "instance_id=i1"});
    EXPECT_EQ(shown.find("users")->items().size(), 1U);
    EXPECT_EQ(shown.find("scopes")->items().size(), 1U);
    EXPECT_EQ(text_at(shown.find("principals")->items().at(0), "policy"), "allow-list");
    EXPECT_EQ(
        refusal(
            {"set_relay_principal",
             Json::object({{"instance_id", "i1"}, {"policy", "everybody"}})}),
        "invalid_request");
    ask({"release_relay_scope", scope});
    ask(
        {"remove_relay_route",
         Json::object(
             {{"platform", "local"}, {"bot_id", "console"}, {"discriminator", "kitchen"}})});
    EXPECT_TRUE(ask({"list_relay_routes"}).find("routes")->items().empty());
    const Json binding =
        Json::object({{"platform", "local"}, {"user_id", "ann"}, {"instance_id", "i1"}});
    ask({"unbind_relay_user", binding});
    EXPECT_EQ(refusal({"unbind_relay_user", binding}), "not_found");
}

// Whoever writes in vain is seen, and let in without anybody knowing his id beforehand.
TEST_F(RelayOperations, AStrangerIsListedAndLinkedByWhatTheListSays) {
    add_gateway("gw1", "i1");
    const Json said = say("zoe", "anybody there?");
    EXPECT_FALSE(said.find("is_delivered")->as_bool());
    EXPECT_NE(text_at(said, "notice").find("/link CODE"), std::string::npos);
    const Json listed = ask({"list_relay_strangers"});
    ASSERT_EQ(listed.find("strangers")->items().size(), 1U);
    const Json& zoe = listed.find("strangers")->items()[0];
    EXPECT_EQ(text_at(zoe, "user_id"), "zoe");
    EXPECT_EQ(to_text(zoe).find("anybody"), std::string::npos);
    EXPECT_TRUE(
        ask({"list_relay_strangers", {}, "tenant_id=demo"}).find("strangers")->items().empty());
    const Json bound = ask(
        {"bind_relay_user",
         Json::object(
             {{"platform", text_at(zoe, "platform")},
              {"bot_id", text_at(zoe, "bot_id")},
              {"user_id", text_at(zoe, "user_id")},
              {"instance_id", "i1"}})});
    EXPECT_EQ(text_at(bound, "bot_id"), "console");
    EXPECT_TRUE(say("zoe", "and now?").find("is_delivered")->as_bool());
    EXPECT_TRUE(ask({"list_relay_strangers"}).find("strangers")->items().empty());
}

TEST_F(RelayOperations, ACodeOfTheOperatorLinksWhoeverSendsIt) {
    add_gateway("gw1", "i1");
    const Json code =
        ask({"create_relay_link", Json::object({{"instance_id", "i1"}, {"platform", "local"}})});
    EXPECT_EQ(
        refusal(
            {"create_relay_link", Json::object({{"instance_id", "i1"}, {"platform", "telegram"}})}),
        "invalid_request");
    EXPECT_NE(
        text_at(say("zoe", "/link " + text_at(code, "code")), "notice").find("linked to i1"),
        std::string::npos);
    EXPECT_TRUE(say("zoe", "hello").find("is_delivered")->as_bool());
    EXPECT_NE(text_at(say("zoe", "/whoami"), "notice").find("1. i1"), std::string::npos);
    EXPECT_NE(
        text_at(say("zoe", "/unlink"), "notice").find("no longer linked to i1"), std::string::npos);
    EXPECT_FALSE(say("zoe", "hello?").find("is_delivered")->as_bool());
}

TEST_F(RelayOperations, TokensAreToldOnceAndEndWhenRevoked) {
    const Json enrollment = ask({"create_relay_enrollment", Json::object({{"tenant_id", "demo"}})});
    EXPECT_GE(text_at(enrollment, "enrollment_token").size(), 32U);
    EXPECT_EQ(
        refusal({"create_relay_enrollment", Json::object({{"tenant_id", "nobody"}})}), "not_found");
    const Json token = ask({"create_relay_token", Json::object({{"tenant_id", "demo"}})});
    const Json which = Json::object({{"token_id", text_at(token, "token_id")}});
    ask({"revoke_relay_token", which});
    EXPECT_EQ(refusal({"revoke_relay_token", which}), "not_found");
}

TEST_F(RelayOperations, AnInterruptNeedsASessionThatIsKnown) {
    EXPECT_EQ(
        refusal(
            {"interrupt_relay_session",
             Json::object({{"tenant_id", "demo"}, {"session_key", "agent:main:local:dm:dm:ann"}})}),
        "not_found");
}

TEST_F(RelayOperations, WhatIsMissingInAQueryIsNamed) {
    for (const char* id : {"read_relay_buffer", "get_relay_instance", "explain_relay_event"}) {
        EXPECT_EQ(refusal({id}), "invalid_request") << id;
    }
    EXPECT_EQ(refusal({"read_console"}), "invalid_request");
    EXPECT_EQ(refusal({"explain_relay_event", {}, "event=local%2Fconsole%2Fm99"}), "not_found");
}

// docs/contracts/relay-connector.md, section 11.
TEST_F(RelayOperations, TheDocumentTellsEveryMetric) {
    std::set<std::string> shown;
    const std::string text = world.relay().plane().views.metrics_text();
    for (const std::string_view line : split(text, '\n')) {
        constexpr std::string_view kType = "# TYPE ";
        if (line.starts_with(kType)) {
            const std::string_view rest = line.substr(kType.size());
            shown.emplace(rest.substr(0, rest.find(' ')));
        }
    }
    std::ifstream in(std::string(INTERLOCK_SOURCE_DIR) + "/docs/contracts/relay-connector.md");
    std::stringstream document;
    document << in.rdbuf();
    const std::string page = document.str();
    std::set<std::string> told;
    for (const std::string_view line : split(page, '\n')) {
        if (line.starts_with("| `interlock_relay_")) {
            told.emplace(line.substr(3, line.find('`', 3) - 3));
        }
    }
    EXPECT_FALSE(told.empty());
    EXPECT_EQ(told, shown);
}

TEST_F(RelayOperations, EverythingSurvivesARestart) {
    add_gateway("gw1", "i1");
    bind("ann", "i1");
    say("ann", "before");
    world.restart();
    const Json said = say("ann", "after");
    EXPECT_TRUE(truth_at(said, "is_delivered"));
    EXPECT_EQ(ask({"read_relay_buffer", {}, "instance_id=i1"}).find("entries")->items().size(), 2U);
}

}  // namespace
}  // namespace interlock
