// A venue: where orders really go. The paper exchange, the shadow book and a live exchange keep the
// same promises; conformance/ports/venue_suite.h holds every implementation to these words.
//
// Blocking; one call at a time per venue account. An Error of submit() or cancel() means *unknown*
// (I4) unless it is `venue_rejected`: then the venue said no and nothing happened.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "account/wire/venue_order.h"
#include "base/result.h"
#include "market/wire/candle.h"
#include "market/wire/market_facts.h"
#include "market/wire/timeframe_signals.h"

namespace interlock {

namespace errors {
// The message begins with the reason code: "insufficient_balance: …", "would_take: …",
// "filter_lot_size: …", "market_closed: …", "duplicate_order: …", "unknown_order: …".
inline constexpr ErrorKind venue_rejected{
    "venue_rejected", 409, false, "Read the venue's reason; plan anew on current facts."};
inline constexpr ErrorKind venue_timeout{
    "venue_timeout", 504, false, "Verify the order before anything else; it may be live."};
inline constexpr ErrorKind venue_unreachable{
    "venue_unreachable", 503, true, "Wait until the venue answers again."};
}  // namespace errors

// The reason code of a `venue_rejected` error: what stands before the first colon.
std::string_view reject_code_of(const Error& error);

class Venue {
public:
    virtual ~Venue() = default;

    // At most one order ever comes of one order_client_id that is live; a second submit with the
    // same id while the first is open is refused as duplicate_order.
    virtual Result<VenueAck> submit(const VenueOrderRequest& request) = 0;
    // The order after the cancel. `unknown_order` when nothing of that id is open.
    virtual Result<VenueOrder> cancel(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) = 0;
    // Cancels everything open on the account; gives what is still open afterwards.
    virtual Result<std::vector<VenueOrder>> cancel_all(const VenueAccount& account) = 0;

    // Nothing: the venue does not know the id (yet).
    virtual Result<std::optional<VenueOrder>> find_order(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) = 0;
    virtual Result<VenueReport> report(const VenueAccount& account, std::int64_t fills_cursor) = 0;
    // Fills of one order, however old; empty when it has none.
    virtual Result<std::vector<VenueFill>> fills_of(
        const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) = 0;
    // Milliseconds by which the venue's clock is ahead of ours.
    virtual Result<std::int64_t> clock_skew_ms() = 0;
};

// Where market facts come from. Any thread; never blocks on the network.
class MarketFeed {
public:
    virtual ~MarketFeed() = default;
    virtual std::vector<Symbol> symbols() const = 0;
    // Facts as of now, for those of the symbols that exist. Statistics are quantised
    // (agent-loop.md#market-facts). Depth is told of those that are in `deep` as well: it is much,
    // and only who rehearses an order needs it.
    virtual MarketSet deep_facts(
        std::span<const Symbol> symbols, std::span<const Symbol> deep) const = 0;
    MarketSet facts(std::span<const Symbol> symbols) const { return deep_facts(symbols, {}); }
    // What the closed candles of these timeframes say, ascending and each once. Empty for a symbol
    // that does not exist; a feed that keeps no candles is always empty.
    virtual MarketSignals signals(
        const Symbol& symbol, std::span<const Timeframe> timeframes) const = 0;
    // The latest closed candles, oldest first, at most kCandlesKept of market/rules/candle_book.h.
    // Empty for a symbol that does not exist; a feed that keeps none is always empty.
    virtual std::vector<Candle> candles(const Symbol& symbol, Timeframe timeframe) const {
        static_cast<void>(symbol);
        static_cast<void>(timeframe);
        return {};
    }
    // A quantile of the latest Bollinger bandwidths; nothing for a symbol that does not exist, with
    // too few candles, or from a feed that keeps none.
    virtual std::optional<Decimal> bandwidth_quantile(
        const Symbol& symbol, const BandwidthWish& wish) const {
        static_cast<void>(symbol);
        static_cast<void>(wish);
        return std::nullopt;
    }
};

}  // namespace interlock
