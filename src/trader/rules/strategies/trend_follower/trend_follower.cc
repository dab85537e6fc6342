#include "trader/rules/strategies/trend_follower/trend_follower.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "codec/field_reader.h"
#include "trader/rules/market_desk.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 2> kSideWords{"long", "short"};
constexpr Decimal kOne{1};
constexpr Decimal kHalf = Decimal::from_units(500'000'000'000'000'000);
constexpr Decimal kCarefulThreshold = Decimal::from_units(1'500'000'000'000'000'000);
constexpr Decimal kBoldThreshold = Decimal::from_units(750'000'000'000'000'000);
// An order this far behind its wanted price (and two ticks, and its offset) is placed anew.
constexpr Decimal kRepriceShare = Decimal::from_units(1'000'000'000'000'000);
// An urgent exit goes this much of the gates' collar through the touch, at most.
constexpr Decimal kCollarShare = Decimal::from_units(800'000'000'000'000'000);
constexpr std::int64_t kCooldownMax = 1000;

struct TrendMemory {
    std::int64_t cooldown = 0;  // Ticks until the next entry.
    bool is_riding = false;     // Something is held and its trend was seen: its end is to be left.
    Decimal extreme;            // The highest price of the ride; 0 without one.
    bool is_stopped = false;    // Left by the trailing stop: no entry before the trend paused.
};

TrendMemory read_memory(const Json& json) {
    if (!json.is_object() || json.members().empty()) {
        return {};
    }
    FieldReader in(json);
    const TrendMemory memory{
        .cooldown = in.required_integer("cooldown", 0, kCooldownMax),
        .is_riding = in.required<bool>("is_riding"),
        .extreme = in.required<Decimal>("extreme"),
        .is_stopped = in.required<bool>("is_stopped"),
    };
    return in.ok() && !memory.extreme.is_negative() ? memory : TrendMemory{};
}

Json encode(const TrendMemory& memory) {
    return Json::object({
        {"cooldown", memory.cooldown},
        {"is_riding", memory.is_riding},
        {"extreme", to_text(memory.extreme)},
        {"is_stopped", memory.is_stopped},
    });
}

enum class Want { wait, hold, enter, leave, leave_now };

// What the step makes of the facts, and why.
struct Verdict {
    Want want = Want::hold;
    std::string_view intent = "hold";
    std::string_view reason = "The trend is between its thresholds.";
};

class TrendFollower final : public Strategy {
public:
    explicit TrendFollower(const TrendConfig& config) : config_(config) {}
    Duration tick_every() const override { return Duration::of_seconds(config_.tick_seconds); }
    std::vector<Timeframe> timeframes() const override { return {config_.trend_timeframe}; }
    Result<StrategyStep> step(const StrategyInput& input) const override;

private:
    Decimal threshold(RiskPosture posture, Reckoning& reckon) const;
    Verdict judge(const MarketDesk& desk, TrendMemory& memory, Reckoning& reckon) const;
    Verdict judge_long(const MarketDesk& desk, TrendMemory& memory, Reckoning& reckon) const;
    std::optional<Quote> wanted_quote(const MarketDesk& desk, Want want, Reckoning& reckon) const;
    bool stands_for(const MarketDesk& desk, const OwnOrder& order, Decimal price, Want want) const;
    void plan(MarketDesk& desk, Want want, TrendMemory& memory, StrategyStep& step) const;
    void assess(const MarketDesk& desk, const Verdict& verdict, StrategyStep& step) const;

    // The side an order of this want is on; nothing: it wants none.
    std::optional<Side> side_of(Want want) const {
        if (want == Want::enter) {
            return config_.trade_side == TrendSide::long_only ? Side::buy : Side::sell;
        }
        const bool leaves = want == Want::leave || want == Want::leave_now;
        return leaves ? std::optional(Side::sell) : std::nullopt;
    }

    TrendConfig config_;
};

Decimal TrendFollower::threshold(RiskPosture posture, Reckoning& reckon) const {
    switch (posture) {
        case RiskPosture::conservative:
            return reckon.multiply_up(config_.trend_strength_min, kCarefulThreshold);
        case RiskPosture::aggressive:
            return reckon.multiply_up(config_.trend_strength_min, kBoldThreshold);
        case RiskPosture::balanced:
            break;
    }
    return config_.trend_strength_min;
}

Verdict TrendFollower::judge(const MarketDesk& desk, TrendMemory& memory, Reckoning& reckon) const {
    const TimeframeSignals* signals = desk.input->signals.find(config_.trend_timeframe);
    const bool knows = signals != nullptr && signals->trend_strength.has_value();
    if (config_.trade_side == TrendSide::long_only) {
        return judge_long(desk, memory, reckon);
    }
    if (!knows) {
        return {Want::wait, "wait", "There are too few candles to tell a trend."};
    }
    const Decimal down = reckon.subtract(Decimal(), *signals->trend_strength);
    const Decimal least = threshold(desk.input->posture, reckon);
    if (down >= least) {
        return {Want::enter, "sell", "The market trends down: what is held is sold in steps."};
    }
    if (down >= reckon.multiply_down(least, kHalf)) {
        return {};
    }
    return {Want::wait, "wait", "There is no downward trend."};
}

Verdict TrendFollower::judge_long(
    const MarketDesk& desk, TrendMemory& memory, Reckoning& reckon) const {
    const TimeframeSignals* signals = desk.input->signals.find(config_.trend_timeframe);
    const bool knows = signals != nullptr && signals->trend_strength.has_value();
    const bool holds =
        desk.base_value >= desk.facts->rules.notional_min && desk.position.is_positive();
    const Decimal strength = knows ? *signals->trend_strength : Decimal();
    const Decimal least = threshold(desk.input->posture, reckon);
    // What was held before any trend is not this strategy's to sell.
    memory.is_riding = holds && (memory.is_riding || (knows && strength >= least));
    memory.extreme = memory.is_riding ? std::max(memory.extreme, desk.mid) : Decimal();
    if (knows && strength < least && !memory.is_riding) {
        memory.is_stopped = false;
    }
    const Decimal stop =
        reckon.multiply_down(memory.extreme, reckon.subtract(kOne, config_.trailing_stop_pct));
    if (memory.is_riding && config_.trailing_stop_pct.is_positive() && desk.mid <= stop) {
        memory.is_stopped = true;
    }
    if (memory.is_stopped) {
        return memory.is_riding
                   ? Verdict{Want::leave_now, "sell", "The price fell back to the trailing stop."}
                   : Verdict{Want::wait, "wait", "Left by the stop; it waits for a new trend."};
    }
    if (!knows) {
        return {Want::wait, "wait", "There are too few candles to tell a trend."};
    }
    if (strength >= least) {
        return {Want::enter, "buy", "The market trends up."};
    }
    if (!memory.is_riding) {
        return {Want::wait, "wait", "There is no upward trend."};
    }
    if (reckon.add(strength, least) <= Decimal()) {
        return {Want::leave_now, "sell", "The trend turned down."};
    }
    if (strength < reckon.multiply_down(least, kHalf)) {
        return {Want::leave, "sell", "The trend has ended."};
    }
    return {};
}

std::optional<Quote> TrendFollower::wanted_quote(
    const MarketDesk& desk, Want want, Reckoning& reckon) const {
    const auto below = [&](Decimal price, Decimal share) {
        return reckon.multiply_down(price, reckon.subtract(kOne, share));
    };
    const auto above = [&](Decimal price, Decimal share) {
        return reckon.multiply_up(price, reckon.add(kOne, share));
    };
    if (want == Want::enter && config_.trade_side == TrendSide::long_only) {
        const Decimal price = below(desk.mid, config_.entry_offset_pct);
        return shape_quote(desk, Side::buy, price, entry_wish(desk, config_.order_size));
    }
    if (want == Want::enter) {
        const Decimal price = above(desk.mid, config_.entry_offset_pct);
        return shape_quote(
            desk,
            Side::sell,
            price,
            {.value = config_.order_size, .value_below = {}, .qty_max = desk.sell_total});
    }
    Decimal price = above(desk.mid, config_.exit_offset_pct);
    if (want == Want::leave_now) {
        const Decimal collar = reckon.multiply_down(
            reckon.fraction_of_bps(desk.input->state.limits.touch_collar_bps), kCollarShare);
        price = below(desk.bid, std::min(config_.exit_offset_pct, collar));
    }
    const Decimal all = reckon.multiply_up(desk.sell_total, above(price, kOne));
    return shape_quote(
        desk, Side::sell, price, {.value = all, .value_below = {}, .qty_max = desk.sell_total});
}

// An urgent order stands as long as it would trade; others until the price has run away from them:
// one that the price has come nearer to is about to be filled.
bool TrendFollower::stands_for(
    const MarketDesk& desk, const OwnOrder& order, Decimal price, Want want) const {
    if (want == Want::leave_now) {
        return order.price <= desk.bid;
    }
    Reckoning reckon;
    const Decimal offset = want == Want::leave ? config_.exit_offset_pct : config_.entry_offset_pct;
    const Decimal two_ticks = reckon.add(desk.facts->rules.tick_size, desk.facts->rules.tick_size);
    const Decimal share = std::max(kRepriceShare, offset);
    const Decimal near = std::max(two_ticks, reckon.multiply_up(desk.mid, share));
    const Decimal behind = order.side == Side::buy ? reckon.subtract(price, order.price)
                                                   : reckon.subtract(order.price, price);
    return !reckon.overflowed() && behind <= near;
}

void TrendFollower::plan(
    MarketDesk& desk, Want want, TrendMemory& memory, StrategyStep& step) const {
    Reckoning reckon;
    const std::optional<Side> side = side_of(want);
    const bool may = side && (*side == Side::sell || desk.entries_stopped.empty());
    const std::optional<Quote> quote = may ? wanted_quote(desk, want, reckon) : std::nullopt;
    bool stands = false;
    for (const OwnOrder& order : desk.input->own_orders) {
        const bool is_wanted = quote && order.side == quote->side && !stands &&
                               stands_for(desk, order, quote->price, want);
        stands |= is_wanted;
        // Between the thresholds nothing new is wanted and nothing is taken back.
        const bool may_stay =
            is_wanted ||
            (want == Want::hold && (order.side == Side::sell || desk.entries_stopped.empty()));
        if (!may_stay) {
            add_cancel(step.plan, order);
        }
    }
    if (!quote || stands || !step.plan.cancels.empty() || desk.waits(quote->side)) {
        return;
    }
    if (want != Want::enter) {
        add_order(step.plan, desk, *quote, {.post_only = want == Want::leave});
        return;
    }
    if (memory.cooldown > 0) {
        step.assessment.constraints.emplace_back("it cools down after its last order");
        return;
    }
    const Decimal most = reckon.multiply_down(desk.value, config_.max_inventory_share);
    const Decimal after = reckon.add(desk.base_value, reckon.multiply_up(quote->qty, quote->price));
    if (quote->side == Side::buy && (after > most || reckon.overflowed())) {
        step.assessment.constraints.emplace_back("its share of inventory is reached");
        return;
    }
    if (add_order(step.plan, desk, *quote)) {
        memory.cooldown = config_.cooldown_ticks;
    } else {
        step.assessment.constraints.emplace_back("funds or limits do not reach for an order");
    }
}

void TrendFollower::assess(
    const MarketDesk& desk, const Verdict& verdict, StrategyStep& step) const {
    StrategyAssessment& assessment = step.assessment;
    const TimeframeSignals* signals = desk.input->signals.find(config_.trend_timeframe);
    assessment.current_intent = verdict.intent;
    assessment.current_reason = verdict.reason;
    if (!desk.entries_stopped.empty()) {
        assessment.constraints.emplace_back(desk.entries_stopped);
    }
    if (desk.buys_wait || desk.sells_wait) {
        assessment.constraints.emplace_back("an order's fate or cancel is awaited");
    }
    assessment.uncertainty = "high";
    if (signals != nullptr && signals->trend_strength) {
        const Decimal strength = *signals->trend_strength;
        assessment.key_drivers.push_back("trend strength " + to_text(strength));
        assessment.uncertainty = signals->regime == VolatilityRegime::high ? "medium" : "low";
        const auto full = add(config_.trend_strength_min, config_.trend_strength_min);
        const auto share = full ? divide_round_down(strength, *full) : full;
        if (share) {  // Twice the least strength is as sure as it gets.
            const Decimal size = std::max(*share, negate(*share).value_or(Decimal()));
            assessment.confidence = std::min(kOne, size);
        }
    }
    assessment.supervision =
        supervision_facts(desk, {signal_word(signals), signals, config_.order_size, false});
}

Result<StrategyStep> TrendFollower::step(const StrategyInput& input) const {
    TRY_ASSIGN(MarketDesk desk, MarketDesk::open(input, config_.fee_rate));
    TrendMemory memory = read_memory(input.memory);
    StrategyStep step;
    Reckoning reckon;
    memory.cooldown = std::max<std::int64_t>(0, memory.cooldown - 1);
    Verdict verdict{Want::wait, "wait", "Trading is halted: every order is taken back."};
    if (desk.only_cancels) {
        cancel_all(step.plan, input);
    } else if (!desk.is_quoted) {
        verdict.reason = "The market is halted or has no two-sided price.";
    } else {
        verdict = judge(desk, memory, reckon);
        plan(desk, verdict.want, memory, step);
    }
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "A number of the trend is too large to reckon with.");
    }
    step.plan.reason = "trend: " + std::string(verdict.intent);
    assess(desk, verdict, step);
    step.memory = encode(memory);
    return step;
}

}  // namespace

void TrendConfig::describe(ConfigFields& fields) {
    describe_tick(fields, tick_seconds);
    fields.word("trend_timeframe", trend_timeframe, timeframe_words(), "Whose trend it follows.");
    fields.decimal(
        "trend_strength_min",
        trend_strength_min,
        {"0.05", "10"},
        "Distance of the two EMAs, in ATRs, from which a trend is one.");
    fields.decimal(
        "entry_offset_pct",
        entry_offset_pct,
        {"0", "0.05"},
        "How far from mid an entry waits, as a fraction.");
    fields.decimal(
        "exit_offset_pct",
        exit_offset_pct,
        {"0", "0.05"},
        "How far above mid an exit waits; how far below the bid an urgent one may go.");
    fields.decimal("order_size", order_size, {"0.01", "1000000000"}, "Value of one entry.");
    fields.whole("cooldown_ticks", cooldown_ticks, {0, kCooldownMax}, "Ticks between two entries.");
    fields.word(
        "trade_side",
        trade_side,
        kSideWords,
        "long buys into rises; short sells what is held into falls and never buys.");
    fields.decimal(
        "trailing_stop_pct",
        trailing_stop_pct,
        {"0", "0.5"},
        "Fall from the top that ends a position; 0: no stop.");
    fields.decimal(
        "max_inventory_share",
        max_inventory_share,
        {"0", "1"},
        "Entries stop where the base side would be more than this share of everything.");
    describe_fee(fields, fee_rate);
}

Json trend_state_schema() {
    return state_schema_of({
        {"cooldown", "integer", "Ticks until the next entry."},
        {"is_riding", "boolean", "Something is held and its trend was seen."},
        {"extreme", "string", "The highest price of the ride; 0 without one."},
        {"is_stopped", "boolean", "Left by the trailing stop; waits until the trend pauses."},
    });
}

Result<std::shared_ptr<const Strategy>> open_trend_follower(const Json& config) {
    TRY_ASSIGN(const TrendConfig read, decode_config<TrendConfig>(config));
    return std::make_shared<const TrendFollower>(read);
}

}  // namespace interlock
