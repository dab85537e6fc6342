// The rules of docs/contracts/control-decision.md#rules that a case file cannot state: the first
// example, what a supervising agent sees over MCP, and two supervisors who contradict each other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "api_world.h"
#include "app/mcp/operation_catalog.h"
#include "base/crypto.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

Json read_json(const std::string& name) {
    std::ifstream in(fs::path(INTERLOCK_SOURCE_DIR) / "conformance/contracts/control" / name);
    std::stringstream text;
    text << in.rdbuf();
    auto json = parse_json(text.str());
    EXPECT_TRUE(json) << name;
    return json ? *json : Json();
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

std::string word(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : to_text(json);
}

std::string first_error(const Json& answer) {
    const Json* errors = answer.find("errors");
    const bool any = errors != nullptr && errors->is_array() && !errors->items().empty();
    return any ? word(errors->items().front(), "code") : "";
}

struct TraderContract : testing::Test {
    std::string create(const std::string& name, const std::string& type = "idle") {
        const Json answer = world.send_json(
            {.as = "human",
             .method = "POST",
             .path = "/api/demo/instances",
             .body = to_text(Json::object(
                 {{"idempotency_key", "create_" + name},
                  {"strategy_type", type},
                  {"market_symbol", "ABCUSDT"}}))});
        return word(answer, "id");
    }
    Json decide(const std::string& text, const std::string& as = "supervisor") {
        return world.send_json(
            {.as = as, .method = "POST", .path = "/api/demo/control_decisions", .body = text});
    }
    static std::string switch_text(
        const std::string& id, const std::string& to, const std::string& expected) {
        Json payload = Json::object({
            {"decision_id", id},
            {"concern_id", "main:abcusdt"},
            {"account_id", "main"},
            {"market_symbol", "abcusdt"},
            {"action", "switch"},
            {"target_strategy_id", to},
            {"reason", "a test"},
            {"confidence", Json::number("0.5")},
        });
        if (!expected.empty()) {
            payload.set("expected_active_strategy_id", expected);
        }
        return to_text(payload);
    }
    std::string active() {
        const Json answer = world.send_json({.as = "supervisor", .path = "/api/demo/concerns"});
        return word(answer.find("concerns")->items().at(0), "active_strategy_id");
    }

    ApiWorld world;
};

// Byte for byte the document's own answer to its own request, once the ids of this world stand in
// both for those of the document.
TEST_F(TraderContract, TheDocumentsRequestIsAnsweredInTheDocumentsShape) {
    const std::string from = create("from", "trend_follower");
    const std::string to = create("to", "trend_follower");
    ASSERT_EQ(word(decide(switch_text("d0", from, "")), "status"), "applied");
    const auto in_this_world = [&](std::string text) {
        text = replaced(std::move(text), "9cf29124-65a7-4950-ac18-65f938e0239b", from);
        text = replaced(std::move(text), "0c555fee-e4c8-4543-ae70-c132517017e1", to);
        text = replaced(std::move(text), "qndd8o9ppop6", "main");
        return replaced(std::move(text), "xrpusd", "abcusdt");
    };
    const Json base = read_json("base.json");
    const Json shape = read_json("response_shape.json");
    const Json answer = decide(in_this_world(to_text(*base.find("request"))));
    std::string wanted = in_this_world(to_text(*shape.find("cases")->items().at(0).find("answer")));
    wanted = replaced(
        std::move(wanted), "2026-04-16T20:15:01Z", to_text(world.plane_world().clock.now()));
    EXPECT_EQ(to_text(answer), wanted);
}

// Design rules 1; Read/write separation: one write and two reads, beside the kill switch that every
// agent has and what a supervisor may do in the loop.
TEST_F(TraderContract, ASupervisorSeesOneWriteAndTwoReadsOfStrategies) {
    OperationCatalog catalog(
        {.table = world.table(), .tenant_exists = [](const TenantId&) { return true; }});
    Principal supervisor;
    supervisor.kind = PrincipalKind::agent;
    supervisor.id = "key_1";
    supervisor.tenants = {TenantId::trusted("demo")};
    supervisor.scopes = {Scope::supervisor};
    std::set<std::string> reads;
    std::set<std::string> writes;
    for (const McpTool& tool : catalog.tools(supervisor)) {
        const Json* hint = tool.annotations.find("readOnlyHint");
        const bool is_read = hint != nullptr && hint->is_bool() && hint->as_bool();
        (is_read ? reads : writes).insert(tool.name);
    }
    EXPECT_EQ(writes, (std::set<std::string>{"apply_control_decision", "py_set_kill_switch"}));
    EXPECT_EQ(reads, (std::set<std::string>{"get_strategy", "list_strategies"}));
}

// Non-canonical helpers: they are no tools at all, whatever the key may do.
TEST_F(TraderContract, HelpersOfPeopleAreNoTools) {
    for (const std::string name :
         {"control_strategy",
          "set_strategy_policy",
          "switch_strategy",
          "pause_strategy",
          "resume_strategy",
          "reconcile_instance",
          "create_strategy",
          "update_strategy",
          "delete_strategy"}) {
        const Operation* operation = world.table().find(name);
        ASSERT_NE(operation, nullptr) << name;
        EXPECT_FALSE(operation->tool.has_value()) << name;
    }
}

// Audit persistence: what no decision can be is kept by its size and hash, not in full.
TEST_F(TraderContract, ARequestLongerThanAnyDecisionIsKeptByItsHash) {
    create("a");
    Json payload = Json::object({{"decision_id", "d1"}, {"action", "pause"}});
    payload.set("junk", std::string(17 * 1024, 'x'));
    const Json answer = decide(to_text(payload));
    EXPECT_EQ(word(answer, "status"), "rejected");
    EXPECT_EQ(word(answer, "decision_id"), "d1");
    EXPECT_EQ(first_error(answer), "invalid_payload");
    const auto records = world.plane_world().plane->ledger.read(TenantId::trusted("demo"), 0, 1000);
    const AuditDraft& last = records->back().draft;
    EXPECT_EQ(last.event, "CONTROL_DECISION");
    EXPECT_EQ(last.decision_id.text(), "d1");
    EXPECT_LT(to_text(last.detail).size(), 2000u);
    const Json& kept = *last.detail.find("payload");
    EXPECT_EQ(word(kept, "sha256"), sha256_hex(to_text(payload)));
    EXPECT_EQ(*kept.find("bytes"), Json(to_text(payload).size()));
}

// Two supervisors act on the same stale view, over and over: one wins each round, the other is told
// that its view is old, and the audit names both.
TEST_F(TraderContract, OfTwoContradictingDecisionsOneWinsAndTheRecordTellsBoth) {
    const std::vector<std::string> ids{create("a"), create("b"), create("c")};
    ASSERT_EQ(word(decide(switch_text("d0", ids[0], "")), "status"), "applied");
    std::size_t at = 0;
    for (int round = 0; round < 20; ++round) {
        const std::string stale = ids[at];
        const std::size_t first = (at + 1 + static_cast<std::size_t>(round) % 2) % 3;
        const std::size_t second = 3 - at - first;
        const std::string name = std::to_string(round);
        EXPECT_EQ(word(decide(switch_text("one_" + name, ids[first], stale)), "status"), "applied");
        const Json loser = decide(switch_text("two_" + name, ids[second], stale), "agent");
        EXPECT_EQ(word(loser, "status"), "rejected");
        EXPECT_EQ(first_error(loser), "expected_active_mismatch");
        EXPECT_EQ(active(), ids[first]);
        at = first;
    }
    const auto records = world.plane_world().plane->ledger.read(TenantId::trusted("demo"), 0, 1000);
    std::size_t won = 0;
    std::size_t lost = 0;
    for (const AuditRecord& record : *records) {
        const std::string& id = record.draft.decision_id.text();
        won += id.starts_with("one_") && record.draft.status == AuditStatus::passed ? 1 : 0;
        lost += id.starts_with("two_") && record.draft.status == AuditStatus::failed ? 1 : 0;
    }
    EXPECT_EQ(won, 20u);
    EXPECT_EQ(lost, 20u);
}

// turns.md 1.1, 1.3, 1.5: a person's move is answered once per key, whatever came of it.
TEST_F(TraderContract, APersonsMoveKeepsTheAnswerOfItsKey) {
    const std::string one = create("a");
    const std::string two = create("b");
    const auto move = [&](const std::string& path, const std::string& key, const Json& more = {}) {
        Json body = more.is_null() ? Json::object() : more;
        body.set("idempotency_key", key);
        return world.send(
            {.as = "human",
             .method = "POST",
             .path = "/api/demo/instances/" + path,
             .body = to_text(body)});
    };
    const Json start = Json::object({{"action", "start"}});
    // Refused while nothing is active, and still refused under its key when it could be applied.
    const HttpResponse refused = move(one + "/resume", "r1");
    EXPECT_EQ(word(*parse_json(refused.body), "status"), "rejected");
    const HttpResponse started = move(one + "/control", "s1", start);
    EXPECT_EQ(word(*parse_json(started.body), "status"), "applied");
    const HttpResponse paused = move(one + "/pause", "p1");
    EXPECT_EQ(word(*parse_json(paused.body), "status"), "applied");
    EXPECT_EQ(move(one + "/resume", "r1").body, refused.body);
    EXPECT_EQ(move(one + "/control", "s1", start).body, started.body);
    EXPECT_EQ(move(one + "/pause", "p1").body, paused.body);
    // A start beside an active one is a refusal by a rule; it stays one when the place is free.
    const HttpResponse taken = move(two + "/control", "s2", start);
    EXPECT_EQ(taken.status, 409);
    EXPECT_EQ(move(one + "/control", "x1", Json::object({{"action", "stop"}})).status, 200);
    EXPECT_EQ(move(two + "/control", "s2", start).body, taken.body);
    EXPECT_EQ(move(two + "/control", "s3", start).status, 200);
    const Json switch_back = Json::object({{"override", true}});
    const HttpResponse switched = move(one + "/switch", "w1", switch_back);
    EXPECT_EQ(word(*parse_json(switched.body), "status"), "applied");
    EXPECT_EQ(move(one + "/switch", "w1", switch_back).body, switched.body);
    // Another request under a used key.
    for (const HttpResponse& other :
         {move(two + "/pause", "p1"),
          move(one + "/switch", "w1"),
          move(one + "/resume", "r1", Json::object({{"reason", "another"}}))}) {
        EXPECT_EQ(other.status, 409) << other.body;
        EXPECT_TRUE(other.body.contains("idempotency_key_conflict")) << other.body;
    }
}

// Two supervisors saw that nothing was active: the second one's start is refused, and null told it.
TEST_F(TraderContract, OfTwoThatStartTheFirstStrategyOneWins) {
    const std::string one = create("a");
    const std::string two = create("b");
    const auto start = [&](const std::string& id, const std::string& to) {
        Json payload = *parse_json(switch_text(id, to, ""));
        payload.set("expected_active_strategy_id", Json());
        return to_text(payload);
    };
    EXPECT_EQ(word(decide(start("first", one)), "status"), "applied");
    const Json loser = decide(start("second", two), "agent");
    EXPECT_EQ(word(loser, "status"), "rejected");
    EXPECT_EQ(first_error(loser), "expected_active_mismatch");
    EXPECT_EQ(active(), one);
}

// Its records go out as they were written, so their form is declared and held like any answer's.
TEST(SupervisorReads, TellWhatWasDecidedAndWhy) {
    PlaneConfig config = ApiWorld::default_config();
    config.supervisor.enabled = true;
    ApiWorld world(config);
    const Json made = world.send_json(
        {.as = "human",
         .method = "POST",
         .path = "/api/demo/instances",
         .body = R"({"idempotency_key":"c","strategy_type":"idle","market_symbol":"ABCUSDT"})"});
    world.pass(Duration::of_minutes(2));
    const Json answer =
        world.send_json({.as = "supervisor", .path = "/api/demo/supervisor/decisions"});
    EXPECT_EQ(*answer.find("enabled"), Json(true));
    ASSERT_FALSE(answer.find("decisions")->items().empty()) << to_text(answer);
    const Json& newest = answer.find("decisions")->items().front();
    EXPECT_EQ(word(newest, "concern_id"), "main:abcusdt");
    EXPECT_EQ(word(newest, "dispatch"), "none");
    const Json& fits = *newest.find("decision")->find("fits");
    EXPECT_EQ(word(fits.items().at(0), "strategy_id"), word(made, "id"));
}

}  // namespace
}  // namespace interlock
