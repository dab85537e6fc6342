// A trade as the ledger keeps it: the `detail` of FILL_BOOKED. Beside what the venue said it names
// the account whose books took it, and what one unit of a fee in a third asset was worth then;
// neither can be found out later (pnl.md#how-it-is-reckoned).
#pragma once

#include <optional>
#include <string_view>

#include "account/wire/venue_order.h"
#include "base/json.h"

namespace interlock {

inline constexpr std::string_view kFillBookedEvent = "FILL_BOOKED";

struct BookedFill {
    VenueAccount account;
    VenueFill fill;
    // Quote per unit; nothing when there was no price, or when the fee is in base or quote.
    std::optional<Decimal> fee_price;
    friend bool operator==(const BookedFill&, const BookedFill&) = default;
};

Json encode(const BookedFill& booked);
// Reads past what a booking adds for people (`realized`, `fee_quote`).
Result<BookedFill> decode_booked_fill(const Json& detail);

}  // namespace interlock
