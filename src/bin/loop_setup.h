// The agent loop as the configuration makes it.
#pragma once

#include "adapters/paper/paper_venue.h"
#include "base/result.h"
#include "bin/config.h"
#include "services/loop/loop_service.h"

namespace interlock {

Result<LoopConfig> loop_config(const Config& config, const PaperVenue& paper);

}  // namespace interlock
