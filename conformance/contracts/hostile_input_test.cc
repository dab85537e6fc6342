// What no honest planner sends, each with its stable error (002 §2.1, §2.2 strict schemas): missing
// and unknown fields, wrong types, numbers beyond every range, too many of everything.
#include <gtest/gtest.h>

#include <map>

#include "api_world.h"

namespace interlock {
namespace {

struct Tool {
    std::string name;
    std::string body;  // One the decoder takes.
};

void PrintTo(const Tool& tool, std::ostream* out) {
    *out << tool.name;
}

const std::string kIds = R"("decision_id":"d1","tick_id":"t1","idempotency_key":"k1")";
const std::string kIntent =
    R"({"intent_id":"i0","symbol":"ABCUSDT","side":"buy","order_type":"limit","qty":"1",)"
    R"("limit_price":"100","time_in_force":"GTC","strategy_id":"external","expected_edge_bps":50})";
const std::string kApproved =
    R"({"intent_id":"i0","symbol":"ABCUSDT","side":"buy","order_type":"limit","qty":"1",)"
    R"("limit_price":"100","time_in_force":"GTC",)"
    R"("order_client_id":"haaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})";

std::vector<Tool> tools() {
    const std::string plan = R"("plan":{"intents":[)" + kIntent + R"(],"reason":"r"})";
    return {
        {"py_get_canonical_state", "{" + kIds + R"(,"as_of":"2026-11-15T12:00:00Z"})"},
        {"py_get_market_snapshot", "{" + kIds + R"(,"symbols":["ABCUSDT"],"max_staleness_sec":5})"},
        {"py_validate_plan", "{" + kIds + "," + plan + "}"},
        {"py_dry_run_plan",
         "{" + kIds + "," + plan + R"(,"assumptions":{"slippage_bps":25,"fee_bps":20}})"},
        {"py_execute_plan",
         "{" + kIds + R"(,"execution_mode":"paper","approved_intents":[)" + kApproved + "]}"},
        {"py_verify_execution",
         "{" + kIds + R"(,"order_client_ids":["haaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]})"},
        {"py_record_decision",
         "{" + kIds +
             R"(,"record":{"plan_summary":"a","validation_summary":"b","execution_summary":"c",)"
             R"("verification_summary":"d","state_delta":{},"metrics":{}}})"},
    };
}

Json parsed(const std::string& text) {
    auto json = parse_json(text);
    EXPECT_TRUE(json) << text;
    return json ? *std::move(json) : Json();
}

class HostileInput : public ::testing::TestWithParam<Tool> {
protected:
    HttpResponse send(const std::string& body) {
        return world.send(
            {.as = "planner",
             .method = "POST",
             .path = "/api/demo/tools/" + GetParam().name,
             .body = body});
    }

    // A refusal in the tool's own shape that names the path.
    void expect_refused(const std::string& body, const std::string& path) {
        const HttpResponse response = send(body);
        EXPECT_EQ(response.status, 422) << body << "\n" << response.body;
        const Json answer = parsed(response.body);
        ASSERT_NE(answer.find("status"), nullptr) << response.body;
        EXPECT_EQ(answer.find("status")->as_string(), "error");
        EXPECT_FALSE(answer.find("audit_ref")->as_string().empty());
        const Json& error = answer.find("errors")->items().at(0);
        EXPECT_EQ(error.find("code")->as_string(), "invalid_request");
        EXPECT_FALSE(error.find("next_step")->as_string().empty());
        EXPECT_NE(response.body.find("\"path\":\"" + path), std::string::npos)
            << path << ": " << response.body;
    }

    ApiWorld world;
};

Json without(const Json& object, const std::string& key) {
    Json copy = Json::object();
    for (const auto& [name, value] : object.members()) {
        if (name != key) {
            copy.set(name, value);
        }
    }
    return copy;
}

TEST_P(HostileInput, EveryRequiredFieldIsMissedByName) {
    const Json body = parsed(GetParam().body);
    for (const auto& [name, value] : body.members()) {
        expect_refused(to_text(without(body, name)), name);
    }
}

TEST_P(HostileInput, UnknownFieldsAreRefusedByName) {
    Json body = parsed(GetParam().body);
    body.set("dry_runn", true);
    expect_refused(to_text(body), "dry_runn");
}

TEST_P(HostileInput, WrongTypesAreRefusedByName) {
    const Json body = parsed(GetParam().body);
    for (const auto& [name, value] : body.members()) {
        for (const char* wrong : {"true", "[[]]", "\"\""}) {
            Json changed = body;
            changed.set(name, parsed(wrong));
            expect_refused(to_text(changed), name);
        }
    }
}

TEST_P(HostileInput, LongIdsAreRefused) {
    for (const std::string name : {"decision_id", "tick_id", "idempotency_key"}) {
        Json body = parsed(GetParam().body);
        body.set(name, std::string(129, 'x'));
        expect_refused(to_text(body), name);
    }
}

TEST_P(HostileInput, DuplicateKeysDepthNanAndBrokenTextAreNotJson) {
    const std::string& body = GetParam().body;
    const std::vector<std::string> broken{
        R"({"decision_id":"d2",)" + body.substr(1),
        R"({"deep":)" + std::string(40, '[') + std::string(40, ']') + "," + body.substr(1),
        R"({"x":NaN,)" + body.substr(1),
        R"({"x":Infinity,)" + body.substr(1),
        R"({"x":"\ud800",)" + body.substr(1),
        body.substr(0, body.size() - 1),
        std::string("\xff\xfe") + body,
        body + body,
    };
    for (const std::string& text : broken) {
        const HttpResponse response = send(text);
        EXPECT_EQ(response.status, 400) << text;
        EXPECT_NE(response.body.find("\"invalid_json\""), std::string::npos) << response.body;
    }
}

// 002 §2.1: status, errors[] and audit_ref are in every answer, even to what is no JSON at all.
TEST_P(HostileInput, EvenUnreadableTextGetsTheShapeOfATool) {
    const Json answer = parsed(send("{").body);
    EXPECT_EQ(*answer.find("status"), Json("error"));
    ASSERT_EQ(answer.find("errors")->items().size(), 1u);
    EXPECT_EQ(*answer.find("errors")->items()[0].find("code"), Json("invalid_json"));
    EXPECT_TRUE(answer.find("audit_ref")->is_string());
}

TEST_P(HostileInput, AConflictOfKeysHasTheShapeOfATool) {
    send(GetParam().body);
    Json other = parsed(GetParam().body);
    other.set("tick_id", "t2");
    const Json answer = parsed(send(to_text(other)).body);
    EXPECT_EQ(*answer.find("status"), Json("error"));
    EXPECT_TRUE(answer.find("audit_ref")->is_string());
}

TEST_P(HostileInput, AnArrayInsteadOfAnObjectIsRefused) {
    EXPECT_EQ(send("[]").status, 422);
    EXPECT_EQ(send("\"text\"").status, 422);
}

TEST_P(HostileInput, EveryDecodedRefusalIsOnTheRecord) {
    send("{" + kIds + R"(,"zz":1})");
    EXPECT_EQ(world.plane_world().events().back(), "ERROR_EVENT");
}

INSTANTIATE_TEST_SUITE_P(Tools, HostileInput, ::testing::ValuesIn(tools()), [](const auto& given) {
    return given.param.name;
});

// One intent with one member replaced, through py_validate_plan.
HttpResponse validate(ApiWorld& world, const std::string& intents) {
    return world.send(
        {.as = "planner",
         .method = "POST",
         .path = "/api/demo/tools/py_validate_plan",
         .body = "{" + kIds + R"(,"plan":{"reason":"r","intents":)" + intents + "}}"});
}

std::string with_member(const std::string& name, const std::string& value) {
    Json intent = parsed(kIntent);
    intent.set(name, Json::number("0"));
    std::string text = to_text(intent);
    const std::string mark = "\"" + name + "\":0";
    return "[" + text.replace(text.find(mark), mark.size(), "\"" + name + "\":" + value) + "]";
}

TEST(HostileIntent, AbsurdMembersAreRefusedByName) {
    ApiWorld world;
    const std::vector<std::pair<std::string, std::vector<std::string>>> absurd{
        {"qty",
         {"-1",
          "\"-1\"",
          "0",
          "\"1e400\"",
          "\"NaN\"",
          "\"Infinity\"",
          "\"\"",
          "\"1,5\"",
          "\"0x10\"",
          "\" 1\"",
          "true",
          "null",
          "[1]",
          "1e-400",
          "99999999999999999999999999999999999999999"}},
        {"limit_price", {"-1", "0", "\"abc\"", "true", "{}"}},
        {"side", {"\"BUY\"", "\"hold\"", "1", "null"}},
        {"order_type", {"\"stop\"", "null", "7"}},
        {"time_in_force", {"\"DAY\"", "\"gtc\"", "1"}},
        {"symbol", {"\"\"", "\"A B\"", "\"ABCDEFGHIJKLMNOPQRSTUVWXYZ\"", "1", "null"}},
        {"strategy_id", {"\"\"", "\"a\\u0000b\"", "5"}},
        {"expected_edge_bps", {"\"much\"", "true"}},
        {"intent_id", {"\"\"", "\"a b\"", "{}"}},
    };
    int count = 0;
    for (const auto& [name, values] : absurd) {
        for (const std::string& value : values) {
            ++count;
            const HttpResponse response = validate(world, with_member(name, value));
            EXPECT_EQ(response.status, 422) << name << "=" << value << " " << response.body;
            EXPECT_NE(response.body.find("plan.intents[0]." + name), std::string::npos)
                << name << "=" << value << " " << response.body;
        }
    }
    EXPECT_GT(count, 35);
}

TEST(HostileIntent, ANumberBeyondEveryDoubleIsNotJson) {
    ApiWorld world;
    for (const std::string name : {"qty", "limit_price", "expected_edge_bps"}) {
        const HttpResponse response = validate(world, with_member(name, "1e400"));
        EXPECT_EQ(response.status, 400) << response.body;
        EXPECT_NE(response.body.find("\"invalid_json\""), std::string::npos) << response.body;
    }
}

std::string many(std::size_t count) {
    std::string list = "[";
    for (std::size_t i = 0; i < count; ++i) {
        Json intent = parsed(kIntent);
        intent.set("intent_id", "n" + std::to_string(i));
        list += (i == 0 ? "" : ",") + to_text(intent);
    }
    return list + "]";
}

TEST(HostileIntent, FiftyOneIntentsAreTooMany) {
    ApiWorld world;
    const HttpResponse response = validate(world, many(51));
    EXPECT_EQ(response.status, 422) << response.body;
    EXPECT_NE(response.body.find("plan.intents"), std::string::npos) << response.body;
}

TEST(HostileIntent, FiftyIntentsAreNotTooMany) {
    ApiWorld world;
    EXPECT_EQ(validate(world, many(50)).status, 200);
}

TEST(HostileIntent, TenThousandIntentsAreRefused) {
    ApiWorld world;
    const HttpResponse response = validate(world, many(10'000));
    EXPECT_TRUE(response.status == 422 || response.status == 413) << response.status;
}

TEST(HostileIntent, AHundredAndOneCancelsAreTooMany) {
    ApiWorld world;
    std::string cancels = "[";
    for (int i = 0; i < 101; ++i) {
        cancels += std::string(i == 0 ? "" : ",") + "\"o" + std::to_string(i) + "\"";
    }
    const HttpResponse response = world.send(
        {.as = "planner",
         .method = "POST",
         .path = "/api/demo/tools/py_validate_plan",
         .body =
             "{" + kIds + R"(,"plan":{"reason":"r","intents":[],"cancels":)" + cancels + "]}}"});
    EXPECT_EQ(response.status, 422) << response.body;
}

TEST(HostileIntent, TwoIntentsOfOneIdAreRefused) {
    ApiWorld world;
    EXPECT_EQ(validate(world, "[" + kIntent + "," + kIntent + "]").status, 422);
}

TEST(HostileIntent, MarketOrdersCarryNoPriceAndLimitOrdersOne) {
    ApiWorld world;
    EXPECT_EQ(validate(world, with_member("order_type", "\"market\"")).status, 422);
    EXPECT_EQ(validate(world, with_member("limit_price", "null")).status, 422);
}

// The control operations refuse in the plain shape, before anything is recorded.
TEST(HostileControl, MisspeltAndAbsurdLimitsAreRefusedByName) {
    ApiWorld world;
    const std::map<std::string, std::string> absurd{
        {R"({"max_leverag":"1"})", "max_leverag"},
        {R"({"max_leverage":"11"})", "max_leverage"},
        {R"({"max_leverage":"-1"})", "max_leverage"},
        {R"({"max_leverage":true})", "max_leverage"},
        {R"({"max_drawdown":"1e400"})", "max_drawdown"},
        {R"({})", "changes"},
    };
    for (const auto& [changes, path] : absurd) {
        const HttpResponse response = world.send(
            {.as = "human",
             .method = "POST",
             .path = "/api/demo/limits",
             .body = R"({"idempotency_key":"k","changes":)" + changes + "}"});
        EXPECT_EQ(response.status, 422) << changes;
        EXPECT_NE(response.body.find(path), std::string::npos) << response.body;
    }
}

}  // namespace
}  // namespace interlock
