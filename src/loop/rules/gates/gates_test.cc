// What the tables of conformance/contracts/gates cannot say: shapes that no decoder lets through,
// and what must hold of any facts whatever.
#include "loop/rules/gates/gates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/canonical_json.h"
#include "loop/rules/gates/breach_codes.h"
#include "loop/rules/gates/plan_scratch.h"
#include "loop/rules/gates/sample_world.h"
#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

std::vector<std::string> reasons_of(const GateReport& report) {
    std::vector<std::string> reasons;
    for (const Breach& breach : report.breaches) {
        reasons.push_back(to_text(breach));
    }
    return reasons;
}

using Reasons = std::vector<std::string>;

TEST(Gates, PassTheSampleWorld) {
    const SampleWorld world = sample_world();
    const GateReport report = run_gates(world.input());
    EXPECT_TRUE(report.pass);
    EXPECT_EQ(reasons_of(report), Reasons{});
}

TEST(Gates, PassAPlanOnEverySampleSymbol) {
    SampleWorld world = sample_world(kSampleSymbolsMax);
    EXPECT_EQ(reasons_of(run_gates(world.input())), Reasons{});
}

TEST(Gates, NameEachBreachAfterGateCodeAndSymbol) {
    Breach breach{Gate::market_sanity, breach_codes::kSpread, sample_symbol(), "", ""};
    EXPECT_EQ(to_text(breach), "market_sanity:spread:BTCUSDT");
    breach.symbol = {};
    EXPECT_EQ(to_text(breach), "market_sanity:spread:-");
    breach.extra = "dec_1";
    EXPECT_EQ(to_text(breach), "market_sanity:spread=dec_1:-");
}

TEST(Gates, RefuseQuantitiesAndPricesThatAreNone) {
    const auto refused = [](void (*spoil)(Intent&)) {
        SampleWorld world = sample_world();
        spoil(world.plan.intents[0]);
        return reasons_of(run_gates(world.input()));
    };
    const Reasons everywhere{
        "risk_limits:malformed_intent:BTCUSDT",
        "runway_budget:malformed_intent:BTCUSDT",
        "exposure_leverage:malformed_intent:BTCUSDT",
        "market_sanity:malformed_intent:BTCUSDT"};
    EXPECT_EQ(refused([](Intent& intent) { intent.qty = {}; }), everywhere);
    EXPECT_EQ(refused([](Intent& intent) { intent.qty = Decimal(-1); }), everywhere);
    EXPECT_EQ(refused([](Intent& intent) { intent.limit_price.reset(); }), everywhere);
    EXPECT_EQ(refused([](Intent& intent) { intent.limit_price = Decimal(-1); }), everywhere);
    EXPECT_EQ(refused([](Intent& intent) { intent.order_type = OrderType::market; }), everywhere);
}

// A sell of a negative quantity would look like less than is held.
TEST(Gates, DoNotTakeANegativeSellForAReduction) {
    SampleWorld world = sample_world();
    world.plan.intents[0] = sample_sell();
    world.plan.intents[0].qty = Decimal(-1);
    EXPECT_FALSE(run_gates(world.input()).checks[0].pass);
}

TEST(Gates, TakePlansAtTheirBoundsAndRefuseOneMore) {
    SampleWorld world = sample_world();
    Intent intent = world.plan.intents[0];
    intent.qty = sample_decimal("0.0002");
    world.plan.intents.assign(kIntentsMax, intent);
    world.plan.cancels.assign(kCancelsMax, OrderClientId::trusted("h1"));
    EXPECT_EQ(reasons_of(run_gates(world.input())), Reasons{});
    world.plan.intents.push_back(intent);
    world.plan.cancels.push_back(OrderClientId::trusted("h1"));
    const Reasons expected{
        "policy_guardrails:too_many_intents:-", "policy_guardrails:too_many_cancels:-"};
    EXPECT_EQ(reasons_of(run_gates(world.input())), expected);
}

TEST(Gates, RefuseFactsThatCannotBe) {
    SampleWorld world = sample_world(2);
    world.plan.intents.pop_back();
    world.state.symbols[1].open_buy_notional = Decimal(-1'000'000);
    EXPECT_EQ(
        reasons_of(run_gates(world.input())), Reasons{"exposure_leverage:facts_invalid:BTDUSDT"});
}

TEST(Gates, TellOneReasonForManyIntentsOnce) {
    SampleWorld world = sample_world();
    Intent intent = world.plan.intents[0];
    intent.limit_price = sample_decimal("49999.995");
    world.plan.intents = {intent, intent, intent};
    EXPECT_EQ(reasons_of(run_gates(world.input())), Reasons{"market_sanity:tick_size:BTCUSDT"});
}

TEST(Gates, GiveEveryBreachASentenceWithBothNumbers) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = sample_decimal("0.05");
    const GateReport report = run_gates(world.input());
    ASSERT_EQ(report.breaches.size(), 1u);
    EXPECT_EQ(report.breaches[0].detail, "notional 2500 may be at most 2000");
    EXPECT_EQ(report.checks[0].detail, report.breaches[0].detail);
}

TEST(Gates, HoldAnAccountThatWasNeverSetUpBack) {
    SampleWorld world = sample_world();
    world.state = StateFacts{};
    const GateReport report = run_gates(world.input());
    EXPECT_FALSE(report.pass);
    for (const GateCheck& check : report.checks) {
        if (check.gate != Gate::runway_budget) {  // Without costs the reserve lasts.
            EXPECT_FALSE(check.pass) << to_word(check.gate);
        }
    }
}

TEST(BreachCodes, AreUniqueAndExplained) {
    std::set<std::string_view> codes;
    for (const BreachCode& known : kBreachCodes) {
        EXPECT_TRUE(codes.insert(known.code).second) << known.code;
        EXPECT_TRUE(known.meaning.ends_with('.')) << known.code;
    }
}

TEST(FillEstimates, RefuseNegativeAssumptions) {
    const SampleWorld world = sample_world();
    const auto fill = estimate_fill(
        world.plan.intents[0],
        world.market.markets[0],
        {.slippage_bps = Decimal(-1), .taker_fee_bps = {}, .maker_fee_bps = {}});
    EXPECT_FALSE(fill.has_value());
}

// A sell cannot fall below nothing, however much slippage is assumed.
TEST(FillEstimates, EndAtAPriceOfZero) {
    SampleWorld world = sample_world();
    Intent sell = sample_sell();
    sell.order_type = OrderType::market;
    sell.limit_price.reset();
    const auto fill = estimate_fill(
        sell,
        world.market.markets[0],
        {.slippage_bps = Decimal(20'000), .taker_fee_bps = {}, .maker_fee_bps = {}});
    ASSERT_TRUE(fill.has_value());
    EXPECT_TRUE(fill->price.is_zero());
}

TEST(FillEstimates, TreatAPostOnlyOrderAsResting) {
    SampleWorld world = sample_world();
    Intent& intent = world.plan.intents[0];
    intent.limit_price = Decimal(50'100);
    intent.post_only = true;
    const auto fill =
        estimate_fill(intent, world.market.markets[0], assumptions_of(world.state.limits));
    ASSERT_TRUE(fill.has_value());
    EXPECT_TRUE(fill->is_maker);
    EXPECT_EQ(fill->price, Decimal(50'100));
}

// Properties.

Intent draw_intent(std::size_t symbols, const rc::Gen<Decimal>& gen) {
    Intent intent;
    intent.intent_id = IntentId::trusted("i0");
    // One number past the end: sometimes nothing is known of the symbol or the strategy.
    intent.symbol = test_symbol(*rc::gen::inRange<std::size_t>(0, symbols + 1));
    intent.strategy_id =
        StrategyId::trusted("s" + std::to_string(*rc::gen::inRange<std::size_t>(0, symbols + 1)));
    intent.side = *rc::gen::element(Side::buy, Side::sell);
    intent.order_type = *rc::gen::element(OrderType::limit, OrderType::market);
    intent.qty = *gen;
    intent.limit_price = draw_optional(gen);
    intent.time_in_force = *rc::gen::element(TimeInForce::gtc, TimeInForce::ioc, TimeInForce::fok);
    intent.post_only = *rc::gen::arbitrary<bool>();
    intent.expected_edge_bps = draw_optional(gen);
    return intent;
}

SampleWorld draw_world(const rc::Gen<Decimal>& gen) {
    const auto symbols = *rc::gen::inRange<std::size_t>(1, 4);
    SampleWorld world;
    world.state = draw_state(symbols, gen);
    world.market = draw_markets(symbols, gen);
    const auto intents = *rc::gen::inRange<std::size_t>(0, 4);
    for (std::size_t i = 0; i < intents; ++i) {
        world.plan.intents.push_back(draw_intent(symbols, gen));
    }
    world.decision_id = DecisionId::trusted("d");
    world.tick_id = TickId::trusted("t");
    world.from_outside = *rc::gen::arbitrary<bool>();
    return world;
}

TEST(GateProperties, TheyAnswerWhateverTheNumbersAre) {
    EXPECT_TRUE(rc::check([] {
        const SampleWorld world = draw_world(gen_any_decimal());
        const GateReport report = run_gates(world.input());
        RC_ASSERT(report.pass == report.breaches.empty());
        for (const GateCheck& check : report.checks) {
            const bool blamed = std::any_of(
                report.breaches.begin(), report.breaches.end(), [&](const Breach& breach) {
                    return breach.gate == check.gate;
                });
            RC_ASSERT(check.pass == !blamed);
        }
    }));
}

TEST(GateProperties, TheirVerdictsAreAFunctionOfTheFacts) {
    EXPECT_TRUE(rc::check([] {
        const SampleWorld world = draw_world(gen_amount(1'000'000));
        const auto first = canonical_json(encode(run_gates(world.input())));
        // Facts that went through storage must be judged the same, byte for byte.
        SampleWorld stored = world;
        stored.state = *decode_state_facts(encode(world.state));
        stored.market = *decode_market_set(encode(world.market));
        const auto second = canonical_json(encode(run_gates(stored.input())));
        RC_ASSERT(first.has_value());
        RC_ASSERT(*first == *second);
    }));
}

TEST(GateProperties, AnotherEntryNeverTurnsAFailingMoneyGateIntoAPass) {
    EXPECT_TRUE(rc::check([] {
        const bool is_absurd = *rc::gen::arbitrary<bool>();
        const auto gen = is_absurd ? gen_any_decimal() : gen_amount(10'000);
        SampleWorld world = draw_world(gen);
        const GateReport before = run_gates(world.input());
        Intent entry = draw_intent(world.state.symbols.size(), gen);
        entry.side = Side::buy;
        world.plan.intents.push_back(entry);
        const GateReport after = run_gates(world.input());
        for (std::size_t gate = 0; gate < 3; ++gate) {
            RC_CLASSIFY(!before.checks[gate].pass, "failing before");
            RC_ASSERT(before.checks[gate].pass || !after.checks[gate].pass);
        }
    }));
}

TEST(GateProperties, AnotherEntryInASaneWorldNeverHelps) {
    EXPECT_TRUE(rc::check([] {
        SampleWorld world = sample_world();
        world.state.realized_today = *negate(*gen_amount(600));
        world.state.equity = *gen_amount(12'000);
        world.state.cash_free = *gen_amount(3'000);
        world.state.ops_reserve = *gen_amount(30);
        const GateReport before = run_gates(world.input());
        Intent entry = sample_buy();
        entry.qty = *floor_to_step(*gen_positive(1), sample_decimal("0.00001"));
        world.plan.intents.push_back(entry);
        const GateReport after = run_gates(world.input());
        for (std::size_t gate = 0; gate < 3; ++gate) {
            RC_ASSERT(before.checks[gate].pass || !after.checks[gate].pass);
        }
    }));
}

TEST(GateProperties, PlansThatOnlyReducePassTheMoneyGates) {
    EXPECT_TRUE(rc::check([] {
        SampleWorld world = draw_world(gen_any_decimal());
        world.plan.intents.clear();
        SymbolFacts& held = world.state.symbols[0];
        held.position = *gen_positive(1'000'000);
        held.open_sell_qty = {};
        const auto parts = *rc::gen::inRange<std::int64_t>(1, 5);
        const Decimal part = *divide_round_down(held.position, Decimal(parts));
        for (std::int64_t i = 0; i < parts; ++i) {
            Intent sell = draw_intent(0, gen_positive(1'000'000));
            sell.symbol = held.symbol;
            sell.side = Side::sell;
            sell.qty = part;
            if (sell.order_type == OrderType::market) {
                sell.limit_price.reset();
            } else if (!sell.limit_price) {
                sell.limit_price = Decimal(1);
            }
            world.plan.intents.push_back(sell);
        }
        const GateReport report = run_gates(world.input());
        for (std::size_t gate = 0; gate < 3; ++gate) {
            RC_ASSERT(report.checks[gate].pass);
            RC_ASSERT(report.checks[gate].detail == "reduce_only_exempt");
        }
    }));
}

// I3, I6: whatever else is true, nothing is ordered under the kill switch.
TEST(GateProperties, NothingButCancelsPassesUnderTheKillSwitch) {
    EXPECT_TRUE(rc::check([] {
        SampleWorld world = draw_world(gen_amount(1'000'000));
        world.state.kill_switch_active = true;
        RC_ASSERT(world.plan.intents.empty() || !run_gates(world.input()).pass);
    }));
}

}  // namespace
}  // namespace interlock
