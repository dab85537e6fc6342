#include "loop/rules/dry_run/hints.h"

#include <gtest/gtest.h>

#include <map>

#include "loop/rules/dry_run/hint_search.h"
#include "loop/rules/gates/breach_codes.h"
#include "loop/rules/gates/sample_world.h"
#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

std::vector<Hint> hints_of(const SampleWorld& world) {
    return gate_hints(world.input(), run_gates(world.input()));
}

const Hint* find(const std::vector<Hint>& hints, std::string_view reason) {
    for (const Hint& hint : hints) {
        if (hint.reason == reason) {
            return &hint;
        }
    }
    return nullptr;
}

std::string only_value(const SampleWorld& world, std::string_view reason) {
    const std::vector<Hint> hints = hints_of(world);
    const Hint* hint = find(hints, reason);
    if (hint == nullptr || hint->changes.size() != 1) {
        return "no such hint with one change";
    }
    const HintChange& change = hint->changes[0];
    return std::string(change.field) + " " + std::string(change.relation) + " " + change.value;
}

// The plan as its hint wants it, and the world as late as it wants it.
SampleWorld applied(SampleWorld world, const Hint& hint) {
    for (const HintChange& change : hint.changes) {
        if (change.field == "wait_seconds") {
            const std::int64_t seconds = std::stoll(change.value);
            world.state.now = world.state.now + Duration::of_seconds(seconds);
        }
    }
    world.plan = apply_changes(world.plan, hint.changes);
    return world;
}

bool is_refused_for(const SampleWorld& world, std::string_view reason) {
    for (const Breach& breach : run_gates(world.input()).breaches) {
        if (to_text(breach) == reason) {
            return true;
        }
    }
    return false;
}

TEST(Hints, EveryReasonHasARemedy) {
    for (const BreachCode& code : kBreachCodes) {
        EXPECT_FALSE(remedy_of(code.code).empty()) << code.code;
    }
    EXPECT_TRUE(remedy_of("no_such_code").empty());
}

TEST(Hints, NameTheLargestSizeThatPasses) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = Decimal(1);
    // 0.2 of 10000 may be reached: 0.04 at 50000 is exactly that.
    EXPECT_EQ(only_value(world, "risk_limits:notional_per_trade:BTCUSDT"), "qty at_most 0.04");
    EXPECT_EQ(
        only_value(world, "exposure_leverage:symbol_exposure:BTCUSDT"), "qty at_most 0.05999");
}

TEST(Hints, NameTickStepAndLeastSize) {
    SampleWorld world = sample_world();
    world.plan.intents[0].limit_price = sample_decimal("49999.995");
    EXPECT_EQ(only_value(world, "market_sanity:tick_size:BTCUSDT"), "limit_price equals 49999.99");
    world = sample_world();
    world.plan.intents[0].qty = sample_decimal("0.010005");
    EXPECT_EQ(only_value(world, "market_sanity:step_size:BTCUSDT"), "qty equals 0.01");
    world.plan.intents[0].qty = sample_decimal("0.00005");
    EXPECT_EQ(only_value(world, "market_sanity:notional_min:BTCUSDT"), "qty at_least 0.0001");
}

TEST(Hints, NameAStrategyThatMayBeUsed) {
    SampleWorld world = sample_world();
    world.plan.intents[0].strategy_id = StrategyId::trusted("my_strategy");
    EXPECT_EQ(
        only_value(world, "policy_guardrails:unknown_strategy:BTCUSDT"), "strategy_id equals ext");
}

TEST(Hints, SayHowLongADuplicateWaits) {
    SampleWorld world = sample_world();
    const Intent& intent = world.plan.intents[0];
    world.state.recent.push_back(
        {.symbol = intent.symbol,
         .side = intent.side,
         .qty = intent.qty,
         .limit_price = intent.limit_price,
         .decision_id = DecisionId::trusted("dec_before"),
         .at = world.state.now - Duration::of_seconds(20)});
    EXPECT_EQ(
        only_value(world, "policy_guardrails:duplicate_of=dec_before:BTCUSDT"),
        "wait_seconds at_least 41");
}

TEST(Hints, PutASwitchFirstAndOfferNoWayAroundIt) {
    SampleWorld world = sample_world();
    world.state.kill_switch_active = true;
    world.state.risk_mode = RiskMode::halted;
    const std::vector<Hint> hints = hints_of(world);
    ASSERT_GT(hints.size(), 2u);
    EXPECT_EQ(hints[0].reason, "policy_guardrails:kill_switch_active:-");
    for (const Hint& hint : hints) {
        EXPECT_TRUE(hint.changes.empty()) << hint.reason;
    }
}

TEST(Hints, LeaveOutWhatDoesNotFitBesideTheRest) {
    SampleWorld world = sample_world(3);
    for (Intent& intent : world.plan.intents) {
        intent.qty = sample_decimal("0.03");
    }
    world.state.cash_free = Decimal(2'000);
    const std::vector<Hint> hints = hints_of(world);
    const Hint* hint = find(hints, "exposure_leverage:insufficient_funds:BTDUSDT");
    ASSERT_NE(hint, nullptr);
    ASSERT_EQ(hint->changes.size(), 2u);
    EXPECT_EQ(hint->changes[0].intent_id, "i1");
    EXPECT_EQ(hint->changes[0].relation, "at_most");
    EXPECT_EQ(hint->changes[1].intent_id, "i2");
    EXPECT_EQ(hint->changes[1].value, "0");
    EXPECT_FALSE(is_refused_for(applied(world, *hint), hint->reason));
}

TEST(Hints, StayWithinTheirLooks) {
    SampleWorld world = sample_world(9);
    while (world.plan.intents.size() < kIntentsMax) {
        Intent intent = world.plan.intents[world.plan.intents.size() % 9];
        intent.intent_id = IntentId::trusted("i" + std::to_string(world.plan.intents.size()));
        world.plan.intents.push_back(intent);
    }
    for (Intent& intent : world.plan.intents) {
        intent.qty = sample_decimal("12345678.123456789");
        intent.limit_price = sample_decimal("70000.001");
    }
    std::size_t looked_at = 0;
    const GateReport report = run_gates(world.input());
    HintSearch search(
        world.state, world.market, world.plan, [&](const Plan& plan) -> std::vector<std::string> {
            looked_at += plan.intents.size();
            return {to_text(report.breaches.front())};
        });
    for (const Breach& breach : report.breaches) {
        const std::string reason = to_text(breach);
        search.changes_for(parse_reason(reason));
    }
    EXPECT_LE(looked_at, kHintLooksMax);
}

// Some qty, price and strategy that a model might well write.
Intent draw_wish(std::int64_t number, std::int64_t symbols) {
    const std::int64_t symbol = *rc::gen::inRange<std::int64_t>(0, symbols);
    Intent intent = sample_buy(symbol);
    intent.intent_id = IntentId::trusted("i" + std::to_string(number));
    intent.side = *rc::gen::element(Side::buy, Side::sell);
    intent.qty = *rc::gen::oneOf(gen_positive(1), gen_positive(200), gen_any_decimal());
    intent.limit_price = *rc::gen::oneOf(
        gen_positive(100'000),
        rc::gen::map(gen_positive(100), [](Decimal near) { return *add(Decimal(49'960), near); }));
    if (*rc::gen::inRange(0, 3) == 0) {
        intent.order_type = OrderType::market;
        intent.time_in_force = TimeInForce::ioc;
        intent.limit_price.reset();
    }
    if (*rc::gen::inRange(0, 4) == 0) {
        intent.strategy_id = StrategyId::trusted("mine");
    }
    return intent;
}

// A world near its limits, and a plan that breaks some of them.
SampleWorld draw_refused() {
    const std::int64_t symbols = *rc::gen::inRange<std::int64_t>(1, 4);
    SampleWorld world = sample_world(symbols);
    StateFacts& state = world.state;
    state.realized_today = *negate(*gen_amount(520));
    state.equity =
        *rc::gen::map(gen_amount(2'100), [](Decimal over) { return *add(Decimal(7'950), over); });
    state.cash_free = *gen_amount(9'000);
    state.ops_reserve = *gen_amount(40);
    state.limits.max_order_qty = *gen_amount(1);
    state.orders_last_10s = *rc::gen::inRange<std::int64_t>(70, 82);
    state.symbols[0].open_orders = *rc::gen::inRange<std::int64_t>(44, 51);
    if (*rc::gen::arbitrary<bool>()) {
        state.symbols[0].best_own_bid = Decimal(49'990);
        state.symbols[0].best_own_ask = Decimal(50'020);
    }
    world.plan.intents.clear();
    const auto intents = *rc::gen::inRange<std::int64_t>(1, 7);
    for (std::int64_t i = 0; i < intents; ++i) {
        world.plan.intents.push_back(draw_wish(i, symbols));
    }
    const Intent& first = world.plan.intents[0];
    if (*rc::gen::arbitrary<bool>()) {
        state.recent.push_back(
            {.symbol = first.symbol,
             .side = first.side,
             .qty = first.qty,
             .limit_price = first.limit_price,
             .decision_id = DecisionId::trusted("dec_before"),
             .at = state.now - Duration::of_seconds(*rc::gen::inRange<std::int64_t>(0, 60))});
    }
    return world;
}

// What makes a hint worth following.
TEST(Hints, AppliedTheyTakeTheirReasonAway) {
    std::map<std::string, int> followed;
    EXPECT_TRUE(rc::check([&] {
        const SampleWorld world = draw_refused();
        const GateReport report = run_gates(world.input());
        const std::vector<Hint> hints = gate_hints(world.input(), report);
        RC_ASSERT(hints.size() == report.breaches.size());
        for (const Hint& hint : hints) {
            if (hint.changes.empty()) {
                continue;
            }
            ++followed[std::string(parse_reason(hint.reason).code)];
            RC_ASSERT(!is_refused_for(applied(world, hint), hint.reason));
        }
    }));
    // Or the property would say nothing of them.
    for (const std::string_view code :
         {breach_codes::kNotionalPerTrade,
          breach_codes::kOrderQty,
          breach_codes::kQtyMax,
          breach_codes::kSymbolExposure,
          breach_codes::kLeverage,
          breach_codes::kInsufficientFunds,
          breach_codes::kShort,
          breach_codes::kPriceCollar,
          breach_codes::kTouchCollar,
          breach_codes::kStepSize,
          breach_codes::kDrawdown,
          breach_codes::kUnknownStrategy,
          breach_codes::kDuplicateOf,
          breach_codes::kOrderRate,
          breach_codes::kOpenOrders,
          breach_codes::kSelfCross}) {
        EXPECT_GT(followed[std::string(code)], 0) << code;
    }
}

// The whole of a single order's hints, not only each for itself.
TEST(Hints, AllOfThemTogetherMakeAnOrderThatPasses) {
    SampleWorld world = sample_world();
    Intent& intent = world.plan.intents[0];
    intent.qty = sample_decimal("2.500001234");
    intent.limit_price = sample_decimal("60000.001");
    intent.strategy_id = StrategyId::trusted("mine");
    for (int round = 0; round < 3 && !run_gates(world.input()).pass; ++round) {
        for (const Hint& hint : hints_of(world)) {
            for (const HintChange& change : hint.changes) {
                // The smaller of two sizes, as each is the largest that its own check allows.
                const bool is_qty = change.field == "qty";
                if (!is_qty || *Decimal::parse(change.value) < world.plan.intents[0].qty) {
                    world.plan = apply_changes(world.plan, std::span(&change, 1));
                }
            }
        }
    }
    EXPECT_TRUE(run_gates(world.input()).pass);
}

TEST(Hints, AnswerWhateverTheNumbersAre) {
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
        world.plan.intents[1].intent_id = IntentId::trusted("i1");
        for (const Hint& hint : hints_of(world)) {
            RC_ASSERT(!hint.text.empty());
        }
        DryRunInput input{
            .state = world.state,
            .market = world.market,
            .plan = world.plan,
            .slippage_bps = *gen,
            .fee_bps = *gen,
            .conflicts = {},
        };
        const DryRunReport report = run_dry_run(input);
        RC_ASSERT(dry_run_hints(input, report).size() == report.blocking_reasons.size());
    }));
}

TEST(Hints, OfADryRunNameTheSizeThatFitsItsAssumptions) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = sample_decimal("0.03999");
    world.plan.intents[0].limit_price = Decimal(50'010);
    DryRunInput input{
        .state = world.state,
        .market = world.market,
        .plan = world.plan,
        .slippage_bps = Decimal(25),
        .fee_bps = Decimal(20),
        .conflicts = {},
    };
    world.state.cash_free = Decimal(1'000);
    const std::vector<Hint> hints = dry_run_hints(input, run_dry_run(input));
    const Hint* hint = find(hints, "exposure_leverage:insufficient_funds:BTCUSDT");
    ASSERT_NE(hint, nullptr);
    ASSERT_EQ(hint->changes.size(), 1u);
    EXPECT_EQ(hint->changes[0].value, "0.01995");
}

}  // namespace
}  // namespace interlock
