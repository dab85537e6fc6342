#include "venues/paper/paper_account.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr __int128 kMillion = 1'000'000;
// Fees are rounded up to the eighth decimal.
constexpr __int128 kFeeStep = 10'000'000'000;
// Above this an amount times a rate could leave 127 bits.
constexpr __int128 kExactFeeMax = static_cast<__int128>(1) << 100;

constexpr std::size_t kOrdersExpected = 64;
// More open orders than all markets of an exchange allow together.
constexpr std::size_t kLiveOrdersMax = std::size_t{1} << 20;

__int128 divide_up(__int128 value, __int128 by) {
    return value / by + (value % by > 0 ? 1 : 0);
}

Decimal plus(Decimal a, Decimal b) {
    __int128 sum = 0;
    CHECK(!__builtin_add_overflow(a.units(), b.units(), &sum));
    return Decimal::from_units(sum);
}
Decimal minus(Decimal a, Decimal b) {
    return Decimal::from_units(a.units() - b.units());
}

}  // namespace

PaperOrderId::PaperOrderId(std::string_view text)
    : length_(static_cast<std::uint8_t>(text.size())) {
    CHECK(text.size() <= kLengthMax);
    std::copy(text.begin(), text.end(), text_);
}

PaperAccount::PaperAccount(VenueAccount name, const PaperListings& listings)
    : name_(std::move(name)),
      listings_(listings),
      orders_(1),
      by_id_(kOrdersExpected, listings.finished_orders_max + kLiveOrdersMax) {}

PaperAccount::Balance& PaperAccount::balance(std::size_t asset) {
    if (asset >= balances_.size()) {
        balances_.resize(asset + 1);
    }
    return balances_[asset];
}

void PaperAccount::set_balance(std::size_t asset, Decimal free, Decimal locked) {
    balance(asset) = {free, locked};
}

std::vector<VenueBalance> PaperAccount::balances() const {
    std::vector<VenueBalance> all;
    for (std::size_t i = 0; i < balances_.size(); ++i) {
        const Balance& held = balances_[i];
        if (!held.free.is_zero() || !held.locked.is_zero()) {
            all.push_back({listings_.assets[i], held.free, held.locked});
        }
    }
    std::sort(all.begin(), all.end(), [](const VenueBalance& a, const VenueBalance& b) {
        return a.asset < b.asset;
    });
    return all;
}

Decimal PaperAccount::fee_of(Decimal amount, bool is_maker) const {
    const std::int64_t ppm = is_maker ? listings_.fees.maker_ppm : listings_.fees.taker_ppm;
    const __int128 units = amount.units();
    const __int128 fee =
        units < kExactFeeMax ? divide_up(units * ppm, kMillion) : divide_up(units, kMillion) * ppm;
    return std::min(amount, Decimal::from_units(divide_up(fee, kFeeStep) * kFeeStep));
}

Decimal PaperAccount::lock_of(const PaperOrder& order, Lots left) const {
    const PaperFilters& filters = listings_.markets[order.market].filters;
    if (order.side == Side::sell) {
        return filters.quantity_of(left);
    }
    const Decimal value = filters.value_of(order.price, left);
    if (!listings_.fees.always_quote) {
        return value;
    }
    const bool maker_is_dearer = listings_.fees.maker_ppm > listings_.fees.taker_ppm;
    return plus(value, fee_of(value, maker_is_dearer));
}

PaperAccount::Reserve PaperAccount::reserve_of(const PaperOrder& order) const {
    const PaperListing& listing = listings_.markets[order.market];
    return {
        order.side == Side::sell ? listing.base : listing.quote, lock_of(order, order.quantity)};
}

PaperAccount::Reserve PaperAccount::reserve_of_cost(const PaperOrder& order, Decimal cost) const {
    const Decimal fee = listings_.fees.always_quote ? fee_of(cost, false) : Decimal();
    return {listings_.markets[order.market].quote, plus(cost, fee)};
}

bool PaperAccount::has_free(const Reserve& reserve) const {
    return reserve.asset < balances_.size() ? balances_[reserve.asset].free >= reserve.amount
                                            : reserve.amount.is_zero();
}

PaperAccount::Handle PaperAccount::add(const PaperOrder& order, const Reserve& reserve) {
    Balance& held = balance(reserve.asset);
    held.free = minus(held.free, reserve.amount);
    held.locked = plus(held.locked, reserve.amount);
    const Handle handle = add_restored(order);
    orders_[handle].locked = reserve.amount;
    return handle;
}

PaperAccount::Handle PaperAccount::add_restored(const PaperOrder& order) {
    Handle handle = 0;
    if (unused_.empty()) {
        CHECK(orders_.size() < std::size_t{1} << 31);
        handle = static_cast<Handle>(orders_.size());
        orders_.emplace_back();
    } else {
        handle = unused_.back();
        unused_.pop_back();
    }
    PaperOrder& slot = orders_[handle];
    slot = order;
    put_in_index(handle);
    if (is_live(slot.state)) {
        start_living(handle);
    } else {
        finish(handle);
    }
    return handle;
}

OrderIndex::Place PaperAccount::place_of(std::string_view id) const {
    return by_id_.find(std::hash<std::string_view>{}(id), [&](Handle handle) {
        return orders_[handle].client_id.text() == id;
    });
}

// An older order of the same id keeps its place in the history, but the id now means this one.
void PaperAccount::put_in_index(Handle handle) {
    OrderIndex::Place place = place_of(orders_[handle].client_id.text());
    if (place.handle != 0) {
        by_id_.erase(place);
        place = place_of(orders_[handle].client_id.text());
    }
    by_id_.insert(place, handle);
}

void PaperAccount::forget(Handle handle) {
    PaperOrder& order = orders_[handle];
    release(order, {}, {});
    by_id_.erase(place_of(order.client_id.text()));
    stop_living(handle);
    unused_.push_back(handle);
    // The refused order may have hidden a finished one of the same id.
    for (const Handle old : finished_) {
        if (orders_[old].client_id == order.client_id) {
            put_in_index(old);
        }
    }
}

// Frees what the order no longer needs and takes what it spent, all in the asset it locks.
void PaperAccount::release(PaperOrder& order, Decimal still_locked, Decimal spent) {
    const PaperListing& listing = listings_.markets[order.market];
    Balance& held = balance(order.side == Side::sell ? listing.base : listing.quote);
    const Decimal freed = minus(order.locked, still_locked);
    held.locked = minus(held.locked, freed);
    held.free = minus(plus(held.free, freed), spent);
    order.locked = still_locked;
    CHECK(!held.locked.is_negative());
}

void PaperAccount::settle(PaperOrder& order, PaperFill& fill, const std::optional<Decimal>& fee) {
    const PaperListing& listing = listings_.markets[order.market];
    const Decimal base = listing.filters.quantity_of(fill.quantity);
    const Decimal quote = listing.filters.value_of(fill.price, fill.quantity);
    const bool fee_in_base = order.side == Side::buy && !listings_.fees.always_quote;
    fill.fee_asset = fee_in_base ? listing.base : listing.quote;
    fill.fee = fee ? *fee : fee_of(fee_in_base ? base : quote, fill.is_maker);
    order.filled += fill.quantity;
    order.filled_quote = plus(order.filled_quote, quote);
    const Lots left = order.quantity - order.filled;
    CHECK(left.count >= 0);
    if (order.side == Side::sell) {
        release(order, lock_of(order, left), base);
        Balance& received = balance(listing.quote);
        received.free = plus(received.free, minus(quote, fill.fee));
        return;
    }
    const Decimal spent = fee_in_base ? quote : plus(quote, fill.fee);
    const bool is_market = order.order_type == OrderType::market;
    const Decimal still_locked =
        is_market ? std::max(Decimal(), minus(order.locked, spent)) : lock_of(order, left);
    // Fees of many small fills, each rounded up, may come to a little more than was locked.
    const Decimal covered = plus(minus(order.locked, still_locked), balance(listing.quote).free);
    if (!fee && spent > covered && !fee_in_base) {
        fill.fee = std::max(Decimal(), minus(covered, quote));
    }
    release(order, still_locked, fee_in_base ? quote : plus(quote, fill.fee));
    Balance& received = balance(listing.base);
    received.free = plus(received.free, fee_in_base ? minus(base, fill.fee) : base);
}

const PaperFill& PaperAccount::fill(Handle handle, const Execution& execution) {
    PaperOrder& order = orders_[handle];
    CHECK(is_live(order.state));
    PaperFill made;
    made.client_id = order.client_id;
    made.trade_id = execution.trade_id;
    made.number = order.number;
    made.market = order.market;
    made.side = order.side;
    made.quantity = execution.quantity;
    made.price = execution.price;
    made.is_maker = execution.is_maker;
    made.at = execution.at;
    settle(order, made, execution.fee);
    order.updated_at = execution.at;
    order.fills.push_back(keep_fill(std::move(made)));
    if (order.filled == order.quantity) {
        order.state = OrderState::filled;
        release(order, {}, {});
        stop_living(handle);
        finish(handle);
    } else {
        order.state = OrderState::partially_filled;
    }
    return fills_.back();
}

std::int64_t PaperAccount::keep_fill(PaperFill fill) {
    if (fills_.size() >= listings_.fills_max) {
        fills_.pop_front();
        ++first_cursor_;
    }
    fills_.push_back(std::move(fill));
    return first_cursor_ + static_cast<std::int64_t>(fills_.size()) - 1;
}

void PaperAccount::restore_fill(std::optional<Handle> handle, PaperFill fill) {
    const std::int64_t cursor = keep_fill(std::move(fill));
    if (handle) {
        orders_[*handle].fills.push_back(cursor);
    }
}

void PaperAccount::set_next_cursor(std::int64_t cursor) {
    CHECK(fills_.empty());
    first_cursor_ = cursor;
}

void PaperAccount::end(Handle handle, std::string_view reason, Timestamp at) {
    PaperOrder& order = orders_[handle];
    CHECK(is_live(order.state));
    release(order, {}, {});
    order.state = OrderState::canceled;
    order.cancel_reason = reason;
    order.updated_at = at;
    stop_living(handle);
    finish(handle);
}

void PaperAccount::start_living(Handle handle) {
    orders_[handle].live_place = live_.size();
    live_.push_back(handle);
}

void PaperAccount::stop_living(Handle handle) {
    const std::size_t place = orders_[handle].live_place;
    live_[place] = live_.back();
    orders_[live_[place]].live_place = place;
    live_.pop_back();
}

void PaperAccount::finish(Handle handle) {
    finished_.push_back(handle);
    if (finished_.size() > listings_.finished_orders_max) {
        drop_oldest_finished();
    }
}

void PaperAccount::drop_oldest_finished() {
    const Handle oldest = finished_.front();
    finished_.pop_front();
    if (const OrderIndex::Place place = place_of(orders_[oldest].client_id.text());
        place.handle == oldest) {
        by_id_.erase(place);
    }
    orders_[oldest].fills.clear();
    unused_.push_back(oldest);
    // By the time it goes too, the next one has long left the cache.
    if (!finished_.empty()) {
        __builtin_prefetch(&orders_[finished_.front()]);
    }
}

std::optional<PaperAccount::Handle> PaperAccount::find(const OrderClientId& id) const {
    const Handle handle = place_of(id.text()).handle;
    return handle == 0 ? std::nullopt : std::optional(handle);
}

std::optional<PaperAccount::Handle> PaperAccount::find_live(const OrderClientId& id) const {
    const auto found = find(id);
    return found && is_live(orders_[*found].state) ? found : std::nullopt;
}

std::vector<PaperAccount::Handle> PaperAccount::live() const {
    std::vector<Handle> handles = live_;
    std::sort(handles.begin(), handles.end(), [&](Handle a, Handle b) {
        return orders_[a].number < orders_[b].number;
    });
    return handles;
}

std::vector<PaperAccount::Handle> PaperAccount::finished() const {
    return {finished_.begin(), finished_.end()};
}

VenueOrder PaperAccount::describe(const PaperOrder& order) const {
    const PaperFilters& filters = listings_.markets[order.market].filters;
    VenueOrder described;
    described.order_client_id = OrderClientId::trusted(std::string(order.client_id.text()));
    described.exchange_order_id = std::to_string(order.number);
    described.symbol = filters.rules().symbol;
    described.side = order.side;
    described.order_type = order.order_type;
    described.time_in_force = order.time_in_force;
    described.post_only = order.post_only;
    described.qty = filters.quantity_of(order.quantity);
    if (order.order_type == OrderType::limit) {
        described.limit_price = filters.price_of(order.price);
    }
    described.state = order.state;
    described.filled_qty = filters.quantity_of(order.filled);
    described.filled_quote = order.filled_quote;
    described.cancel_reason = order.cancel_reason;
    described.updated_at = order.updated_at;
    return described;
}

VenueFill PaperAccount::describe(const PaperFill& fill) const {
    const PaperFilters& filters = listings_.markets[fill.market].filters;
    return {
        .trade_id = fill.trade_id,
        .order_client_id = OrderClientId::trusted(std::string(fill.client_id.text())),
        .exchange_order_id = std::to_string(fill.number),
        .symbol = filters.rules().symbol,
        .side = fill.side,
        .qty = filters.quantity_of(fill.quantity),
        .price = filters.price_of(fill.price),
        .fee = fill.fee,
        .fee_asset = listings_.assets[fill.fee_asset],
        .is_maker = fill.is_maker,
        .at = fill.at};
}

std::vector<VenueFill> PaperAccount::fills_of(Handle handle) const {
    std::vector<VenueFill> fills;
    for (const std::int64_t cursor : orders_[handle].fills) {
        if (cursor >= first_cursor_) {
            fills.push_back(describe(fills_[static_cast<std::size_t>(cursor - first_cursor_)]));
        }
    }
    return fills;
}

Result<void> PaperAccount::report_fills(
    std::int64_t cursor, Timestamp before, std::size_t count_max, VenueReport& report) const {
    report.fills_cursor = cursor;
    const std::int64_t next = first_cursor_ + static_cast<std::int64_t>(fills_.size());
    if (cursor < 0 || cursor >= next) {
        return fail(
            errors::out_of_range,
            "The account's fills are numbered from 1 to " + std::to_string(next - 1) +
                "; the cursor is " + std::to_string(cursor) + ".");
    }
    if (cursor + 1 < first_cursor_) {
        return fail(
            errors::out_of_range,
            "Fills before number " + std::to_string(first_cursor_) + " are no longer kept.");
    }
    for (std::int64_t at = cursor + 1; at < next; ++at) {
        const PaperFill& fill = fills_[static_cast<std::size_t>(at - first_cursor_)];
        if (fill.at > before) {
            break;
        }
        if (report.fills.size() == count_max) {
            report.has_more_fills = true;
            break;
        }
        report.fills.push_back(describe(fill));
        report.fills_cursor = at;
    }
    return {};
}

}  // namespace interlock
