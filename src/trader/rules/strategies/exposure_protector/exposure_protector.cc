#include "trader/rules/strategies/exposure_protector/exposure_protector.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "codec/field_reader.h"
#include "trader/rules/market_desk.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 2> kSideWords{"buy", "sell"};
constexpr Decimal kOne{1};
constexpr Decimal kHalf = Decimal::from_units(500'000'000'000'000'000);
constexpr Decimal kCarefulTolerance = Decimal::from_units(750'000'000'000'000'000);
constexpr Decimal kBoldTolerance = Decimal::from_units(1'500'000'000'000'000'000);
constexpr Decimal kUrgentTolerances{4};  // A gap this wide waits for no better price.
constexpr Decimal kRepriceShare = Decimal::from_units(1'000'000'000'000'000);
constexpr std::int64_t kCooldownMax = 1000;
constexpr std::int64_t kMicrosecondsMax = std::int64_t{1} << 53;

struct ProtectorMemory {
    bool is_under_way = false;  // From leaving the tolerance until back near the target.
    Side side = Side::buy;
    bool is_triggered = false;  // The trail was reached: orders may go out.
    Decimal extreme;            // The best price since it is under way.
    std::int64_t cooldown = 0;
    Timestamp last_at;   // Of the latest order.
    Decimal last_price;  // 0: there was none.
};

ProtectorMemory read_memory(const Json& json) {
    if (!json.is_object() || json.members().empty()) {
        return {};
    }
    FieldReader in(json);
    const ProtectorMemory memory{
        .is_under_way = in.required<bool>("is_under_way"),
        .side = static_cast<Side>(in.required_word_index("side", kSideWords)),
        .is_triggered = in.required<bool>("is_triggered"),
        .extreme = in.required<Decimal>("extreme"),
        .cooldown = in.required_integer("cooldown", 0, kCooldownMax),
        .last_at = {in.required_integer("last_at_us", 0, kMicrosecondsMax)},
        .last_price = in.required<Decimal>("last_price"),
    };
    const bool is_sound = !memory.extreme.is_negative() && !memory.last_price.is_negative();
    return in.ok() && is_sound ? memory : ProtectorMemory{};
}

Json encode(const ProtectorMemory& memory) {
    return Json::object({
        {"is_under_way", memory.is_under_way},
        {"side", to_word(memory.side)},
        {"is_triggered", memory.is_triggered},
        {"extreme", to_text(memory.extreme)},
        {"cooldown", memory.cooldown},
        {"last_at_us", memory.last_at.microseconds},
        {"last_price", to_text(memory.last_price)},
    });
}

Decimal distance_of(Decimal value) {
    return value.is_negative() ? Decimal::from_units(-value.units()) : value;
}

class ExposureProtector final : public Strategy {
public:
    explicit ExposureProtector(const ProtectorConfig& config) : config_(config) {}
    Duration tick_every() const override { return Duration::of_seconds(config_.tick_seconds); }
    Result<StrategyStep> step(const StrategyInput& input) const override;

private:
    Decimal tolerance(RiskPosture posture, Reckoning& reckon) const;
    void follow(
        const MarketDesk& desk, Decimal gap, ProtectorMemory& memory, Reckoning& reckon) const;
    Decimal order_value(const MarketDesk& desk, Decimal gap, Reckoning& reckon) const;
    std::optional<Quote> wanted_quote(
        const MarketDesk& desk, Decimal gap, const ProtectorMemory& memory) const;
    std::string_view plan(MarketDesk& desk, Decimal gap, ProtectorMemory& memory, Plan& plan) const;

    ProtectorConfig config_;
};

Decimal ExposureProtector::tolerance(RiskPosture posture, Reckoning& reckon) const {
    switch (posture) {
        case RiskPosture::conservative:
            return reckon.multiply_down(config_.balance_tolerance, kCarefulTolerance);
        case RiskPosture::aggressive:
            return reckon.multiply_down(config_.balance_tolerance, kBoldTolerance);
        case RiskPosture::balanced:
            break;
    }
    return config_.balance_tolerance;
}

// Whether a rebalance is under way, and whether its price has come. `gap` is target − share.
void ExposureProtector::follow(
    const MarketDesk& desk, Decimal gap, ProtectorMemory& memory, Reckoning& reckon) const {
    const Decimal allowed = tolerance(desk.input->posture, reckon);
    const Decimal wide = distance_of(gap);
    const Side side = gap.is_negative() ? Side::sell : Side::buy;
    if (memory.is_under_way &&
        (side != memory.side || wide <= reckon.multiply_down(allowed, kHalf))) {
        memory.is_under_way = false;
        memory.is_triggered = false;
    }
    const Decimal moved =
        memory.last_price.is_zero()
            ? kOne
            : reckon.divide_down(
                  distance_of(reckon.subtract(desk.mid, memory.last_price)), memory.last_price);
    if (!memory.is_under_way && wide > allowed && moved >= config_.min_price_move_pct) {
        memory.is_under_way = true;
        memory.side = side;
        memory.extreme = desk.mid;
    }
    if (!memory.is_under_way) {
        return;
    }
    const bool is_urgent = wide >= reckon.multiply_down(allowed, kUrgentTolerances);
    const Decimal trail = config_.trail_distance_pct;
    bool is_reached = false;
    if (side == Side::sell) {
        memory.extreme = std::max(memory.extreme, desk.mid);
        is_reached = desk.mid <= reckon.multiply_down(memory.extreme, reckon.subtract(kOne, trail));
    } else {
        memory.extreme = std::min(memory.extreme, desk.mid);
        is_reached = desk.mid >= reckon.multiply_up(memory.extreme, reckon.add(kOne, trail));
    }
    memory.is_triggered |= is_urgent || is_reached;
}

// One step: no more than the gap, the step's share of everything, and the largest order; zero when
// what is missing is worth less than the smallest one.
Decimal ExposureProtector::order_value(
    const MarketDesk& desk, Decimal gap, Reckoning& reckon) const {
    const Decimal missing = reckon.multiply_down(desk.value, distance_of(gap));
    const Decimal step = reckon.multiply_down(desk.value, config_.rebalance_step_ratio);
    const Decimal value = std::max(
        std::min({missing, step, config_.max_order_notional_quote}),
        config_.min_order_notional_quote);
    return value <= missing ? value : Decimal();
}

std::optional<Quote> ExposureProtector::wanted_quote(
    const MarketDesk& desk, Decimal gap, const ProtectorMemory& memory) const {
    Reckoning reckon;
    const Decimal value = order_value(desk, gap, reckon);
    const Decimal away =
        reckon.multiply_down(desk.facts->rules.tick_size, Decimal(config_.order_spacing_ticks));
    if (!value.is_positive() || reckon.overflowed()) {
        return std::nullopt;
    }
    if (memory.side == Side::sell) {
        return shape_quote(
            desk,
            Side::sell,
            reckon.add(desk.ask, away),
            {.value = value, .value_below = {}, .qty_max = desk.sell_total});
    }
    const Decimal funded = reckon.divide_down(desk.cash_total, desk.cost_factor);
    const SizeWish wish = entry_wish(desk, std::min(value, funded));
    return shape_quote(desk, Side::buy, reckon.subtract(desk.bid, away), wish);
}

// Gives the reason in words.
std::string_view ExposureProtector::plan(
    MarketDesk& desk, Decimal gap, ProtectorMemory& memory, Plan& plan) const {
    const StrategyInput& input = *desk.input;
    const bool may = memory.side == Side::sell || desk.entries_stopped.empty();
    const bool wants = memory.is_under_way && memory.is_triggered && may;
    const std::optional<Quote> quote = wants ? wanted_quote(desk, gap, memory) : std::nullopt;
    bool stands = false;
    Reckoning reckon;
    const Decimal two_ticks = reckon.add(desk.facts->rules.tick_size, desk.facts->rules.tick_size);
    const Decimal near = std::max(two_ticks, reckon.multiply_up(desk.mid, kRepriceShare));
    for (const OwnOrder& order : input.own_orders) {
        const bool is_wanted = quote && !stands && order.side == quote->side &&
                               distance_of(reckon.subtract(order.price, quote->price)) <= near;
        stands |= is_wanted;
        if (!is_wanted) {
            add_cancel(plan, order);
        }
    }
    if (!memory.is_under_way) {
        return "The base share lies within its tolerance, or the price has not moved since.";
    }
    if (!may) {
        return "The account leans to quote, and entries are stopped.";
    }
    if (!memory.is_triggered) {
        return "The account is out of balance; a better price is still on its way.";
    }
    if (!quote) {
        return "What is missing is less than the smallest order, or funds do not reach.";
    }
    if (stands || !plan.cancels.empty() || desk.waits(quote->side)) {
        return "The account is out of balance; an order is under way.";
    }
    const bool is_early =
        memory.cooldown > 0 ||
        (!memory.last_price.is_zero() &&
         input.state.now - memory.last_at < Duration::of_seconds(config_.min_rebalance_seconds));
    if (is_early) {
        return "The account is out of balance; the next step is not due yet.";
    }
    if (!add_order(plan, desk, *quote)) {
        return "The account is out of balance; funds or limits do not reach for an order.";
    }
    memory.cooldown = config_.cooldown_ticks;
    memory.last_at = input.state.now;
    memory.last_price = desk.mid;
    return "The account is out of balance: a step towards the target is taken.";
}

Result<StrategyStep> ExposureProtector::step(const StrategyInput& input) const {
    TRY_ASSIGN(MarketDesk desk, MarketDesk::open(input, config_.fee_rate));
    ProtectorMemory memory = read_memory(input.memory);
    memory.cooldown = std::max<std::int64_t>(0, memory.cooldown - 1);
    StrategyStep step;
    StrategyAssessment& assessment = step.assessment;
    assessment.current_intent = "wait";
    assessment.uncertainty = "high";
    Reckoning reckon;
    const auto share = desk.base_share();
    if (desk.only_cancels) {
        cancel_all(step.plan, input);
        assessment.current_reason = "Trading is halted: every order is taken back.";
    } else if (!desk.is_quoted || !share) {
        assessment.current_reason = "There is no price, or nothing to balance.";
    } else {
        const Decimal gap = reckon.subtract(config_.rebalance_target_ratio, *share);
        follow(desk, gap, memory, reckon);
        assessment.current_reason = plan(desk, gap, memory, step.plan);
        assessment.current_intent = memory.is_under_way ? "rebalance" : "hold";
        assessment.key_drivers.push_back(
            "base share " + to_text(*share) + ", target " +
            to_text(config_.rebalance_target_ratio));
        assessment.confidence = std::min(kOne, reckon.add(distance_of(gap), kHalf));
        assessment.uncertainty = "low";
    }
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "A number of the balance is too large to reckon with.");
    }
    if (!desk.entries_stopped.empty()) {
        assessment.constraints.emplace_back(desk.entries_stopped);
    }
    step.plan.reason = "protector: " + assessment.current_intent;
    assessment.supervision = supervision_facts(
        desk,
        {
            .signal = !memory.is_under_way        ? "balanced"
                      : memory.side == Side::sell ? "base_heavy"
                                                  : "quote_heavy",
            .signals = nullptr,
            .order_value = config_.min_order_notional_quote,
            .rebalance_needed = memory.is_under_way,
        });
    step.memory = encode(memory);
    return step;
}

}  // namespace

void ProtectorConfig::describe(ConfigFields& fields) {
    describe_tick(fields, tick_seconds);
    fields.decimal(
        "trail_distance_pct",
        trail_distance_pct,
        {"0", "0.2"},
        "How far the price must come back from its best before an order goes out; 0: at once.");
    fields.decimal(
        "rebalance_target_ratio",
        rebalance_target_ratio,
        {"0", "1"},
        "The base share of value to come to.");
    fields.decimal(
        "rebalance_step_ratio",
        rebalance_step_ratio,
        {"0.01", "1"},
        "The largest order as a share of everything.");
    fields.whole(
        "min_rebalance_seconds", min_rebalance_seconds, {0, 86'400}, "Seconds between two orders.");
    fields.decimal(
        "min_price_move_pct",
        min_price_move_pct,
        {"0", "0.2"},
        "Move of the price since the latest order before a new rebalance begins.");
    fields.decimal(
        "min_order_notional_quote",
        min_order_notional_quote,
        {"0.01", "1000000000"},
        "The smallest order.");
    fields.decimal(
        "max_order_notional_quote",
        max_order_notional_quote,
        {"0.01", "1000000000"},
        "The largest order.");
    fields.whole("cooldown_ticks", cooldown_ticks, {0, kCooldownMax}, "Ticks between two orders.");
    fields.decimal(
        "balance_tolerance",
        balance_tolerance,
        {"0.005", "0.5"},
        "Distance from the target that is left alone.");
    fields.whole(
        "order_spacing_ticks",
        order_spacing_ticks,
        {0, 1000},
        "Price ticks between the touch and an order.");
    describe_fee(fields, fee_rate);
    fields.require(
        min_order_notional_quote <= max_order_notional_quote,
        "max_order_notional_quote",
        "must not be below min_order_notional_quote");
}

Json protector_state_schema() {
    return state_schema_of({
        {"is_under_way", "boolean", "A rebalance began and is not finished."},
        {"side", "string", "Its side: buy or sell."},
        {"is_triggered", "boolean", "Its price has come; orders may go out."},
        {"extreme", "string", "The best price since it began."},
        {"cooldown", "integer", "Ticks until the next order."},
        {"last_at_us", "integer", "When the latest order was planned, microseconds since 1970."},
        {"last_price", "string", "The mid at that time; 0: there was none."},
    });
}

Result<std::shared_ptr<const Strategy>> open_exposure_protector(const Json& config) {
    TRY_ASSIGN(const ProtectorConfig read, decode_config<ProtectorConfig>(config));
    return std::make_shared<const ExposureProtector>(read);
}

}  // namespace interlock
