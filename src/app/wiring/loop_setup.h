// How the configuration sets up trading.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/wiring/config.h"
#include "loop/service/loop_service.h"
#include "venues/paper/paper_venue.h"
#include "venues/shadow/shadow_venue.h"

namespace interlock {

Result<LoopConfig> loop_config_of(const Config& config, std::vector<Symbol> universe);

// The venues of a server, with their journals in its data folder.
struct VenueSetup {
    std::unique_ptr<PaperVenue> paper;
    std::unique_ptr<ShadowVenue> shadow;  // Looks at paper's market.

    std::map<TradeMode, Venue*> all() const;
    std::map<TradeMode, VenueMemory*> memories() const;
    // The next order of the tenant's paper account gets no answer; for the demo.
    Result<void> lose_next_answer(const TenantId& tenant_id);
};
// `clock` outlives them.
Result<VenueSetup> open_venues(const Config& config, const std::string& data_folder, Clock& clock);

}  // namespace interlock
