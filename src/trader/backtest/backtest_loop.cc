#include "trader/backtest/backtest_loop.h"

#include <algorithm>
#include <array>

#include "account/rules/reconcile.h"
#include "base/check.h"
#include "base/errors.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/gates.h"
#include "loop/rules/order_identity.h"
#include "loop/rules/order_terms.h"

namespace interlock {
namespace {

VenueAccount backtest_account() {
    return {TenantId::trusted("backtest"), AccountId::trusted("main"), TradeMode::paper};
}

// "gate:code:SYMBOL" without the symbol: there is only one.
std::string without_symbol(const std::string& reason) {
    const std::size_t last = reason.rfind(':');
    return last == std::string::npos ? reason : reason.substr(0, last);
}

bool is_empty(const Plan& plan) {
    return plan.intents.empty() && plan.cancels.empty();
}

std::string first_error(const Error& error) {
    return std::string(error.code()) + ": " + error.message;
}

}  // namespace

BacktestLoop::BacktestLoop(PaperExchange& exchange, const CandleBook& candles, Options options)
    : exchange_(exchange),
      candles_(candles),
      options_(std::move(options)),
      timeframes_(options_.strategy->timeframes()),
      bandwidth_wish_(options_.strategy->bandwidth_wish()),
      cost_qty_(options_.strategy->cost_qty()),
      strategy_id_(StrategyId::trusted(options_.strategy_type)) {}

BacktestLoop::~BacktestLoop() {
    exchange_.set_recorder(nullptr);
}

Result<std::unique_ptr<BacktestLoop>> BacktestLoop::open(
    PaperExchange& exchange, const CandleBook& candles, Options options, Decimal price) {
    std::unique_ptr<BacktestLoop> loop(new BacktestLoop(exchange, candles, std::move(options)));
    const Options& wanted = loop->options_;
    const MarketRules& rules = wanted.rules;
    TRY_ASSIGN(const Decimal base_value, multiply_half_even(wanted.base_deposit, price));
    TRY_ASSIGN(const Decimal worth, add(wanted.deposit, base_value));
    TRY_ASSIGN(RiskLimits limits, default_limits(worth));
    for (const LimitChange& change : wanted.limits) {
        limits.*change.spec->member = change.value;
    }
    const Timestamp now = exchange.now();
    TRY_ASSIGN(
        loop->account_,
        open_account({
            .key = backtest_account(),
            .quote = rules.quote,
            .deposit = wanted.deposit,
            .limits = limits,
            .ops_reserve = std::nullopt,
            .at = now,
        }));
    SymbolBook book;
    book.symbol = rules.symbol;
    book.base = rules.base;
    book.quote = rules.quote;
    loop->books_.push_back(std::move(book));
    Account& account = loop->account_;
    std::vector<VenueBalance> balances{{rules.quote, wanted.deposit, {}}};
    if (wanted.base_deposit.is_positive()) {
        TRY(deposit(
            account,
            {.asset = rules.base,
             .amount = wanted.base_deposit,
             .price = price,
             .at = now,
             .book = &loop->own_book()}));
        account.limits = limits;  // They were set for all of it.
        balances.push_back({rules.base, wanted.base_deposit, {}});
    }
    account.trading_enabled = true;
    account.universe = {rules.symbol};
    StrategyRecord& record = account.strategies[loop->strategy_id_];
    record.type = wanted.strategy_type;
    record.is_active = true;
    TRY(exchange.open_account(account.key, balances));
    exchange.set_recorder(loop.get());
    loop->look_at_market();
    return loop;
}

std::string BacktestLoop::last_word() const {
    std::string word = said_.current_intent;
    if (!said_.current_reason.empty()) {
        word += ": " + said_.current_reason;
    }
    for (const std::string& warning : said_.warnings) {
        word += " " + warning;
    }
    return word;
}

void BacktestLoop::look_at_market() {
    const std::array<Symbol, 1> symbols{options_.rules.symbol};
    market_ = exchange_.facts(symbols, symbols, {});
}

std::optional<Decimal> BacktestLoop::equity() const {
    return equity_of(account_, books_, market_);
}

void BacktestLoop::on_filled(const VenueAccount&, const VenueFill& fill) {
    if (!is_sending_) {
        news_.push_back(fill);  // The answer to a submit brings its own.
    }
}

Result<void> BacktestLoop::book_fill(OrderRecord& order, const VenueFill& fill) {
    TRY_ASSIGN(
        const FillApplied applied,
        apply_fill({account_, own_book(), order}, priced_fill(fill, account_, books_, market_)));
    if (!applied.drift.empty()) {
        return fail(errors::books_drift, applied.drift.front() + ": " + order.id().text());
    }
    ++account_.fills_cursor;
    booked_.push_back({fill, applied.notional, applied.fee_quote, applied.realized_gross});
    return {};
}

Result<void> BacktestLoop::take_fills() {
    // Data may be sparser than beats; a trade must not count for yesterday.
    TRY(roll_to(account_, exchange_.now()));
    for (const VenueFill& fill : news_) {
        const OrderRecord* open = own_book().find(fill.order_client_id);
        if (open == nullptr) {
            return fail(
                errors::books_drift,
                "a trade of an order that is not open: " + fill.order_client_id.text());
        }
        OrderRecord order = *open;
        TRY(book_fill(order, fill));
        TRY(release_order(account_, own_book(), std::move(order)));
    }
    news_.clear();
    return {};
}

Result<void> BacktestLoop::beat(Timestamp now) {
    const Timestamp day = utc_day_start(now);
    // With nothing held or open a beat depends on the account and the day alone.
    if (is_flat() && account_.version == beat_version_ && day == beat_day_) {
        return {};
    }
    look_at_market();
    TRY(roll_to(account_, now));
    mark(account_, books_, market_);
    const GatherInput input{
        .account = account_,
        .books = books_,
        .market = market_,
        .now = now,
        .kill_switch_active = false,
        .permissions_verified = true,
    };
    const std::int64_t version = account_.version;
    TRY_ASSIGN(const TierStep step, scale_risk(account_, input));
    for (const TierReason& stop : step.new_stops) {
        ++stop_count_;
        if (stops_.size() < kBacktestStopsMax) {
            stops_.push_back({now, std::string(stop.code), stop.detail});
        }
    }
    beat_version_ = version;
    beat_day_ = day;
    return {};
}

Result<void> BacktestLoop::gather(Timestamp now) {
    look_at_market();
    GatherInput input{
        .account = account_,
        .books = books_,
        .market = market_,
        .now = now,
        .kill_switch_active = false,
        .permissions_verified = true,
    };
    // A tier that this moment alone would set counts at once; only loosening waits for the beats.
    TRY_ASSIGN(const TierInput tier, tier_input(input));
    input.stricter_mode = mode_of(step_tier(account_.tier, tier).raw);
    TRY_ASSIGN(state_, gather_facts(input));
    own_orders_.clear();
    for (const OrderRecord& order : own_book().open) {
        own_orders_.push_back({
            .order_client_id = order.id(),
            .side = order.request.side,
            .price = order.request.limit_price.value_or(order.reserve_price),
            .remaining_qty = reserved_qty(order),
            .is_uncertain = is_uncertain(order),
            .cancel_requested = order.cancel_requested,
        });
    }
    if (cost_qty_) {
        trades_ = gather_own_trades(&own_book(), strategy_id_, *cost_qty_);
    }
    return {};
}

Result<StrategyStep> BacktestLoop::step() {
    return options_.strategy->step({
        .strategy_id = strategy_id_,
        .symbol = options_.rules.symbol,
        .state = state_,
        .market = market_,
        .signals = signals_,
        .own_orders = own_orders_,
        .memory = memory_,
        .trades = trades_ ? &*trades_ : nullptr,
        .posture = options_.posture,
    });
}

DecisionId BacktestLoop::decision_id_of(PlanPart part) const {
    return DecisionId::trusted(
        "auto." + strategy_id_.text() + "." + std::to_string(counts_.ticks) + "." +
        std::string(to_word(part)));
}

void BacktestLoop::note_refused(const std::vector<std::string>& reasons, std::string_view prefix) {
    ++counts_.refused;
    std::vector<std::string> words;
    for (const std::string& reason : reasons) {
        words.push_back(std::string(prefix) + without_symbol(reason));
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::string& word : words) {
        ++counts_.refused_by[word];
    }
}

// Gates and dry run with the adjust loop; true when the plan, perhaps smaller, may be executed.
Result<bool> BacktestLoop::rehearse(Plan& plan, const DecisionId& decision_id, bool& is_adjusted) {
    for (int round = 0; round <= kAdjustRoundsMax; ++round) {
        const GateInput gates{
            .state = state_,
            .market = market_,
            .plan = plan,
            .decision_id = decision_id,
            .tick_id = tick_id_,
            .wanted_mode = account_.key.mode,
            .from_outside = false,
        };
        const GateReport report = run_gates(gates);
        if (!report.pass) {
            std::vector<std::string> reasons;
            for (const Breach& breach : report.breaches) {
                reasons.push_back(to_text(breach));
            }
            note_refused(reasons, "");
            return false;
        }
        DryRunInput input{
            .state = state_,
            .market = market_,
            .plan = plan,
            .slippage_bps = {},
            .fee_bps = {},
            .conflicts = {},
        };
        for (const Intent& intent : plan.intents) {
            OrderClientId id = derive_order_client_id(decision_id, intent);
            if (own_book().find(id) != nullptr) {
                input.conflicts.push_back(std::move(id));
            }
        }
        const DryRunReport rehearsal = run_dry_run(input);
        if (rehearsal.pass) {
            return true;
        }
        Adjustment adjustment = adjust_plan(input, gates);
        if (!adjustment.plan || round == kAdjustRoundsMax) {
            note_refused(rehearsal.blocking_reasons, "dry_run/");
            return false;
        }
        plan = *std::move(adjustment.plan);
        is_adjusted = true;
    }
    return false;
}

// Orders are written ahead and reserved; the gates have just passed on these very facts, so asking
// them again would give the same answer.
Result<void> BacktestLoop::execute(
    const Plan& plan, const DecisionId& decision_id, Effects& effects) {
    const MarketFacts* market = market_.find(options_.rules.symbol);
    bool takes = false;
    for (const Intent& intent : plan.intents) {
        OrderRecord order = new_order(
            {.account = account_.key,
             .decision_id = decision_id,
             .tick_id = tick_id_,
             .at = state_.now},
            intent);
        TRY_ASSIGN(order.reserve_price, reserve_price(intent, market, account_.limits));
        order.touch_price = touch_price(intent, market);
        order = step_order(std::move(order), OrderSent{}, state_.now).order;
        effects.sends.push_back(order.id());
        TRY(reserve_order(account_, own_book(), std::move(order)));
        takes = takes || is_aggressive(intent, market, account_.limits);
    }
    if (takes && note_aggressive(account_, strategy_id_, state_.now)) {
        ++stop_count_;
        if (stops_.size() < kBacktestStopsMax) {
            stops_.push_back({state_.now, "strategy_disabled", "repeated execution"});
        }
    }
    for (const OrderClientId& id : plan.cancels) {
        if (const OrderRecord* open = own_book().find(id)) {
            OrderRecord order = step_order(*open, CancelRequested{}, state_.now).order;
            TRY(put_order(own_book(), std::move(order)));
            effects.cancels.push_back(id);
        }
    }
    return {};
}

Result<bool> BacktestLoop::run_part(PlanPart part, Effects& effects) {
    Plan plan = part_of(stepped_.plan, part);
    if (is_empty(plan)) {
        return false;
    }
    const DecisionId decision_id = decision_id_of(part);
    ++counts_.decisions;
    bool is_adjusted = false;
    TRY_ASSIGN(const bool passed, rehearse(plan, decision_id, is_adjusted));
    if (passed) {
        TRY(execute(plan, decision_id, effects));
        ++counts_.executed;
        counts_.adjusted += is_adjusted ? 1 : 0;
    }
    return true;
}

// Cancels alone, or sells and then buys; each is a decision of its own on facts of its own.
Result<void> BacktestLoop::act(const StrategyStep& first, Effects& effects) {
    stepped_ = first;
    std::int64_t seen = account_.version;
    const auto look_again = [&]() -> Result<void> {
        TRY(gather(state_.now));
        TRY_ASSIGN(stepped_, step());
        seen = account_.version;
        return {};
    };
    for (const PlanPart part : {PlanPart::cancels, PlanPart::sells, PlanPart::buys}) {
        if (account_.version != seen) {
            TRY(look_again());
        }
        TRY_ASSIGN(const bool did, run_part(part, effects));
        if (did && part == PlanPart::cancels) {
            break;  // What they free is planned with in the next tick.
        }
    }
    // What is remembered is what the strategy thinks with its orders on their way.
    if (!effects.cancels.empty() || !effects.sends.empty()) {
        TRY(look_again());
    }
    memory_ = stepped_.memory;
    return {};
}

Result<void> BacktestLoop::tick(Timestamp now) {
    if (is_latched_) {
        return {};
    }
    ++counts_.ticks;
    tick_id_ = TickId::trusted(strategy_id_.text() + ".tick" + std::to_string(counts_.ticks));
    exchange_.renew_statistics(0);
    signals_ = candles_.signals(timeframes_);
    if (bandwidth_wish_) {
        note_quantile(signals_, *bandwidth_wish_, candles_.bandwidth_quantile(*bandwidth_wish_));
    }
    TRY(gather(now));
    Result<StrategyStep> stepped = step();
    if (stepped) {
        said_ = std::move(stepped->assessment);
    }
    if (stepped && is_empty(stepped->plan)) {
        memory_ = std::move(stepped->memory);
        failed_in_row_ = 0;
        return {};
    }
    if (!stepped) {
        return fail_tick(stepped.error(), now);
    }
    Undo undo{account_, books_};
    Effects effects;
    const auto acted = act(*stepped, effects);
    if (!acted) {
        account_ = std::move(undo.account);
        books_ = std::move(undo.books);
        return fail_tick(acted.error(), now);
    }
    failed_in_row_ = 0;
    return run_effects(effects);
}

Result<void> BacktestLoop::fail_tick(const Error& error, Timestamp now) {
    ++counts_.ticks_failed;
    ++counts_.failed_by[std::string(error.code())];
    last_error_ = first_error(error);
    if (++failed_in_row_ < kBacktestErrorsInRowMax) {
        return {};
    }
    is_latched_ = true;
    ++stop_count_;
    stops_.push_back({now, "strategy_latched", last_error_});
    Effects effects;
    for (const OrderRecord& order : own_book().open) {
        effects.cancels.push_back(order.id());
    }
    return run_effects(effects);
}

Result<void> BacktestLoop::run_effects(const Effects& effects) {
    for (const OrderClientId& id : effects.cancels) {
        TRY(cancel(id));
    }
    for (const OrderClientId& id : effects.sends) {
        TRY(send(id));
    }
    return {};
}

Result<void> BacktestLoop::send(const OrderClientId& id) {
    OrderRecord order = *own_book().find(id);
    is_sending_ = true;
    Result<VenueAck> ack = exchange_.submit(order.request);
    is_sending_ = false;
    const Timestamp now = exchange_.now();
    if (!ack) {
        const std::string code(reject_code_of(ack.error()));
        ++counts_.rejected_by[code];
        order = step_order(std::move(order), OrderRejected{code}, now).order;
        return release_order(account_, own_book(), std::move(order));
    }
    ++counts_.orders;
    const std::vector<VenueFill> fills = std::move(ack->fills);
    order = step_order(std::move(order), OrderReported{std::move(ack->order)}, now).order;
    for (const VenueFill& fill : fills) {
        TRY(book_fill(order, fill));
    }
    return release_order(account_, own_book(), std::move(order));
}

Result<void> BacktestLoop::cancel(const OrderClientId& id) {
    Result<VenueOrder> seen = exchange_.cancel(account_.key, options_.rules.symbol, id);
    if (!seen) {
        return std::unexpected(seen.error());  // Nothing can have happened in between.
    }
    ++counts_.cancels;
    OrderRecord order = *own_book().find(id);
    order = step_order(std::move(order), CancelRequested{}, exchange_.now()).order;
    order = step_order(std::move(order), OrderReported{*std::move(seen)}, exchange_.now()).order;
    return release_order(account_, own_book(), std::move(order));
}

Result<std::vector<std::string>> BacktestLoop::reconcile_with_venue(Timestamp now) const {
    TRY_ASSIGN(VenueReport report, exchange_.report(account_.key, account_.fills_cursor, now));
    ReconcileInput input;
    input.account = account_;
    input.books = books_;
    input.report = std::move(report);
    input.market = market_;
    input.now = now;
    TRY_ASSIGN(const Reconciliation result, reconcile(std::move(input)));
    std::vector<std::string> problems = check_conservation(account_, books_);
    for (const Finding& finding : result.drift) {
        problems.push_back(to_text(finding));
    }
    for (const Finding& finding : result.uncertain) {
        problems.push_back(to_text(finding));
    }
    return problems;
}

}  // namespace interlock
