// The shadow venue: everything on live prices, and nothing is ever sent.
//
// A submit is answered as though the venue had taken the order, with an empty exchange_order_id and
// no fill; an order that may not rest ends at once with the reason "shadow". What the market was
// then is kept beside the order, and observe() notes when the market would have filled it: at the
// far touch at once, or at its limit when the opposite quote reaches it. comparison() tells a day's
// orders with that. There are no balances here and no fills: a shadow account owns nothing.
//
// With a journal the orders outlive the process (lines `shadow_submitted`, `shadow_reached` and
// `shadow_ended`, docs/contracts/paper-venue.md). Any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "account/ports/venue_history.h"
#include "engine/ports/clock.h"
#include "venues/paper/journal_file.h"

namespace interlock {

// Kept at once; the oldest that ended goes first, and one more open order is refused.
inline constexpr std::size_t kShadowOrdersMax = 10'000;

// A journal beyond this is rewritten with what is kept.
inline constexpr std::int64_t kShadowJournalBytesMax = std::int64_t{16} << 20;

struct ShadowVenueOptions {
    std::string journal_path = {};  // Empty: nothing outlives the process.
    bool sync = true;
    std::int64_t journal_bytes_max = kShadowJournalBytesMax;
    std::size_t orders_max = kShadowOrdersMax;
};

// A would-be order and what would have become of it.
struct ShadowOutcome {
    VenueAccount account;
    VenueOrder order;
    Timestamp submitted_at;
    std::optional<Decimal> bid_then;
    std::optional<Decimal> ask_then;
    std::optional<Decimal> would_fill_price;  // Nothing: the market has not reached it.
    std::optional<Timestamp> would_fill_at;
};
Json encode(const ShadowOutcome& outcome);

class ShadowVenue final : public Venue, public VenueMemory {
public:
    // `feed` and `clock` outlive the venue.
    static Result<std::unique_ptr<ShadowVenue>> open(
        const MarketFeed& feed, Clock& clock, ShadowVenueOptions options);

    // Compares what is open with the market of now.
    Result<void> observe();
    // The would-be orders of the UTC day that holds `day`, oldest first.
    std::vector<ShadowOutcome> comparison(const VenueAccount& account, Timestamp day) const;

    Result<VenueAck> submit(const VenueOrderRequest& request) override;
    Result<VenueOrder> cancel(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<std::vector<VenueOrder>> cancel_all(const VenueAccount& account) override;
    Result<std::optional<VenueOrder>> find_order(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<VenueReport> report(const VenueAccount& account, std::int64_t fills_cursor) override;
    Result<std::vector<VenueFill>> fills_of(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) override;
    Result<VenueHistory> history(const VenueAccount& account) override;
    Result<std::int64_t> clock_skew_ms() override;

private:
    ShadowVenue(const MarketFeed& feed, Clock& clock, ShadowVenueOptions options)
        : feed_(feed), clock_(clock), options_(std::move(options)) {}
    Result<void> take_line(const Json& line);
    ShadowOutcome* find(const VenueAccount& account, const Symbol& symbol, const OrderClientId& id);
    // Makes room for one more; false when all that is kept is open.
    bool make_room();
    void end(ShadowOutcome& outcome, const std::string& reason);
    Result<void> commit();

    const MarketFeed& feed_;
    Clock& clock_;
    ShadowVenueOptions options_;
    mutable std::mutex mutex_;            // Guards everything below.
    std::deque<ShadowOutcome> outcomes_;  // Oldest first.
    std::unique_ptr<JournalFile> file_;
    std::vector<Json> batch_;
    std::int64_t compacted_size_ = 0;
};

}  // namespace interlock
