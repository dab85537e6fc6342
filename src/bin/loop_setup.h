// How the configuration sets up trading.
#pragma once

#include <vector>

#include "bin/config.h"
#include "services/loop/loop_service.h"

namespace interlock {

Result<LoopConfig> loop_config_of(const Config& config, std::vector<Symbol> universe);

}  // namespace interlock
