// Ways in which somebody tried to break the loop's promises, each kept from coming back: a flood of
// stops, a stop beside an unreachable account, names that are
// not a planner's own, a refusal in the middle of an execution, and a report older than the books.
#include <gtest/gtest.h>

#include "testing/loop_world.h"

namespace interlock {
namespace {

Json one(std::string_view side, std::string_view qty, const Json& price) {
    return Json::array({LoopWorld::intent(side, qty, price)});
}

std::string error_code(const Json& answer) {
    const Json* errors = answer.find("errors");
    return errors == nullptr || errors->items().empty()
               ? ""
               : errors->items()[0].find("code")->as_string();
}

OutboxItem cancel_all(const std::string& effect_id, const TenantId& tenant_id) {
    OutboxItem effect;
    effect.effect_id = EffectId::trusted(effect_id);
    effect.tenant_id = tenant_id;
    effect.kind = std::string(kCancelAllKind);
    effect.json = "{}";
    effect.delivery = Delivery::repeatable;
    return effect;
}

void decide(LoopWorld& world, std::function<void(Turn&)> change) {
    TurnRequest turn;
    turn.tenant_id = world.tenant;
    turn.principal = internal_principal("test");
    turn.function = "test";
    turn.decide = [change = std::move(change)](Turn& t) -> Result<TurnReply> {
        change(t);
        return Answer{};
    };
    turn.reply = [](Result<Answer> answer) { EXPECT_TRUE(answer); };
    world.submit(std::move(turn));
}

// The lane of the stops is short and shared by all tenants.
TEST(LoopAttack, AFloodOfStopsCostsNobodyItsCancels) {
    constexpr std::size_t kStops = 100;
    LoopWorld world;
    std::vector<EffectOutcome> outcomes;
    OutboxThreads outbox(world.plane->outbox, world.clock, [&](EffectOutcome outcome) {
        outcomes.push_back(std::move(outcome));
    });
    std::vector<OutboxItem> stops;
    for (std::size_t i = 0; i < kStops; ++i) {
        const std::string n = std::to_string(i);
        stops.push_back(cancel_all("eff" + n, TenantId::trusted("t" + n)));
    }
    outbox.enqueue(std::move(stops));
    for (std::size_t i = 0; i < 2 * kStops; ++i) {
        world.clock.advance(Duration::of_seconds(1));
        outbox.run_round(std::chrono::milliseconds(0));
    }
    EXPECT_EQ(world.sink.performed.size(), kStops);
    ASSERT_EQ(outcomes.size(), kStops);
    for (const EffectOutcome& outcome : outcomes) {
        EXPECT_EQ(outcome.fate, EffectFate::done) << outcome.effect.effect_id.text();
    }
}

// A global stop reaches every account, also those behind one that cannot be reached.
TEST(LoopAttack, AnUnreachableAccountDoesNotKeepAnothersOrdersOpen) {
    LoopWorld world;
    std::vector<VenueAccount> accounts;
    const VenueBalance deposit{Asset::parse("USDT").value(), Decimal(1'000), {}};
    for (const char* name : {"first", "second"}) {
        accounts.push_back({TenantId::trusted(name), default_account_id(), TradeMode::paper});
        ASSERT_TRUE(world.paper->open_account(accounts.back(), {&deposit, 1}));
        VenueOrderRequest order;
        order.account = accounts.back();
        order.order_client_id = OrderClientId::trusted("resting");
        order.symbol = Symbol::parse("ABCUSDT").value();
        order.side = Side::buy;
        order.order_type = OrderType::limit;
        order.time_in_force = TimeInForce::gtc;
        order.qty = Decimal(1);
        order.limit_price = Decimal(99);
        ASSERT_TRUE(world.paper->submit(order));
    }
    VenueSink sink(VenueSink::Parts{
        .venues = {{TradeMode::paper, world.paper.get()}},
        .behind = world.sink,
        .clock = world.clock,
        .accounts = [&] { return accounts; }});
    ASSERT_TRUE(world.paper->set_faults(
        {{.kind = PaperFaultKind::disconnect, .account = accounts.front()}}));
    EXPECT_FALSE(sink.perform(cancel_all("eff", system_tenant())));
    EXPECT_TRUE(world.paper->report(accounts.back(), 0).value().open_orders.empty());
}

TEST(LoopAttack, AnOutsidePlannerCannotTakeTheNamesOfOurDecisions) {
    LoopWorld world;
    for (const char* name : {"auto.mm.1.buys", "sys_recovery"}) {
        const Json answer = world.validate(name, one("buy", "1", "100.01"));
        EXPECT_EQ(error_code(answer), "invalid_request") << name;
    }
}

// Fills the list of what was ordered lately, so that the next execution is refused half-way.
void fill_recent(LoopWorld& world) {
    world.account();
    decide(world, [&](Turn& turn) {
        Account account = *load_account(turn, world.venue_account()).value().account;
        account.recent.assign(
            kRecentIntentsMax,
            RecentIntent{
                .symbol = Symbol::parse("ABCUSDT").value(),
                .side = Side::sell,
                .qty = Decimal(7),
                .limit_price = std::nullopt,
                .decision_id = DecisionId::trusted("earlier"),
                .at = turn.now()});
        world.plane->loop->put_account(turn, std::move(account));
    });
}

TEST(LoopAttack, AnExecutionRefusedHalfWayLeavesNoOrderBehind) {
    LoopWorld world;
    fill_recent(world);
    EXPECT_EQ(error_code(world.trade("d1", one("buy", "1", "100.01"))), "overloaded");
    EXPECT_EQ(world.orders_sent(), 0);
    EXPECT_TRUE(world.memory.load_states("order/").value().empty());
    EXPECT_EQ(*world.decision("d1").find("stage"), Json("rejected"));
}

// Found by the simulator: the store failed after the orders of the plan had been staged.
TEST(LoopAttack, AnExecutionThatFailsHalfWayLeavesNoOrderBehind) {
    LoopWorld world;
    world.account();
    const std::string unreadable = "hunreadable";
    decide(world, [&](Turn& turn) {
        turn.save(
            order_key(world.venue_account(), OrderClientId::trusted(unreadable)), Json::array());
    });
    world.trade("d1", one("buy", "1", "100.01"), Json::array({unreadable}));
    EXPECT_EQ(world.memory.load_states("order/").value().size(), 1u);
    EXPECT_EQ(*world.decision("d1").find("stage"), Json("rehearsed"));
    EXPECT_EQ(world.orders_sent(), 0);
}

// Never store 429 or 503 under a key.
TEST(LoopAttack, AnOverloadIsNotRememberedUnderTheKeyOfAnExecution) {
    LoopWorld world;
    fill_recent(world);
    const Json intents = one("buy", "1", "100.01");
    ASSERT_EQ(error_code(world.trade("d1", intents)), "overloaded");
    const Json again = world.call("execute", world.execute_body("d1", intents));
    EXPECT_EQ(error_code(again), "gate_not_passed");
}

// A resting order fills between a question to the venue and the turn that hears the answer, and the
// watch tells of the fill first.
TEST(LoopAttack, AReportOlderThanTheBooksIsNoDrift) {
    LoopWorld world;
    const Json answer = world.trade("d1", one("buy", "1", "99.5"));
    Json body = LoopWorld::ids_of("d1", "verify");
    body.set(
        "order_client_ids",
        Json::array({*answer.find("execution")->items()[0].find("order_client_id")}));
    world.submit(world.turn_of("verify", body, [](Result<Answer>) {}));
    ASSERT_EQ(world.waiting.size(), 1u);
    const EffectOutcome old = world.plane->outbox.run_one(world.waiting.front());
    world.waiting.clear();
    MarketView crash = calm_view();
    for (auto* side : {&crash.bids, &crash.asks}) {
        for (auto& level : *side) {
            level.price.count -= 100;
        }
    }
    world.market->set(0, crash);
    world.clock.advance(Duration::of_seconds(1));
    ASSERT_TRUE(world.paper->advance(world.clock.now()));
    world.watch->poll();
    world.run_effects();
    ASSERT_GE(world.count("FILL_BOOKED"), 1);
    world.submit(world.plane->runner.outcome_turn(old));
    EXPECT_EQ(world.count("SAFE_RECOVERY_TRIGGERED"), 0);
}

}  // namespace
}  // namespace interlock
