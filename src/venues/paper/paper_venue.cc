#include "venues/paper/paper_venue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/errors.h"

namespace interlock {
namespace {

std::unexpected<Error> timed_out(std::string_view what) {
    return fail(
        errors::venue_timeout, "The venue did not answer the " + std::string(what) + " in time.");
}

constexpr Timestamp kEndOfTime{std::numeric_limits<std::int64_t>::max()};

}  // namespace

PaperVenue::PaperVenue(std::unique_ptr<MarketModel> model, Clock& clock, PaperVenueOptions options)
    : clock_(clock),
      options_(std::move(options)),
      model_(std::move(model)),
      faults_(options_.fault_seed) {}

PaperVenue::~PaperVenue() = default;

Result<std::unique_ptr<PaperVenue>> PaperVenue::open(
    std::unique_ptr<MarketModel> model, Clock& clock, PaperVenueOptions options) {
    std::unique_ptr<PaperVenue> venue(new PaperVenue(std::move(model), clock, std::move(options)));
    TRY_ASSIGN(
        venue->exchange_,
        PaperExchange::make(*venue->model_, venue->options_.exchange, clock.now()));
    if (!venue->options_.journal_path.empty()) {
        TRY_ASSIGN(
            venue->journal_, PaperJournal::open(venue->options_.journal_path, *venue->exchange_));
        TRY(venue->settle(venue->journal_size()));
    }
    return venue;
}

// A failed write leaves memory ahead of the journal. Nothing is told any more until the venue is
// opened anew from what the journal holds.
Result<void> PaperVenue::commit() {
    if (journal_ == nullptr) {
        return {};
    }
    auto written = journal_->commit();
    if (written && journal_->size() > std::max(options_.journal_bytes_max, 2 * compacted_size_)) {
        written = journal_->compact();
        compacted_size_ = journal_->size();
    }
    if (!written) {
        is_broken_ = true;
        return fail(errors::venue_timeout, written.error().message);
    }
    return {};
}

Result<void> PaperVenue::settle(std::int64_t size) {
    if (journal_ == nullptr || !options_.sync) {
        return {};
    }
    if (const auto synced = journal_->sync(size); !synced) {
        const std::lock_guard lock(mutex_);
        is_broken_ = true;
        return fail(errors::venue_timeout, synced.error().message);
    }
    return {};
}

Result<void> PaperVenue::begin(const PaperFaultBox::Call& call) {
    if (is_broken_) {
        return fail(errors::venue_unreachable, "The venue cannot write its journal.");
    }
    TRY(move_to(clock_.now()));
    if (!faults_.empty() && faults_.draw(PaperFaultKind::disconnect, call)) {
        return fail(errors::venue_unreachable, "The venue cannot be reached.");
    }
    return {};
}

Result<void> PaperVenue::move_to(Timestamp now) {
    exchange_->advance(now);
    while (!late_.empty() && late_.front().due <= now) {
        // Nobody waits for the answer any more.
        std::ignore = exchange_->submit(late_.front().request);
        late_.pop_front();
    }
    return commit();
}

Result<void> PaperVenue::open_account(
    const VenueAccount& account, std::span<const VenueBalance> balances) {
    std::int64_t size = 0;
    {
        const std::lock_guard lock(mutex_);
        TRY(begin({}));
        std::vector<VenueBalance> free(balances.begin(), balances.end());
        for (VenueBalance& balance : free) {
            balance.locked = Decimal();
        }
        TRY(exchange_->open_account(account, free));
        TRY(commit());
        size = journal_size();
    }
    return settle(size);
}

Result<void> PaperVenue::advance(Timestamp now) {
    const std::lock_guard lock(mutex_);
    if (is_broken_) {
        return fail(errors::venue_unreachable, "The venue cannot write its journal.");
    }
    return move_to(now);
}

Result<void> PaperVenue::set_faults(std::vector<PaperFault> faults) {
    const std::lock_guard lock(mutex_);
    return faults_.set(std::move(faults));
}

std::vector<PaperFault> PaperVenue::faults() const {
    const std::lock_guard lock(mutex_);
    return faults_.all();
}

Result<VenueAck> PaperVenue::submit(const VenueOrderRequest& request) {
    std::int64_t size = 0;
    Result<VenueAck> ack = [&]() -> Result<VenueAck> {
        const std::lock_guard lock(mutex_);
        auto done = submit_locked(request);
        size = journal_size();
        return done;
    }();
    TRY(settle(size));
    return ack;
}

Result<VenueAck> PaperVenue::submit_locked(const VenueOrderRequest& request) {
    const PaperFaultBox::Call call{&request.account, &request.symbol};
    TRY(begin(call));
    if (faults_.empty()) {
        auto ack = exchange_->submit(request);
        TRY(commit());
        return ack;
    }
    if (faults_.draw(PaperFaultKind::reject, call)) {
        return reject("fault_injected", "The venue was told to refuse.");
    }
    if (faults_.draw(PaperFaultKind::time_out, call)) {
        return timed_out("order");
    }
    if (const auto fault = faults_.draw(PaperFaultKind::late_arrival, call)) {
        if (late_.size() < kPaperLateArrivalsMax) {
            const Timestamp due = exchange_->now() + fault->delay;
            const auto place = std::upper_bound(
                late_.begin(), late_.end(), due, [](Timestamp at, const LateArrival& late) {
                    return at < late.due;
                });
            late_.insert(place, {due, request});
        }
        return timed_out("order");
    }
    auto ack = exchange_->submit(request);
    TRY(commit());
    if (faults_.draw(PaperFaultKind::lose_answer, call)) {
        return timed_out("order");
    }
    if (ack) {
        const Timestamp until = fills_until(request.account);
        std::erase_if(ack->fills, [&](const VenueFill& fill) { return fill.at > until; });
    }
    return ack;
}

Result<VenueOrder> PaperVenue::cancel(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    std::int64_t size = 0;
    Result<VenueOrder> order = [&]() -> Result<VenueOrder> {
        const std::lock_guard lock(mutex_);
        const PaperFaultBox::Call call{&account, &symbol};
        TRY(begin(call));
        if (!faults_.empty() && faults_.draw(PaperFaultKind::cancel_lost, call)) {
            return timed_out("cancel");
        }
        auto done = exchange_->cancel(account, symbol, id);
        TRY(commit());
        size = journal_size();
        if (!faults_.empty() && faults_.draw(PaperFaultKind::cancel_answer_lost, call)) {
            return timed_out("cancel");
        }
        return done;
    }();
    TRY(settle(size));
    return order;
}

Result<std::vector<VenueOrder>> PaperVenue::cancel_all(const VenueAccount& account) {
    std::int64_t size = 0;
    Result<std::vector<VenueOrder>> left = [&]() -> Result<std::vector<VenueOrder>> {
        const std::lock_guard lock(mutex_);
        const PaperFaultBox::Call call{&account, nullptr};
        TRY(begin(call));
        if (!faults_.empty() && faults_.draw(PaperFaultKind::cancel_lost, call)) {
            return timed_out("cancel");
        }
        TRY(exchange_->cancel_all(account));
        TRY(commit());
        size = journal_size();
        if (!faults_.empty() && faults_.draw(PaperFaultKind::cancel_answer_lost, call)) {
            return timed_out("cancel");
        }
        return std::vector<VenueOrder>{};
    }();
    TRY(settle(size));
    return left;
}

Result<std::optional<VenueOrder>> PaperVenue::find_order(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    std::int64_t size = 0;
    Result<std::optional<VenueOrder>> order = [&]() -> Result<std::optional<VenueOrder>> {
        const std::lock_guard lock(mutex_);
        TRY(begin({&account, &symbol}));
        size = journal_size();
        return exchange_->find_order(account, symbol, id);
    }();
    TRY(settle(size));
    return order;
}

Timestamp PaperVenue::fills_until(const VenueAccount& account) const {
    const PaperFault* late = faults_.standing(PaperFaultKind::late_fill, {&account, nullptr});
    return late == nullptr ? kEndOfTime : exchange_->now() - late->delay;
}

Result<VenueReport> PaperVenue::report(const VenueAccount& account, std::int64_t fills_cursor) {
    std::int64_t size = 0;
    Result<VenueReport> report = [&]() -> Result<VenueReport> {
        const std::lock_guard lock(mutex_);
        const PaperFaultBox::Call call{&account, nullptr};
        TRY(begin(call));
        size = journal_size();
        TRY_ASSIGN(
            VenueReport told, exchange_->report(account, fills_cursor, fills_until(account)));
        if (!faults_.empty() && faults_.draw(PaperFaultKind::duplicate_report, call)) {
            const std::vector<VenueFill> again = told.fills;
            told.fills.insert(told.fills.end(), again.begin(), again.end());
        }
        if (!faults_.empty() && faults_.draw(PaperFaultKind::out_of_order_fills, call)) {
            std::reverse(told.fills.begin(), told.fills.end());
        }
        return told;
    }();
    TRY(settle(size));
    return report;
}

Result<VenueHistory> PaperVenue::history(const VenueAccount& account) {
    std::int64_t size = 0;
    Result<VenueHistory> history = [&]() -> Result<VenueHistory> {
        const std::lock_guard lock(mutex_);
        TRY(begin({&account, nullptr}));
        size = journal_size();
        return exchange_->history(account);
    }();
    TRY(settle(size));
    return history;
}

Result<std::vector<VenueFill>> PaperVenue::fills_of(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    std::int64_t size = 0;
    Result<std::vector<VenueFill>> fills = [&]() -> Result<std::vector<VenueFill>> {
        const std::lock_guard lock(mutex_);
        TRY(begin({&account, &symbol}));
        size = journal_size();
        TRY_ASSIGN(std::vector<VenueFill> told, exchange_->fills_of(account, symbol, id));
        const Timestamp until = fills_until(account);
        std::erase_if(told, [&](const VenueFill& fill) { return fill.at > until; });
        return told;
    }();
    TRY(settle(size));
    return fills;
}

Duration PaperVenue::venue_ahead() const {
    const PaperFault* skew = faults_.standing(PaperFaultKind::clock_skew, {});
    return skew == nullptr ? Duration{} : skew->delay;
}

Result<std::int64_t> PaperVenue::clock_skew_ms() {
    const std::lock_guard lock(mutex_);
    TRY(begin({}));
    return venue_ahead().microseconds / 1000;
}

std::vector<Symbol> PaperVenue::symbols() const {
    const std::lock_guard lock(mutex_);
    return exchange_->symbols();
}

MarketSet PaperVenue::deep_facts(
    std::span<const Symbol> symbols, std::span<const Symbol> deep) const {
    const std::lock_guard lock(mutex_);
    return exchange_->facts(symbols, deep, venue_ahead());
}

MarketSignals PaperVenue::signals(
    const Symbol& symbol, std::span<const Timeframe> timeframes) const {
    const std::lock_guard lock(mutex_);
    return exchange_->signals(symbol, timeframes);
}

std::vector<Candle> PaperVenue::candles(const Symbol& symbol, Timeframe timeframe) const {
    const std::lock_guard lock(mutex_);
    return exchange_->candles(symbol, timeframe);
}

std::optional<Decimal> PaperVenue::bandwidth_quantile(
    const Symbol& symbol, const BandwidthWish& wish) const {
    const std::lock_guard lock(mutex_);
    return exchange_->bandwidth_quantile(symbol, wish);
}

std::optional<MarketView> PaperVenue::view_of(const Symbol& symbol) const {
    const std::lock_guard lock(mutex_);
    const MarketView* view = exchange_->view_of(symbol);
    return view == nullptr ? std::nullopt : std::optional(*view);
}

}  // namespace interlock
