// The platform of bots (004) as a schema that keeps its word: the served document has every fact of
// the contract's, and each endpoint it lists exists, takes the body and gives the answer that it
// declares, at both base patterns. bot_states_test.cc has states and approval.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "bot_api.h"
#include "declared_answers.h"

namespace interlock {
namespace {

// The contract's document without its sentences.
Json contract() {
    std::ifstream in(
        std::string(INTERLOCK_SOURCE_DIR) + "/conformance/contracts/bot/document.json");
    std::stringstream text;
    text << in.rdbuf();
    auto json = parse_json(text.str());
    EXPECT_TRUE(json);
    return json ? *std::move(json) : Json();
}

const Json* find_endpoint(const std::vector<Json>& endpoints, const std::string& id) {
    for (const Json& one : endpoints) {
        if (BotApi::word_at(one, "id") == id) {
            return &one;
        }
    }
    return nullptr;
}

std::string text_of(const Json* json) {
    return json == nullptr ? "(nothing)" : to_text(*json);
}

bool is_true(const Json* json) {
    return json != nullptr && json->is_bool() && json->as_bool();
}

// A body each endpoint takes, on the configuration that a signup brings.
const std::map<std::string, std::string>& good_bodies() {
    static const std::map<std::string, std::string> bodies{
        {"initialize_bot", "{}"},
        {"start", "{}"},
        {"restart", "{}"},
        {"reload_from_config", "{}"},
        {"connect_exchange", "{}"},
        {"disconnect_exchange", "{}"},
        {"stop_pnl", R"({"idempotency_key":"k1"})"},
        {"signup", R"({"email":"walk@example.com","plan":"standard","agent_metadata":null})"},
        {"account_login", R"({"email":"a@example.com","password":"correct horse battery"})"},
        {"stop", R"({"cancel_orders":false})"},
        {"update_pnl", R"({"pnl_perc":2.5})"},
        {"update_symbol", R"({"old_symbol":"SOLUSDT","new_symbol":"XRPUSDT","new_amount":300})"},
        {"update_all_symbols", R"({"symbols":["BTCUSDT"],"amounts_by_symbol":{"BTCUSDT":0.005}})"},
        {"update_bot_settings",
         R"({"stop_buy":{"BTCUSDT":1},"stop_sell":null,"BBANDS_TIGHT_QUANTILE":0.3,)"
         R"("volatility":2,"timeframe":"15m","num_bids_ask":2})"},
        {"update_exchange_keys",
         R"({"exchange":"paper","api_key":"good","api_secret":"s","api_password":null})"},
        {"run_pnl", R"({"lookback_days":7})"},
    };
    return bodies;
}

// A value that no field of this type takes.
Json wrong_for(const std::string& type) {
    if (type.starts_with("string") || type.starts_with("float")) {
        return true;
    }
    return "wrong";
}

std::string type_of(const Json& declared) {
    return declared.is_string() ? declared.as_string() : BotApi::word_at(declared, "type");
}

bool is_optional(const Json& declared) {
    return declared.find("default") != nullptr || type_of(declared).ends_with("| null");
}

// Whether a value is of a declared type: a type's name, with or without "| null", or words.
bool has_type(const Json& value, std::string type) {
    const std::string null = " | null";
    if (type.ends_with(null)) {
        if (value.is_null()) {
            return true;
        }
        type.resize(type.size() - null.size());
    }
    if (type == "string") {
        return value.is_string();
    }
    if (type == "boolean") {
        return value.is_bool();
    }
    if (type == "float") {
        return value.is_number();
    }
    if (type == "integer") {
        return value.as_int64().has_value();
    }
    if (type == "object") {
        return value.is_object();
    }
    if (type == "array") {
        return value.is_array();
    }
    const std::string words = " | " + type + " | ";
    return value.is_string() && words.find(" | " + value.as_string() + " | ") != std::string::npos;
}

class BotSchema : public ::testing::Test {
protected:
    // Who the document lets make this call.
    HttpResponse allowed_call(const Json& endpoint, const BotApi::Call& call) {
        if (is_true(endpoint.find("platform_level"))) {
            return api.at_host(call);
        }
        return *endpoint.find("agent_usable") == Json(false) ? api.as_human(owner, call)
                                                             : api.at_tenant(owner, call);
    }
    static BotApi::Call call_of(const Json& endpoint, std::string body = {}) {
        return {
            BotApi::word_at(endpoint, "method"),
            BotApi::word_at(endpoint, "path"),
            std::move(body)};
    }
    // Every place where it is served, with the caller the document names.
    std::vector<HttpResponse> everywhere(const Json& endpoint, const std::string& body) {
        std::vector<HttpResponse> answers{allowed_call(endpoint, call_of(endpoint, body))};
        const bool is_agents = *endpoint.find("agent_usable") != Json(false);
        if (is_agents && !is_true(endpoint.find("platform_level"))) {
            answers.push_back(api.at_key(owner, call_of(endpoint, body)));
        }
        return answers;
    }
    void expect_refused(
        const Json& endpoint, const Json& body, const std::set<std::string>& fields) {
        for (const HttpResponse& response : everywhere(endpoint, to_text(body))) {
            ++refusals;
            const std::string where = BotApi::word_at(endpoint, "id") + " " + to_text(body) + ": " +
                                      std::to_string(response.status) + " " + response.body;
            ASSERT_EQ(response.status, 422) << where;
            EXPECT_EQ(BotApi::error_code(response), "invalid_request") << where;
            for (const std::string& field : fields) {
                EXPECT_NE(response.body.find("\"path\":\"" + field), std::string::npos) << where;
            }
        }
    }

    BotApi api;
    const BotApi::Owner owner = api.sign_up_in("walker", "ready");
    const Json document = api.document();
    const std::vector<Json> endpoints = BotApi::endpoints_of(document);
    int refusals = 0;
};

TEST_F(BotSchema, ServesEveryEndpointOfTheContractWithItsFacts) {
    const Json wanted = contract();
    int facts = 0;
    for (const Json& fact : wanted.find("endpoints")->items()) {
        const std::string id = BotApi::word_at(fact, "id");
        const Json* served = find_endpoint(endpoints, id);
        ASSERT_NE(served, nullptr) << id;
        EXPECT_EQ(BotApi::word_at(*served, "status"), "implemented") << id;
        for (const auto& [name, value] : fact.members()) {
            const Json* ours = served->find(name);
            ASSERT_NE(ours, nullptr) << id << "." << name;
            if (!value.is_object()) {
                EXPECT_EQ(*ours, value) << id << "." << name;
                ++facts;
                continue;
            }
            for (const auto& [field, type] : value.members()) {
                EXPECT_EQ(text_of(ours->find(field)), to_text(type)) << id << "." << name;
                ++facts;
            }
        }
    }
    EXPECT_EQ(endpoints.size(), wanted.find("endpoints")->items().size());
    std::cout << "document: " << endpoints.size() << " endpoints, " << facts << " facts\n";
    EXPECT_GT(facts, 200);
}

TEST_F(BotSchema, ServesStatesStepsConstraintsAndRoadmapOfTheContract) {
    const Json wanted = contract();
    for (const auto& [name, value] : wanted.find("authentication")->members()) {
        EXPECT_EQ(text_of(document.find("authentication")->find(name)), to_text(value));
    }
    const Json& machine = *document.find("bot_state_machine");
    EXPECT_EQ(*machine.find("states"), *wanted.find("states"));
    std::set<std::string> transitions;
    for (const Json& one : machine.find("transitions")->items()) {
        transitions.insert(
            to_text(Json::array({*one.find("from"), *one.find("to"), *one.find("via")})));
    }
    for (const Json& one : wanted.find("transitions")->items()) {
        EXPECT_TRUE(transitions.contains(to_text(one))) << to_text(one);
    }
    Json steps = Json::array();
    for (const Json& one : document.find("onboarding_sequence")->find("steps")->items()) {
        steps.push(*one.find("call"));
    }
    EXPECT_EQ(steps, *wanted.find("steps"));
    for (const auto& [name, value] : wanted.find("constraints")->members()) {
        const Json* ours = document.find("safety_constraints")->find(name);
        ASSERT_NE(ours, nullptr) << name;
        EXPECT_EQ(*ours->find("value"), value) << name;
    }
    // What the document says of each, word for word.
    for (const auto& [name, sentence] : wanted.find("constraint_sentences")->members()) {
        const Json* ours = document.find("safety_constraints")->find(name);
        ASSERT_NE(ours, nullptr) << name;
        EXPECT_EQ(text_of(ours->find("description")), to_text(sentence)) << name;
    }
    const Json& exclusions = *document.find("explicit_exclusions")->find("exclusions");
    EXPECT_EQ(Json(exclusions.items().size()), *wanted.find("exclusions"));
    const Json& roadmap = *document.find("roadmap");
    for (const auto& [release, count] : wanted.find("roadmap")->members()) {
        ASSERT_NE(roadmap.find(release), nullptr) << release;
        EXPECT_EQ(Json(roadmap.find(release)->items().size()), count) << release;
        const std::string status = release == "future" ? "declined | planned" : "implemented";
        EXPECT_EQ(BotApi::word_at(*roadmap.find("status"), release), status);
    }
    // ADR 0027 declines one of the two; each says what became of it, and why.
    const Json& future = *roadmap.find("future_status");
    ASSERT_EQ(future.items().size(), roadmap.find("future")->items().size());
    const std::vector<std::string> words{"declined", "planned"};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Json& one = future.items()[i];
        EXPECT_EQ(*one.find("item"), roadmap.find("future")->items()[i]);
        EXPECT_EQ(BotApi::word_at(one, "status"), words[i]);
        EXPECT_FALSE(BotApi::word_at(one, "why").empty());
    }
}

TEST_F(BotSchema, ThePageHasARowForEveryEndpoint) {
    std::ifstream in(std::string(INTERLOCK_SOURCE_DIR) + "/docs/contracts/bot.md");
    std::set<std::string> rows;
    for (std::string line; std::getline(in, line);) {
        if (line.find("| `/") != std::string::npos) {
            rows.insert(line);
        }
    }
    std::set<std::string> wanted;
    for (const Json& endpoint : endpoints) {
        const Json& usable = *endpoint.find("agent_usable");
        const std::string agent = usable.is_string() ? usable.as_string()
                                  : usable.as_bool() ? "yes"
                                                     : "no";
        wanted.insert(
            "| `" + BotApi::word_at(endpoint, "id") + "` | " + BotApi::word_at(endpoint, "method") +
            " | `" + BotApi::word_at(endpoint, "path") + "` | " + agent + " | " +
            BotApi::word_at(endpoint, "requires_state") + " |");
    }
    EXPECT_EQ(rows, wanted);
}

TEST_F(BotSchema, EveryEndpointIsThereAtBothBasePatternsWithItsMethodOnly) {
    int calls = 0;
    for (const Json& endpoint : endpoints) {
        const std::string id = BotApi::word_at(endpoint, "id");
        const bool is_platform = is_true(endpoint.find("platform_level"));
        for (const std::string method : {"GET", "POST", "PUT", "DELETE"}) {
            BotApi::Call call = call_of(endpoint, R"({"zz":1})");
            call.method = method;
            std::vector<HttpResponse> answers;
            if (is_platform) {
                answers.push_back(api.at_host(call));
                EXPECT_EQ(api.at_key(owner, call).status, 404) << id;
            } else {
                answers.push_back(api.at_tenant(owner, call));
                answers.push_back(api.at_key(owner, call));
                EXPECT_EQ(answers[0].status, answers[1].status) << id;
                EXPECT_EQ(answers[0].body, answers[1].body) << id;
            }
            for (const HttpResponse& answer : answers) {
                ++calls;
                const bool is_declared = method == BotApi::word_at(endpoint, "method");
                EXPECT_NE(answer.status, 404) << id << " " << method;
                EXPECT_EQ(answer.status == 405, !is_declared) << id << " " << method;
            }
        }
    }
    std::cout << "methods: " << calls << " calls\n";
    EXPECT_GT(calls, 200);
}

TEST_F(BotSchema, EveryBodyIsHeldToItsDeclaredFields) {
    int fields = 0;
    for (const Json& endpoint : endpoints) {
        const std::string id = BotApi::word_at(endpoint, "id");
        if (BotApi::word_at(endpoint, "method") == "GET") {
            const std::string path = BotApi::word_at(endpoint, "path");
            EXPECT_EQ(api.at_tenant(owner, {"GET", path + "?zz=1"}).status, 422) << id;
            continue;
        }
        const Json* declared = endpoint.find("request_body");
        const auto good = good_bodies().find(id);
        ASSERT_EQ(good != good_bodies().end(), declared != nullptr) << id;
        const Json body = good == good_bodies().end() ? Json::object() : *parse_json(good->second);
        if (id != "regenerate_key") {  // Reads no body at all.
            Json more = body;
            more.set("zz_unknown", 1);
            expect_refused(endpoint, more, {"zz_unknown"});
        }
        if (declared == nullptr) {
            continue;
        }
        Json wrong = Json::object();
        std::set<std::string> names;
        for (const auto& [name, type] : declared->members()) {
            ++fields;
            names.insert(name);
            wrong.set(name, wrong_for(type_of(type)));
            Json without = Json::object();
            for (const auto& [other, value] : body.members()) {
                if (other != name) {
                    without.set(other, value);
                }
            }
            if (!is_optional(type)) {
                expect_refused(endpoint, without, {name});
            }
        }
        expect_refused(endpoint, wrong, names);  // All of them in one answer.
    }
    std::cout << "bodies: " << fields << " fields, " << refusals << " refusals\n";
    EXPECT_GT(refusals, 60);
}

TEST_F(BotSchema, EveryParameterIsHeldToItsRangeAndHasItsDefault) {
    int parameters = 0;
    for (const Json& endpoint : endpoints) {
        const Json* declared = endpoint.find("parameters");
        if (declared == nullptr) {
            continue;
        }
        const std::string path = BotApi::word_at(endpoint, "path");
        for (const auto& [name, type] : declared->members()) {
            ++parameters;
            for (const char* wrong : {"0", "2001", "x", "1.5"}) {
                const BotApi::Call call{"GET", path + "?" + name + "=" + wrong};
                EXPECT_EQ(api.at_tenant(owner, call).status, 422) << call.path;
            }
            const std::string otherwise = to_text(*type.find("default"));
            EXPECT_EQ(
                api.at_tenant(owner, {"GET", path}).body,
                api.at_key(owner, {"GET", path + "?" + name + "=" + otherwise}).body);
        }
    }
    EXPECT_EQ(parameters, 2);
}

// In an order in which each call is allowed; those of the lifecycle last.
TEST_F(BotSchema, EveryAnswerHasItsDeclaredFields) {
    const std::map<std::string, std::string> before{
        {"stop", "running"}, {"start", "ready"}, {"restart", "stopped"}};
    int fields = 0;
    int answers = 0;
    for (const Json& endpoint : endpoints) {
        const std::string id = BotApi::word_at(endpoint, "id");
        const Json* declared = endpoint.find("response");
        if (declared == nullptr) {
            EXPECT_EQ(id, "account_login");
            continue;
        }
        const auto state = before.find(id);
        const BotApi::Owner there =
            api.sign_up_in("of_" + id, state == before.end() ? "ready" : state->second);
        const auto good = good_bodies().find(id);
        const std::string body = good == good_bodies().end() ? "" : good->second;
        HttpResponse response;
        if (is_true(endpoint.find("platform_level"))) {
            response = api.at_host(call_of(endpoint, body));
        } else if (*endpoint.find("agent_usable") == Json(false)) {
            response = api.as_human(there, call_of(endpoint, body));
        } else {
            response = api.at_tenant(there, call_of(endpoint, body));
        }
        const bool proposes = *endpoint.find("agent_usable") == Json("proposal_only");
        const int wanted = id == "signup" ? 201 : proposes ? 202 : 200;
        ASSERT_EQ(response.status, wanted) << id << " " << response.body;
        ++answers;
        const Json answer = BotApi::body_of(response);
        // Nothing it does not declare, however deep.
        const Json& schema = *endpoint.find("response_schema");
        for (const std::string& problem : undeclared(answer, schema)) {
            ADD_FAILURE() << id << ": " << problem;
        }
        const Json::Array& required = schema.find("required")->items();
        for (const auto& [name, type] : declared->members()) {
            ++fields;
            const Json* value = answer.find(name);
            if (value == nullptr && std::ranges::find(required, Json(name)) == required.end()) {
                continue;  // Of another outcome of the same call.
            }
            ASSERT_NE(value, nullptr) << id << "." << name << " in " << response.body;
            EXPECT_TRUE(has_type(*value, type_of(type)))
                << id << "." << name << " " << response.body;
        }
    }
    std::cout << "answers: " << answers << " with " << fields << " declared fields\n";
    EXPECT_GT(fields, 45);
}

}  // namespace
}  // namespace interlock
