#include "trader/service/replay_service.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "host/service/test_tampered_store.h"
#include "testing/strategy_world.h"

namespace interlock {
namespace {

Json one(std::string_view side, std::string_view qty, const Json& price) {
    return Json::array({LoopWorld::intent(side, qty, price)});
}

ReplayReport replay_of(LoopWorld& world, LedgerStore& store, const std::string& decision = "") {
    ReplayCheck check{.store = store, .tenant_id = world.tenant};
    if (!decision.empty()) {
        check.decision_id = DecisionId::trusted(decision);
    }
    auto report = replay_ledger(check);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    return report ? *report : ReplayReport();
}

std::string finding_of(const ReplayReport& report) {
    return report.findings.empty() ? "" : report.findings.front().detail;
}

// A dry run with costs that no plan of this size bears.
Json costly_dry_run(LoopWorld& world, const std::string& decision, const Json& intents) {
    Json body = LoopWorld::ids_of(decision, "c" + decision);
    body.set("plan", Json::object({{"intents", intents}}));
    body.set("assumptions", Json::object({{"slippage_bps", 50'000}, {"fee_bps", 100}}));
    return world.call("dry_run", body);
}

TEST(Replay, AnExecutedDecisionComesOutAsRecorded) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    world.pass(Duration::of_seconds(5));
    const ReplayReport report = replay_of(world, world.memory);
    EXPECT_TRUE(report.ok()) << finding_of(report);
    EXPECT_EQ(report.decisions, 1);
    // Plan, gates, dry run, write-ahead, outcome, record, stored row.
    EXPECT_GE(report.steps, 7);
}

// The record of an outcome tells its reader more of the order than the decision's row keeps.
TEST(Replay, AnOrderThatWasSettledAfterItsAnswerComesOutAsRecorded) {
    LoopWorld world;
    world.account();
    ASSERT_TRUE(world.paper->set_faults({{.kind = PaperFaultKind::lose_answer, .times_max = 1}}));
    world.trade("d1", one("buy", "1", "100.01"));
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(world.count("ORDER_UNKNOWN"), 1);
    EXPECT_EQ(world.count("ORDER_ACKED"), 1);
    const ReplayReport report = replay_of(world, world.memory);
    EXPECT_TRUE(report.ok()) << finding_of(report);
}

TEST(Replay, ARefusedPlanComesOutAsRecorded) {
    LoopWorld world;
    world.validate("d1", one("buy", "90", "100.01"));
    const ReplayReport report = replay_of(world, world.memory);
    EXPECT_TRUE(report.ok()) << finding_of(report);
    EXPECT_EQ(report.decisions, 1);
}

TEST(Replay, EveryAttemptOfADecisionIsReplayed) {
    LoopWorld world;
    world.validate("d1", one("buy", "90", "100.01"));
    Json body = LoopWorld::ids_of("d1", "again");
    body.set("plan", Json::object({{"intents", one("buy", "1", "100.01")}, {"reason", "less"}}));
    world.call("validate", body);
    const ReplayReport report = replay_of(world, world.memory);
    EXPECT_TRUE(report.ok()) << finding_of(report);
    EXPECT_EQ(report.decisions, 1);
    // The first attempt with its record, the second one, the stored row.
    EXPECT_EQ(report.steps, 6);
}

TEST(Replay, AnAbortedDryRunComesOutAsRecorded) {
    LoopWorld world;
    const Json intents = one("buy", "10", Json());
    world.validate("d1", intents);
    const Json answer = costly_dry_run(world, "d1", intents);
    const ReplayReport report = replay_of(world, world.memory);
    EXPECT_TRUE(report.ok()) << finding_of(report);
    EXPECT_EQ(world.count("DRY_RUN_ABORTED_OR_ADJUSTED"), 1) << to_text(answer);
}

// A strategy that has quoted for a while.
void run_planner(StrategyWorld& world) {
    const std::string grid = world.create("grid_trader", StrategyWorld::grid_config());
    world.decide(StrategyWorld::switch_to("d0", grid));
    world.pass(Duration::of_seconds(10));
}

TEST(Replay, ABuiltInPlannerPlansTheSameAgain) {
    StrategyWorld world;
    run_planner(world);
    const ReplayReport report = replay_of(world, world.memory);
    EXPECT_TRUE(report.ok()) << finding_of(report);
    EXPECT_GT(report.decisions, 0);
}

TEST(Replay, OtherSettingsOfABuiltInPlannerAreFound) {
    StrategyWorld world;
    run_planner(world);
    TamperedStore store(world.memory);
    store.on_record = [](AuditDraft& draft) {
        Json* input = draft.detail.find("planner_input");
        Json* config = input == nullptr ? nullptr : input->find("config");
        if (config != nullptr) {
            config->set("order_notional_quote", "60");
        }
    };
    EXPECT_GT(replay_of(world, store).differing, 0);
}

// Ticks that were only counted cannot be re-run; what their record says can be held to.
TEST(Replay, FoldedTicksAreCountedAndTheirDigestsChecked) {
    StrategyWorld world;
    world.decide(
        StrategyWorld::switch_to("d0", world.create("idle", Json::object({{"tick_seconds", 1}}))));
    world.pass(Duration::of_seconds(30));
    world.plane->folds.close_all();
    const ReplayReport report = replay_of(world, world.memory);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report.folds, 1);
    EXPECT_GE(report.folded, 25);

    for (const char* key : {"count", "digest", "repeats"}) {
        TamperedStore store(world.memory);
        store.on_record = [key](AuditDraft& draft) {
            if (draft.event == kFoldEvent) {
                draft.detail.set(key, key == std::string("count") ? Json(1) : Json("9:0000"));
            }
        };
        const ReplayReport tampered = replay_of(world, store);
        EXPECT_FALSE(tampered.ok()) << key;
        ASSERT_EQ(tampered.bad_folds.size(), 1U) << key;
        EXPECT_GT(tampered.bad_folds.front().seq, 1) << key;
    }
}

// What is new is replayed from where the last run ended, without what came before.
TEST(Replay, GoesOnFromWhereItStopped) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    world.pass(Duration::of_seconds(5));
    const ReplayReport first = replay_of(world, world.memory);
    ASSERT_TRUE(first.ok()) << finding_of(first);
    EXPECT_EQ(first.next_from, world.plane->ledger.head(world.tenant)->seq + 1);
    world.pass(Duration::of_seconds(61));
    world.validate("d2", one("sell", "0.5", nullptr));
    ReplayCheck check{.store = world.store, .tenant_id = world.tenant, .from_seq = first.next_from};
    const std::int64_t given = world.store.records_given;
    const auto second = replay_ledger(check);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->ok()) << finding_of(*second);
    EXPECT_EQ(second->decisions, 1);
    EXPECT_LE(
        world.store.records_given - given,
        world.plane->ledger.head(world.tenant)->seq - first.next_from + 2);
    EXPECT_EQ(second->next_from, first.next_from) << "d2 may still be executed";
    check.from_seq = 1000;
    EXPECT_FALSE(replay_ledger(check)) << "there is no such record";
}

TEST(Replay, OneDecisionCanBeAskedFor) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    world.trade("d10", one("buy", "2", "100.01"));
    const ReplayReport report = replay_of(world, world.memory, "d1");
    EXPECT_TRUE(report.ok()) << finding_of(report);
    EXPECT_EQ(report.decisions, 1);
}

TEST(Replay, AnUnknownDecisionIsNotFound) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    const auto report = replay_ledger(
        {.store = world.memory,
         .tenant_id = world.tenant,
         .decision_id = DecisionId::trusted("d2")});
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code(), errors::not_found.code);
}

TEST(Replay, SinceLeavesOutWhatWasPlannedBefore) {
    LoopWorld world;
    world.validate("d1", one("buy", "1", "100.01"));
    world.pass(Duration::of_seconds(2));
    const Timestamp since = world.clock.now();
    world.validate("d2", one("buy", "2", "100.01"));
    const auto report = replay_ledger(
        {.store = world.memory, .tenant_id = world.tenant, .decision_id = {}, .since = since});
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->decisions, 1);
    EXPECT_TRUE(report->ok());
}

TEST(Replay, ChangedBytesOfAnInputAreFound) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    TamperedStore store(world.memory);
    store.on_artifact = [](std::string& bytes) {
        const std::string key = "\"cash_free\":\"";
        if (const auto at = bytes.find(key); at != std::string::npos) {
            char& digit = bytes[at + key.size()];
            digit = digit == '1' ? '2' : '1';
        }
    };
    const ReplayReport report = replay_of(world, store);
    EXPECT_EQ(report.differing, 1);
    EXPECT_NE(finding_of(report).find("do not have that hash"), std::string::npos);
}

TEST(Replay, AMissingInputIsNotReplayable) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    TamperedStore store(world.memory);
    store.on_artifact = [](std::string& bytes) {
        if (bytes.find("\"best_ask\"") != std::string::npos) {
            bytes.clear();
        }
    };
    const ReplayReport report = replay_of(world, store);
    EXPECT_EQ(report.not_replayable, 1);
    EXPECT_FALSE(report.ok());
}

TEST(Replay, AnotherPolicyIsNotReplayable) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    const std::string other = R"({"policy":"loop.v1"})";
    TamperedStore store(world.memory);
    store.on_record = [&](AuditDraft& draft) {
        if (draft.event == "VALIDATION_RESULT") {
            draft.artifacts.back() = "sha256:" + sha256_hex(other);
        }
    };
    TurnCommit kept;
    kept.artifacts.push_back({world.tenant, sha256_hex(other), other});
    ASSERT_TRUE(world.memory.commit({&kept, 1}));
    const ReplayReport all = replay_of(world, store);
    EXPECT_EQ(all.other_policy, 1);
    EXPECT_EQ(all.not_replayable, 0);
    EXPECT_TRUE(all.ok());
    EXPECT_TRUE(all.findings.empty());
    EXPECT_EQ(*encode(all).find("other_policy"), Json(1));
    const ReplayReport asked = replay_of(world, store, "d1");
    EXPECT_EQ(
        finding_of(asked), "The decision was made by policy 1; this program replays policy 2.");
    EXPECT_EQ(asked.findings.at(0).outcome, ReplayOutcome::not_replayable);
    EXPECT_TRUE(asked.ok());
}

struct RowChange {
    const char* name;
    const char* from;
    const char* to;
};
void PrintTo(const RowChange& change, std::ostream* out) {
    *out << change.name;
}

class ReplayOfChangedRow : public ::testing::TestWithParam<RowChange> {};

TEST_P(ReplayOfChangedRow, IsFound) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    world.pass(Duration::of_seconds(5));
    TamperedStore store(world.memory);
    bool changed = false;
    store.on_state = [&](const std::string&, std::string& json) {
        const std::string from = GetParam().from;
        if (const auto at = json.find(from); at != std::string::npos) {
            json.replace(at, from.size(), GetParam().to);
            changed = true;
        }
    };
    const ReplayReport report = replay_of(world, store);
    ASSERT_TRUE(changed);
    EXPECT_EQ(report.differing, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Fields,
    ReplayOfChangedRow,
    ::testing::Values(
        RowChange{"quantity", "\"qty\":\"1\"", "\"qty\":\"2\""},
        RowChange{"verdict", "\"pass\":true", "\"pass\":false"},
        RowChange{"stage", "\"stage\":\"recorded\"", "\"stage\":\"executed\""},
        RowChange{"attempt", "\"attempt\":1", "\"attempt\":2"},
        RowChange{"outcome", "\"submit_status\":\"acked\"", "\"submit_status\":\"rejected\""},
        RowChange{"planner", "\"from_outside\":true", "\"from_outside\":false"},
        RowChange{"input", "\"state\":\"sha256:", "\"state\":\"sha256:0"},
        RowChange{"verification", "\"overall\":\"matched\"", "\"overall\":\"drift\""},
        RowChange{"costs", "\"fee_bps\":\"0\"", "\"fee_bps\":\"1\""},
        RowChange{"syntax", "\"tick_id\"", "\"tick_idd\""}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Replay, ADecisionWithoutItsRowIsFound) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    TamperedStore store(world.memory);
    store.on_state = [](const std::string&, std::string& json) { json.clear(); };
    EXPECT_EQ(replay_of(world, store).differing, 1);
}

TEST(Replay, AVerdictRewrittenInTheWholeChainIsFound) {
    LoopWorld world;
    world.validate("d1", one("buy", "90", "100.01"));
    TamperedStore store(world.memory);
    store.on_record = [](AuditDraft& draft) {
        if (draft.event == "VALIDATION_RESULT") {
            draft.detail.set("validation_hash", std::string(64, 'a'));
        }
    };
    store.on_state = [](const std::string&, std::string& json) {
        const std::string from = "\"pass\":false";
        json.replace(json.find(from), from.size(), "\"pass\":true");
    };
    const ReplayReport report = replay_of(world, store);
    EXPECT_EQ(report.differing, 1);
    EXPECT_NE(finding_of(report).find("pass: recorded true, replayed false"), std::string::npos)
        << finding_of(report);
}

TEST(Replay, AnOrderIdRewrittenInTheWholeChainIsFound) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    TamperedStore store(world.memory);
    store.on_record = [](AuditDraft& draft) {
        Json* orders = draft.detail.find("orders");
        if (orders != nullptr && orders->is_array() && !orders->items().empty()) {
            orders->items()[0].set("order_client_id", "hsomethingelse");
        }
    };
    EXPECT_EQ(replay_of(world, store).differing, 1);
}

TEST(Replay, ABrokenChainIsNotReplayedBeyondTheBreak) {
    LoopWorld world;
    world.trade("d1", one("buy", "1", "100.01"));
    TamperedStore store(world.memory);
    store.on_entry = [](LedgerEntry& entry) {
        if (entry.seq == 2) {
            entry.hash = std::string(64, '0');
        }
    };
    const ReplayReport report = replay_of(world, store);
    ASSERT_TRUE(report.fault.has_value());
    EXPECT_EQ(report.fault->seq, 2);
    EXPECT_FALSE(report.ok());
}

}  // namespace
}  // namespace interlock
