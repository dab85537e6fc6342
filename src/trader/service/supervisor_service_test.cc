#include "trader/service/supervisor_service.h"

#include <gtest/gtest.h>

#include "testing/strategy_world.h"
#include "trader/rules/replay/json_difference.h"

namespace interlock {
namespace {

// Writes the market minute by minute, from more than a day before the world's noon on.
class MarketScript {
public:
    explicit MarketScript(ScriptedMarket& market)
        : market_(market), at_(FakeClock::kNoon - Duration::of_hours(30)) {}

    // To and fro by four ticks a minute, eight minutes each way.
    void range(int minutes) {
        for (int i = 0; i < minutes; ++i) {
            write(++phase_ % 16 < 8 ? 4 : -4);
        }
    }
    void trend(int minutes, std::int64_t ticks) {
        for (int i = 0; i < minutes; ++i) {
            write(ticks);
        }
    }
    // Up and down by two percent.
    void storm(int minutes) {
        for (int i = 0; i < minutes; ++i) {
            write(++phase_ % 7 < 4 ? 200 : -260);
        }
    }
    void until_noon() {
        range(static_cast<int>((FakeClock::kNoon - at_).microseconds / 60'000'000));
    }

private:
    void write(std::int64_t move) {
        price_ = std::max<std::int64_t>(2'000, price_ + move);
        MarketView view;
        for (std::int64_t i = 0; i < 3; ++i) {
            view.bids.push_back({{price_ - 1 - i}, {2'000}});
            view.asks.push_back({{price_ + 1 + i}, {2'000}});
        }
        market_.set(step_of(at_), std::move(view));
        at_ = at_ + Duration::of_minutes(1);
    }

    ScriptedMarket& market_;
    Timestamp at_;
    std::int64_t price_ = 10'000;
    int phase_ = 0;
};

class SupervisorTest : public ::testing::Test {
protected:
    void start(bool allow_actions) {
        world.supervisor_config.enabled = true;
        world.supervisor_config.allow_actions = allow_actions;
        world.rebuild();
        grid = world.create("grid_trader", StrategyWorld::grid_config());
        trend = world.create("trend_follower");
        ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d1", grid)), "status"), "applied");
    }
    void pass(std::int64_t minutes) {
        world.pass(Duration::of_minutes(minutes), Duration::of_seconds(30));
    }
    std::vector<AuditRecord> records(std::string_view event = kSupervisorEvent) {
        std::vector<AuditRecord> found;
        for (std::int64_t after = 0;;) {
            const auto page = world.plane->ledger.read(world.tenant, after, 1000).value();
            if (page.empty()) {
                return found;
            }
            after = page.back().seq;
            for (const AuditRecord& record : page) {
                if (record.draft.event == event) {
                    found.push_back(record);
                }
            }
        }
    }
    static std::string action_of(const AuditRecord& record) {
        return word(*record.draft.detail.find("decision"), "action");
    }
    // Those that want a change.
    std::vector<AuditRecord> actions() {
        std::vector<AuditRecord> all = records();
        std::erase_if(all, [](const AuditRecord& record) { return action_of(record) == "keep"; });
        return all;
    }
    Json decided_again(const AuditRecord& record) {
        const std::string hash = record.draft.artifacts.at(0).substr(7);
        const Json bundle =
            parse_json(world.plane->ledger.artifact(world.tenant, hash).value().value()).value();
        const Timestamp now = parse_timestamp(word(record.draft.detail, "now")).value();
        return encode(supervise(decode_supervisor_facts(bundle, now).value()));
    }
    std::size_t of_hermes(std::string_view event) {
        const auto all = records(event);
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [](const AuditRecord& record) {
                return record.draft.decision_id.text().starts_with(kSupervisorDecisionPrefix);
            }));
    }

    StrategyWorld world;
    MarketScript script{*world.market};
    std::string grid;
    std::string trend;
};

TEST_F(SupervisorTest, IsOffByDefault) {
    world.rebuild();
    grid = world.create("grid_trader", StrategyWorld::grid_config());
    world.decide(StrategyWorld::switch_to("d1", grid));
    pass(5);
    EXPECT_TRUE(records().empty());
}

TEST_F(SupervisorTest, RecordsEveryRoundWithEverythingItWasDecidedBy) {
    script.until_noon();
    script.range(10);
    start(true);
    pass(5);
    const auto all = records();
    ASSERT_EQ(all.size(), 5U);
    std::int64_t n = 0;
    for (const AuditRecord& record : all) {
        EXPECT_EQ(record.draft.decision_id.text(), "hermes.main:abcusdt." + std::to_string(++n));
        EXPECT_EQ(action_of(record), "keep") << to_text(record.draft.detail);
        EXPECT_EQ(word(record.draft.detail, "dispatch"), "none");
        EXPECT_EQ(
            first_difference(*record.draft.detail.find("decision"), decided_again(record)), "");
    }
    EXPECT_EQ(of_hermes("CONTROL_DECISION"), 0U);
}

TEST_F(SupervisorTest, KeepsOneBundleForRoundsInWhichNothingChanged) {
    world.supervisor_config.every = Duration::of_seconds(10);
    start(true);
    pass(3);
    world.pass(Duration::of_seconds(40), Duration::of_seconds(10));
    const auto all = records();
    ASSERT_GE(all.size(), 4U);
    EXPECT_EQ(all[all.size() - 1].draft.artifacts, all[all.size() - 2].draft.artifacts);
    EXPECT_NE(word(all.back().draft.detail, "now"), word(all[all.size() - 2].draft.detail, "now"));
}

TEST_F(SupervisorTest, FollowsATrendAndComesBackThroughTheContract) {
    script.until_noon();
    script.trend(600, 2);
    script.range(600);
    start(true);
    for (int hour = 0; hour < 10 && world.active() == grid; ++hour) {
        pass(60);
    }
    EXPECT_EQ(world.active(), trend);
    ASSERT_EQ(actions().size(), 1U);
    const AuditRecord handed = actions().front();
    EXPECT_EQ(word(handed.draft.detail, "dispatch"), "sent");
    EXPECT_EQ(first_difference(*handed.draft.detail.find("decision"), decided_again(handed)), "");
    const auto applied = records("CONTROL_DECISION").back();
    EXPECT_EQ(applied.draft.decision_id, handed.draft.decision_id);
    EXPECT_EQ(*applied.draft.detail.find("payload"), *handed.draft.detail.find("payload"));
    EXPECT_EQ(word(applied.draft.detail, "status"), "applied");

    for (int hour = 0; hour < 15 && world.active() == trend; ++hour) {
        pass(60);
    }
    EXPECT_EQ(world.active(), grid);
    EXPECT_EQ(actions().size(), 2U);
}

TEST_F(SupervisorTest, ChangesNothingWithoutLeaveToAct) {
    script.until_noon();
    script.trend(600, 2);
    start(false);
    pass(500);
    EXPECT_EQ(world.active(), grid);
    ASSERT_FALSE(actions().empty());
    for (const AuditRecord& record : actions()) {
        EXPECT_EQ(word(record.draft.detail, "dispatch"), "blocked");
        EXPECT_EQ(action_of(record), "switch");
        EXPECT_EQ(word(*record.draft.detail.find("payload"), "target_strategy_id"), trend);
    }
    EXPECT_EQ(of_hermes("CONTROL_DECISION"), 0U);
    EXPECT_EQ(of_hermes("CONTROL_APPLYING"), 0U);
}

TEST_F(SupervisorTest, TightensAStormAndLoosensItsOwnModeLater) {
    script.until_noon();
    script.storm(90);
    script.range(60 * 30);
    start(true);
    pass(90);
    EXPECT_EQ(word(world.concern(), "risk_mode"), "defensive");
    world.rebuild();  // What it set is remembered over a restart.
    for (int hour = 0; hour < 29 && word(world.concern(), "risk_mode") == "defensive"; ++hour) {
        pass(60);
    }
    EXPECT_EQ(word(world.concern(), "risk_mode"), "normal");
    for (const AuditRecord& record : actions()) {
        EXPECT_EQ(action_of(record), "set_risk_mode");
    }
}

TEST_F(SupervisorTest, PausesAGridInAFallAndResumesItLater) {
    script.until_noon();
    script.trend(600, -2);
    script.range(60 * 14);
    start(true);
    const auto is_paused = [&] { return *world.get(grid).find("paused") == Json(true); };
    for (int hour = 0; hour < 10 && !is_paused(); ++hour) {
        pass(60);
    }
    EXPECT_TRUE(is_paused());  // The trend follower is long only.
    for (int hour = 0; hour < 20 && is_paused(); ++hour) {
        pass(60);
    }
    EXPECT_FALSE(is_paused());
    ASSERT_EQ(actions().size(), 2U);
    EXPECT_EQ(action_of(actions().front()), "pause");
    EXPECT_EQ(action_of(actions().back()), "resume");
}

TEST_F(SupervisorTest, LetsTheProtectorFundBothSidesOfAGrid) {
    script.until_noon();
    script.range(60 * 12);
    start(true);
    const std::string protector = world.create("exposure_protector");
    for (int quarter = 0; quarter < 8 && world.active() == grid; ++quarter) {
        pass(15);
    }
    EXPECT_EQ(world.active(), protector);  // The account holds nothing but cash.
    for (int hour = 0; hour < 9 && world.active() == protector; ++hour) {
        pass(60);
    }
    EXPECT_EQ(world.active(), grid);
}

TEST_F(SupervisorTest, GivesUpARoundThatTheEngineHasNoRoomFor) {
    start(true);
    world.clock.advance(Duration::of_seconds(61));
    const StrategyScope scope{world.tenant, TradeMode::paper};
    world.engine->refuse_after = 1;  // The round itself, but not its visits.
    world.submit(world.plane->supervisor->round_turn(scope));
    world.engine->refuse_after.reset();
    EXPECT_TRUE(records().empty());
    world.submit(world.plane->supervisor->round_turn(scope));
    EXPECT_EQ(records().size(), 1U);
}

TEST_F(SupervisorTest, DoesNotBeginARoundBeforeTheLastOneIsThrough) {
    start(true);
    const StrategyScope scope{world.tenant, TradeMode::paper};
    TurnRequest both;
    both.tenant_id = world.tenant;
    both.principal = internal_principal("test");
    both.function = "two_rounds";
    both.decide = [this, scope](Turn& turn) -> Result<TurnReply> {
        turn.after_commit([this, scope] {
            world.submit(world.plane->supervisor->round_turn(scope));
            world.submit(world.plane->supervisor->round_turn(scope));
        });
        return Answer{200, "{}"};
    };
    both.reply = [](const Result<Answer>& answer) { EXPECT_TRUE(answer); };
    world.submit(std::move(both));
    EXPECT_EQ(records().size(), 1U);
    world.submit(world.plane->supervisor->round_turn(scope));
    EXPECT_EQ(records().size(), 2U);
}

TEST_F(SupervisorTest, LooksAtTheActiveStrategyHoweverManyThereAre) {
    start(true);
    std::string last = grid;
    for (std::size_t i = 0; i < kCandidatesMax + 5; ++i) {
        last = std::max(last, world.create("idle"));
    }
    world.decide(StrategyWorld::switch_to("d2", last));
    ASSERT_EQ(world.active(), last);
    pass(1);
    ASSERT_FALSE(records().empty());
    const Json decision = *records().back().draft.detail.find("decision");
    EXPECT_EQ(decision.find("fits")->items().size(), kCandidatesMax);
    EXPECT_NE(word(decision, "rule"), "no_active_strategy");
}

TEST_F(SupervisorTest, LeavesAConcernAloneThatPeopleDidNotStart) {
    script.until_noon();
    world.supervisor_config.enabled = true;
    world.supervisor_config.allow_actions = true;
    world.rebuild();
    grid = world.create("grid_trader", StrategyWorld::grid_config(), InstanceMode::observe);
    pass(3);
    ASSERT_FALSE(records().empty());
    EXPECT_EQ(word(*records().back().draft.detail.find("decision"), "rule"), "no_active_strategy");
    EXPECT_EQ(world.active(), "");
}

TEST_F(SupervisorTest, LooksAtTheTenantsItWasGivenOnly) {
    world.supervisor_config.tenants = {TenantId::trusted("other")};
    start(true);
    pass(3);
    EXPECT_TRUE(records().empty());
}

TEST_F(SupervisorTest, CountsOnAfterARestart) {
    start(true);
    pass(2);
    world.rebuild();
    pass(1);
    const auto all = records();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all.back().draft.decision_id.text(), "hermes.main:abcusdt.3");
}

TEST_F(SupervisorTest, NobodyElseMayUseItsIds) {
    start(false);
    const Json answer = world.decide(StrategyWorld::switch_to("hermes.main:abcusdt.9", trend));
    EXPECT_EQ(code(answer), "invalid_payload");
    EXPECT_EQ(world.active(), grid);
}

TEST_F(SupervisorTest, ListsTheNewestFirstAndPagesOn) {
    start(true);
    pass(5);
    const Json first = world.plane->supervisor->list(world.tenant, {.limit = 2}).value();
    const Json::Array& two = first.find("decisions")->items();
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(word(two[0], "decision_id"), "hermes.main:abcusdt.5");
    EXPECT_EQ(word(two[1], "decision_id"), "hermes.main:abcusdt.4");
    const Json rest =
        world.plane->supervisor
            ->list(world.tenant, {.before = first.find("next_before")->as_int64(), .limit = 50})
            .value();
    EXPECT_EQ(rest.find("decisions")->items().size(), 3U);
    EXPECT_TRUE(rest.find("next_before")->is_null());
    const Json changes =
        world.plane->supervisor->list(world.tenant, {.only_actions = true}).value();
    EXPECT_TRUE(changes.find("decisions")->items().empty());
}

}  // namespace
}  // namespace interlock
