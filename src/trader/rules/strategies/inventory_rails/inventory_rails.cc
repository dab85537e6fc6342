#include "trader/rules/strategies/inventory_rails/inventory_rails.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "trader/rules/strategies/inventory_rails/maker_plan.h"
#include "trader/rules/strategies/inventory_rails/rails_memory.h"
#include "trader/rules/strategies/inventory_rails/rails_prices.h"

namespace interlock {
namespace {

constexpr Decimal kOne{1};
constexpr Decimal kTwoHundred{200};
// An order within a tenth of a step of its level stands for it, and so does one that is larger than
// wanted by no more than a tenth.
constexpr Decimal kTolerance = Decimal::from_units(100'000'000'000'000'000);
constexpr Decimal kNinetyNine = Decimal::from_units(990'000'000'000'000'000);
constexpr Decimal kSmallest = Decimal::from_units(1);

// One wanted order.
struct Level {
    Quote quote;
    std::int64_t number = 0;  // From the touch outwards, from 0.
    bool stands = false;      // An own order is there already.
    Decimal near = {};        // So far from its price an order may be.
};

// One tick: where the levels lie, how much of them the rails and funds allow, and what that
// changes.
class Rails {
public:
    Rails(const RailsConfig& config, MarketDesk& desk) : config_(config), desk_(desk) {}

    // Takes up the memory, or begins with what is there now.
    Result<void> begin(RailsMemory& memory);
    // Finds the levels of both sides, nearest first.
    Result<void> shape();
    // Sets own orders against them; cancels first, missing ones otherwise.
    void plan(MakerPlan& plan);

    bool pays() const { return pays_; }
    bool wants(Side side) const;
    bool is_paused(Side side) const { return refusals(side) > kRepricesMax; }
    std::int64_t count(Side side) const {
        return std::count_if(levels_.begin(), levels_.end(), [&](const Level& level) {
            return level.quote.side == side;
        });
    }
    Decimal reference() const { return reference_; }
    Decimal inventory() const { return inventory_; }
    Decimal rail() const { return rail_; }
    Decimal step() const { return step_; }
    Decimal widening() const { return widening_; }
    Decimal size() const { return size_; }
    bool is_paced() const { return is_paced_; }

private:
    const StrategyTally* tally() const {
        const OwnTrades* trades = desk_.input->trades;
        return trades != nullptr && trades->tally ? &*trades->tally : nullptr;
    }
    const PriceStop& stop(Side side) const {
        return side == Side::buy ? config_.stop_buy : config_.stop_sell;
    }
    std::int64_t level_count() const;
    std::int64_t refusals(Side side) const;
    Result<std::vector<Decimal>> ladder(Side side) const;
    bool is_stopped_at(Side side, Decimal price) const;
    Result<void> shape_bids(Reckoning& reckon);
    Result<void> shape_asks(Reckoning& reckon);
    Decimal own_open(Side side, Reckoning& reckon) const;
    void match(MakerPlan& plan);
    std::optional<Quote> cut_to(const Quote& quote, Decimal room, Reckoning& reckon) const;
    void place(MakerPlan& plan);

    const RailsConfig& config_;
    MarketDesk& desk_;
    Decimal maker_fee_;
    bool pays_ = false;  // The threshold is more than both fees.
    Decimal reference_;
    Decimal inventory_;
    Decimal rail_;  // 2 × A.
    Decimal size_;  // Of one level, not scaled by the risk mode.
    Decimal widening_ = kOne;
    Decimal step_;
    std::vector<Level> levels_;
    bool is_paced_ = false;
};

Result<void> Rails::begin(RailsMemory& memory) {
    Reckoning reckon;
    const StrategyTally* own = tally();
    const bool has_traded = own != nullptr && own->last_fill.has_value();
    const Decimal net = own == nullptr ? Decimal() : own->net_qty;
    // Books that forgot what it did make its own account of it worthless.
    if (!memory.is_set() || (memory.has_traded && !has_traded)) {
        memory.start = std::min(config_.amount, desk_.position);
        memory.start_net = net;
        memory.reference = desk_.mid;
    }
    memory.has_traded = has_traded;
    reference_ = has_traded ? own->last_fill->price : memory.reference;
    const Decimal moved = reckon.subtract(net, memory.start_net);
    inventory_ = std::clamp(reckon.add(memory.start, moved), Decimal(), desk_.position);
    rail_ = reckon.add(config_.amount, config_.amount);
    size_ = reckon.divide_down(config_.amount, Decimal(config_.num_bids_ask));
    const Decimal limits_fee = reckon.fraction_of_bps(desk_.input->state.limits.maker_fee_bps);
    maker_fee_ = std::max(config_.fee_rate, limits_fee);
    pays_ = config_.base_step() > reckon.add(maker_fee_, maker_fee_);
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "An amount is too large to plan with.");
    }
    if (desk_.facts->rules.step_size.is_positive()) {
        TRY_ASSIGN(size_, floor_to_step(size_, desk_.facts->rules.step_size));
    }
    const TimeframeSignals* signals = desk_.input->signals.find(config_.timeframe);
    TRY_ASSIGN(widening_, widening_of(signals));
    TRY_ASSIGN(step_, rails_step_of(config_, widening_, desk_.risk_mode));
    return {};
}

// Half of them while defensive, at least one.
std::int64_t Rails::level_count() const {
    const bool is_defensive = desk_.risk_mode == RiskMode::defensive;
    const std::int64_t wanted =
        is_defensive ? std::max<std::int64_t>(1, config_.num_bids_ask / 2) : config_.num_bids_ask;
    return std::min(wanted, desk_.standing_allowed / 2);
}

std::int64_t Rails::refusals(Side side) const {
    const StrategyTally* own = tally();
    if (own == nullptr) {
        return 0;
    }
    const RefusalRun& run = side == Side::buy ? own->buy_refusals : own->sell_refusals;
    return desk_.input->state.now - run.planned_at <= kRefusalGapMax ? run.count : 0;
}

bool Rails::wants(Side side) const {
    return pays_ && !stop(side).is_off && (side == Side::sell || desk_.entries_stopped.empty());
}

bool Rails::is_stopped_at(Side side, Decimal price) const {
    const std::optional<Decimal>& bound = stop(side).price;
    return bound && (side == Side::buy ? price > *bound : price < *bound);
}

Result<std::vector<Decimal>> Rails::ladder(Side side) const {
    LadderFacts facts{
        .reference = reference_,
        .step = step_,
        .best_bid = desk_.bid,
        .best_ask = desk_.ask,
        .ask_floor = std::nullopt,
        .tick_size = desk_.facts->rules.tick_size,
        .levels = level_count(),
        .ticks_off = std::min(refusals(side), kRepricesMax),
    };
    if (side == Side::buy) {
        return bid_ladder(facts);
    }
    const OwnTrades* trades = desk_.input->trades;
    if (trades != nullptr && trades->oldest_unit_cost) {
        TRY_ASSIGN(
            facts.ask_floor,
            ask_floor_of(*trades->oldest_unit_cost, config_.base_step(), maker_fee_));
    }
    return ask_ladder(facts);
}

Decimal Rails::own_open(Side side, Reckoning& reckon) const {
    Decimal open;
    for (const OwnOrder& order : desk_.input->own_orders) {
        if (order.side == side) {
            open = reckon.add(open, order.remaining_qty);
        }
    }
    return open;
}

Result<void> Rails::shape_bids(Reckoning& reckon) {
    if (!wants(Side::buy)) {
        return {};
    }
    TRY_ASSIGN(const std::vector<Decimal> prices, ladder(Side::buy));
    Decimal room = reckon.subtract(rail_, inventory_);
    Decimal own_value;
    for (const OwnOrder& order : desk_.input->own_orders) {
        if (order.side == Side::buy) {
            own_value =
                reckon.add(own_value, reckon.multiply_down(order.price, order.remaining_qty));
        }
    }
    // In value, fees left out: what cash pays for, and what stays below the symbol's limit.
    const Decimal exposure = reckon.subtract(reckon.add(desk_.exposure_left, own_value), kSmallest);
    Decimal funds = std::min(reckon.divide_down(desk_.cash_total, desk_.cost_factor), exposure);
    const Decimal scaled = reckon.multiply_down(size_, desk_.size_factor);
    for (std::size_t i = 0; i < prices.size(); ++i) {
        const Decimal price = prices[i];
        if (!room.is_positive() || !funds.is_positive() || reckon.overflowed()) {
            break;
        }
        if (is_stopped_at(Side::buy, price)) {
            continue;
        }
        const Decimal most = std::min({size_, room, reckon.divide_down(funds, price)});
        Decimal value = reckon.multiply_up(std::min(scaled, most), price);
        if (value >= desk_.entry_below) {
            value = reckon.multiply_down(desk_.entry_below, kNinetyNine);
        }
        const auto quote = shape_quote(
            desk_,
            Side::buy,
            price,
            {.value = value, .value_below = desk_.entry_below, .qty_max = most});
        if (quote) {
            room = reckon.subtract(room, quote->qty);
            funds = reckon.subtract(funds, reckon.multiply_up(quote->qty, quote->price));
            levels_.push_back({*quote, static_cast<std::int64_t>(i)});
        }
    }
    return {};
}

Result<void> Rails::shape_asks(Reckoning& reckon) {
    if (!wants(Side::sell)) {
        return {};
    }
    TRY_ASSIGN(const std::vector<Decimal> prices, ladder(Side::sell));
    Decimal room = std::min(inventory_, desk_.sell_total);
    for (std::size_t i = 0; i < prices.size(); ++i) {
        const Decimal price = prices[i];
        if (!room.is_positive() || reckon.overflowed()) {
            break;
        }
        if (is_stopped_at(Side::sell, price)) {
            continue;
        }
        const Decimal most = std::min(size_, room);
        const auto quote = shape_quote(
            desk_,
            Side::sell,
            price,
            {.value = reckon.multiply_up(most, price), .value_below = {}, .qty_max = most});
        if (quote) {
            room = reckon.subtract(room, quote->qty);
            levels_.push_back({*quote, static_cast<std::int64_t>(i)});
        }
    }
    return {};
}

Result<void> Rails::shape() {
    Reckoning reckon;
    if (size_.is_positive()) {
        TRY(shape_asks(reckon));
        TRY(shape_bids(reckon));
    }
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "An amount of a level is too large to reckon with.");
    }
    std::stable_sort(levels_.begin(), levels_.end(), [](const Level& a, const Level& b) {
        return a.number < b.number;
    });
    return {};
}

void Rails::match(MakerPlan& plan) {
    Reckoning reckon;
    const Decimal tolerance = reckon.multiply_down(step_, kTolerance);
    for (Level& level : levels_) {
        level.near = reckon.multiply_down(level.quote.price, tolerance);
    }
    for (const OwnOrder& order : desk_.input->own_orders) {
        const auto level = std::find_if(levels_.begin(), levels_.end(), [&](const Level& at) {
            const __int128 apart = order.price.units() - at.quote.price.units();
            return !at.stands && order.side == at.quote.side &&
                   (apart < 0 ? -apart : apart) <= at.near.units();
        });
        // A part-filled order is smaller than its level and stands; a larger one is too bold.
        const bool stands = level != levels_.end() &&
                            order.remaining_qty <=
                                reckon.multiply_up(level->quote.qty, reckon.add(kOne, kTolerance));
        if (stands) {
            level->stands = true;
        } else if (!desk_.waits(order.side) || !wants(order.side)) {
            plan.cancel(order);
        }
    }
}

// The same quote, or as much of it as there is room for, if the venue takes that.
std::optional<Quote> Rails::cut_to(const Quote& quote, Decimal room, Reckoning& reckon) const {
    if (quote.qty <= room) {
        return quote;
    }
    if (!room.is_positive()) {
        return std::nullopt;
    }
    return shape_quote(
        desk_,
        quote.side,
        quote.price,
        {.value = reckon.multiply_up(room, quote.price), .value_below = {}, .qty_max = room});
}

// The rails are asked once more, of the orders that really stand: one that is a little larger than
// its level leaves less for the others, and no order is written that could carry the inventory
// across.
void Rails::place(MakerPlan& plan) {
    Reckoning reckon;
    Decimal bids = own_open(Side::buy, reckon);
    Decimal asks = own_open(Side::sell, reckon);
    for (Level& level : levels_) {
        const Side side = level.quote.side;
        if (level.stands || desk_.waits(side) || is_paused(side)) {
            continue;
        }
        const bool is_bid = side == Side::buy;
        Decimal& open = is_bid ? bids : asks;
        const Decimal most = is_bid ? reckon.subtract(rail_, inventory_) : inventory_;
        const auto quote = cut_to(level.quote, reckon.subtract(most, open), reckon);
        if (!quote || reckon.overflowed()) {
            continue;
        }
        level.stands =
            is_bid ? plan.bid(quote->price, quote->qty) : plan.ask(quote->price, quote->qty);
        if (level.stands) {
            open = reckon.add(open, quote->qty);
        }
        is_paced_ |= !level.stands && desk_.orders_allowed <= 0;
    }
}

void Rails::plan(MakerPlan& plan) {
    match(plan);
    if (!plan.has_cancels()) {
        place(plan);
    }
}

class InventoryRails final : public Strategy {
public:
    explicit InventoryRails(const RailsConfig& config) : config_(config) {}
    Duration tick_every() const override { return Duration::of_seconds(config_.tick_seconds); }
    std::vector<Timeframe> timeframes() const override { return {config_.timeframe}; }
    std::optional<BandwidthWish> bandwidth_wish() const override {
        return BandwidthWish{config_.timeframe, config_.tight_quantile};
    }
    // One level, before it is cut to the venue's step.
    std::optional<Decimal> cost_qty() const override {
        return divide_round_down(config_.amount, Decimal(config_.num_bids_ask)).value_or(Decimal());
    }
    std::optional<std::string> why_too_small(const MarketFacts& market) const override;
    Result<StrategyStep> step(const StrategyInput& input) const override;

private:
    Result<std::string> run(
        MarketDesk& desk,
        RailsMemory& memory,
        MakerPlan& plan,
        StrategyAssessment& assessment) const;
    void assess(const MarketDesk& desk, const Rails& rails, StrategyAssessment& assessment) const;
    static void wait(StrategyAssessment& assessment, std::string reason) {
        assessment.current_intent = "wait";
        assessment.current_reason = std::move(reason);
    }

    RailsConfig config_;
};

// At the middle of the market: no level is quoted in smaller sizes than one level, also not while
// risk is reduced (shape_quote goes up to the least that the venue takes, and not beyond a level).
std::optional<std::string> InventoryRails::why_too_small(const MarketFacts& market) const {
    const auto mid = mid_of(market);
    if (!mid || !mid->is_positive()) {
        return std::nullopt;
    }
    Reckoning reckon;
    const MarketRules& rules = market.rules;
    Decimal size = reckon.divide_down(config_.amount, Decimal(config_.num_bids_ask));
    if (rules.step_size.is_positive()) {
        size = floor_to_step(size, rules.step_size).value_or(Decimal());
    }
    const Decimal value = reckon.multiply_down(size, *mid);
    const bool is_enough =
        size.is_positive() && size >= rules.qty_min && value >= rules.notional_min;
    if (is_enough || reckon.overflowed()) {
        return std::nullopt;
    }
    Decimal least = std::max(rules.qty_min, reckon.divide_up(rules.notional_min, *mid));
    if (rules.step_size.is_positive()) {
        least = ceil_to_step(least, rules.step_size).value_or(least);
    }
    return "An amount of " + to_text(config_.amount) + " " + std::string(rules.base.text()) +
           " in " + std::to_string(config_.num_bids_ask) + " levels is too small for " +
           std::string(market.symbol.text()) + ": the exchange takes no order below " +
           to_text(rules.notional_min) + " " + std::string(rules.quote.text()) + " (" +
           to_text(least) + " " + std::string(rules.base.text()) + " a level now).";
}

Result<StrategyStep> InventoryRails::step(const StrategyInput& input) const {
    TRY_ASSIGN(MarketDesk desk, MarketDesk::open(input, config_.fee_rate));
    StrategyStep step;
    StrategyAssessment& assessment = step.assessment;
    RailsMemory memory = read_rails_memory(input.memory);
    MakerPlan plan(desk);
    std::string reason;
    if (desk.only_cancels) {
        plan.cancel_all();
        reason = "rails: halted";
        wait(assessment, "Trading is halted: every order is taken back.");
        assessment.constraints.emplace_back(desk.entries_stopped);
    } else if (!desk.is_quoted) {
        wait(assessment, "The market is halted or has no two-sided price.");
    } else if (!config_.amount.is_positive()) {
        plan.cancel_all();
        reason = "rails: no amount";
        wait(assessment, "The amount is zero: there is no inventory to quote with.");
    } else {
        TRY_ASSIGN(reason, run(desk, memory, plan, assessment));
    }
    if (assessment.supervision.members().empty()) {
        const TimeframeSignals* signals = input.signals.find(config_.timeframe);
        assessment.supervision =
            supervision_facts(desk, {signal_word(signals), signals, {}, false});
        assessment.uncertainty = "high";
    }
    step.memory = memory.is_set() ? encode(memory) : Json::object();
    step.plan = std::move(plan).take(std::move(reason));
    return step;
}

Result<std::string> InventoryRails::run(
    MarketDesk& desk, RailsMemory& memory, MakerPlan& plan, StrategyAssessment& assessment) const {
    Rails rails(config_, desk);
    TRY(rails.begin(memory));
    TRY(rails.shape());
    rails.plan(plan);
    assess(desk, rails, assessment);
    if (plan.has_cancels()) {
        assessment.current_reason = "Orders off their levels are taken back first.";
        return std::string("rails: take back");
    }
    return std::string("rails: quote");
}

void InventoryRails::assess(
    const MarketDesk& desk, const Rails& rails, StrategyAssessment& assessment) const {
    const TimeframeSignals* signals = desk.input->signals.find(config_.timeframe);
    const std::int64_t bids = rails.count(Side::buy);
    const std::int64_t asks = rails.count(Side::sell);
    assessment.current_intent = bids + asks == 0 ? "wait" : "quote";
    assessment.current_reason =
        "Quotes " + std::to_string(bids) + " bids and " + std::to_string(asks) + " asks.";
    if (!rails.pays()) {
        assessment.current_reason = "The profit threshold is not above both maker fees.";
    }
    if (!desk.entries_stopped.empty()) {
        assessment.constraints.emplace_back(desk.entries_stopped);
    }
    if (desk.buys_wait || desk.sells_wait || desk.entries_wait) {
        assessment.constraints.emplace_back("an order's fate or cancel is awaited");
    }
    if (rails.is_paused(Side::buy) || rails.is_paused(Side::sell)) {
        assessment.constraints.emplace_back("post-only orders were refused: the side waits");
    }
    if (rails.is_paced()) {
        assessment.constraints.emplace_back("the venue's order limits pace the rest");
    }
    const bool is_known = signals != nullptr && signals->bandwidth_quantile.has_value();
    if (!is_known) {
        assessment.warnings.emplace_back("Too few candles for the bands: the base step is used.");
    }
    assessment.uncertainty = !is_known ? "high" : rails.widening() > Decimal(2) ? "medium" : "low";
    const bool is_one_sided =
        rails.wants(Side::buy) && rails.wants(Side::sell) && (bids == 0 || asks == 0);
    const auto value = multiply_round_down(rails.size(), desk.mid);
    assessment.supervision = supervision_facts(
        desk, {signal_word(signals), signals, value.value_or(Decimal()), is_one_sided});
    assessment.supervision.set("reference", to_text(rails.reference()));
    assessment.supervision.set("step", to_text(rails.step()));
    assessment.supervision.set("widening", to_text(rails.widening()));
    assessment.supervision.set("inventory", to_text(rails.inventory()));
    assessment.supervision.set("inventory_max", to_text(rails.rail()));
    assessment.key_drivers.push_back(
        "step " + to_text(rails.step()) + " around " + to_text(rails.reference()));
    assessment.key_drivers.push_back(
        "inventory " + to_text(rails.inventory()) + " of at most " + to_text(rails.rail()));
}

}  // namespace

void RailsConfig::describe(ConfigFields& fields) {
    describe_tick(fields, tick_seconds);
    fields.decimal(
        "amount",
        amount,
        {"0", "1000000000000"},
        "Inventory budget in base units; 0 quotes nothing.");
    fields.decimal(
        "pnl_perc", pnl_perc, {"0.1", "20"}, "Base profit threshold of a level, in percent.");
    fields.word("timeframe", timeframe, timeframe_words(), "Whose bands widen the levels.");
    fields.decimal(
        "BBANDS_TIGHT_QUANTILE",
        tight_quantile,
        {"0", "1"},
        "Bands no wider than this quantile of the last 120 widths are tight; 0 and 1 excluded.");
    fields.decimal(
        "volatility",
        volatility,
        {"0", "10"},
        "How much wider bands widen the levels; 0 keeps the base step.");
    fields.whole("num_bids_ask", num_bids_ask, {1, kRailsLevelsMax}, "Levels a side.");
    fields.price_stop(
        "stop_buy", stop_buy, "No buys above this price; true: none; false or null: no stop.");
    fields.price_stop(
        "stop_sell", stop_sell, "No sells below this price; true: none; false or null: no stop.");
    fields.decimal(
        "fee_rate", fee_rate, {"0", "0.01"}, "What the venue takes of a maker, as a fraction.");
    fields.require(
        tight_quantile.is_positive() && tight_quantile < kOne,
        "BBANDS_TIGHT_QUANTILE",
        "must be above 0 and below 1");
    const auto both_fees = multiply_round_up(fee_rate, kTwoHundred);
    fields.require(
        both_fees && pnl_perc > *both_fees, "pnl_perc", "must be more than twice the maker fee");
}

Result<std::shared_ptr<const Strategy>> open_inventory_rails(const Json& config) {
    TRY_ASSIGN(const RailsConfig read, decode_config<RailsConfig>(config));
    return std::make_shared<const InventoryRails>(read);
}

}  // namespace interlock
