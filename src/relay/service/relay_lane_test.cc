#include "relay/service/relay_lane.h"

#include <gtest/gtest.h>

#include "engine/rules/chain_verifier.h"
#include "relay/memory/memory_relay_store.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

constexpr std::chrono::microseconds kNoWait{0};

struct RelayLaneTest : testing::Test {
    FakeClock clock;
    MemoryRelayStore store;
};

RelayRowWrite row(std::string key) {
    return {.kind = "test", .key = std::move(key), .json = "{}"};
}

TEST_F(RelayLaneTest, TellsNobodyBeforeTheCommit) {  // ADR 0012
    RelayLane lane(store, clock);
    std::vector<std::string> seen;
    ASSERT_TRUE(lane.submit([&](RelayTurn& turn) {
        turn.rows().rows.push_back(row("a"));
        turn.after([&](bool is_committed) {
            seen.push_back(is_committed && *store.find_row("test", "a") ? "durable" : "early");
        });
        seen.push_back("decided");
    }));
    ASSERT_TRUE(lane.submit([&](RelayTurn&) { seen.push_back("next"); }));
    lane.run_round(kNoWait);
    EXPECT_EQ(seen, (std::vector<std::string>{"decided", "next", "durable"}));
    EXPECT_EQ(lane.counters().commits, 1u);
}

TEST_F(RelayLaneTest, WorkThatChangesNothingCostsNoCommit) {
    RelayLane lane(store, clock);
    lane.submit([](RelayTurn&) {});
    lane.run_round(kNoWait);
    EXPECT_EQ(lane.counters().commits, 0u);
    EXPECT_EQ(lane.counters().works, 1u);
}

TEST_F(RelayLaneTest, WhatFinishesSomethingGoesFirst) {
    RelayLane lane(store, clock);
    std::string order;
    lane.submit([&](RelayTurn&) { order += "new "; });
    lane.submit_internal([&](RelayTurn&) { order += "ack "; });
    lane.run_round(kNoWait);
    EXPECT_EQ(order, "ack new ");
}

TEST_F(RelayLaneTest, TellsWorkWhetherItsEventIsStored) {
    RelayCommit earlier;
    RelayEventRow stored;
    stored.event_key = "local/bot/1";
    earlier.events.push_back(std::move(stored));
    ASSERT_TRUE(store.commit(earlier).has_value());
    RelayLane lane(store, clock);
    std::string said;
    const RelayWork work = [&](RelayTurn& turn) { said += turn.knows_event() ? "known " : "new "; };
    lane.submit_event("local/bot/1", work);
    lane.submit_event("local/bot/2", work);
    lane.submit(work);
    lane.submit_event("local/bot/1", work);
    lane.run_round(kNoWait);
    EXPECT_EQ(said, "known new new known ");
}

TEST_F(RelayLaneTest, ABatchEndsWhenItsTimeIsUp) {  // relay-connector.md#the-lane
    RelayLane lane(store, clock, {.batch_time_max = Duration::of_milliseconds(5)});
    int done = 0;
    for (int i = 0; i < 4; ++i) {
        lane.submit([&](RelayTurn&) {
            ++done;
            clock.advance(Duration::of_milliseconds(3));
        });
    }
    lane.run_round(kNoWait);
    EXPECT_EQ(done, 2);
    lane.run_round(kNoWait);
    EXPECT_EQ(done, 4);
}

TEST_F(RelayLaneTest, ABatchTakesNoMoreThanItsBound) {  // relay-connector.md#the-lane
    RelayLane lane(store, clock, {.batch_work_max = 3});
    int done = 0;
    for (int i = 0; i < 5; ++i) {
        lane.submit([&](RelayTurn&) { ++done; });
    }
    lane.run_round(kNoWait);
    EXPECT_EQ(done, 3);
}

TEST_F(RelayLaneTest, AFullQueueRefuses) {
    RelayLane lane(store, clock, {.waiting_max = 2, .waiting_internal_max = 1});
    const auto nothing = [](RelayTurn&) {};
    EXPECT_TRUE(lane.submit(nothing));
    EXPECT_TRUE(lane.submit(nothing));
    EXPECT_FALSE(lane.submit(nothing));
    EXPECT_TRUE(lane.submit_internal(nothing));
    EXPECT_FALSE(lane.submit_internal(nothing));
}

TEST_F(RelayLaneTest, AFailedCommitLosesTheLaneForGood) {
    RelayLane lane(store, clock);
    bool was_told_lost = false;
    std::vector<bool> told;
    lane.on_lost([&](const Error&) { was_told_lost = true; });
    store.fail_next_commit();
    lane.submit([&](RelayTurn& turn) {
        turn.rows().rows.push_back(row("a"));
        turn.after([&](bool is_committed) { told.push_back(is_committed); });
    });
    lane.run_round(kNoWait);
    EXPECT_EQ(told, std::vector<bool>{false});
    EXPECT_TRUE(was_told_lost);
    EXPECT_TRUE(lane.is_lost());
    EXPECT_FALSE(lane.submit([](RelayTurn&) {}));
}

TEST_F(RelayLaneTest, DutiesComeOnceAPeriod) {
    RelayLane lane(store, clock);
    int duties = 0;
    lane.add_duty([&](RelayTurn&) { ++duties; });
    lane.run_round(kNoWait);
    lane.run_round(kNoWait);
    EXPECT_EQ(duties, 1);
    clock.advance(Duration::of_seconds(1));
    lane.run_round(kNoWait);
    EXPECT_EQ(duties, 2);
}

// relay-connector.md#the-record
TEST_F(RelayLaneTest, TheEventsOfABatchAreOneRecordOfEachTenantsChain) {
    const TenantId tenant = TenantId::trusted("t1");
    {
        RelayLane lane(store, clock);
        ASSERT_TRUE(lane.open());
        for (const char* id : {"e1", "e2"}) {
            lane.submit([&, id](RelayTurn& turn) {
                RelayEventRow event{
                    .event_key = id,
                    .tenant_id = tenant,
                    .at = turn.now(),
                    .digest = std::string(64, 'd'),
                    .why = "{}",
                    .expires_at = turn.now()};
                turn.note_event(tenant, event);
                turn.rows().events.push_back(std::move(event));
            });
        }
        lane.run_round(kNoWait);
    }
    RelayLane again(store, clock);
    ASSERT_TRUE(again.open());
    again.submit(
        [&](RelayTurn& turn) { turn.audit(relay_draft(tenant, "SOMETHING", "operator")); });
    again.run_round(kNoWait);
    const auto entries = store.ledger().read_ledger(tenant, 0, 10);
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_NE((*entries)[0].canonical_json.find("e1"), std::string::npos);
    EXPECT_NE((*entries)[0].canonical_json.find("e2"), std::string::npos);
    ChainVerifier verifier(tenant);
    for (const LedgerEntry& entry : *entries) {
        verifier.add(entry.seq, entry.canonical_json, entry.hash);
    }
    EXPECT_FALSE(verifier.fault());
}

TEST_F(RelayLaneTest, DoesWhatItAcceptedBeforeItStops) {
    RelayLane lane(store, clock);
    std::atomic<int> done = 0;
    for (int i = 0; i < 100; ++i) {
        lane.submit([&](RelayTurn& turn) {
            turn.rows().rows.push_back(row(std::to_string(done)));
            turn.after([&](bool is_committed) { done += is_committed ? 1 : 0; });
        });
    }
    lane.start();
    lane.stop();
    EXPECT_EQ(done.load(), 100);
    EXPECT_FALSE(lane.submit([](RelayTurn&) {}));
}

}  // namespace
}  // namespace interlock
