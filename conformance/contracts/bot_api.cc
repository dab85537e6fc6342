#include "bot_api.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "market/rules/synthetic_market.h"

namespace interlock {

BotApi::BotApi() : world(ApiWorld::default_config(), std::make_unique<SyntheticMarket>()) {}

std::string BotApi::word_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

Json BotApi::body_of(const HttpResponse& response) {
    auto json = parse_json(response.body);
    EXPECT_TRUE(json) << response.body;
    return json ? *std::move(json) : Json();
}

std::string BotApi::word(const HttpResponse& response, std::string_view key) {
    return word_at(body_of(response), key);
}

std::string BotApi::error_code(const HttpResponse& response) {
    const Json body = body_of(response);
    const Json* error = body.find("error");
    return error == nullptr ? "" : word_at(*error, "code");
}

BotApi::Owner BotApi::sign_up(const std::string& name) {
    const HttpResponse made = at_host(
        {"POST",
         "/signup",
         R"({"email":")" + name + R"(@example.com","plan":"pro","agent_metadata":null})"});
    EXPECT_EQ(made.status, 201) << made.body;
    Owner owner{
        word(made, "tenant_id"),
        word(made, "access_key"),
        word(made, "key_id"),
        "owner " + name,
        name + "@example.com"};
    world.advance(Duration{});  // The letter is a timer that is due.
    CHECK(!world.mailer.sent.empty());
    const std::string& letter = world.mailer.sent.back().text;
    const std::size_t at = letter.find("code=") + 5;
    const std::string code = letter.substr(at, letter.find_first_of(" \r\n", at) - at);
    const HttpResponse session = at_host(
        {"POST",
         "/account/activate",
         R"({"code":")" + code + R"(","password":"correct horse battery","want_token":true})"});
    EXPECT_EQ(session.status, 200) << session.body;
    world.know(owner.human, word(session, "token"));
    return owner;
}

void BotApi::log_in(const Owner& owner) {
    const HttpResponse session = at_host(
        {"POST",
         "/account/login",
         R"({"email":")" + owner.email +
             R"(","password":"correct horse battery","want_token":true})"});
    EXPECT_EQ(session.status, 200) << session.body;
    world.know(owner.human, word(session, "token"));
}

BotApi::Owner BotApi::sign_up_in(const std::string& name, const std::string& state) {
    const Owner owner = sign_up(name);
    std::vector<Call> calls{
        {"POST",
         "/update_exchange_keys",
         R"({"exchange":"paper","api_key":"good","api_secret":"s"})"}};
    if (state != "uninitialized") {
        calls.push_back({"POST", "/initialize_bot"});
    }
    if (state == "running" || state == "stopped") {
        calls.push_back({"POST", "/start"});
    }
    if (state == "stopped") {
        calls.push_back({"POST", "/stop"});
    }
    for (const Call& call : calls) {
        const HttpResponse response = at_tenant(owner, call);
        EXPECT_EQ(response.status, 200) << call.path << " " << response.body;
    }
    EXPECT_EQ(word(at_tenant(owner, {"GET", "/status"}), "bot_state"), state);
    return owner;
}

HttpResponse BotApi::at_tenant(const Owner& owner, const Call& call) {
    return world.send(
        {.method = call.method,
         .path = "/api/" + owner.tenant + call.path,
         .body = call.body,
         .headers = {{"X-Access-Key", owner.key}}});
}

HttpResponse BotApi::at_key(const Owner& owner, const Call& call) {
    return world.send(
        {.method = call.method, .path = "/" + owner.key + call.path, .body = call.body});
}

HttpResponse BotApi::as_human(const Owner& owner, const Call& call) {
    return world.send(
        {.as = owner.human,
         .method = call.method,
         .path = "/api/" + owner.tenant + call.path,
         .body = call.body});
}

HttpResponse BotApi::at_host(const Call& call) {
    return world.send({.method = call.method, .path = call.path, .body = call.body});
}

Json BotApi::document() {
    const HttpResponse response = at_host({"GET", "/ai/agent-schema.json"});
    EXPECT_EQ(response.status, 200);
    return body_of(response);
}

std::vector<Json> BotApi::endpoints_of(const Json& document) {
    std::vector<Json> endpoints;
    for (const auto& [name, group] : document.find("endpoints")->members()) {
        for (const Json& endpoint : group.find("endpoints")->items()) {
            endpoints.push_back(endpoint);
            endpoints.back().set("group", name);
        }
    }
    return endpoints;
}

}  // namespace interlock
