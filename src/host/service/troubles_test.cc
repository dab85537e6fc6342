// Troubles of the server: told when they begin and when they end, and seen while they last.
#include "host/service/troubles.h"

#include <gtest/gtest.h>

#include <deque>
#include <future>

#include "engine/service/lane_probe.h"
#include "relay/memory/memory_relay_store.h"
#include "relay/service/relay_lane.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

struct TroublesTest : testing::Test {
    std::vector<AuditRecord> told() {
        auto records = *world.plane->ledger.read(system_tenant(), 0, 1000);
        std::erase_if(records, [](const AuditRecord& record) {
            return !record.draft.event.starts_with("SERVER_TROUBLE");
        });
        return records;
    }
    PlaneWorld world;
    Troubles troubles{[this](TurnRequest request) { world.submit(std::move(request)); }};
};

TEST_F(TroublesTest, AreAnAlertWhenTheyBeginAndWhenTheyEndAndNothingInBetween) {
    EXPECT_EQ(troubles.first(), "");
    troubles.set("paper_venue", "");
    EXPECT_TRUE(told().empty());
    for (int look = 0; look < 3; ++look) {
        troubles.set("paper_venue", "The journal failed. Check the disk.");
    }
    ASSERT_EQ(told().size(), 1u);
    EXPECT_EQ(told()[0].draft.event, "SERVER_TROUBLE");
    EXPECT_EQ(told()[0].draft.severity, AuditSeverity::critical);
    EXPECT_EQ(told()[0].draft.reason, "The journal failed. Check the disk.");
    EXPECT_EQ(troubles.first(), "The journal failed. Check the disk.");
    troubles.set("relay_lane", "The lane does not move.");
    EXPECT_EQ(troubles.count(), 2u);
    troubles.set("paper_venue", "");
    EXPECT_EQ(troubles.first(), "The lane does not move.");
    ASSERT_EQ(told().size(), 3u);
    EXPECT_EQ(told()[2].draft.event, "SERVER_TROUBLE_OVER");
    EXPECT_EQ(told()[2].draft.severity, AuditSeverity::critical);
}

// A lane that a test runs by hand.
struct Lane {
    LaneProbe::Submit submit() {
        return [this](std::function<void()> work) {
            if (!is_full) {
                waiting.push_back(std::move(work));
            }
            return !is_full;
        };
    }
    void run() {
        for (; !waiting.empty(); waiting.pop_front()) {
            waiting.front()();
        }
    }
    std::deque<std::function<void()>> waiting;
    bool is_full = false;
};

TEST(LaneProbe, ALaneThatDoesNotComeToItsWorkIsStuckUntilItDoes) {
    Lane lane;
    LaneProbe probe(lane.submit());
    for (int second = 0; second < 100; ++second) {
        EXPECT_FALSE(probe.look(Duration::of_seconds(second)));
        EXPECT_EQ(lane.waiting.size(), 1u);
        lane.run();
    }
    for (int second = 100; second < 120; ++second) {
        EXPECT_FALSE(probe.look(Duration::of_seconds(second)));
        EXPECT_EQ(lane.waiting.size(), 1u);  // One at a time.
    }
    EXPECT_TRUE(probe.look(Duration::of_seconds(120)));
    lane.run();
    EXPECT_FALSE(probe.look(Duration::of_seconds(121)));
}

TEST(LaneProbe, SeesTheRelaysLaneHeldUpByOneWork) {
    MemoryRelayStore store;
    FakeClock clock;
    RelayLane lane(store, clock);
    ASSERT_TRUE(lane.open().has_value());
    lane.start();
    LaneProbe probe([&lane](std::function<void()> work) {
        return lane.submit_internal([work](RelayTurn&) { work(); });
    });
    std::promise<void> hold;
    lane.submit_internal([held = hold.get_future().share()](RelayTurn&) { held.wait(); });
    EXPECT_FALSE(probe.look(Duration::of_seconds(0)));
    EXPECT_TRUE(probe.look(kLaneStuckAfter));
    hold.set_value();
    lane.stop();                                // Does what was accepted.
    EXPECT_FALSE(probe.look(kLaneStuckAfter));  // The lane came to it.
}

TEST(LaneProbe, ALaneThatTakesNothingIsStuckToo) {
    Lane lane;
    lane.is_full = true;
    LaneProbe probe(lane.submit());
    EXPECT_FALSE(probe.look(Duration::of_seconds(0)));
    EXPECT_TRUE(probe.look(kLaneStuckAfter));
    lane.is_full = false;
    EXPECT_TRUE(probe.look(Duration::of_seconds(30)));
    lane.run();
    EXPECT_FALSE(probe.look(Duration::of_seconds(31)));
}

}  // namespace
}  // namespace interlock
