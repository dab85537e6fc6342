#include "trader/rules/strategies/grid_trader/grid_trader.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "trader/rules/market_desk.h"
#include "trader/rules/strategies/grid_trader/grid_memory.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kSidesWords{"both", "buy", "sell"};
constexpr Decimal kOne{1};
constexpr Decimal kDefensiveStep = Decimal::from_units(1'500'000'000'000'000'000);
constexpr Decimal kConservativeStep = Decimal::from_units(1'250'000'000'000'000'000);
constexpr Decimal kAggressiveStep = Decimal::from_units(800'000'000'000'000'000);
// An order within a tenth of a step of its line stands for it, and so does one that is larger than
// wanted by no more than a tenth.
constexpr Decimal kTolerance = Decimal::from_units(100'000'000'000'000'000);

// One wanted order.
struct Level {
    Quote quote;
    std::int64_t number = 0;  // From the grid's middle outwards, from 1.
    bool stands = false;      // An own order is there already.
};

class Grid {
public:
    Grid(const GridConfig& config, MarketDesk& desk, GridMemory& memory)
        : config_(config), desk_(desk), memory_(memory) {}

    // Slides or recentres; the reason when the grid moved.
    Result<std::string_view> follow(Decimal wanted_step);
    // What funds, limits and mode allow, nearest lines first, both sides in turn.
    Result<void> shape();
    // Sets own orders against the shape; cancels first, missing ones otherwise.
    Plan plan();

    std::int64_t fundable(Side side) const {
        return std::count_if(levels_.begin(), levels_.end(), [&](const Level& level) {
            return level.quote.side == side;
        });
    }
    bool is_paced() const { return is_paced_; }

private:
    void note_fills();
    std::int64_t level_count() const;
    std::optional<Decimal> line_price(std::int64_t line) const;
    Decimal buy_budget(Reckoning& reckon) const;
    bool wants(Side side) const;
    bool stands_for(const OwnOrder& order, Side side, Decimal price) const;
    bool has_order(Side side, Decimal price) const;
    void measure();
    void match(Plan& plan);

    const GridConfig& config_;
    MarketDesk& desk_;
    GridMemory& memory_;
    std::vector<Level> levels_;
    Decimal spacing_;  // Between two lines.
    Decimal near_;     // So far from its line an order may be.
    bool is_paced_ = false;
};

// Half of them while defensive, at least one.
std::int64_t Grid::level_count() const {
    const bool is_defensive = desk_.risk_mode == RiskMode::defensive;
    const std::int64_t wanted =
        is_defensive ? std::max<std::int64_t>(1, config_.grid_levels / 2) : config_.grid_levels;
    const std::int64_t sides = config_.trade_sides == TradeSides::both ? 2 : 1;
    return std::min(wanted, desk_.standing_allowed / sides);
}

std::optional<Decimal> Grid::line_price(std::int64_t line) const {
    __int128 away = 0;
    __int128 price = 0;
    const bool is_off = __builtin_mul_overflow(spacing_.units(), __int128{line}, &away) ||
                        __builtin_add_overflow(memory_.anchor.units(), away, &price);
    return is_off || price <= 0 ? std::nullopt : std::optional(Decimal::from_units(price));
}

// A line that had an order and has none now was reached, if what is held moved that way: the grid
// stands around it now. Otherwise the order was cancelled by someone else.
void Grid::note_fills() {
    if (memory_.position == desk_.position) {
        return;
    }
    const Side side = desk_.position > memory_.position ? Side::buy : Side::sell;
    std::int64_t missing = side == Side::buy ? memory_.buy_levels : memory_.sell_levels;
    for (std::int64_t number = 1; number <= kGridLevelsMax; ++number) {
        const std::int64_t bit = std::int64_t{1} << (number - 1);
        const std::int64_t line = side == Side::buy ? memory_.line - number : memory_.line + number;
        if ((missing & bit) == 0) {
            continue;
        }
        const auto price = line_price(line);
        if (price && has_order(side, *price)) {
            missing &= ~bit;
        }
    }
    std::int64_t reached = 0;
    for (; missing != 0; missing >>= 1) {
        ++reached;
    }
    memory_.line += side == Side::buy ? -reached : reached;
}

Result<std::string_view> Grid::follow(Decimal wanted_step) {
    Reckoning reckon;
    const Decimal mid = desk_.mid;
    const auto begin_anew = [&] {
        const std::int64_t recentres = memory_.is_set() ? memory_.recentres + 1 : 0;
        const std::int64_t slides = memory_.slides;
        memory_ = {};
        memory_.anchor = mid;
        memory_.step = wanted_step;
        memory_.slides = slides;
        memory_.recentres = recentres;
    };
    if (!memory_.is_set()) {
        begin_anew();
        return std::string_view("laid out");
    }
    const Decimal drift = reckon.divide_down(reckon.subtract(mid, memory_.anchor), memory_.anchor);
    const Decimal change = reckon.divide_down(wanted_step, memory_.step);
    const Decimal limit = reckon.add(kOne, config_.step_change_min);
    const bool is_new_step = change >= limit || reckon.multiply_up(change, limit) <= kOne;
    const bool is_far =
        std::max(drift, Decimal::from_units(-drift.units())) >= config_.recentre_pct;
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "The price is too far from the grid to reckon with.");
    }
    if (is_far || is_new_step) {
        begin_anew();
        return std::string_view(is_far ? "recentred" : "laid out with a new step");
    }
    measure();
    const std::int64_t before = memory_.line;
    note_fills();
    // The price lies between the lines below and above the middle, never on or beyond them.
    const Decimal lines = reckon.divide_down(drift, memory_.step);
    const auto floor = static_cast<std::int64_t>(
        floor_to_step(lines, kOne).value_or(Decimal()).units() / kOne.units());
    const bool is_on_line = lines.units() % kOne.units() == 0;
    memory_.line = std::clamp(memory_.line, floor, is_on_line ? floor : floor + 1);
    if (memory_.line != before) {
        ++memory_.slides;
        return std::string_view("slid");
    }
    return std::string_view();
}

bool Grid::wants(Side side) const {
    if (side == Side::buy) {
        return config_.trade_sides != TradeSides::sell && desk_.entries_stopped.empty();
    }
    return config_.trade_sides != TradeSides::buy;
}

// Funds, but no more than what keeps the base side within its share of everything and the symbol
// within its limit.
Decimal Grid::buy_budget(Reckoning& reckon) const {
    const Decimal most = reckon.multiply_down(desk_.value, config_.max_inventory_share);
    const Decimal room = reckon.subtract(most, desk_.base_value);
    return std::max(Decimal(), std::min(desk_.cash_total, room));
}

Result<void> Grid::shape() {
    Reckoning reckon;
    Decimal cash = buy_budget(reckon);
    Decimal base = desk_.sell_total;
    measure();
    bool has_buys = wants(Side::buy);
    bool has_sells = wants(Side::sell);
    const SizeWish buy_wish = entry_wish(desk_, config_.order_notional_quote);
    const std::int64_t count = level_count();
    levels_.reserve(static_cast<std::size_t>(2 * count));
    for (std::int64_t number = 1; number <= count && (has_buys || has_sells); ++number) {
        if (const auto price = line_price(memory_.line + number); has_sells && price) {
            // The last level takes what is left, if the venue takes it.
            const auto quote = shape_quote(
                desk_,
                Side::sell,
                *price,
                {.value = config_.order_notional_quote, .value_below = {}, .qty_max = base});
            has_sells = quote.has_value();
            if (quote) {
                base = reckon.subtract(base, quote->qty);
                levels_.push_back({*quote, number});
            }
        }
        if (const auto price = line_price(memory_.line - number); has_buys && price) {
            const auto quote = shape_quote(desk_, Side::buy, *price, buy_wish);
            const Decimal cost =
                quote ? desk_.buy_cost(reckon.multiply_up(quote->qty, quote->price), reckon)
                      : Decimal();
            // An order that stands is not given up for half a level: the budget moves with the
            // price, and the outermost order would come and go with it.
            const Decimal half = Decimal::from_units(cost.units() / 2);
            has_buys = quote && (cost <= cash || (cost <= reckon.add(cash, half) &&
                                                  has_order(Side::buy, quote->price)));
            if (has_buys) {
                cash = reckon.subtract(cash, cost);
                levels_.push_back({*quote, number});
            }
        }
    }
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "An amount of the grid is too large to reckon with.");
    }
    return {};
}

// An order may be a tenth of a step off, and never less than the tick prices are rounded to.
void Grid::measure() {
    Reckoning reckon;
    spacing_ = reckon.multiply_up(memory_.anchor, memory_.step);
    near_ = std::max(reckon.multiply_up(spacing_, kTolerance), desk_.facts->rules.tick_size);
}

bool Grid::stands_for(const OwnOrder& order, Side side, Decimal price) const {
    const __int128 apart = order.price.units() - price.units();  // Both are positive.
    return order.side == side && (apart < 0 ? -apart : apart) <= near_.units();
}

bool Grid::has_order(Side side, Decimal price) const {
    const std::vector<OwnOrder>& own = desk_.input->own_orders;
    return std::any_of(own.begin(), own.end(), [&](const OwnOrder& order) {
        return stands_for(order, side, price);
    });
}

void Grid::match(Plan& plan) {
    for (const OwnOrder& order : desk_.input->own_orders) {
        const auto level = std::find_if(levels_.begin(), levels_.end(), [&](const Level& at) {
            return !at.stands && stands_for(order, at.quote.side, at.quote.price);
        });
        Reckoning reckon;
        // A part-filled order is smaller than its level and stands; a larger one is too bold.
        const bool is_too_large =
            level != levels_.end() &&
            order.remaining_qty >
                reckon.multiply_up(level->quote.qty, reckon.add(kOne, kTolerance));
        if (level != levels_.end() && !is_too_large) {
            level->stands = true;
        } else if (!desk_.waits(order.side) || !wants(order.side)) {
            add_cancel(plan, order);
        }
    }
}

Plan Grid::plan() {
    Plan plan;
    match(plan);
    if (plan.cancels.empty()) {
        for (Level& level : levels_) {
            if (level.stands || desk_.waits(level.quote.side)) {
                continue;
            }
            level.stands = add_order(plan, desk_, level.quote);
            is_paced_ |= !level.stands && desk_.orders_allowed <= 0;
        }
    }
    memory_.buy_levels = 0;
    memory_.sell_levels = 0;
    for (const Level& level : levels_) {
        if (level.stands) {
            const std::int64_t bit = std::int64_t{1} << (level.number - 1);
            (level.quote.side == Side::buy ? memory_.buy_levels : memory_.sell_levels) |= bit;
        }
    }
    memory_.position = desk_.position;
    return plan;
}

class GridTrader final : public Strategy {
public:
    explicit GridTrader(const GridConfig& config) : config_(config) {}
    Duration tick_every() const override { return Duration::of_seconds(config_.tick_seconds); }
    std::vector<Timeframe> timeframes() const override { return {config_.volatility_timeframe}; }
    Result<StrategyStep> step(const StrategyInput& input) const override;

private:
    Result<void> run(MarketDesk& desk, GridMemory& memory, StrategyStep& step) const;
    void assess(const MarketDesk& desk, const Grid& grid, StrategyAssessment& assessment) const;

    GridConfig config_;
};

Result<StrategyStep> GridTrader::step(const StrategyInput& input) const {
    TRY_ASSIGN(MarketDesk desk, MarketDesk::open(input, config_.fee_rate));
    GridMemory memory = read_grid_memory(input.memory);
    StrategyStep step;
    StrategyAssessment& assessment = step.assessment;
    if (desk.only_cancels) {
        cancel_all(step.plan, input);
        step.plan.reason = "grid: halted";
        memory.buy_levels = 0;
        memory.sell_levels = 0;
        assessment.current_intent = "wait";
        assessment.current_reason = "Trading is halted: every order is taken back.";
        assessment.constraints.emplace_back(desk.entries_stopped);
    } else if (!desk.is_quoted) {
        assessment.current_intent = "wait";
        assessment.current_reason = "The market is halted or has no two-sided price.";
    } else {
        TRY(run(desk, memory, step));
    }
    if (assessment.supervision.members().empty()) {
        const TimeframeSignals* signals = input.signals.find(config_.volatility_timeframe);
        assessment.supervision = supervision_facts(
            desk, {signal_word(signals), signals, config_.order_notional_quote, false});
        assessment.uncertainty = "high";
    }
    step.memory = memory.is_set() ? encode(memory) : Json::object();
    return step;
}

Result<void> GridTrader::run(MarketDesk& desk, GridMemory& memory, StrategyStep& step) const {
    const StrategyInput& input = *desk.input;
    const TimeframeSignals* signals = input.signals.find(config_.volatility_timeframe);
    TRY_ASSIGN(
        Decimal wanted,
        grid_step_of(
            config_,
            {
                .atr_pct = signals == nullptr ? std::nullopt : signals->atr_pct,
                .posture = input.posture,
                .risk_mode = desk.risk_mode,
            }));
    // Two lines on one tick would be one.
    TRY_ASSIGN(const Decimal tick, divide_round_up(desk.facts->rules.tick_size, desk.mid));
    TRY_ASSIGN(const Decimal least, add(tick, tick));
    wanted = std::max(wanted, least);
    Grid grid(config_, desk, memory);
    TRY_ASSIGN(const std::string_view moved, grid.follow(wanted));
    TRY(grid.shape());
    step.plan = grid.plan();
    step.plan.reason = moved.empty() ? "grid: refill" : "grid: " + std::string(moved);
    StrategyAssessment& assessment = step.assessment;
    assess(desk, grid, assessment);
    assessment.key_drivers.push_back(
        "step " + to_text(memory.step) + " around " + to_text(memory.anchor));
    if (!moved.empty()) {
        assessment.key_drivers.push_back("the grid was " + std::string(moved));
    }
    if (!step.plan.cancels.empty()) {
        assessment.current_reason = "Orders off the grid's lines are taken back first.";
    }
    assessment.supervision.set("grid_step_pct", to_text(memory.step));
    assessment.supervision.set(
        "pullback_pct", signals == nullptr ? Json() : text_or_null(signals->pullback_pct));
    return {};
}

void GridTrader::assess(
    const MarketDesk& desk, const Grid& grid, StrategyAssessment& assessment) const {
    const StrategyInput& input = *desk.input;
    const TimeframeSignals* signals = input.signals.find(config_.volatility_timeframe);
    const std::int64_t buys = grid.fundable(Side::buy);
    const std::int64_t sells = grid.fundable(Side::sell);
    assessment.current_intent = buys + sells == 0 ? "wait" : "quote";
    assessment.current_reason =
        "Quotes " + std::to_string(buys) + " buys and " + std::to_string(sells) + " sells.";
    if (!desk.entries_stopped.empty()) {
        assessment.constraints.emplace_back(desk.entries_stopped);
    }
    if (desk.buys_wait || desk.sells_wait || desk.entries_wait) {
        assessment.constraints.emplace_back("an order's fate or cancel is awaited");
    }
    if (grid.is_paced()) {
        assessment.constraints.emplace_back("the venue's order limits pace the rest");
    }
    const bool is_one_sided = config_.trade_sides == TradeSides::both &&
                              desk.entries_stopped.empty() && (buys == 0 || sells == 0);
    if (is_one_sided) {
        assessment.warnings.emplace_back(
            buys + sells == 0 ? "No order can be funded or is of a size the venue takes."
            : buys == 0       ? "No buy can be funded: the account leans to base."
                              : "No sell can be funded: the account leans to quote.");
    }
    if (signals == nullptr || !signals->atr_pct) {
        assessment.warnings.emplace_back("No ATR yet: the configured step is used.");
        assessment.uncertainty = "high";
    } else {
        assessment.uncertainty = signals->regime == VolatilityRegime::high ? "medium" : "low";
        if (signals->efficiency) {  // A grid lives on to and fro.
            assessment.confidence =
                Decimal::from_units(kOne.units() - signals->efficiency->units());
        }
    }
    assessment.supervision = supervision_facts(
        desk, {signal_word(signals), signals, config_.order_notional_quote, is_one_sided});
}

}  // namespace

void GridConfig::describe(ConfigFields& fields) {
    describe_tick(fields, tick_seconds);
    fields.whole("grid_levels", grid_levels, {1, kGridLevelsMax}, "Orders a side.");
    fields.decimal(
        "grid_step_pct",
        grid_step_pct,
        {"0.001", "0.1"},
        "The step while there is no ATR, or with a multiplier of 0; a fraction of the price.");
    fields.word(
        "volatility_timeframe",
        volatility_timeframe,
        timeframe_words(),
        "Whose ATR makes the step.");
    fields.decimal(
        "volatility_multiplier",
        volatility_multiplier,
        {"0", "10"},
        "The step in ATRs; 0 keeps grid_step_pct.");
    fields.decimal(
        "grid_step_min_pct", grid_step_min_pct, {"0.0005", "0.1"}, "The least step from ATR.");
    fields.decimal(
        "grid_step_max_pct", grid_step_max_pct, {"0.001", "0.2"}, "The largest step from ATR.");
    fields.decimal(
        "step_change_min",
        step_change_min,
        {"0.05", "2"},
        "A wanted step that differs by this share lays the grid out anew.");
    fields.decimal(
        "recentre_pct",
        recentre_pct,
        {"0.01", "0.5"},
        "Drift from the anchor that lays the grid out anew.");
    fields.decimal(
        "order_notional_quote",
        order_notional_quote,
        {"0.01", "1000000000"},
        "Value of one order.");
    fields.decimal(
        "max_inventory_share",
        max_inventory_share,
        {"0", "1"},
        "Buys stop where the base side would be more than this share of everything.");
    fields.word("trade_sides", trade_sides, kSidesWords, "Which sides it quotes.");
    describe_fee(fields, fee_rate);
    fields.decimal(
        "fee_margin_pct",
        fee_margin_pct,
        {"0", "0.01"},
        "What a step must leave after both fees, as a fraction.");
    fields.require(
        grid_step_min_pct <= grid_step_max_pct,
        "grid_step_max_pct",
        "must not be below grid_step_min_pct");
}

Result<Decimal> grid_step_of(const GridConfig& config, const GridStepFacts& facts) {
    Reckoning reckon;
    Decimal step = config.grid_step_pct;
    if (facts.atr_pct && config.volatility_multiplier.is_positive()) {
        const Decimal wide = reckon.multiply_up(*facts.atr_pct, config.volatility_multiplier);
        step = std::clamp(wide, config.grid_step_min_pct, config.grid_step_max_pct);
    }
    if (facts.posture != RiskPosture::balanced) {
        const bool is_careful = facts.posture == RiskPosture::conservative;
        step = reckon.multiply_up(step, is_careful ? kConservativeStep : kAggressiveStep);
    }
    if (facts.risk_mode == RiskMode::defensive) {
        step = reckon.multiply_up(step, kDefensiveStep);
    }
    const Decimal both_fees = reckon.add(config.fee_rate, config.fee_rate);
    step = std::max(step, reckon.add(both_fees, config.fee_margin_pct));
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "The ATR is too large to make a step of.");
    }
    return step;
}

Result<std::shared_ptr<const Strategy>> open_grid_trader(const Json& config) {
    TRY_ASSIGN(const GridConfig read, decode_config<GridConfig>(config));
    return std::make_shared<const GridTrader>(read);
}

}  // namespace interlock
