// Strategies tick through the same steps and leave the same trail as an outside planner
// (control-decision.md#strategy-instances).
#include "trader/service/strategy_ticker.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/errors.h"
#include "testing/strategy_world.h"

namespace interlock {
namespace {

struct StrategyTickerTest : ::testing::Test {
    void start(const std::string& type, const Json& config) {
        id = world.create(type, config);
        ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d0", id)), "status"), "applied");
    }
    // Decisions of the strategy, by their ids, in order.
    std::vector<std::string> decisions() {
        std::vector<std::string> found;
        const auto records = *world.plane->ledger.read(world.tenant, 0, 10'000);
        for (const AuditRecord& record : records) {
            const std::string& name = record.draft.decision_id.text();
            const bool is_new = found.empty() || found.back() != name;
            if (name.starts_with("auto." + id) && is_new) {
                found.push_back(name);
            }
        }
        return found;
    }

    void set_trading(bool enabled, const std::string& key) {
        SetTradingRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted(key);
        request.call.account_id = default_account_id();
        request.enabled = enabled;
        LoopService::Caller human = world.caller();
        human.principal.kind = PrincipalKind::human;
        const Json told = world.answer_of([&](LoopService::Reply reply) {
            world.plane->control->call(human, "set_trading", request, std::move(reply));
        });
        ASSERT_EQ(told.find("refused"), nullptr) << to_text(told);
    }
    void set_universe(std::vector<Symbol> add, std::vector<Symbol> remove) {
        ChangeUniverseRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted("universe");
        request.call.account_id = default_account_id();
        request.add = std::move(add);
        request.remove = std::move(remove);
        const Json told = world.answer_of([&](LoopService::Reply reply) {
            world.plane->control->call(
                world.caller(), "change_universe", request, std::move(reply));
        });
        ASSERT_EQ(told.find("refused"), nullptr) << to_text(told);
    }
    // Status and the code that blocks it, the same in the list, in the instance and in its report.
    std::string status() {
        const auto told = [](const Json& json) {
            const Json& blocked = *json.find("blocked");
            return word(json, "status") + " " +
                   (blocked.is_null() ? "null" : word(blocked, "code"));
        };
        const Json one = world.get(id);
        const Json list = world.answer_of([&](LoopService::Reply reply) {
            world.plane->strategies->list(world.caller(), std::move(reply));
        });
        EXPECT_EQ(told(list.find("strategies")->items().front()), told(one));
        EXPECT_EQ(told(*one.find("report")->find("state")), told(one));
        return told(one);
    }

    void expect_planned_again(const Json& record) {
        const auto fetch = [&](const char* key) {
            const std::string ref = record.find("inputs")->find(key)->as_string();
            const auto bytes = world.memory.read_artifact(world.tenant, ref.substr(7)).value();
            return parse_json(bytes.value()).value();
        };
        const StateFacts state = decode_state_facts(fetch("state_hash")).value();
        const MarketSet market = decode_market_set(fetch("market_hash")).value();
        const Plan again = replan(*record.find("planner_input"), state, market).value();
        EXPECT_FALSE(again.intents.empty());
        EXPECT_EQ(to_text(encode(again)), to_text(*record.find("plan")));
    }

    StrategyWorld world;
    std::string id;
};

TEST_F(StrategyTickerTest, TradesThroughTheSameStepsAsAnOutsidePlanner) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(3));
    ASSERT_FALSE(decisions().empty());
    std::vector<std::string> trail = world.events(decisions().front());
    trail.erase(std::unique(trail.begin(), trail.end()), trail.end());
    EXPECT_EQ(
        trail,
        (std::vector<std::string>{
            "PLAN_CREATED",
            "VALIDATION_RESULT",
            "DRY_RUN_RESULT",
            "EXECUTION_ATTEMPT",
            "ORDER_ACKED",
            "EXECUTION_ATTEMPT",
            "VERIFICATION_RESULT",
            "DECISION_RECORDED"}));
}

TEST_F(StrategyTickerTest, QuietInstancesShareOneSkippedRecord) {
    start("idle", Json::object({{"tick_seconds", 1}}));
    world.create("idle", Json::object({{"tick_seconds", 1}}), InstanceMode::observe);
    const auto before = world.count("PLAN_CREATED");
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(world.count("PLAN_CREATED"), before + 1);
    EXPECT_EQ(world.orders_sent(), 0);
}

TEST_F(StrategyTickerTest, EqualIdleTicksAreCountedNotRecorded) {
    start("idle", Json::object({{"tick_seconds", 1}}));
    world.pass(Duration::of_seconds(2));
    const std::int64_t records = world.plane->ledger.head(world.tenant)->seq;
    const std::int64_t ticks = world.times("PLAN_CREATED");
    world.pass(Duration::of_seconds(100));
    EXPECT_EQ(world.times("PLAN_CREATED"), ticks + 100);
    EXPECT_EQ(world.plane->ledger.head(world.tenant)->seq, records);
    world.plane->folds.close_all();
    const AuditRecord last = world.plane->ledger.tail(world.tenant, 1)->front();
    EXPECT_EQ(last.draft.event, kFoldEvent);
    EXPECT_NE(last.draft.reason.find(" equal idle ticks from "), std::string::npos);
}

// Eight records every five seconds, each time with facts and rows of their own, is what one gate
// that keeps saying no must not cost.
TEST_F(StrategyTickerTest, APlanThatTheSameGateKeepsRefusingIsCountedAndLeavesNothing) {
    start("grid_trader", StrategyWorld::grid_config());
    set_universe({}, {Symbol::parse("ABCUSDT").value()});
    world.pass(Duration::of_seconds(10));
    const auto decisions_kept = [&] { return world.memory.load_states("decision/")->size(); };
    const std::int64_t records = world.plane->ledger.head(world.tenant)->seq;
    const std::size_t kept = decisions_kept();
    const std::int64_t refused = world.times("VALIDATION_RESULT");
    ASSERT_GT(refused, 0);
    world.pass(Duration::of_seconds(60));
    EXPECT_GE(world.times("VALIDATION_RESULT"), refused + 60);
    EXPECT_EQ(world.plane->ledger.head(world.tenant)->seq, records);
    EXPECT_EQ(decisions_kept(), kept);
    EXPECT_EQ(world.orders_sent(), 0);
}

// What is known to keep everything from passing is not put to the gates again at every tick: one
// record says that it began, one that it ended, and a restart between them says neither again.
TEST_F(StrategyTickerTest, ABlockedAccountIsNotedOnceAtItsBeginAndOnceAtItsEnd) {
    start("grid_trader", StrategyWorld::grid_config());
    set_trading(false, "off");
    world.pass(Duration::of_seconds(10));
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 1);
    EXPECT_EQ(world.times("VALIDATION_RESULT"), 0);
    EXPECT_EQ(status(), "blocked account_disabled");
    const std::int64_t records = world.plane->ledger.head(world.tenant)->seq;
    world.pass(Duration::of_seconds(60));
    EXPECT_EQ(world.plane->ledger.head(world.tenant)->seq, records);

    world.rebuild();
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 1);
    EXPECT_EQ(world.count("TRADING_UNBLOCKED"), 0);
    EXPECT_EQ(world.orders_sent(), 0);

    set_trading(true, "on");
    world.pass(Duration::of_seconds(3));
    EXPECT_GT(world.orders_sent(), 0);
    EXPECT_EQ(status(), "running null");
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 1);
    EXPECT_EQ(world.count("TRADING_UNBLOCKED"), 1);
    EXPECT_EQ(world.count("TRADING_BLOCK_CHANGED"), 0);
}

// Another reason that takes the first one's place is told by a record of its own kind.
TEST_F(StrategyTickerTest, AReasonThatChangesNeitherEndsTheBlockNorBeginsAnother) {
    start("grid_trader", StrategyWorld::grid_config());
    set_trading(false, "off");
    world.pass(Duration::of_seconds(3));
    world.plane->kill.activate_by_rule(world.tenant, "test", "smoke");
    world.run_effects();
    world.pass(Duration::of_seconds(3));
    EXPECT_EQ(status(), "blocked stopped");
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 1);
    EXPECT_EQ(world.count("TRADING_BLOCK_CHANGED"), 1);
    EXPECT_EQ(world.count("TRADING_UNBLOCKED"), 0);
}

// Its account trades, its own market is held up: only this strategy is blocked, and says so.
TEST_F(StrategyTickerTest, AStrategyCanBeBlockedByItsMarketAlone) {
    start("grid_trader", StrategyWorld::grid_config());
    const auto set_concern = [&](ConcernStatus wanted, const std::string& key) {
        ConcernRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted(key);
        request.status = wanted;
        world.answer_of([&](LoopService::Reply reply) {
            world.plane->strategies->set_concern(
                world.caller(), ConcernId::trusted("main:abcusdt"), request, std::move(reply));
        });
    };
    set_concern(ConcernStatus::paused, "hold");
    world.pass(Duration::of_seconds(5));
    EXPECT_EQ(status(), "blocked paused");
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 1);
    set_concern(ConcernStatus::informational, "inform");
    world.pass(Duration::of_seconds(5));
    EXPECT_EQ(status(), "blocked informational");
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 1);
    set_concern(ConcernStatus::active, "go");
    world.pass(Duration::of_seconds(5));
    EXPECT_EQ(status(), "running null");
    EXPECT_EQ(world.count("TRADING_UNBLOCKED"), 1);
}

// Whoever ends a strategy ends on record what held it up; no tick comes that would see the end.
TEST_F(StrategyTickerTest, ABlockEndsOnRecordWithTheStrategyThatItHeldUp) {
    start("grid_trader", StrategyWorld::grid_config());
    const auto ended = [&] {
        const auto records = *world.plane->ledger.read(world.tenant, 0, 10'000);
        std::string reasons;
        for (const AuditRecord& record : records) {
            if (record.draft.event == "TRADING_UNBLOCKED") {
                const bool is_own = record.draft.detail.find("strategy_id") != nullptr;
                reasons += (is_own ? "own: " : "all: ") + record.draft.reason + "; ";
            }
        }
        return reasons;
    };
    const std::string own = "own: it does not run any more; ";
    const std::string all = "all: it does not run any more; ";
    world.set_concern(ConcernStatus::paused);
    world.pass(Duration::of_seconds(3));
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 1);
    world.set_concern(ConcernStatus::active);
    world.pass(Duration::of_seconds(3));
    EXPECT_EQ(ended(), "own: it trades again; ");

    // The account is blocked, and its only strategy is paused.
    set_trading(false, "off");
    world.pass(Duration::of_seconds(3));
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 2);
    ASSERT_EQ(word(world.decide(StrategyWorld::payload("d2", "pause")), "status"), "applied");
    EXPECT_EQ(ended(), "own: it trades again; " + all);
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(ended(), "own: it trades again; " + all);
    // Nobody resumes it while its account is off.
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d3", "resume")), "status"), "rejected");
    set_trading(true, "on for a moment");
    const Json resumed = world.decide(StrategyWorld::payload("d3b", "resume"));
    ASSERT_EQ(word(resumed, "status"), "applied") << to_text(resumed);
    set_trading(false, "off once more");
    world.pass(Duration::of_seconds(3));
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 3);

    // Another one still ticks there, so the account's goes on, also through a restart.
    const std::string watching =
        world.create("grid_trader", StrategyWorld::grid_config(), InstanceMode::observe);
    const auto stop = [&](const std::string& which, const std::string& key) {
        ControlStrategyRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted(key);
        request.action = HelperAction::stop;
        world.answer_of([&](LoopService::Reply reply) {
            world.plane->strategies->control(
                world.caller(), StrategyId::trusted(which), request, std::move(reply));
        });
    };
    stop(id, "stop");
    EXPECT_EQ(ended(), "own: it trades again; " + all);
    stop(watching, "stop it too");
    EXPECT_EQ(ended(), "own: it trades again; " + all + all);

    // What its market alone held up.
    set_trading(true, "on");
    ASSERT_EQ(word(world.decide(StrategyWorld::switch_to("d4", id)), "status"), "applied");
    world.set_concern(ConcernStatus::paused);
    world.pass(Duration::of_seconds(3));
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 4);
    stop(id, "stop again");
    EXPECT_EQ(ended(), "own: it trades again; " + all + all + own);
}

TEST_F(StrategyTickerTest, AnObserverShowsItsPlanAndSendsNothing) {
    const std::string watching =
        world.create("grid_trader", StrategyWorld::grid_config(), InstanceMode::observe);
    world.pass(Duration::of_seconds(10));
    EXPECT_EQ(world.count("VALIDATION_RESULT"), 0);
    EXPECT_EQ(world.orders_sent(), 0);
    const Json report = *world.get(watching).find("report");
    EXPECT_EQ(word(*report.find("state"), "status"), "observing");
    EXPECT_FALSE(word(*report.find("state"), "current_intent").empty());
    // The concern's own mode, and what the account's tier makes of it: a fresh one is held to 75 %.
    const Json& control = *report.find("control");
    EXPECT_EQ(word(control, "risk_mode"), "normal");
    EXPECT_EQ(word(control, "risk_mode_in_effect"), "reduced");
    EXPECT_EQ(word(control, "size_factor"), "0.75");
}

TEST_F(StrategyTickerTest, APausedConcernIsWatchedAndNotTraded) {
    start("grid_trader", StrategyWorld::grid_config());
    world.set_concern(ConcernStatus::paused);
    world.pass(Duration::of_seconds(6));
    EXPECT_EQ(world.orders_sent(), 0);
}

// An agent can change nothing in such a concern, so nothing may go on in it; a human can.
TEST_F(StrategyTickerTest, AConcernThatOnlyInformsDoesNotTradeUntilAHumanSaysSo) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(5));
    ASSERT_GT(world.open_orders(), 0u);
    world.set_concern(ConcernStatus::informational);
    world.pass(Duration::of_seconds(2));
    EXPECT_EQ(world.open_orders(), 0u);
    const auto sent = world.orders_sent();
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(world.orders_sent(), sent);
    world.set_concern(ConcernStatus::active);
    world.pass(Duration::of_seconds(5));
    EXPECT_GT(world.open_orders(), 0u);
}

// The gates say so to every planner, and a cancel is still possible.
TEST_F(StrategyTickerTest, NoPlannerTradesWhereTheConcernOnlyInforms) {
    start("idle", Json::object());
    world.set_concern(ConcernStatus::informational);
    const Json answer = world.validate("x1", Json::array({LoopWorld::intent("buy", "1", "99")}));
    EXPECT_NE(to_text(answer).find("risk_mode_halted"), std::string::npos) << to_text(answer);
    EXPECT_EQ(world.open_orders(), 0u);
}

TEST_F(StrategyTickerTest, AGridThatStandsIsLeftAlone) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(5));
    const auto sent = world.orders_sent();
    EXPECT_GT(sent, 0);
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(world.orders_sent(), sent);
}

TEST_F(StrategyTickerTest, GoesOnAfterARestart) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(5));
    const std::size_t orders = world.open_orders();
    world.rebuild();
    EXPECT_EQ(world.plane->running.size(), 1u);
    world.pass(Duration::of_seconds(40));
    EXPECT_EQ(world.open_orders(), orders);
}

// It looks first: what rests at the venue stays there, no record says that it does not trade, and
// the displays still do.
TEST_F(StrategyTickerTest, AStartTakesNothingBackAndIsNobodysNews) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(5));
    const auto sent = world.orders_sent();
    const auto orders = world.open_orders();
    const auto ticks = world.times("PLAN_CREATED");
    ASSERT_GT(orders, 0u);
    world.rebuild();
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(status(), "blocked recovering");
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(world.times("PLAN_CREATED"), ticks);
    world.pass(Duration::of_seconds(10));
    EXPECT_EQ(status(), "running null");
    EXPECT_GT(world.times("PLAN_CREATED"), ticks);
    EXPECT_EQ(world.open_orders(), orders);
    EXPECT_EQ(world.orders_sent(), sent);
    EXPECT_EQ(world.count("ORDER_CANCELED"), 0);
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 0);
    EXPECT_EQ(world.count("TRADING_UNBLOCKED"), 0);
}

// What was planned before it was known to be a start's does not act either.
TEST_F(StrategyTickerTest, NothingActsWhileAStartIsOnlyLookedAt) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(5));
    world.rebuild();
    const auto sent = world.sent.size();
    world.submit(world.plane->ticker->act_turn(world.venue_account(), StrategyId::trusted(id)));
    world.run_effects();
    EXPECT_EQ(world.sent.size(), sent);
    EXPECT_EQ(world.count("ORDER_CANCELED"), 0);
}

TEST_F(StrategyTickerTest, TheKillSwitchStopsItsTicksToo) {
    start("grid_trader", StrategyWorld::grid_config());
    world.plane->kill.activate_by_rule(world.tenant, "test", "stop");
    world.pass(Duration::of_seconds(6));
    EXPECT_EQ(world.orders_sent(), 0);
}

// Who leaves a mode has stopped trading in it.
TEST_F(StrategyTickerTest, StandsStillWhenItsTenantRunsAnotherMode) {
    start("grid_trader", StrategyWorld::grid_config());
    TurnRequest turn;
    turn.tenant_id = world.tenant;
    turn.principal = PlaneWorld::agent();
    turn.function = "test";
    turn.decide = [&](Turn& t) -> Result<TurnReply> {
        t.save_as<LoopMode>(
            loop_mode_key(world.tenant),
            std::make_shared<const LoopMode>(LoopMode{.mode = TradeMode::shadow}));
        return Answer{200, "{}"};
    };
    turn.reply = [](Result<Answer>) {};
    world.submit(std::move(turn));
    world.pass(Duration::of_seconds(6));
    EXPECT_EQ(world.orders_sent(), 0);
}

// I9: what was planned comes out of the recorded facts again, byte for byte.
TEST_F(StrategyTickerTest, APlanIsMadeAgainFromItsRecordedFacts) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(3));
    expect_planned_again(world.decision(decisions().front()));
}

TEST_F(StrategyTickerTest, WhatAMakerAskedForIsRecordedWithItsPlan) {
    start("inventory_rails", Json::object({{"amount", "2"}, {"tick_seconds", 1}}));
    world.pass(Duration::of_seconds(3));
    ASSERT_FALSE(decisions().empty());
    const Json record = world.decision(decisions().front());
    const PlannerInput input = decode_planner_input(*record.find("planner_input")).value();
    EXPECT_TRUE(input.trades.has_value());
    ASSERT_EQ(input.signals.list.size(), 1u);
    EXPECT_TRUE(input.signals.list[0].bandwidth_quantile.has_value());
    expect_planned_again(record);
}

enum class Failure { throws, refuses, hoards };

class Failing final : public Strategy {
public:
    explicit Failing(Failure failure) : failure_(failure) {}
    Duration tick_every() const override { return kTickEveryMin; }
    Result<StrategyStep> step(const StrategyInput&) const override {
        switch (failure_) {
            case Failure::throws:
                throw std::runtime_error("a mistake in a strategy");
            case Failure::hoards: {
                StrategyStep step;
                step.memory = Json::object({{"m", std::string(kStrategyMemoryBytesMax - 7, 'm')}});
                EXPECT_EQ(to_text(step.memory).size(), kStrategyMemoryBytesMax + 1);
                return step;
            }
            case Failure::refuses:
                break;
        }
        return fail(errors::internal, "a fact is missing");
    }

private:
    Failure failure_;
};

// A world whose grid fails at every tick, ticked by hand.
struct FailingStrategyTest : StrategyTickerTest, ::testing::WithParamInterface<Failure> {
    FailingStrategyTest()
        : broken([](const std::string& type, const Json& config) {
              OpenedStrategy opened = open_strategy(type, config);
              if (type == "grid_trader") {
                  opened.strategy = std::make_shared<Failing>(GetParam());
              }
              return opened;
          }),
          ticker({*world.plane->loop, broken, *world.paper, [this](TurnRequest turn) {
                      world.submit(std::move(turn));
                  }}) {}

    void take_over(const std::string& instance_id) {
        TurnRequest turn;
        turn.tenant_id = world.tenant;
        turn.principal = PlaneWorld::agent();
        turn.function = "test";
        turn.decide = [this, instance_id](Turn& t) -> Result<TurnReply> {
            TRY_ASSIGN(
                const auto instance,
                load_instance(
                    t, {world.tenant, TradeMode::paper}, StrategyId::trusted(instance_id)));
            broken.reconcile(*instance);
            return Answer{200, "{}"};
        };
        turn.reply = [](Result<Answer>) {};
        world.submit(std::move(turn));
    }
    void tick() {
        world.clock.advance(Duration::of_seconds(1));
        for (TurnRequest& turn : ticker.due_turns(world.clock.monotonic())) {
            world.submit(std::move(turn));
        }
        world.run_effects();
    }

    StrategyRuntime broken;
    StrategyTicker ticker;
};

INSTANTIATE_TEST_SUITE_P(
    Ways,
    FailingStrategyTest,
    ::testing::Values(Failure::throws, Failure::refuses, Failure::hoards));

TEST_P(FailingStrategyTest, ThreeFailedTicksLatchOneInstanceAndLeaveOthersAlone) {
    start("grid_trader", StrategyWorld::grid_config());
    world.pass(Duration::of_seconds(5));
    ASSERT_GT(world.open_orders(), 0u);
    const std::string other =
        world.create("idle", Json::object({{"tick_seconds", 1}}), InstanceMode::observe);
    take_over(id);
    take_over(other);
    tick();
    tick();
    EXPECT_EQ(word(world.get(id), "status"), "running");
    EXPECT_GT(world.open_orders(), 0u);
    tick();
    EXPECT_EQ(word(world.get(id), "status"), "error");
    EXPECT_EQ(world.open_orders(), 0u) << "a latched strategy leaves nothing at the venue";
    EXPECT_EQ(world.count("ERROR_EVENT"), 3);
    EXPECT_EQ(word(world.get(other), "status"), "observing");
    tick();
    EXPECT_EQ(world.count("ERROR_EVENT"), 3) << "no more ticks";
    EXPECT_EQ(broken.size(), 1u);
}

TEST_P(FailingStrategyTest, ResumingLiftsTheLatch) {
    start("grid_trader", StrategyWorld::grid_config());
    take_over(id);
    tick();
    tick();
    tick();
    ASSERT_EQ(word(world.get(id), "status"), "error");
    EXPECT_EQ(word(world.decide(StrategyWorld::payload("d1", "resume")), "status"), "applied");
    EXPECT_EQ(word(world.get(id), "status"), "running");
}

// Who only renames it has not looked at what went wrong.
TEST_P(FailingStrategyTest, AReloadLiftsTheLatchAndANewNameDoesNot) {
    start("grid_trader", StrategyWorld::grid_config());
    take_over(id);
    tick();
    tick();
    tick();
    const auto update = [&](const std::string& key, UpdateStrategyRequest request) {
        request.call.idempotency_key = IdempotencyKey::trusted(key);
        return world.answer_of([&](LoopService::Reply reply) {
            world.plane->strategies->update(
                world.caller(), StrategyId::trusted(id), std::move(request), std::move(reply));
        });
    };
    UpdateStrategyRequest renamed;
    renamed.name = "another";
    const Json answer = update("u1", std::move(renamed));
    EXPECT_EQ(word(answer, "name"), "another");
    EXPECT_EQ(word(answer, "status"), "error");
    UpdateStrategyRequest reloaded;
    reloaded.config = StrategyWorld::grid_config();
    EXPECT_EQ(word(update("u2", std::move(reloaded)), "status"), "running");
}

}  // namespace
}  // namespace interlock
