#include "venues/paper/paper_book.h"

#include <algorithm>

#include "base/check.h"

namespace interlock {
namespace {

// Ids of quotes lie above all ids of orders.
constexpr std::uint64_t kQuoteIds = std::uint64_t{1} << 40;
constexpr BookOwner kOwner{1};
// An account has a book for each market it trades in: small, for there are thousands of them.
constexpr std::size_t kWindowTicks = 512;

constexpr BookSide opposite(BookSide side) {
    return side == BookSide::buy ? BookSide::sell : BookSide::buy;
}
bool is_quote(BookOrderId id) {
    return static_cast<std::uint64_t>(id) > kQuoteIds;
}
std::uint32_t order_of(BookOrderId id) {
    return static_cast<std::uint32_t>(id);
}
// Whether a taker of this side and limit may trade at the price.
bool reaches(BookSide taker, Ticks limit, Ticks price) {
    return taker == BookSide::buy ? price <= limit : price >= limit;
}
// Whether `price` comes before `other` among resting orders of the side.
bool is_better(BookSide side, Ticks price, Ticks other) {
    return side == BookSide::buy ? price > other : price < other;
}
const std::vector<MarketLevel>& quotes_against(BookSide side, const MarketView& view) {
    return side == BookSide::buy ? view.asks : view.bids;
}

}  // namespace

// Turns what the engine says into events of our own orders, and counts what quotes gave.
class PaperBook::Sink {
public:
    Sink(PaperBook& book, std::vector<PaperBookEvent>& events) : book_(book), events_(events) {}

    void on(const BookAccepted& accepted) {
        if (!is_quote(accepted.id)) {
            events_.push_back({.order = order_of(accepted.id)});
        }
    }
    void on(const BookTrade& trade) {
        traded_ += trade.quantity;
        const bool is_maker = is_quote(trade.taker);
        events_.push_back(
            {.kind = PaperBookEvent::Kind::filled,
             .is_maker = is_maker,
             .order = order_of(is_maker ? trade.maker : trade.taker),
             .price = trade.price,
             .quantity = trade.quantity});
        if (!is_maker) {
            book_.note_taken(trade.taker_side, trade.price, trade.quantity);
        }
    }
    void on(const BookCancelled& cancelled) {
        if (!is_quote(cancelled.id)) {
            events_.push_back(
                {.kind = PaperBookEvent::Kind::ended,
                 .cause = cancelled.cause,
                 .order = order_of(cancelled.id),
                 .quantity = cancelled.quantity});
        }
    }
    void on(const BookRejected& rejected) {
        if (!is_quote(rejected.id)) {
            events_.push_back(
                {.kind = PaperBookEvent::Kind::refused,
                 .refusal = rejected.reason,
                 .order = order_of(rejected.id)});
        }
    }
    Lots traded() const { return traded_; }

private:
    PaperBook& book_;
    std::vector<PaperBookEvent>& events_;
    Lots traded_;
};

PaperBook::PaperBook(
    std::size_t orders_max, BookSelfTrade self_trade, std::pmr::memory_resource& far_memory)
    // Room for our own orders and, for the length of a call, one side of the market's quotes.
    : engine_(
          {.orders_max = orders_max + kMarketLevelsMax + 1,
           .levels_max = orders_max + kMarketLevelsMax + 1,
           .orders_expected = 16,
           .window_ticks = kWindowTicks},
          far_memory),
      self_trade_(self_trade),
      quote_ids_(kQuoteIds) {
    // A trade with oneself would have two sides of ours, and events know of one.
    CHECK(self_trade != BookSelfTrade::none);
}

void PaperBook::sync(const MarketView& view) {
    if (view.at != moment_) {
        moment_ = view.at;
        taken_bids_.clear();
        taken_asks_.clear();
    }
}

Lots PaperBook::taken_at(BookSide side, Ticks price) const {
    for (const MarketLevel& level : side == BookSide::buy ? taken_asks_ : taken_bids_) {
        if (level.price == price) {
            return level.quantity;
        }
    }
    return {};
}

void PaperBook::note_taken(BookSide side, Ticks price, Lots quantity) {
    std::vector<MarketLevel>& taken = side == BookSide::buy ? taken_asks_ : taken_bids_;
    for (MarketLevel& level : taken) {
        if (level.price == price) {
            level.quantity += quantity;
            return;
        }
    }
    taken.push_back({price, quantity});
}

PaperBook::Cost PaperBook::cost_of(BookSide side, Lots quantity, const MarketView& view) {
    sync(view);
    Cost cost;
    for (const MarketLevel& level : quotes_against(side, view)) {
        const Lots wanted = quantity - cost.quantity;
        if (wanted.count <= 0) {
            break;
        }
        const Lots free = level.quantity - taken_at(side, level.price);
        const Lots part = std::min(wanted, free);
        if (part.count > 0) {
            cost.quantity += part;
            cost.tick_lots += static_cast<__int128>(level.price.count) * part.count;
        }
    }
    return cost;
}

bool PaperBook::would_take(BookSide side, Ticks price, const MarketView& view) const {
    const std::vector<MarketLevel>& quotes = quotes_against(side, view);
    if (!quotes.empty() && reaches(side, price, quotes.front().price)) {
        return true;
    }
    const auto own = engine_.best(opposite(side));
    return own && reaches(side, price, own->price);
}

void PaperBook::quote_levels(const Order& order, const MarketView& view) {
    std::vector<PaperBookEvent> unused;
    Lots wanted = order.quantity;
    for (const MarketLevel& level : quotes_against(order.side, view)) {
        const bool in_reach =
            order.kind == BookOrderKind::market || reaches(order.side, order.price, level.price);
        if (!in_reach || wanted.count <= 0) {
            return;
        }
        const Lots free =
            std::min(kBookLotsMax, level.quantity - taken_at(order.side, level.price));
        if (free.count <= 0) {
            continue;
        }
        quoted_.push_back(next_quote_id());
        Sink sink(*this, unused);
        engine_.submit(
            {.id = quoted_.back(),
             .price = level.price,
             .quantity = free,
             .side = opposite(order.side)},
            sink);
        // Quotes that cross orders of ours were used up by meet(); see the header.
        CHECK(sink.traded().count == 0);
        wanted -= free;
    }
}

void PaperBook::withdraw_quotes() {
    std::vector<PaperBookEvent> unused;
    Sink sink(*this, unused);
    for (const BookOrderId id : quoted_) {
        engine_.cancel(id, sink);
    }
    quoted_.clear();
}

void PaperBook::queue_behind(const Order& order, const MarketView& view) {
    const auto& same_side = order.side == BookSide::buy ? view.bids : view.asks;
    for (const MarketLevel& level : same_side) {
        if (level.price != order.price) {
            continue;
        }
        if (engine_.depth_at(order.side, order.price).count == 0) {
            return;  // It did not come to rest.
        }
        for (Ahead& ahead : ahead_) {
            if (ahead.price == order.price && ahead.side == order.side) {
                // Orders of ours at one price share one place: the later one's.
                ahead.quantity = std::max(ahead.quantity, level.quantity);
                return;
            }
        }
        ahead_.push_back({order.price, order.side, level.quantity});
        return;
    }
}

void PaperBook::enter(
    const Order& order, const MarketView& view, std::vector<PaperBookEvent>& events) {
    sync(view);
    quote_levels(order, view);
    Sink sink(*this, events);
    engine_.submit(
        {.id = BookOrderId{order.id},
         .price = order.price,
         .quantity = order.quantity,
         .owner = kOwner,
         .side = order.side,
         .kind = order.kind,
         .time_in_force = order.time_in_force,
         .self_trade = self_trade_},
        sink);
    withdraw_quotes();
    if (order.time_in_force == BookTimeInForce::gtc && order.kind != BookOrderKind::market) {
        queue_behind(order, view);
    }
}

void PaperBook::restore(const Order& order, const MarketView& view) {
    std::vector<PaperBookEvent> unused;
    Sink sink(*this, unused);
    engine_.submit(
        {.id = BookOrderId{order.id},
         .price = order.price,
         .quantity = order.quantity,
         .owner = kOwner,
         .side = order.side},
        sink);
    CHECK(sink.traded().count == 0);
    queue_behind(order, view);
    // What the market of this moment did to the order is recorded already. Quotes that reach it are
    // spent; those of the next moment will meet it.
    sync(view);
    for (const MarketLevel& quote : quotes_against(order.side, view)) {
        const Lots free = quote.quantity - taken_at(order.side, quote.price);
        if (reaches(order.side, order.price, quote.price) && free.count > 0) {
            note_taken(order.side, quote.price, free);
        }
    }
}

void PaperBook::cancel(std::uint32_t order, std::vector<PaperBookEvent>& events) {
    Sink sink(*this, events);
    engine_.cancel(BookOrderId{order}, sink);
    std::erase_if(ahead_, [&](const Ahead& ahead) {
        return engine_.depth_at(ahead.side, ahead.price).count == 0;
    });
}

Lots PaperBook::sweep(
    BookSide side, const MarketLevel& volume, std::vector<PaperBookEvent>& events) {
    Sink sink(*this, events);
    engine_.submit(
        {.id = next_quote_id(),
         .price = volume.price,
         .quantity = volume.quantity,
         .side = side,
         .time_in_force = BookTimeInForce::ioc},
        sink);
    return sink.traded();
}

Lots PaperBook::hit(BookSide side, const MarketLevel& volume, std::vector<PaperBookEvent>& events) {
    const auto best = engine_.best(side);
    if (!best || is_better(side, volume.price, best->price)) {
        return {};
    }
    const Lots offered = std::min(volume.quantity, kBookLotsMax);
    Lots left = offered;
    if (is_better(side, best->price, volume.price)) {
        // The market went through these prices, so nothing stands ahead of us there any more.
        std::erase_if(ahead_, [&](const Ahead& ahead) {
            return ahead.side == side && is_better(side, ahead.price, volume.price);
        });
        const Ticks inside{volume.price.count + (side == BookSide::buy ? 1 : -1)};
        left -= sweep(opposite(side), {inside, left}, events);
    }
    if (left.count == 0 || engine_.depth_at(side, volume.price).count == 0) {
        return offered - left;
    }
    for (Ahead& ahead : ahead_) {
        if (ahead.side == side && ahead.price == volume.price) {
            const Lots absorbed = std::min(ahead.quantity, left);
            ahead.quantity -= absorbed;
            left -= absorbed;
        }
    }
    if (left.count > 0) {
        left -= sweep(opposite(side), {volume.price, left}, events);
    }
    return offered - left;
}

void PaperBook::meet(const MarketView& view, std::vector<PaperBookEvent>& events) {
    sync(view);
    if (view.halted) {
        return;
    }
    for (const MarketTrade& trade : view.trades) {
        hit(opposite(trade.taker), {trade.price, trade.quantity}, events);
    }
    for (const BookSide side : {BookSide::buy, BookSide::sell}) {
        for (const MarketLevel& quote : quotes_against(side, view)) {
            const auto best = engine_.best(side);
            if (!best || is_better(side, quote.price, best->price)) {
                break;
            }
            const Lots free = quote.quantity - taken_at(side, quote.price);
            if (free.count > 0) {
                note_taken(side, quote.price, hit(side, {quote.price, free}, events));
            }
        }
    }
    std::erase_if(ahead_, [&](const Ahead& ahead) {
        return engine_.depth_at(ahead.side, ahead.price).count == 0;
    });
}

}  // namespace interlock
