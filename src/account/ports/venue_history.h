// What a venue remembers, asked after a restore: our own records are then older than the venue's.
#pragma once

#include <vector>

#include "account/ports/venue.h"

namespace interlock {

// Every order that a venue remembers of an account.
struct VenueHistory {
    std::vector<VenueOrder> orders;  // Finished ones first, each part oldest first.
    bool is_whole = true;            // False: older finished ones are forgotten.
};

class VenueMemory {
public:
    virtual ~VenueMemory() = default;
    virtual Result<VenueHistory> history(const VenueAccount& account) = 0;
};

}  // namespace interlock
