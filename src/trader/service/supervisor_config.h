// How the supervisor runs; set by the configuration of the server.
#pragma once

#include <set>

#include "engine/wire/ids.h"
#include "trader/rules/supervisor/supervisor_facts.h"

namespace interlock {

struct SupervisorConfig {
    bool enabled = false;
    bool allow_actions = false;  // False: decides and records, dispatches nothing.
    Duration every = Duration::of_seconds(60);
    SupervisorPolicy policy = {};
    std::set<TenantId> tenants = {};  // Empty: every tenant.
};

}  // namespace interlock
