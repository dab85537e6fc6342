#include "loop/rules/dry_run/dry_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loop/rules/gates/sample_world.h"
#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

DryRunInput input_of(const SampleWorld& world) {
    return {
        .state = world.state,
        .market = world.market,
        .plan = world.plan,
        .slippage_bps = {},
        .fee_bps = {},
        .conflicts = {},
    };
}

Adjustment adjust(const SampleWorld& world) {
    return adjust_plan(input_of(world), world.input());
}

TEST(DryRun, ProjectsEveryIntentInOrder) {
    SampleWorld world = sample_world(3);
    const DryRunReport report = run_dry_run(input_of(world));
    EXPECT_TRUE(report.pass);
    ASSERT_EQ(report.projected.size(), 3u);
    for (std::int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(report.projected[static_cast<std::size_t>(i)].symbol, sample_symbol(i));
    }
}

TEST(DryRun, TakesNoGiftFromNegativeAssumptions) {
    const SampleWorld world = sample_world();
    DryRunInput input = input_of(world);
    const DryRunReport own = run_dry_run(input);
    input.slippage_bps = Decimal(-100);
    input.fee_bps = Decimal(-100);
    EXPECT_EQ(to_text(encode(run_dry_run(input))), to_text(encode(own)));
}

TEST(DryRun, RefusesAPlanOfTooManyIntents) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = sample_decimal("0.0002");
    world.plan.intents.assign(kIntentsMax + 1, world.plan.intents[0]);
    const DryRunReport report = run_dry_run(input_of(world));
    EXPECT_FALSE(report.pass);
    EXPECT_EQ(report.blocking_reasons.back(), "dry_run:too_many_intents:-");
}

TEST(DryRun, AnswersWhateverTheNumbersAre) {
    EXPECT_TRUE(rc::check([] {
        const auto gen = gen_any_decimal();
        SampleWorld world;
        world.state = draw_state(2, gen);
        world.market = draw_markets(2, gen);
        Intent intent = sample_buy();
        intent.symbol = test_symbol(0);
        intent.side = *rc::gen::element(Side::buy, Side::sell);
        intent.qty = *gen;
        intent.limit_price = draw_optional(gen);
        world.plan.intents = {intent, intent};
        DryRunInput input = input_of(world);
        input.slippage_bps = *gen;
        input.fee_bps = *gen;
        const DryRunReport report = run_dry_run(input);
        RC_ASSERT(report.pass == report.blocking_reasons.empty());
        RC_ASSERT(report.projected.size() == world.plan.intents.size());
        adjust_plan(input, world.input());
        allowed_envelope(world.state, world.market);
    }));
}

TEST(AdjustPlan, TakesTheLargestFactorThatPasses) {
    SampleWorld world = sample_world();
    // 2500 is too much for 2000; three quarters of it are not.
    world.plan.intents[0].qty = sample_decimal("0.05");
    const Adjustment adjustment = adjust(world);
    ASSERT_TRUE(adjustment.plan.has_value());
    EXPECT_EQ(to_text(adjustment.plan->intents[0].qty), "0.0375");
    EXPECT_EQ(adjustment.rounds, 1);
}

TEST(AdjustPlan, GoesOnToSmallerFactors) {
    SampleWorld world = sample_world();
    world.state.limits.max_notional_per_trade = Decimal(1'000);
    world.plan.intents[0].qty = sample_decimal("0.06");
    const Adjustment adjustment = adjust(world);
    ASSERT_TRUE(adjustment.plan.has_value());
    EXPECT_EQ(to_text(adjustment.plan->intents[0].qty), "0.015");
    EXPECT_EQ(adjustment.rounds, 3);
}

TEST(AdjustPlan, GivesUpAfterThreeRounds) {
    SampleWorld world = sample_world();
    world.state.trading_enabled = false;
    const Adjustment adjustment = adjust(world);
    EXPECT_FALSE(adjustment.plan.has_value());
    EXPECT_EQ(adjustment.rounds, kAdjustRoundsMax);
}

TEST(AdjustPlan, RoundsDownToTheStep) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = sample_decimal("0.04001");
    const Adjustment adjustment = adjust(world);
    ASSERT_TRUE(adjustment.plan.has_value());
    EXPECT_EQ(to_text(adjustment.plan->intents[0].qty), "0.03");
}

TEST(AdjustPlan, LeavesReductionsAsTheyAre) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = sample_decimal("0.05");
    world.plan.intents.push_back(sample_sell());
    const Adjustment adjustment = adjust(world);
    ASSERT_TRUE(adjustment.plan.has_value());
    EXPECT_EQ(adjustment.plan->intents[1].qty, sample_sell().qty);
}

// The id is derived from the quantity, so the old one belongs to another order.
TEST(AdjustPlan, DropsTheOrderIdOfWhatItScaled) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = sample_decimal("0.05");
    world.plan.intents[0].order_client_id = OrderClientId::trusted("h1");
    const Adjustment adjustment = adjust(world);
    ASSERT_TRUE(adjustment.plan.has_value());
    EXPECT_TRUE(adjustment.plan->intents[0].order_client_id.empty());
}

Intent market_order(Side side, std::string_view qty) {
    Intent intent = side == Side::buy ? sample_buy() : sample_sell();
    intent.order_type = OrderType::market;
    intent.limit_price.reset();
    intent.time_in_force = TimeInForce::ioc;
    intent.qty = sample_decimal(qty);
    return intent;
}

TEST(AdjustPlan, CutsAnEntryToWhatTheBookCarries) {
    SampleWorld world = sample_world();
    world.plan.intents = {market_order(Side::buy, "0.02")};
    world.market.markets[0].asks = {{Decimal(50'010), sample_decimal("0.015008")}};
    const Adjustment adjustment = adjust(world);
    ASSERT_TRUE(adjustment.plan.has_value());
    EXPECT_EQ(to_text(adjustment.plan->intents[0].qty), "0.015");
    EXPECT_EQ(adjustment.rounds, 1);
}

// Who wants out gets out as far as the book goes, and again with the next plan.
TEST(AdjustPlan, CutsAReductionToWhatTheBookCarries) {
    SampleWorld world = sample_world();
    world.plan.intents = {market_order(Side::sell, "0.02")};
    world.market.markets[0].bids = {{Decimal(50'000), sample_decimal("0.007")}};
    ASSERT_FALSE(run_dry_run(input_of(world)).pass);
    const Adjustment adjustment = adjust(world);
    ASSERT_TRUE(adjustment.plan.has_value());
    EXPECT_EQ(to_text(adjustment.plan->intents[0].qty), "0.007");
}

TEST(AdjustPlan, FindsNothingInAnEmptyBook) {
    SampleWorld world = sample_world();
    world.plan.intents = {market_order(Side::sell, "0.02")};
    world.market.markets[0].bids.clear();
    EXPECT_FALSE(adjust(world).plan.has_value());
}

TEST(AdjustPlan, DoesNotTryToCureAPostOnlyOrderThatTakes) {
    SampleWorld world = sample_world();
    world.plan.intents[0].post_only = true;
    world.plan.intents[0].limit_price = Decimal(50'010);
    const Adjustment adjustment = adjust(world);
    EXPECT_FALSE(adjustment.plan.has_value());
    EXPECT_EQ(adjustment.rounds, 0);
}

TEST(AdjustPlan, DoesNotTryToCureAConflictBySize) {
    SampleWorld world = sample_world();
    DryRunInput input = input_of(world);
    input.conflicts = {OrderClientId::trusted("h1")};
    const Adjustment adjustment = adjust_plan(input, world.input());
    EXPECT_FALSE(adjustment.plan.has_value());
    EXPECT_EQ(adjustment.rounds, 0);
}

TEST(AdjustPlan, DoesNotShrinkBelowOneStep) {
    SampleWorld world = sample_world();
    world.market.markets[0].rules.step_size = Decimal(1);
    world.plan.intents[0].qty = Decimal(1);
    EXPECT_FALSE(adjust(world).plan.has_value());
}

const Envelope& side_of(const std::vector<Envelope>& envelopes, Side side) {
    for (const Envelope& envelope : envelopes) {
        if (envelope.side == side) {
            return envelope;
        }
    }
    ADD_FAILURE() << "no such side";
    return envelopes.front();
}

// The envelope's own order, at a size, through gates and dry run.
bool passes(const SampleWorld& world, const Envelope& envelope, Decimal qty) {
    SampleWorld probe = world;
    Intent intent = sample_buy();
    intent.symbol = envelope.symbol;
    intent.side = envelope.side;
    intent.order_type = OrderType::market;
    intent.limit_price.reset();
    intent.time_in_force = TimeInForce::ioc;
    intent.qty = qty;
    probe.plan.intents = {intent};
    return run_gates(probe.input()).pass && run_dry_run(input_of(probe)).pass;
}

// As many levels as a side knows at most, of random sizes.
std::vector<DepthLevel> draw_side(std::int64_t touch, std::int64_t away) {
    std::vector<DepthLevel> levels;
    const auto count = *rc::gen::inRange<std::size_t>(1, kDepthLevelsMax + 1);
    while (levels.size() < count) {
        const auto step = static_cast<std::int64_t>(levels.size());
        levels.push_back({Decimal(touch + away * step), *gen_amount(1)});
    }
    return levels;
}

TEST(Envelope, IsWhatPassesAndOneStepMoreIsNot) {
    EXPECT_TRUE(rc::check([] {
        SampleWorld world = sample_world(2);
        StateFacts& state = world.state;
        state.equity = *gen_amount(20'000);
        state.cash_free = *gen_amount(20'000);
        state.realized_today = *negate(*gen_amount(510));
        state.ops_reserve = *gen_amount(40);
        state.rolling_surplus_30d = *negate(*gen_amount(510));
        state.risk_mode = static_cast<RiskMode>(*rc::gen::inRange(0, 3));
        state.limits.max_order_qty = *gen_amount(1);
        for (SymbolFacts& symbol : state.symbols) {
            symbol.position = *floor_to_step(*gen_amount(1), sample_decimal("0.00001"));
            symbol.avg_price = *gen_amount(100'000);
            symbol.open_sell_qty = *gen_amount(1);
            symbol.open_buy_notional = *gen_amount(5'000);
            symbol.risk_mode = static_cast<RiskMode>(*rc::gen::inRange(0, 5));
        }
        for (MarketFacts& market : world.market.markets) {
            market.bids = draw_side(50'000, -*rc::gen::inRange(1, 300));
            market.asks = draw_side(50'010, *rc::gen::inRange(1, 300));
        }
        world.market.markets[0].rules.step_size =
            *rc::gen::element(Decimal(), sample_decimal("0.00001"), sample_decimal("0.003"));
        for (const Envelope& envelope : allowed_envelope(state, world.market)) {
            RC_CLASSIFY(!envelope.max_qty.is_zero(), "open");
            const MarketRules& rules = world.market.find(envelope.symbol)->rules;
            if (envelope.max_qty.is_zero()) {
                RC_ASSERT(!envelope.blocked_by.empty());
                continue;
            }
            RC_ASSERT(envelope.blocked_by.empty());
            RC_ASSERT(passes(world, envelope, envelope.max_qty));
            const Decimal more = *add(envelope.max_qty, envelope_step(rules));
            RC_ASSERT(!passes(world, envelope, more));
        }
    }));
}

TEST(Envelope, OfTheSampleWorldEndsAtTheTradeLimitAndAtWhatIsHeld) {
    const SampleWorld world = sample_world();
    const auto envelopes = allowed_envelope(world.state, world.market);
    ASSERT_EQ(envelopes.size(), 2u);
    EXPECT_EQ(to_text(side_of(envelopes, Side::buy).max_qty), "0.03989");
    EXPECT_EQ(to_text(side_of(envelopes, Side::sell).max_qty), "0.02");
}

TEST(Envelope, ShrinksWithTheSizeFactor) {
    SampleWorld world = sample_world();
    world.state.risk_mode = RiskMode::defensive;
    const auto envelopes = allowed_envelope(world.state, world.market);
    EXPECT_EQ(to_text(side_of(envelopes, Side::buy).max_qty), "0.00997");
}

// A market that is restricted says nothing of the one beside it.
TEST(Envelope, OfAHaltedConcernIsClosedAndOfTheOthersIsNot) {
    SampleWorld world = sample_world(2);
    const auto before = allowed_envelope(world.state, world.market);
    world.state.symbols[0].risk_mode = RiskMode::halted;
    const auto after = allowed_envelope(world.state, world.market);
    ASSERT_EQ(after.size(), 4u);
    for (std::size_t i : {0u, 1u}) {
        EXPECT_TRUE(after[i].max_qty.is_zero());
        const auto& why = after[i].blocked_by;
        EXPECT_NE(
            std::find(why.begin(), why.end(), "policy_guardrails:risk_mode_halted:BTCUSDT"),
            why.end());
    }
    EXPECT_TRUE(after[2].max_qty.is_positive());
    for (std::size_t i : {2u, 3u}) {
        EXPECT_EQ(to_text(encode(after[i])), to_text(encode(before[i])));
    }
}

// A planner that was throttled is told of the way out, under a name that it may use.
TEST(Envelope, OfAThrottledPlannerIsTheWayOutAlone) {
    SampleWorld world = sample_world();
    const StrategyId throttled = world.state.strategies.at(0).strategy_id;
    world.state.strategies[0].is_disabled = true;
    EXPECT_EQ(planner_strategies(world.state), std::vector{throttled});
    const auto envelopes = allowed_envelope(world.state, world.market);
    EXPECT_EQ(
        side_of(envelopes, Side::buy).blocked_by,
        std::vector<std::string>{"policy_guardrails:strategy_disabled:BTCUSDT"});
    EXPECT_EQ(to_text(side_of(envelopes, Side::sell).max_qty), "0.02");

    StrategyFacts other = world.state.strategies[0];
    other.strategy_id = StrategyId::trusted("zz_other");
    other.is_disabled = false;
    world.state.strategies.push_back(other);
    EXPECT_EQ(planner_strategies(world.state), std::vector{other.strategy_id});
    world.state.strategies.back().is_active = false;
    EXPECT_EQ(planner_strategies(world.state), std::vector{throttled});
}

TEST(Envelope, EndsWhereTheBookDoes) {
    SampleWorld world = sample_world();
    world.market.markets[0].asks = {{Decimal(50'010), sample_decimal("0.012")}};
    world.market.markets[0].bids = {};
    const auto envelopes = allowed_envelope(world.state, world.market);
    EXPECT_EQ(to_text(side_of(envelopes, Side::buy).max_qty), "0.012");
    EXPECT_EQ(
        side_of(envelopes, Side::sell).blocked_by,
        std::vector<std::string>{"dry_run:book_too_thin:BTCUSDT"});
}

// Levels so far apart that the average is worse than the slippage the gates assume.
TEST(Envelope, CountsWhatTheDepthCosts) {
    SampleWorld world = sample_world();
    world.market.markets[0].asks = {
        {Decimal(50'010), sample_decimal("0.01")}, {Decimal(51'000), Decimal(1)}};
    const auto envelopes = allowed_envelope(world.state, world.market);
    const Envelope& buy = side_of(envelopes, Side::buy);
    EXPECT_LT(buy.max_qty, sample_decimal("0.03989"));
    EXPECT_TRUE(passes(world, buy, buy.max_qty));
    EXPECT_FALSE(passes(world, buy, *add(buy.max_qty, sample_decimal("0.00001"))));
}

TEST(Envelope, IsClosedUnderTheKillSwitchAndSaysWhy) {
    SampleWorld world = sample_world();
    world.state.kill_switch_active = true;
    for (const Envelope& envelope : allowed_envelope(world.state, world.market)) {
        EXPECT_TRUE(envelope.max_qty.is_zero());
        EXPECT_EQ(
            envelope.blocked_by,
            std::vector<std::string>{"policy_guardrails:kill_switch_active:-"});
    }
}

TEST(Envelope, IsClosedForSellsWhenNothingIsHeld) {
    SampleWorld world = sample_world();
    world.state.symbols[0].position = {};
    const auto envelopes = allowed_envelope(world.state, world.market);
    EXPECT_TRUE(side_of(envelopes, Side::sell).max_qty.is_zero());
    EXPECT_EQ(
        side_of(envelopes, Side::sell).blocked_by,
        std::vector<std::string>{"exposure_leverage:short:BTCUSDT"});
}

// Less than the venue's minimum is held: no size passes.
TEST(Envelope, IsClosedBelowTheVenuesMinimum) {
    SampleWorld world = sample_world();
    world.state.symbols[0].position = sample_decimal("0.00005");
    const auto envelopes = allowed_envelope(world.state, world.market);
    EXPECT_TRUE(side_of(envelopes, Side::sell).max_qty.is_zero());
}

TEST(Envelope, IsClosedWithoutAnOutsideStrategy) {
    SampleWorld world = sample_world();
    world.state.strategies.clear();
    for (const Envelope& envelope : allowed_envelope(world.state, world.market)) {
        EXPECT_TRUE(envelope.max_qty.is_zero());
    }
}

TEST(Envelope, EndsSomewhereEvenWithoutLimits) {
    SampleWorld world = sample_world();
    StateFacts& state = world.state;
    const Decimal plenty = sample_decimal("1e19");
    state.limits.max_notional_per_trade = plenty;
    state.limits.max_symbol_exposure = plenty;
    state.limits.max_portfolio_exposure = plenty;
    state.limits.max_deficit = plenty;
    state.limits.daily_loss_limit = plenty;
    state.equity = plenty;
    state.peak = plenty;
    state.cash_free = plenty;
    state.ops_reserve = plenty;
    MarketRules& rules = world.market.markets[0].rules;
    rules.qty_max = rules.market_qty_max = rules.notional_max = {};
    const auto envelopes = allowed_envelope(state, world.market);
    EXPECT_TRUE(side_of(envelopes, Side::buy).max_qty.is_positive());
}

}  // namespace
}  // namespace interlock
