#include "venues/paper/paper_exchange.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

Timestamp cut_to_milliseconds(Timestamp at) {
    return {at.microseconds - at.microseconds % 1000};
}

BookSide book_side(Side side) {
    return side == Side::buy ? BookSide::buy : BookSide::sell;
}

BookOrderKind book_kind(const PaperOrder& order) {
    if (order.order_type == OrderType::market) {
        return BookOrderKind::market;
    }
    return order.post_only ? BookOrderKind::limit_maker : BookOrderKind::limit;
}

std::string_view reason_of(BookCancelCause cause) {
    switch (cause) {
        case BookCancelCause::ioc_rest:
            return "ioc";
        case BookCancelCause::fok_unfillable:
            return "fok";
        case BookCancelCause::self_trade:
            return "self_trade";
        default:
            return "user";
    }
}

std::unexpected<Error> refused(BookRefusal refusal) {
    if (refusal == BookRefusal::would_take) {
        return reject("would_take", "The order would trade at once, and it may not.");
    }
    return reject("filter_max_orders", "The account has as many open orders as it may have here.");
}

// The whole quotes: what an account took of them this moment is not known outside its own book.
std::vector<DepthLevel> depth_of(
    const std::vector<MarketLevel>& levels, const PaperFilters& filters) {
    std::vector<DepthLevel> depth;
    for (const MarketLevel& level : levels) {
        if (depth.size() == kDepthLevelsMax) {
            break;
        }
        if (level.quantity.count > 0) {
            depth.push_back({filters.price_of(level.price), filters.quantity_of(level.quantity)});
        }
    }
    return depth;
}

std::unexpected<Error> unknown_order(const OrderClientId& id) {
    return reject("unknown_order", "No order " + id.text() + " is open here.");
}

}  // namespace

std::size_t PaperExchange::AccountHash::operator()(const VenueAccount& account) const noexcept {
    const std::size_t tenant = std::hash<TenantId>{}(account.tenant_id);
    const std::size_t own = std::hash<AccountId>{}(account.account_id);
    return (tenant * 31 + own) * 31 + static_cast<std::size_t>(account.mode);
}

PaperExchange::PaperExchange(
    const MarketModel& model, const PaperExchangeOptions& options, Timestamp start)
    : model_(model), options_(options), now_(cut_to_milliseconds(start)), step_(step_of(start)) {
    CHECK(options.self_trade != BookSelfTrade::none);
    listings_.fees = options.fees;
    listings_.finished_orders_max = options.finished_orders_max;
    listings_.fills_max = options.fills_max;
}

Result<std::unique_ptr<PaperExchange>> PaperExchange::make(
    const MarketModel& model, const PaperExchangeOptions& options, Timestamp start) {
    std::unique_ptr<PaperExchange> exchange(new PaperExchange(model, options, start));
    TRY(exchange->list_markets());
    exchange->jump_to(exchange->step_);
    return exchange;
}

Result<void> PaperExchange::list_markets() {
    for (const MarketRules& rules : model_.markets()) {
        TRY_ASSIGN(PaperFilters filters, PaperFilters::make(rules));
        TRY_ASSIGN(const std::size_t base, asset_place(rules.base));
        TRY_ASSIGN(const std::size_t quote, asset_place(rules.quote));
        listings_.markets.push_back({std::move(filters), base, quote});
    }
    markets_.resize(listings_.markets.size());
    for (std::size_t i = 0; i < markets_.size(); ++i) {
        markets_[i].facts.rules = listings_.markets[i].filters.rules();
        markets_[i].facts.symbol = markets_[i].facts.rules.symbol;
    }
    return {};
}

Result<std::size_t> PaperExchange::asset_place(const Asset& asset) {
    std::vector<Asset>& assets = listings_.assets;
    const auto found = std::find(assets.begin(), assets.end(), asset);
    if (found != assets.end()) {
        return static_cast<std::size_t>(found - assets.begin());
    }
    if (assets.size() == kPaperAssetsMax) {
        return fail(
            errors::out_of_range,
            "The exchange knows " + std::to_string(kPaperAssetsMax) + " assets and takes no more.");
    }
    assets.push_back(asset);
    return assets.size() - 1;
}

std::optional<std::size_t> PaperExchange::market_place(const Symbol& symbol) const {
    for (std::size_t i = 0; i < listings_.markets.size(); ++i) {
        if (listings_.markets[i].filters.rules().symbol == symbol) {
            return i;
        }
    }
    return std::nullopt;
}

Result<PaperExchange::Trader*> PaperExchange::find_trader(const VenueAccount& account) const {
    const auto found = traders_.find(account);
    if (found == traders_.end()) {
        return reject(
            "unknown_account",
            "No account " + account.account_id.text() + " of " + account.tenant_id.text() +
                " was opened.");
    }
    return found->second.get();
}

Result<bool> PaperExchange::open_account(
    const VenueAccount& account, std::span<const VenueBalance> balances) {
    if (traders_.contains(account)) {
        return false;
    }
    TRY(restore_account(account, balances, 1));
    if (recorder_ != nullptr) {
        recorder_->on_opened(account, balances);
    }
    return true;
}

void PaperExchange::note_candle_price(
    std::size_t market, std::int64_t step, const MarketTouch& touch) {
    std::optional<CandleBook>& candles = markets_[market].candles;
    if (!candles) {
        return;
    }
    if (const auto price = mid_price(touch, markets_[market].facts.rules.tick_size)) {
        candles->note_price(time_of_step(step), *price);
    }
}

void PaperExchange::jump_candles(std::size_t market, std::int64_t from, std::int64_t step) {
    if (step - from > kPaperCandleJumpMax) {
        markets_[market].candles.reset();
    }
    if (!markets_[market].candles) {
        return;
    }
    constexpr std::int64_t kLookEvery = 15 * kStepsPerSecond;
    for (std::int64_t at = from + kLookEvery; at <= step; at += kLookEvery) {
        note_candle_price(market, at, model_.touch_at(market, at));
    }
}

MarketSignals PaperExchange::signals(const Symbol& symbol, std::span<const Timeframe> timeframes) {
    const auto market = market_place(symbol);
    if (!market) {
        return {};
    }
    return candles_of(*market, timeframes).signals(timeframes);
}

std::vector<Candle> PaperExchange::candles(const Symbol& symbol, Timeframe timeframe) {
    const auto market = market_place(symbol);
    std::span<const Candle> closed;
    closed = market ? candles_of(*market, {&timeframe, 1}).closed(timeframe) : closed;
    return {closed.begin(), closed.end()};
}

std::optional<Decimal> PaperExchange::bandwidth_quantile(
    const Symbol& symbol, const BandwidthWish& wish) {
    const auto market = market_place(symbol);
    const std::span<const Timeframe> timeframes(&wish.timeframe, 1);
    return market ? candles_of(*market, timeframes).bandwidth_quantile(wish) : std::nullopt;
}

const CandleBook& PaperExchange::candles_of(
    std::size_t market, std::span<const Timeframe> timeframes) {
    Market& at = markets_[market];
    if (!at.candles) {
        at.candles.emplace();
        at.has_history = {};
        note_candle_price(market, step_, model_.touch_at(market, step_));
    }
    for (const Timeframe timeframe : timeframes) {
        bool& has_history = at.has_history[static_cast<std::size_t>(timeframe)];
        if (!has_history) {
            hydrate(*at.candles, timeframe, {model_, market, step_});
            has_history = true;
        }
    }
    return *at.candles;
}

void PaperExchange::jump_to(std::int64_t step) {
    for (std::size_t market = 0; market < markets_.size(); ++market) {
        jump_candles(market, step_, step);
    }
    step_ = step;
    for (std::size_t market = 0; market < markets_.size(); ++market) {
        model_.view_at(market, step, markets_[market].view);
        markets_[market].stats = hydrated_stats(model_, market, step);
        note_statistics(markets_[market]);
        meet(market);
    }
}

void PaperExchange::note_statistics(Market& market) {
    const MarketStats& stats = market.stats;
    market.facts.vol_1m = stats.vol_1m();
    market.facts.vol_samples = stats.vol_samples();
    market.facts.spread_median_5m_bps = stats.spread_median_bps();
    market.facts.spread_samples = stats.spread_samples();
    market.facts.is_hydrated = stats.candles() >= kPaperHydratedCandlesMin;
    market.facts.is_high_vol = stats.is_high_vol();
}

void PaperExchange::run_step(std::int64_t step, bool is_last) {
    for (std::size_t market = 0; market < markets_.size(); ++market) {
        Market& at = markets_[market];
        if (step % kStepsPerSecond == 0) {
            const MarketTouch touch = model_.touch_at(market, step);
            at.stats.note_second(step / kStepsPerSecond, touch);
            note_candle_price(market, step, touch);
            note_statistics(at);
        }
        // Without resting orders nobody can tell whether the steps in between were looked at.
        if (is_last || !at.meetings.empty()) {
            model_.view_at(market, step, at.view);
            meet(market);
        }
    }
}

void PaperExchange::advance(Timestamp now) {
    if (now <= now_) {
        return;
    }
    const std::int64_t target = step_of(now);
    if (target - step_ > kPaperStepsPerAdvanceMax) {
        now_ = cut_to_milliseconds(now);
        jump_to(target);
        return;
    }
    while (step_ < target) {
        ++step_;
        now_ = std::max(now_, time_of_step(step_));
        run_step(step_, step_ == target);
    }
    now_ = cut_to_milliseconds(now);
}

void PaperExchange::meet(std::size_t market) {
    Market& at = markets_[market];
    for (std::size_t i = 0; i < at.meetings.size();) {
        const Meeting meeting = at.meetings[i];
        events_.clear();
        meeting.book->meet(at.view, events_);
        apply(*meeting.trader, market, nullptr);
        if (meeting.book->resting() == 0) {
            at.meetings[i] = at.meetings.back();
            at.meetings.pop_back();
        } else {
            ++i;
        }
    }
}

void PaperExchange::play(std::size_t market, Timestamp now) {
    now_ = std::max(now_, cut_to_milliseconds(now));
    step_ = step_of(now_);
    meet(market);
}

void PaperExchange::note_second(std::size_t market, std::int64_t second, const MarketTouch& touch) {
    markets_[market].stats.note_second(second, touch);
}

PaperBook& PaperExchange::book_of(Trader& trader, std::size_t market) {
    if (trader.books.empty()) {
        trader.books.resize(markets_.size());
    }
    std::unique_ptr<PaperBook>& book = trader.books[market];
    if (book == nullptr) {
        const std::int64_t allowed = listings_.markets[market].filters.rules().open_orders_max;
        const std::size_t orders_max =
            allowed > 0 ? std::min(static_cast<std::size_t>(allowed), kPaperBookOrdersMax)
                        : kPaperBookOrdersMax;
        book = std::make_unique<PaperBook>(orders_max, options_.self_trade, far_memory_);
    }
    return *book;
}

void PaperExchange::note_resting(Trader& trader, std::size_t market) {
    PaperBook* book = trader.books[market].get();
    // One more than none rests, so the market does not know of this book yet.
    if (book->resting() == 1) {
        std::vector<Meeting>& meetings = markets_[market].meetings;
        const bool known = std::any_of(
            meetings.begin(), meetings.end(), [&](const Meeting& at) { return at.book == book; });
        if (!known) {
            meetings.push_back({&trader, book});
        }
    }
}

// Two fixed windows, as exchanges count them.
Result<void> PaperExchange::count_order(Trader& trader, const MarketRules& rules) {
    constexpr std::int64_t kTenSeconds = Duration::of_seconds(10).microseconds;
    constexpr std::int64_t kDay = Duration::of_days(1).microseconds;
    if (const std::int64_t window = now_.microseconds / kTenSeconds; window != trader.window_10s) {
        trader.window_10s = window;
        trader.orders_10s = 0;
    }
    if (const std::int64_t window = now_.microseconds / kDay; window != trader.window_day) {
        trader.window_day = window;
        trader.orders_day = 0;
    }
    if ((rules.orders_per_10s_max > 0 && trader.orders_10s >= rules.orders_per_10s_max) ||
        (rules.orders_per_day_max > 0 && trader.orders_day >= rules.orders_per_day_max)) {
        return reject("too_many_orders", "The account sends more orders than the venue takes.");
    }
    ++trader.orders_10s;
    ++trader.orders_day;
    return {};
}

Result<VenueAck> PaperExchange::submit(const VenueOrderRequest& request) {
    TRY_ASSIGN(Trader* const trader, find_trader(request.account));
    const auto market = market_place(request.symbol);
    if (!market) {
        return reject(
            "unknown_symbol", "No market " + std::string(request.symbol.text()) + " here.");
    }
    if (request.order_client_id.text().size() > PaperOrderId::kLengthMax) {
        return reject("invalid_order", "An order's id has at most 36 characters.");
    }
    const PaperFilters& filters = listings_.markets[*market].filters;
    const MarketView& view = markets_[*market].view;
    TRY(count_order(*trader, filters.rules()));
    if (view.halted) {
        return reject("market_closed", "Trading is halted.");
    }
    TRY_ASSIGN(const PaperFilters::Terms terms, filters.check(request, view));
    if (trader->account.find_live(request.order_client_id)) {
        return reject(
            "duplicate_order", "An order " + request.order_client_id.text() + " is open.");
    }
    PaperOrder order;
    order.client_id = PaperOrderId(request.order_client_id.text());
    order.market = *market;
    order.side = request.side;
    order.order_type = request.order_type;
    order.time_in_force = request.time_in_force;
    order.post_only = request.post_only;
    order.price = terms.price;
    order.quantity = terms.quantity;
    order.updated_at = now_;
    return enter(*trader, order);
}

Result<VenueAck> PaperExchange::enter(Trader& trader, PaperOrder& order) {
    const std::size_t market = order.market;
    const PaperFilters& filters = listings_.markets[market].filters;
    const MarketView& view = markets_[market].view;
    PaperBook& book = book_of(trader, market);
    if (order.post_only && book.would_take(book_side(order.side), order.price, view)) {
        return refused(BookRefusal::would_take);
    }
    const std::int64_t allowed = filters.rules().open_orders_max;
    const bool may_rest =
        order.order_type == OrderType::limit && order.time_in_force == TimeInForce::gtc;
    if (may_rest && allowed > 0 && book.resting() >= static_cast<std::size_t>(allowed)) {
        return refused(BookRefusal::orders_full);
    }
    const bool is_market_buy = order.order_type == OrderType::market && order.side == Side::buy;
    const PaperAccount::Reserve reserve =
        is_market_buy
            ? trader.account.reserve_of_cost(
                  order,
                  filters.value_of(book.cost_of(BookSide::buy, order.quantity, view).tick_lots))
            : trader.account.reserve_of(order);
    if (!trader.account.has_free(reserve)) {
        return reject(
            "insufficient_balance",
            "The order needs " + to_text(reserve.amount) + " " +
                std::string(listings_.assets[reserve.asset].text()) + " free.");
    }
    order.number = order_count_ + 1;
    const Handle handle = trader.account.add(order, reserve);
    const PaperBook::Order entry{
        .id = handle,
        .side = book_side(order.side),
        .kind = book_kind(order),
        .time_in_force = static_cast<BookTimeInForce>(order.time_in_force),
        .price = order.price,
        .quantity = order.quantity};
    events_.clear();
    refusal_.reset();
    book.enter(entry, view, events_);
    VenueAck ack;
    apply(trader, market, &ack.fills);
    if (refusal_) {
        return refused(*refusal_);
    }
    ++order_count_;
    ack.order = trader.account.describe(trader.account.order(handle));
    if (is_live(ack.order.state)) {
        note_resting(trader, market);
    }
    return ack;
}

void PaperExchange::apply(Trader& trader, std::size_t market, std::vector<VenueFill>* fills) {
    PaperAccount& account = trader.account;
    for (const PaperBookEvent& event : events_) {
        switch (event.kind) {
            case PaperBookEvent::Kind::accepted:
                if (recorder_ != nullptr) {
                    recorder_->on_accepted(
                        account.name(), account.describe(account.order(event.order)));
                }
                break;
            case PaperBookEvent::Kind::refused:
                refusal_ = event.refusal;
                account.forget(event.order);
                break;
            case PaperBookEvent::Kind::filled: {
                const PaperFill& fill = account.fill(
                    event.order,
                    {.trade_id = ++markets_[market].trade_count,
                     .price = event.price,
                     .quantity = event.quantity,
                     .is_maker = event.is_maker,
                     .at = now_,
                     .fee = std::nullopt});
                if (recorder_ != nullptr || fills != nullptr) {
                    VenueFill described = account.describe(fill);
                    if (recorder_ != nullptr) {
                        recorder_->on_filled(account.name(), described);
                    }
                    if (fills != nullptr) {
                        fills->push_back(std::move(described));
                    }
                }
                break;
            }
            case PaperBookEvent::Kind::ended:
                account.end(event.order, reason_of(event.cause), now_);
                if (recorder_ != nullptr) {
                    recorder_->on_ended(
                        account.name(), account.describe(account.order(event.order)));
                }
                break;
        }
    }
}

Result<VenueOrder> PaperExchange::cancel(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    TRY_ASSIGN(Trader* const trader, find_trader(account));
    const auto handle = trader->account.find_live(id);
    if (!handle) {
        return unknown_order(id);
    }
    const std::size_t market = trader->account.order(*handle).market;
    if (listings_.markets[market].filters.rules().symbol != symbol) {
        return unknown_order(id);
    }
    events_.clear();
    trader->books[market]->cancel(*handle, events_);
    apply(*trader, market, nullptr);
    return trader->account.describe(trader->account.order(*handle));
}

Result<void> PaperExchange::cancel_all(const VenueAccount& account) {
    TRY_ASSIGN(Trader* const trader, find_trader(account));
    for (const Handle handle : trader->account.live()) {
        const std::size_t market = trader->account.order(handle).market;
        events_.clear();
        trader->books[market]->cancel(handle, events_);
        apply(*trader, market, nullptr);
    }
    return {};
}

Result<std::optional<VenueOrder>> PaperExchange::find_order(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) const {
    TRY_ASSIGN(const Trader* const trader, find_trader(account));
    const auto handle = trader->account.find(id);
    if (!handle) {
        return std::nullopt;
    }
    VenueOrder order = trader->account.describe(trader->account.order(*handle));
    return order.symbol == symbol ? std::optional(std::move(order)) : std::nullopt;
}

Result<VenueReport> PaperExchange::report(
    const VenueAccount& account, std::int64_t fills_cursor, Timestamp fills_until) const {
    TRY_ASSIGN(const Trader* const trader, find_trader(account));
    VenueReport report;
    for (const Handle handle : trader->account.live()) {
        report.open_orders.push_back(trader->account.describe(trader->account.order(handle)));
    }
    report.balances = trader->account.balances();
    TRY(trader->account.report_fills(fills_cursor, fills_until, kPaperReportFillsMax, report));
    return report;
}

Result<VenueHistory> PaperExchange::history(const VenueAccount& account) const {
    TRY_ASSIGN(const Trader* const trader, find_trader(account));
    VenueHistory history;
    const std::vector<Handle> finished = trader->account.finished();
    history.is_whole = finished.size() < listings_.finished_orders_max;
    for (const Handle handle : finished) {
        history.orders.push_back(trader->account.describe(trader->account.order(handle)));
    }
    for (const Handle handle : trader->account.live()) {
        history.orders.push_back(trader->account.describe(trader->account.order(handle)));
    }
    return history;
}

Result<std::vector<VenueFill>> PaperExchange::fills_of(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) const {
    TRY_ASSIGN(const Trader* const trader, find_trader(account));
    const auto handle = trader->account.find(id);
    if (!handle ||
        listings_.markets[trader->account.order(*handle).market].filters.rules().symbol != symbol) {
        return std::vector<VenueFill>{};
    }
    return trader->account.fills_of(*handle);
}

std::vector<Symbol> PaperExchange::symbols() const {
    std::vector<Symbol> symbols;
    for (const PaperListing& listing : listings_.markets) {
        symbols.push_back(listing.filters.rules().symbol);
    }
    return symbols;
}

const MarketView* PaperExchange::view_of(const Symbol& symbol) const {
    const auto market = market_place(symbol);
    return market ? &markets_[*market].view : nullptr;
}

MarketSet PaperExchange::facts(
    std::span<const Symbol> symbols, std::span<const Symbol> deep, Duration venue_ahead) const {
    MarketSet set;
    for (std::size_t i = 0; i < markets_.size(); ++i) {
        const PaperFilters& filters = listings_.markets[i].filters;
        const Symbol& symbol = filters.rules().symbol;
        if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) {
            continue;
        }
        const Market& market = markets_[i];
        MarketFacts facts = market.facts;
        if (!market.view.bids.empty()) {
            facts.best_bid = filters.price_of(market.view.bids.front().price);
        }
        if (!market.view.asks.empty()) {
            facts.best_ask = filters.price_of(market.view.asks.front().price);
        }
        facts.exchange_at = market.view.at + venue_ahead;
        facts.received_at = now_;
        facts.status_halted = market.view.halted;
        if (std::find(deep.begin(), deep.end(), symbol) != deep.end()) {
            facts.bids = depth_of(market.view.bids, filters);
            facts.asks = depth_of(market.view.asks, filters);
        }
        set.markets.push_back(std::move(facts));
    }
    return set;
}

}  // namespace interlock
