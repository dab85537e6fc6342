// Who is told of each change at the paper exchange, in the order of the changes and before anyone
// else hears of them: the journal.
#pragma once

#include <span>

#include "account/wire/venue_order.h"

namespace interlock {

class PaperRecorder {
public:
    virtual ~PaperRecorder() = default;
    virtual void on_opened(const VenueAccount& account, std::span<const VenueBalance> balances) = 0;
    // As it came in: nothing filled yet.
    virtual void on_accepted(const VenueAccount& account, const VenueOrder& order) = 0;
    virtual void on_filled(const VenueAccount& account, const VenueFill& fill) = 0;
    // Cancelled with a reason. An order whose fills reach its quantity has ended by itself.
    virtual void on_ended(const VenueAccount& account, const VenueOrder& order) = 0;
};

}  // namespace interlock
