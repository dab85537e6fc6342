// What every strategy owes, whatever its type: for any account, market, mode, memory and orders.
#include "trader/rules/strategy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "trader/rules/test_planner_world.h"

namespace interlock {
namespace {

Json parse(std::string_view text) {
    return parse_json(text).value();
}

// The part of JSON Schema that our schemas use.
bool has_type(const Json& value, const Json& type) {
    if (type.is_array()) {
        return std::ranges::any_of(
            type.items(), [&](const Json& one) { return has_type(value, one); });
    }
    const std::string& word = type.as_string();
    return word == "integer" ? value.as_int64().has_value() : value.type_word() == word;
}

bool passes(const Json& value, const Json& schema) {
    if (const Json* type = schema.find("type"); type != nullptr && !has_type(value, *type)) {
        return false;
    }
    if (const Json* words = schema.find("enum")) {
        return std::ranges::count(words->items(), value) == 1;
    }
    if (value.is_string() && schema.find("pattern") != nullptr) {  // Always that of a decimal.
        const std::string& text = value.as_string();
        return text.find_first_not_of("0123456789.") == std::string::npos &&
               Decimal::parse(text).has_value();
    }
    if (value.is_number() && schema.find("minimum") != nullptr) {
        const Decimal number = Decimal::parse(value.number_text()).value();
        return number >= Decimal::parse(schema.find("minimum")->number_text()).value() &&
               number <= Decimal::parse(schema.find("maximum")->number_text()).value();
    }
    if (!value.is_object()) {
        return true;
    }
    const Json* properties = schema.find("properties");
    return std::ranges::all_of(value.members(), [&](const Json::Member& member) {
        const Json* one = properties->find(member.first);
        return one != nullptr && passes(member.second, *one);
    });
}

Json defaults_of(const StrategyType& type) {
    Json config = Json::object();
    const Json schema = type.config_schema();
    for (const auto& [key, one] : schema.find("properties")->members()) {
        config.set(key, *one.find("default"));
    }
    return config;
}

// Evenly over the whole range, from the first try on.
template <class T>
T pick(T low, T end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, end));
}
bool one_in(int count) {
    return pick(0, count) == 0;
}
template <class T>
T one_of(std::initializer_list<T> values) {
    return *(values.begin() + pick<std::size_t>(0, values.size()));
}

Json draw_config(const StrategyType& type) {
    Json config = Json::object();
    const auto maybe = [&](std::string_view name, std::string_view key, Json value) {
        if (type.name == name && one_in(2)) {
            config.set(std::string(key), std::move(value));
        }
    };
    const std::string small = "0.00" + std::to_string(pick(1, 9));
    maybe("grid_trader", "grid_levels", pick(1, 21));
    maybe("grid_trader", "order_notional_quote", pick(1, 3000));
    maybe("grid_trader", "max_inventory_share", "1");
    maybe("grid_trader", "trade_sides", one_of<std::string_view>({"buy", "sell", "both"}));
    maybe("grid_trader", "grid_step_pct", small);
    maybe("trend_follower", "trade_side", one_of<std::string_view>({"long", "short"}));
    maybe("trend_follower", "order_size", pick(1, 20'000));
    maybe("trend_follower", "entry_offset_pct", small);
    maybe("trend_follower", "exit_offset_pct", "0");
    maybe("trend_follower", "trailing_stop_pct", small);
    maybe("trend_follower", "cooldown_ticks", 0);
    if (type.name == "inventory_rails") {
        config.set("amount", "0.0" + std::to_string(pick(0, 99)));
    }
    maybe("inventory_rails", "num_bids_ask", pick(1, 21));
    maybe("inventory_rails", "pnl_perc", "0." + std::to_string(pick(3, 10)));
    maybe("inventory_rails", "volatility", pick(0, 11));
    maybe("inventory_rails", "stop_buy", one_in(3) ? Json(true) : Json(pick(40'000, 60'000)));
    maybe("inventory_rails", "stop_sell", one_in(3) ? Json(false) : Json(pick(40'000, 60'000)));
    maybe("exposure_protector", "trail_distance_pct", "0");
    maybe("exposure_protector", "max_order_notional_quote", pick(10, 20'000));
    maybe("exposure_protector", "rebalance_target_ratio", "0." + std::to_string(pick(0, 10)));
    maybe("exposure_protector", "order_spacing_ticks", pick(0, 50));
    return config;
}

void draw_market_rules(PlannerWorld& world) {
    MarketRules& rules = world.market().rules;
    rules.tick_size = one_of<Decimal>(
        {PlannerWorld::dec("0.01"), PlannerWorld::dec("0.5"), Decimal(25), Decimal()});
    rules.step_size =
        one_of<Decimal>({PlannerWorld::dec("0.00001"), PlannerWorld::dec("0.003"), Decimal()});
    rules.qty_min = one_of<Decimal>({Decimal(), PlannerWorld::dec("0.006")});
    rules.qty_max = one_of<Decimal>({Decimal(), PlannerWorld::dec("0.03"), Decimal(100)});
    rules.notional_min = one_of<Decimal>({Decimal(), Decimal(5), Decimal(120)});
    rules.notional_max = one_of<Decimal>({Decimal(), Decimal(900)});
    rules.percent_up = one_of<Decimal>({Decimal(), PlannerWorld::dec("1.02")});
    rules.percent_down = one_of<Decimal>({Decimal(), PlannerWorld::dec("0.98")});
    rules.open_orders_max = one_of<std::int64_t>({0, 3, 200});
    const std::int64_t bid = pick<std::int64_t>(40'000, 60'000);
    const std::int64_t spread = pick<std::int64_t>(-1, 30);
    world.quote(std::to_string(bid), std::to_string(bid + spread));
}

void draw_account(PlannerWorld& world) {
    StateFacts& state = world.state();
    state.risk_mode = one_in(2) ? RiskMode::normal : static_cast<RiskMode>(pick(0, 5));
    state.entries_halted = one_in(10);
    state.uncertain_orders = one_in(10) ? 1 : 0;
    state.orders_last_10s = one_in(4) ? pick<std::int64_t>(0, 100) : 0;
    state.limits.max_notional_per_trade = one_of<Decimal>({Decimal(300), Decimal(1'000'000)});
    state.limits.max_symbol_exposure = one_of<Decimal>({Decimal(4000), Decimal(1'000'000)});
    world.market().is_high_vol = one_in(2);
    world.posture = static_cast<RiskPosture>(pick(0, 3));
    world.hold((one_in(4) ? "0." : "0.0") + std::to_string(pick(0, 99)));
    world.cash(std::to_string(pick(0, 20'000)));
    TimeframeSignals signals;
    const auto thousandths = [](int low, int high) {
        return Decimal::from_units(static_cast<__int128>(pick(low, high)) * 1'000'000'000'000'000);
    };
    if (!one_in(4)) {
        signals.atr_pct = thousandths(0, 100);
        signals.trend_strength = thousandths(-2000, 2000);
        signals.efficiency = thousandths(0, 1001);
        signals.bollinger_bandwidth = thousandths(0, 200);
        signals.bandwidth_quantile = thousandths(0, 50);
    }
    world.signals().list.clear();
    for (const Timeframe timeframe : {Timeframe::m15, Timeframe::h1}) {
        signals.timeframe = timeframe;
        world.signals().list.push_back(signals);
    }
}

// Lives through a few ticks, so that memory and orders are the strategy's own.
PlannerWorld draw_world(const Strategy& strategy) {
    PlannerWorld world;
    const int ticks = pick(0, 4);
    draw_market_rules(world);
    draw_account(world);
    for (int i = 0; i < ticks; ++i) {
        world.carry_out(world.step(strategy).plan);
        if (!world.own().empty() && one_in(2)) {
            const auto at = pick<std::size_t>(0, world.own().size());
            const OrderClientId id = world.own()[at].order_client_id;
            one_in(2) ? world.fill(id) : (void)world.remove(id);
        }
        const Decimal held = world.held().position;
        const Decimal cash = world.state().cash_free;
        draw_account(world);
        world.held().position = held;  // Money comes and goes by fills alone.
        world.state().cash_free = cash;
        world.state().now = world.state().now + Duration::of_seconds(300);
        const std::int64_t bid = pick<std::int64_t>(40'000, 60'000);
        world.quote(std::to_string(bid), std::to_string(bid + 10));
    }
    for (OwnOrder& order : world.own()) {
        order.is_uncertain = one_in(10);
        order.cancel_requested = one_in(10);
    }
    return world;
}

struct Drawn {
    const StrategyType& type;
    Json config;
    std::shared_ptr<const Strategy> strategy;
    PlannerWorld world;
};

Drawn draw(const StrategyType& type) {
    Json config = draw_config(type);
    auto strategy = type.open(config).value();
    PlannerWorld world = draw_world(*strategy);
    return {type, std::move(config), std::move(strategy), std::move(world)};
}

bool is_multiple(Decimal value, Decimal step) {
    return !step.is_positive() || value.units() % step.units() == 0;
}

void assert_rules(const Intent& intent, const MarketFacts& market) {
    const MarketRules& rules = market.rules;
    const Decimal price = intent.limit_price.value();
    const Decimal mid = mid_of(market).value();
    const Decimal least = multiply_round_down(price, intent.qty).value();
    const Decimal most = multiply_round_up(price, intent.qty).value();
    RC_ASSERT(price.is_positive());
    RC_ASSERT(intent.qty.is_positive());
    RC_ASSERT(is_multiple(price, rules.tick_size));
    RC_ASSERT(is_multiple(intent.qty, rules.step_size));
    RC_ASSERT(intent.qty >= rules.qty_min);
    RC_ASSERT((rules.qty_max.is_zero() || intent.qty <= rules.qty_max));
    RC_ASSERT(least >= rules.notional_min);
    RC_ASSERT((rules.notional_max.is_zero() || most <= rules.notional_max));
    RC_ASSERT((
        rules.percent_up.is_zero() || price <= multiply_round_down(mid, rules.percent_up).value()));
    RC_ASSERT(
        (rules.percent_down.is_zero() ||
         price >= multiply_round_up(mid, rules.percent_down).value()));
    if (intent.post_only) {
        RC_ASSERT((intent.side == Side::buy ? price < *market.best_ask : price > *market.best_bid));
    }
}

class EveryStrategy : public ::testing::TestWithParam<std::size_t> {
protected:
    static const StrategyType& type() { return strategy_types()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(
    Types,
    EveryStrategy,
    ::testing::Range<std::size_t>(0, strategy_types().size()),
    [](const auto& drawn) { return std::string(strategy_types()[drawn.param].name); });

TEST_P(EveryStrategy, PlansOnlyWhatRulesFundsAndModesAllow) {
    std::size_t orders = 0;
    EXPECT_TRUE(rc::check([&, &type = type()] {
        Drawn drawn = draw(type);
        PlannerWorld& world = drawn.world;
        const StateFacts& state = world.state();
        const Plan plan = drawn.strategy->step(world.input()).value().plan;
        RC_ASSERT(plan.intents.size() <= kIntentsMax);
        RC_ASSERT(plan.cancels.size() <= kCancelsMax);
        RC_ASSERT((plan.cancels.empty() || plan.intents.empty()));
        Decimal sold;
        Decimal spent;
        for (const Intent& intent : plan.intents) {
            assert_rules(intent, world.market());
            const Decimal value = multiply_round_up(*intent.limit_price, intent.qty).value();
            if (intent.side == Side::sell) {
                sold = add(sold, intent.qty).value();
            } else {
                spent = add(spent, value).value();
                RC_ASSERT(state.risk_mode < RiskMode::reduce_only);
                RC_ASSERT(!state.entries_halted);
                const Decimal below =
                    multiply_round_down(
                        state.limits.max_notional_per_trade, size_factor_of(state.risk_mode))
                        .value();
                RC_ASSERT(value < below);
            }
        }
        RC_ASSERT(
            add(sold, world.held().open_sell_qty).value() <=
            std::max(world.held().position, world.held().open_sell_qty));
        RC_ASSERT(spent <= state.cash_free);
        RC_ASSERT((state.risk_mode != RiskMode::halted || plan.intents.empty()));
        orders += plan.intents.size();
        for (const OrderClientId& id : plan.cancels) {
            const auto own = std::ranges::find(world.own(), id, &OwnOrder::order_client_id);
            RC_ASSERT(own != world.own().end());
            RC_ASSERT(!own->cancel_requested);
            RC_ASSERT(!own->is_uncertain);
        }
    }));
    // The worlds drawn are not all quiet ones.
    EXPECT_EQ(orders > 0, type().name != "idle");
}

TEST_P(EveryStrategy, PlansNothingOnASideWhoseOrderIsAwaited) {
    EXPECT_TRUE(rc::check([&type = type()] {
        Drawn drawn = draw(type);
        const Plan plan = drawn.strategy->step(drawn.world.input()).value().plan;
        for (const OwnOrder& order : drawn.world.own()) {
            if (order.is_uncertain || order.cancel_requested) {
                RC_ASSERT(std::ranges::count(plan.intents, order.side, &Intent::side) == 0);
            }
        }
    }));
}

TEST_P(EveryStrategy, GivesTheSameBytesForTheSameInput) {
    EXPECT_TRUE(rc::check([&type = type()] {
        const Drawn drawn = draw(type);
        const StrategyStep one = drawn.strategy->step(drawn.world.input()).value();
        const auto again = drawn.type.open(drawn.config).value();
        const StrategyStep two = again->step(drawn.world.input()).value();
        RC_ASSERT(to_text(encode(one.plan)) == to_text(encode(two.plan)));
        RC_ASSERT(to_text(one.memory) == to_text(two.memory));
        RC_ASSERT(to_text(one.assessment.supervision) == to_text(two.assessment.supervision));
    }));
}

TEST_P(EveryStrategy, IsPlannedAgainFromItsRecordedInput) {
    EXPECT_TRUE(rc::check([&type = type()] {
        const Drawn drawn = draw(type);
        const StrategyInput input = drawn.world.input();
        const Plan plan = drawn.strategy->step(input).value().plan;
        for (const PlanPart part : {PlanPart::cancels, PlanPart::sells, PlanPart::buys}) {
            const Json recorded = encode(PlannerInput{
                .strategy_type = std::string(drawn.type.name),
                .config = drawn.config,
                .strategy_id = input.strategy_id,
                .symbol = input.symbol,
                .signals = input.signals,
                .own_orders = input.own_orders,
                .memory = input.memory,
                .trades = *input.trades,
                .posture = input.posture,
                .part = part,
            });
            const Json stored = parse(to_text(recorded));
            const Plan again = replan(stored, input.state, input.market).value();
            RC_ASSERT(to_text(encode(again)) == to_text(encode(part_of(plan, part))));
        }
    }));
}

TEST_P(EveryStrategy, RemembersOnlyWhatItsSchemaKnows) {
    EXPECT_TRUE(rc::check([&type = type()] {
        const Drawn drawn = draw(type);
        const Json memory = drawn.strategy->step(drawn.world.input()).value().memory;
        RC_ASSERT(memory.is_object());
        RC_ASSERT(passes(memory, drawn.type.state_schema()));
        RC_ASSERT(to_text(memory).size() < kStrategyMemoryBytesMax);
    }));
}

TEST_P(EveryStrategy, ReportsTheFactsASupervisorReads) {
    EXPECT_TRUE(rc::check([&type = type()] {
        const Drawn drawn = draw(type);
        const auto assessment = drawn.strategy->step(drawn.world.input()).value().assessment;
        for (const std::string_view key :
             {"inventory_pressure",
              "capacity_available",
              "side_capacity",
              "trend_strength",
              "rebalance_needed",
              "signal"}) {
            RC_ASSERT(assessment.supervision.find(key) != nullptr);
        }
        RC_ASSERT(!assessment.current_intent.empty());
        RC_ASSERT(assessment.current_reason.ends_with('.'));
        RC_ASSERT(!assessment.uncertainty.empty());
        if (assessment.confidence) {
            RC_ASSERT(!assessment.confidence->is_negative());
            RC_ASSERT(*assessment.confidence <= Decimal(1));
        }
    }));
}

TEST(AllStrategies, TakesItsOwnDefaultsAndItsSchemaDoesToo) {
    for (const StrategyType& type : strategy_types()) {
        const Json config = defaults_of(type);
        EXPECT_TRUE(passes(config, type.config_schema())) << type.name;
        EXPECT_TRUE(type.open(config).has_value()) << type.name;
        EXPECT_TRUE(type.open(Json::object()).has_value()) << type.name;
        EXPECT_FALSE(type.config_schema().find("additionalProperties")->as_bool()) << type.name;
    }
}

TEST(AllStrategies, RefusesAnUnknownKeyByName) {
    for (const StrategyType& type : strategy_types()) {
        const auto opened = type.open(parse(R"({"grid_lvels": 3})"));
        ASSERT_FALSE(opened.has_value()) << type.name;
        EXPECT_EQ(opened.error().problems.at(0).path, "grid_lvels") << type.name;
    }
}

TEST(AllStrategies, RefusesEachParameterOutsideItsRange) {
    for (const StrategyType& type : strategy_types()) {
        const Json schema = type.config_schema();
        for (const auto& [key, one] : schema.find("properties")->members()) {
            Json config = Json::object();
            config.set(key, one.find("enum") != nullptr ? Json("no such word") : Json(-1));
            const auto opened = type.open(config);
            ASSERT_FALSE(opened.has_value()) << type.name << " " << key;
            EXPECT_EQ(opened.error().problems.at(0).path, key) << type.name;
        }
    }
}

TEST_P(EveryStrategy, IsNotAfraidOfAbsurdFacts) {
    EXPECT_TRUE(rc::check([&type = type()] {
        const auto strategy = type.open(Json::object()).value();
        PlannerWorld world;
        const auto wild = rc::gen::map(
            rc::gen::arbitrary<std::pair<std::int64_t, std::uint64_t>>(),
            [](const std::pair<std::int64_t, std::uint64_t>& drawn) {
                return Decimal::from_units(
                    (static_cast<__int128>(drawn.first) << 64) | drawn.second);
            });
        for (Decimal* value :
             {&world.state().cash_free,
              &world.held().position,
              &world.held().open_sell_qty,
              &world.market().rules.tick_size,
              &world.market().rules.notional_min}) {
            if (one_in(2)) {
                *value = *wild;
            }
        }
        world.market().best_bid = *wild;
        world.market().best_ask = *wild;
        const auto step = strategy->step(world.input());
        if (step) {
            RC_ASSERT(step->memory.is_object());
        }
    }));
}

TEST(StrategyTypes, AreFoundByName) {
    EXPECT_EQ(find_strategy_type("grid_trader")->label, "Grid trader");
    EXPECT_EQ(find_strategy_type("grid"), nullptr);
    EXPECT_TRUE(std::ranges::is_sorted(strategy_types(), {}, &StrategyType::name));
}

TEST(StrategyTypes, KeepTheirTicksWithinTheBounds) {
    for (const StrategyType& type : strategy_types()) {
        const Duration every = type.open(Json::object()).value()->tick_every();
        const Json schema = type.config_schema();
        const Json* tick = schema.find("properties")->find("tick_seconds");
        EXPECT_EQ(every, Duration::of_seconds(*tick->find("default")->as_int64())) << type.name;
        EXPECT_EQ(
            every, type.name == "inventory_rails" ? Duration::of_seconds(10) : kTickEveryDefault);
        const auto slow = type.open(parse(R"({"tick_seconds": 3600})")).value();
        EXPECT_EQ(slow->tick_every(), kTickEveryMax) << type.name;
        EXPECT_FALSE(type.open(parse(R"({"tick_seconds": 3601})")).has_value()) << type.name;
    }
}

TEST(RiskPosture, EveryWordIsReadBack) {
    for (const RiskPosture posture :
         {RiskPosture::conservative, RiskPosture::balanced, RiskPosture::aggressive}) {
        EXPECT_EQ(parse_risk_posture(to_word(posture)).value(), posture);
    }
    EXPECT_FALSE(parse_risk_posture("bold").has_value());
}

TEST(Idle, NeverPlansAndStillReports) {
    PlannerWorld world;
    const auto idle = opened_strategy("idle");
    const StrategyStep step = world.step(*idle);
    EXPECT_TRUE(step.plan.intents.empty() && step.plan.cancels.empty());
    EXPECT_EQ(step.assessment.current_intent, "hold");
    EXPECT_TRUE(idle->timeframes().empty());
}

}  // namespace
}  // namespace interlock
