#include "trader/service/supervisor_replay.h"

#include <gtest/gtest.h>

#include "testing/strategy_world.h"
#include "trader/service/replay_service.h"

namespace interlock {
namespace {

class SupervisorReplay : public ::testing::Test {
protected:
    SupervisorReplay() {
        world.supervisor_config.enabled = true;
        world.rebuild();
        const std::string grid = world.create("grid_trader", StrategyWorld::grid_config());
        world.decide(StrategyWorld::switch_to("d1", grid));
        world.pass(Duration::of_minutes(3), Duration::of_seconds(30));
    }
    SupervisorReplayReport replay(bool only_changed = false) {
        return replay_supervisor({.store = world.memory, .tenant_id = world.tenant}, only_changed)
            .value();
    }
    std::vector<RecordedRound> rounds() {
        std::vector<RecordedRound> all;
        const auto fault = walk_rounds(
            {.store = world.memory, .tenant_id = world.tenant},
            [&all](RecordedRound round) -> Result<void> {
                all.push_back(std::move(round));
                return {};
            });
        EXPECT_TRUE(fault && !*fault);
        return all;
    }
    RoundVerdict again(RecordedRound round) {
        ReplayInputs inputs = stored_inputs(world.memory, world.tenant);
        return decide_again(std::move(round), inputs).value();
    }

    StrategyWorld world;
};

TEST_F(SupervisorReplay, FindsEveryDecisionTheSame) {
    const SupervisorReplayReport report = replay();
    EXPECT_EQ(report.decisions, 3);
    EXPECT_EQ(report.verdicts.size(), 3U);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(replay(true).verdicts.empty());
    EXPECT_EQ(*encode(report).find("changed"), Json(0));
}

TEST_F(SupervisorReplay, StartsWhereItIsTold) {
    SupervisorLedger ledger{.store = world.memory, .tenant_id = world.tenant};
    ledger.since = world.clock.now() - Duration::of_seconds(60);
    EXPECT_EQ(replay_supervisor(ledger, false)->decisions, 1);
}

TEST_F(SupervisorReplay, SaysWhatAnotherSelectorDecided) {
    RecordedRound round = rounds().at(0);
    round.decision.set("action", "pause");
    round.decision.set("rule", "bad_mood");
    const RoundVerdict verdict = again(round);
    EXPECT_EQ(to_word(verdict.outcome), "changed");
    EXPECT_TRUE(verdict.detail.starts_with("pause (bad_mood) is now keep (")) << verdict.detail;
}

TEST_F(SupervisorReplay, NamesTheFieldWhenOnlyANumberChanged) {
    RecordedRound round = rounds().at(0);
    round.decision.set("confidence", "0.1234");
    const RoundVerdict verdict = again(round);
    EXPECT_EQ(verdict.outcome, RoundOutcome::changed);
    EXPECT_TRUE(verdict.detail.starts_with("confidence: recorded \"0.1234\"")) << verdict.detail;
}

TEST_F(SupervisorReplay, CannotReplayWithoutTheBundle) {
    RecordedRound round = rounds().at(0);
    round.bundle = "sha256:" + std::string(64, '0');
    EXPECT_EQ(again(round).outcome, RoundOutcome::not_replayable);
    round.bundle.clear();
    EXPECT_EQ(again(round).outcome, RoundOutcome::not_replayable);
}

}  // namespace
}  // namespace interlock
