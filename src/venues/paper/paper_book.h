// One account's orders on one market, and the market as that account meets it.
//
// Tenants share prices and never match each other: a book holds the orders of one account alone.
// What it trades with is the liquidity of the market model. An order that takes meets the quotes of
// the moment, each of which one account can take once; self-trade prevention guards it against
// orders of its own. An order that rests is filled only by what the market does afterwards: by
// trades and quotes that go through its price up to their volume, or at its price once the volume
// that stood there before it has traded. Cancellations ahead of it are not credited.
//
// All matching is done by the engine in market/rules/matching: quotes enter it for the length of
// one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "market/rules/market_model.h"
#include "market/rules/matching/matching_engine.h"

namespace interlock {

// What happened to an order of ours, in the order it happened.
struct PaperBookEvent {
    enum class Kind : std::uint8_t { accepted, refused, filled, ended };
    Kind kind = Kind::accepted;
    bool is_maker = false;
    BookRefusal refusal = BookRefusal::bad_price;
    BookCancelCause cause = BookCancelCause::by_user;
    std::uint32_t order = 0;
    Ticks price = {};
    Lots quantity = {};
};

class PaperBook {
public:
    struct Order {
        std::uint32_t id = 0;  // Unique among the orders that rest here.
        BookSide side = BookSide::buy;
        BookOrderKind kind = BookOrderKind::limit;
        BookTimeInForce time_in_force = BookTimeInForce::gtc;
        Ticks price = {};
        Lots quantity = {};
    };
    struct Cost {
        Lots quantity;
        __int128 tick_lots = 0;  // Σ price × quantity.
    };

    // `far_memory` outlives the book; it serves prices far from the others.
    PaperBook(
        std::size_t orders_max,
        BookSelfTrade self_trade,
        std::pmr::memory_resource& far_memory = *std::pmr::new_delete_resource());

    // Events are appended to `events`.
    void enter(const Order& order, const MarketView& view, std::vector<PaperBookEvent>& events);
    void cancel(std::uint32_t order, std::vector<PaperBookEvent>& events);
    // Lets the market of a new moment fill what rests.
    void meet(const MarketView& view, std::vector<PaperBookEvent>& events);
    // Puts an order back that rested before a restart; it stands behind what is quoted now, and the
    // market meets it from the next moment on.
    void restore(const Order& order, const MarketView& view);

    // What a market order of this size would trade now.
    Cost cost_of(BookSide side, Lots quantity, const MarketView& view);
    // Whether a limit of this price would trade with a quote or with an order of ours.
    bool would_take(BookSide side, Ticks price, const MarketView& view) const;
    std::size_t resting() const { return engine_.resting_orders(); }

private:
    class Sink;
    // Volume of others that must trade at a price before ours is reached.
    struct Ahead {
        Ticks price;
        BookSide side = BookSide::buy;
        Lots quantity;
    };

    void sync(const MarketView& view);
    Lots taken_at(BookSide side, Ticks price) const;
    void note_taken(BookSide side, Ticks price, Lots quantity);
    void quote_levels(const Order& order, const MarketView& view);
    void withdraw_quotes();
    void queue_behind(const Order& order, const MarketView& view);
    // A volume of the market reaches our orders of `side`; gives what of it was used up.
    Lots hit(BookSide side, const MarketLevel& volume, std::vector<PaperBookEvent>& events);
    Lots sweep(BookSide side, const MarketLevel& volume, std::vector<PaperBookEvent>& events);
    BookOrderId next_quote_id() { return BookOrderId{++quote_ids_}; }

    MatchingEngine engine_;
    BookSelfTrade self_trade_;
    std::uint64_t quote_ids_;
    Timestamp moment_;
    // What this account took of the quotes of the moment.
    std::vector<MarketLevel> taken_bids_;
    std::vector<MarketLevel> taken_asks_;
    std::vector<BookOrderId> quoted_;
    std::vector<Ahead> ahead_;
};

}  // namespace interlock
