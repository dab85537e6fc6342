// What the venue tests stand on: a venue with one funded account and a market that stands still,
// and the way to close it and open it again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "account/ports/venue.h"

namespace interlock {

// One venue under test. Its market is ABCUSDT of testing/scripted_market.h, quoted 99.99 to 100.01
// with 2 ABC on each of three levels a side; account() holds 10,000 USDT and 50 ABC and other() the
// same.
class VenueHarness {
public:
    virtual ~VenueHarness() = default;
    virtual Venue& venue() = 0;
    virtual VenueAccount account() const = 0;
    virtual VenueAccount other() const = 0;
    // Closes the venue and opens it again where it can be; the same venue otherwise.
    virtual void reopen() = 0;
    // Lets the market trade `volume` lots at `price` ticks, sold into the bids, at a new moment.
    virtual void sell_into_bids(std::int64_t price, std::int64_t volume) = 0;
};

struct VenueKind {
    std::string name;
    std::function<std::unique_ptr<VenueHarness>()> make;
};

}  // namespace interlock
