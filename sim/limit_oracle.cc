#include "sim/limit_oracle.h"

#include <algorithm>
#include <map>

#include "base/json.h"

namespace interlock::sim {
namespace {

constexpr std::array<std::string_view, kEdges> kWords{
    "notional_per_trade",
    "order_qty",
    "daily_loss",
    "drawdown",
    "runway",
    "surplus",
    "symbol_exposure",
    "portfolio_exposure",
    "leverage",
    "insufficient_funds",
    "open_orders",
    "order_rate",
    "price_collar",
    "touch_collar",
    "effect_age",
    "approval_expiry",
    "own_vote",
    "fresh_login"};
constexpr Decimal kOne(1);
constexpr Decimal kDaysOfMean(30);
constexpr Decimal kLeastCost = Decimal::from_units(1'000'000'000);

// A number that left the range makes everything it enters unknown; the plan is then not judged.
class Exactly {
public:
    Decimal plus(Decimal a, Decimal b) { return take(add(a, b)); }
    Decimal minus(Decimal a, Decimal b) { return take(subtract(a, b)); }
    Decimal up(Decimal a, Decimal b) { return take(multiply_round_up(a, b)); }
    Decimal down(Decimal a, Decimal b) { return take(multiply_round_down(a, b)); }
    Decimal share_up(Decimal a, Decimal b) { return take(divide_round_up(a, b)); }
    Decimal bps(Decimal value) { return take(divide_round_up(value, Decimal(10'000))); }
    bool is_known() const { return is_known_; }

private:
    Decimal take(const Result<Decimal>& result) {
        is_known_ = is_known_ && result.has_value();
        return result ? *result : Decimal();
    }
    bool is_known_ = true;
};

struct Bought {
    const Intent* intent = nullptr;
    const MarketFacts* market = nullptr;
    Decimal mid;
    Decimal price;
    Decimal notional;
    Decimal fee;
};

// Everything the plan buys, at the worst it is assumed to pay.
std::optional<std::vector<Bought>> all_bought(const PlanSight& sight, Exactly& exact) {
    const RiskLimits& limits = sight.state.limits;
    std::vector<Bought> all;
    for (const Intent& intent : sight.plan.intents) {
        const MarketFacts* market = sight.market.find(intent.symbol);
        const auto mid = market == nullptr ? std::nullopt : mid_of(*market);
        const bool is_limit = intent.order_type == OrderType::limit;
        if (intent.side != Side::buy || !mid || !market->best_ask->is_positive() ||
            !market->best_bid->is_positive() || !intent.qty.is_positive() ||
            is_limit != intent.limit_price.has_value() ||
            (is_limit && !intent.limit_price->is_positive())) {
            return std::nullopt;
        }
        Bought one;
        one.intent = &intent;
        one.market = market;
        one.mid = *mid;
        const Decimal slipped =
            exact.up(*market->best_ask, exact.plus(kOne, exact.bps(limits.slippage_bps)));
        const bool rests =
            is_limit && (intent.post_only || *intent.limit_price < *market->best_ask);
        one.price = rests      ? *intent.limit_price
                    : is_limit ? std::min(slipped, *intent.limit_price)
                               : slipped;
        one.notional = exact.up(intent.qty, one.price);
        one.fee =
            exact.up(one.notional, exact.bps(rests ? limits.maker_fee_bps : limits.taker_fee_bps));
        all.push_back(one);
    }
    return all.empty() || all.size() > kIntentsMax ? std::nullopt : std::optional(std::move(all));
}

class Reading {
public:
    Reading(const PlanSight& sight, const std::vector<Bought>& bought, Exactly& exact)
        : state_(sight.state), market_(sight.market), bought_(bought), exact_(exact) {
        kept_.fill(true);
        for (const Bought& one : bought_) {
            fees_ = exact_.plus(fees_, one.fee);
            notional_ = exact_.plus(notional_, one.notional);
            if (one.price > one.mid) {
                adverse_ = exact_.plus(
                    adverse_, exact_.up(one.intent->qty, exact_.minus(one.price, one.mid)));
            }
        }
    }

    std::optional<Kept> read() {
        if (!state_.equity || !state_.peak.is_positive()) {
            return std::nullopt;
        }
        read_losses();
        read_treasury();
        read_sizes();
        if (!read_exposure()) {
            return std::nullopt;
        }
        read_orders();
        read_prices();
        return exact_.is_known() ? std::optional(kept_) : std::nullopt;
    }

private:
    void keep(Edge edge, bool is_kept) {
        bool& kept = kept_[static_cast<std::size_t>(edge)];
        kept = kept && is_kept;
    }

    void read_losses() {
        const RiskLimits& limits = state_.limits;
        const Decimal lost = exact_.minus(fees_, state_.realized_today);
        keep(Edge::daily_loss, lost < limits.daily_loss_limit);
        const Decimal left = exact_.minus(*state_.equity, exact_.plus(fees_, adverse_));
        keep(
            Edge::drawdown,
            exact_.minus(state_.peak, left) < exact_.down(state_.peak, limits.max_drawdown));
    }

    void read_treasury() {
        const RiskLimits& limits = state_.limits;
        Decimal cost = exact_.share_up(fees_, kDaysOfMean);
        for (const Decimal more :
             {state_.fees_mean_30d,
              state_.accrual_mean_30d,
              state_.other_costs_per_day,
              limits.infra_cost_per_day,
              limits.data_cost_per_day,
              limits.ops_cost_per_day}) {
            cost = exact_.plus(cost, more);
        }
        const Decimal needed = exact_.up(std::max(cost, kLeastCost), limits.hard_min_runway_days);
        keep(Edge::runway, cost.is_zero() || state_.ops_reserve >= needed);
        keep(
            Edge::surplus,
            !exact_.plus(exact_.minus(state_.rolling_surplus_30d, fees_), limits.max_deficit)
                 .is_negative());
    }

    void read_sizes() {
        const RiskLimits& limits = state_.limits;
        for (const Bought& one : bought_) {
            const SymbolFacts* held = state_.find(one.intent->symbol);
            const Decimal factor = size_factor_of(
                held == nullptr ? state_.risk_mode : std::max(state_.risk_mode, held->risk_mode));
            // With a factor of nothing another rule says no.
            keep(
                Edge::notional_per_trade,
                factor.is_zero() ||
                    one.notional <= exact_.down(limits.max_notional_per_trade, factor));
            keep(
                Edge::order_qty,
                limits.max_order_qty.is_zero() || one.intent->qty <= limits.max_order_qty);
        }
    }

    bool read_exposure() {
        const RiskLimits& limits = state_.limits;
        Decimal whole = notional_;
        Decimal gross = exact_.plus(notional_, fees_);
        keep(Edge::funds, gross <= state_.cash_free);
        for (const SymbolFacts& held : state_.symbols) {
            const MarketFacts* market = market_.find(held.symbol);
            const auto mid = market == nullptr ? std::nullopt : mid_of(*market);
            if (!held.position.is_zero() && !mid) {
                return false;
            }
            const Decimal value =
                held.position.is_zero() ? Decimal() : exact_.up(held.position, *mid);
            whole = exact_.plus(whole, exact_.plus(value, held.open_buy_notional));
            gross = exact_.plus(gross, exact_.plus(value, held.open_buy_quote));
            read_symbol(held.symbol, exact_.plus(value, held.open_buy_notional));
        }
        for (const Bought& one : bought_) {
            if (state_.find(one.intent->symbol) == nullptr) {
                read_symbol(one.intent->symbol, Decimal());
            }
        }
        keep(Edge::portfolio_exposure, whole < limits.max_portfolio_exposure);
        keep(Edge::leverage, gross <= exact_.down(*state_.equity, limits.max_leverage));
        return true;
    }

    void read_symbol(const Symbol& symbol, Decimal exposure) {
        bool is_bought = false;
        for (const Bought& one : bought_) {
            if (one.intent->symbol == symbol) {
                exposure = exact_.plus(exposure, one.notional);
                is_bought = true;
            }
        }
        keep(Edge::symbol_exposure, !is_bought || exposure < state_.limits.max_symbol_exposure);
    }

    void read_orders() {
        const RiskLimits& limits = state_.limits;
        for (const Bought& one : bought_) {
            const MarketRules& rules = one.market->rules;
            const SymbolFacts* held = state_.find(one.intent->symbol);
            const auto added =
                std::count_if(bought_.begin(), bought_.end(), [&](const Bought& other) {
                    return other.intent->symbol == one.intent->symbol;
                });
            const Decimal open((held == nullptr ? 0 : held->open_orders) + added);
            keep(
                Edge::open_orders,
                open <= limits.max_open_orders_per_symbol &&
                    (rules.open_orders_max <= 0 || open <= Decimal(rules.open_orders_max)));
            const auto count = static_cast<std::int64_t>(bought_.size());
            const auto rate = [&](std::int64_t used, std::int64_t venue_max) {
                return venue_max <= 0 ||
                       Decimal(used + count) <=
                           exact_.down(limits.order_rate_share, Decimal(venue_max));
            };
            keep(
                Edge::order_rate,
                rate(state_.orders_last_10s, rules.orders_per_10s_max) &&
                    rate(state_.orders_today, rules.orders_per_day_max));
        }
    }

    void read_prices() {
        const RiskLimits& limits = state_.limits;
        for (const Bought& one : bought_) {
            const Decimal price = one.intent->limit_price.value_or(one.price);
            keep(
                Edge::price_collar,
                price <= exact_.down(one.mid, exact_.plus(kOne, limits.price_collar)));
            keep(
                Edge::touch_collar,
                price <= exact_.down(
                             *one.market->best_ask,
                             exact_.plus(kOne, exact_.bps(limits.touch_collar_bps))));
        }
    }

    const StateFacts& state_;
    const MarketSet& market_;
    const std::vector<Bought>& bought_;
    Exactly& exact_;
    Decimal fees_;
    Decimal notional_;
    Decimal adverse_;
    Kept kept_{};
};

// Sells no more of anything than is held and not offered yet.
bool only_reduces(const PlanSight& sight) {
    std::map<Symbol, Decimal> left;
    for (const Intent& intent : sight.plan.intents) {
        const SymbolFacts* held = sight.state.find(intent.symbol);
        if (intent.side != Side::sell || held == nullptr || !intent.qty.is_positive()) {
            return false;
        }
        const auto [place, is_new] = left.try_emplace(intent.symbol);
        if (is_new) {
            place->second =
                Decimal::from_units(held->position.units() - held->open_sell_qty.units());
        }
        place->second = Decimal::from_units(place->second.units() - intent.qty.units());
        if (place->second.is_negative()) {
            return false;
        }
    }
    return !sight.plan.intents.empty();
}

bool is_named(const Json& validation, std::string_view code) {
    const Json* reasons = validation.find("blocking_reasons");
    return reasons != nullptr &&
           std::any_of(reasons->items().begin(), reasons->items().end(), [&](const Json& reason) {
               return reason.as_string().find(":" + std::string(code) + ":") != std::string::npos;
           });
}

}  // namespace

std::string_view to_word(Edge edge) {
    return kWords[static_cast<std::size_t>(edge)];
}

void EdgeCounts::add(const EdgeCounts& other) {
    for (std::size_t i = 0; i < kEdges; ++i) {
        inside[i] += other.inside[i];
        outside[i] += other.outside[i];
    }
}

std::optional<Kept> limits_kept(const PlanSight& sight) {
    Exactly exact;
    const auto bought = all_bought(sight, exact);
    return bought ? Reading(sight, *bought, exact).read() : std::nullopt;
}

// Each order eats what it takes, so that the next one meets what is left.
std::optional<BooksRead> read_books(const PlanSight& sight) {
    BooksRead read;
    std::map<std::pair<Symbol, Side>, std::vector<DepthLevel>> left;
    for (const Intent& intent : sight.plan.intents) {
        const MarketFacts* market = sight.market.find(intent.symbol);
        const bool is_limit = intent.order_type == OrderType::limit;
        if (market == nullptr || !mid_of(*market) || !intent.qty.is_positive() ||
            is_limit != intent.limit_price.has_value() ||
            (is_limit && !intent.limit_price->is_positive()) ||
            sight.plan.intents.size() > kIntentsMax) {
            return std::nullopt;
        }
        const bool buys = intent.side == Side::buy;
        const auto meets = [&](Decimal price) {
            return !is_limit ||
                   (buys ? price <= *intent.limit_price : price >= *intent.limit_price);
        };
        const bool takes = meets(buys ? *market->best_ask : *market->best_bid);
        if (is_limit && intent.post_only) {
            if (takes) {
                read.would_take.insert(intent.symbol);
            }
            continue;
        }
        const bool is_whole = !is_limit || intent.time_in_force == TimeInForce::fok;
        if (!takes && !is_whole) {
            continue;
        }
        const auto& quotes = buys ? market->asks : market->bids;
        auto& levels = left.try_emplace({intent.symbol, intent.side}, quotes).first->second;
        Decimal missing = intent.qty;
        for (DepthLevel& level : levels) {
            const Decimal part = meets(level.price) ? std::min(missing, level.qty) : Decimal();
            level.qty = Decimal::from_units(level.qty.units() - part.units());
            missing = Decimal::from_units(missing.units() - part.units());
        }
        if (is_whole && missing.is_positive()) {
            read.too_thin.insert(intent.symbol);
        }
    }
    return read;
}

void LimitOracle::judge_books(
    const PlanSight& sight, const Json& dry_run, const std::string& name) {
    const auto read = read_books(sight);
    if (!read) {
        return;
    }
    const auto compare = [&](std::string_view code, const std::set<Symbol>& wanted) {
        const std::string prefix = "dry_run:" + std::string(code) + ":";
        std::set<std::string> named;
        for (const Json& reason : dry_run.find("blocking_reasons")->items()) {
            if (reason.as_string().starts_with(prefix)) {
                named.insert(reason.as_string().substr(prefix.size()));
            }
        }
        for (const Symbol& symbol : wanted) {
            if (named.erase(std::string(symbol.text())) == 0) {
                log_.report("N3", name + " passes although " + prefix + std::string(symbol.text()));
            }
        }
        if (!named.empty()) {
            log_.report("N3", name + " is refused for " + prefix + *named.begin() + " for nothing");
        }
    };
    compare("book_too_thin", read->too_thin);
    compare("would_take", read->would_take);
}

std::optional<Plan> moved(const PlanSight& sight, std::int64_t steps, std::int64_t ticks) {
    Plan plan = sight.plan;
    Intent& last = plan.intents.back();
    const MarketFacts* market = sight.market.find(last.symbol);
    if (market == nullptr || (ticks != 0 && !last.limit_price)) {
        return std::nullopt;
    }
    const auto by = [](Decimal value, Decimal step, std::int64_t count) {
        return Decimal::from_units(value.units() + step.units() * count);
    };
    last.qty = by(last.qty, market->rules.step_size, steps);
    if (ticks != 0) {
        last.limit_price = by(*last.limit_price, market->rules.tick_size, ticks);
    }
    const bool is_order =
        last.qty.is_positive() && (!last.limit_price || last.limit_price->is_positive());
    return is_order ? std::optional(std::move(plan)) : std::nullopt;
}

void LimitOracle::judge(const PlanSight& sight, const Json& validation, const std::string& name) {
    for (const std::string_view throttle : {"strategy_disabled", "repeated_execution"}) {
        if (is_named(validation, throttle) && only_reduces(sight)) {
            log_.report("exit", name + " only reduces and is refused for " + std::string(throttle));
        }
    }
    const auto kept = limits_kept(sight);
    if (!kept) {
        return;
    }
    for (std::size_t i = 0; i < kPlanEdges; ++i) {
        const bool says_no = is_named(validation, kWords[i]);
        if (says_no == (*kept)[i]) {
            log_.report(
                "N3",
                name + (says_no ? " is refused for " : " passes in spite of ") +
                    std::string(kWords[i]) + ", which it " +
                    ((*kept)[i] ? "keeps" : "does not keep"));
        }
    }
    count_edges(sight, *kept);
}

// Within one step: the same plan, one step, tick or order smaller or larger, is judged otherwise.
void LimitOracle::count_edges(const PlanSight& sight, const Kept& kept) {
    std::vector<Plan> near;
    for (const std::int64_t by : {-1, 1}) {
        if (auto plan = moved(sight, by, 0)) {
            near.push_back(*std::move(plan));
        }
        if (auto plan = moved(sight, 0, by)) {
            near.push_back(*std::move(plan));
        }
    }
    near.push_back(sight.plan);
    near.back().intents.push_back(sight.plan.intents.back());
    if (sight.plan.intents.size() > 1) {
        near.push_back(sight.plan);
        near.back().intents.pop_back();
    }
    std::array<bool, kPlanEdges> is_edge{};
    for (const Plan& plan : near) {
        const bool is_count = plan.intents.size() != sight.plan.intents.size();
        const auto other = limits_kept({sight.state, sight.market, plan});
        for (std::size_t i = 0; other && i < kPlanEdges; ++i) {
            const Edge edge = static_cast<Edge>(i);
            // One order more or less is a step only where orders are counted.
            const bool counts_orders = edge == Edge::open_orders || edge == Edge::order_rate;
            is_edge[i] = is_edge[i] || (is_count == counts_orders && (*other)[i] != kept[i]);
        }
    }
    for (std::size_t i = 0; i < kPlanEdges; ++i) {
        if (is_edge[i]) {
            edges_.add(static_cast<Edge>(i), kept[i]);
        }
    }
}

}  // namespace interlock::sim
