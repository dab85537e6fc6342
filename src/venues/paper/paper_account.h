// One account at the paper exchange: balances, orders and fills, and how money moves between them.
//
// An order locks what it may cost; a fill turns locked money into the other asset less the fee; the
// end of an order frees what is still locked. Nothing else changes a balance. Finished orders and
// fills are kept up to a bound, the oldest go first. Knows nothing of matching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "account/wire/venue_order.h"
#include "market/rules/matching/order_index.h"
#include "venues/paper/paper_filters.h"

namespace interlock {

struct PaperFees {
    std::int64_t maker_ppm = 1000;  // Millionths of what is received: 1000 is 10 bps.
    std::int64_t taker_ppm = 1000;
    // Fees are taken from what is received: base on buys, quote on sells. True: quote on both.
    bool always_quote = false;
};

// A market as accounts see it; `base` and `quote` are places in the list of assets.
struct PaperListing {
    PaperFilters filters;
    std::size_t base = 0;
    std::size_t quote = 0;
};

// What all accounts share; outlives them and only grows.
struct PaperListings {
    std::vector<PaperListing> markets;
    std::vector<Asset> assets;
    PaperFees fees;
    std::size_t finished_orders_max = 0;
    std::size_t fills_max = 0;
};

// A client's order id, held in place: looking one up touches no other memory.
class PaperOrderId {
public:
    static constexpr std::size_t kLengthMax = 36;
    PaperOrderId() = default;
    // CHECKs the length; the exchange refuses longer ids before.
    explicit PaperOrderId(std::string_view text);
    std::string_view text() const { return {text_, length_}; }
    friend bool operator==(const PaperOrderId& a, const PaperOrderId& b) {
        return a.text() == b.text();
    }

private:
    char text_[kLengthMax] = {};
    std::uint8_t length_ = 0;
};

struct PaperOrder {
    PaperOrderId client_id;
    std::int64_t number = 0;  // The exchange's id.
    std::size_t market = 0;
    Side side = Side::buy;
    OrderType order_type = OrderType::limit;
    TimeInForce time_in_force = TimeInForce::gtc;
    bool post_only = false;
    OrderState state = OrderState::resting;
    std::string_view cancel_reason;  // A constant.
    Ticks price;                     // Zero for a market order.
    Lots quantity;
    Lots filled;
    Decimal filled_quote;
    Decimal locked;
    Timestamp updated_at;
    std::vector<std::int64_t> fills;  // Their cursors.
    std::size_t live_place = 0;       // Kept by PaperAccount.
};

struct PaperFill {
    PaperOrderId client_id;
    std::int64_t trade_id = 0;
    std::int64_t number = 0;
    std::size_t market = 0;
    Side side = Side::buy;
    Lots quantity;
    Ticks price;
    Decimal fee;
    std::size_t fee_asset = 0;
    bool is_maker = false;
    Timestamp at;
};

class PaperAccount {
public:
    using Handle = std::uint32_t;

    PaperAccount(VenueAccount name, const PaperListings& listings);
    PaperAccount(const PaperAccount&) = delete;
    PaperAccount& operator=(const PaperAccount&) = delete;

    const VenueAccount& name() const { return name_; }
    void set_balance(std::size_t asset, Decimal free, Decimal locked);
    std::vector<VenueBalance> balances() const;

    // What an order of these terms locks, and in which asset.
    struct Reserve {
        std::size_t asset = 0;
        Decimal amount;
    };
    Reserve reserve_of(const PaperOrder& order) const;
    // What a market order of this cost locks.
    Reserve reserve_of_cost(const PaperOrder& order, Decimal cost) const;
    bool has_free(const Reserve& reserve) const;

    // Takes the order in and locks the reserve, which the caller saw to be free.
    Handle add(const PaperOrder& order, const Reserve& reserve);
    // As it stood in a snapshot: money is where it belongs already.
    Handle add_restored(const PaperOrder& order);
    // Takes back an order that the book refused.
    void forget(Handle handle);

    struct Execution {
        std::int64_t trade_id = 0;
        Ticks price;
        Lots quantity;
        bool is_maker = false;
        Timestamp at;
        std::optional<Decimal> fee;  // Nothing: by the fees in force.
    };
    const PaperFill& fill(Handle handle, const Execution& execution);
    void end(Handle handle, std::string_view reason, Timestamp at);
    // A fill whose order may no longer be kept.
    void restore_fill(std::optional<Handle> handle, PaperFill fill);
    void set_next_cursor(std::int64_t cursor);

    const PaperOrder& order(Handle handle) const { return orders_[handle]; }
    // The newest order of that id; nothing when it is not known or no longer kept.
    std::optional<Handle> find(const OrderClientId& id) const;
    std::optional<Handle> find_live(const OrderClientId& id) const;
    std::vector<Handle> live() const;      // By number.
    std::vector<Handle> finished() const;  // In the order they finished.
    std::size_t live_count() const { return live_.size(); }

    VenueOrder describe(const PaperOrder& order) const;
    VenueFill describe(const PaperFill& fill) const;
    std::vector<VenueFill> fills_of(Handle handle) const;
    // At most `count_max` fills after the cursor and not after `before`; fails with out_of_range
    // when some of them are no longer kept.
    Result<void> report_fills(
        std::int64_t cursor, Timestamp before, std::size_t count_max, VenueReport& report) const;
    const std::deque<PaperFill>& kept_fills() const { return fills_; }
    std::int64_t first_cursor() const { return first_cursor_; }

private:
    struct Balance {
        Decimal free;
        Decimal locked;
    };
    Balance& balance(std::size_t asset);
    Decimal fee_of(Decimal amount, bool is_maker) const;
    Decimal lock_of(const PaperOrder& order, Lots left) const;
    void settle(PaperOrder& order, PaperFill& fill, const std::optional<Decimal>& fee);
    void release(PaperOrder& order, Decimal still_locked, Decimal spent);
    OrderIndex::Place place_of(std::string_view id) const;
    void put_in_index(Handle handle);
    void start_living(Handle handle);
    void stop_living(Handle handle);
    void finish(Handle handle);
    std::int64_t keep_fill(PaperFill fill);
    void drop_oldest_finished();

    VenueAccount name_;
    const PaperListings& listings_;
    std::vector<Balance> balances_;
    std::vector<PaperOrder> orders_;  // By handle; places are used again, the first never.
    std::vector<Handle> unused_;
    std::deque<Handle> finished_;
    std::vector<Handle> live_;
    OrderIndex by_id_;  // The newest order of each id.
    std::deque<PaperFill> fills_;
    std::int64_t first_cursor_ = 1;  // The cursor of fills_.front(), or of the next fill.
};

}  // namespace interlock
