// Who may do what, as one pure function over one kind of rule. Every operation carries an Access;
// the HTTP and MCP faces ask here and nowhere else, and a test walks all operations × all
// principals.
#pragma once

#include <optional>

#include "engine/wire/principal.h"

namespace interlock {

struct Access {
    enum class Place {
        host,    // No tenant in the path.
        tenant,  // `{tenant_id}`: the caller must belong to it (the operator may name any).
    };
    Place place = Place::tenant;
    bool anyone = false;  // No credential needed (health, login).
    bool host_operator = false;
    bool human = false;
    std::optional<Scope> agent = std::nullopt;  // An access key with this scope, or
    bool agent_with_any_scope = false;          // any valid access key.
    // One with this scope as well, where the path names an instance that a bot keeps.
    std::optional<Scope> agent_of_bot = std::nullopt;
    // Operations on `_system` (global switch, host audit): operator, and humans who belong to it.
    bool system_tenant = false;
    // Something that changes a tenant and is open to a human whose vote rests after a recovery:
    // stopping, refusing and taking back, nothing that gives.
    bool human_at_rest = false;
};

enum class AccessVerdict {
    allowed,
    unauthenticated,  // No or bad credential, or a tenant that is not the caller's (I7).
    forbidden,        // A known caller without the right.
    no_such_tenant,   // Told to the operator only, who may list tenants anyway.
    vote_rests,       // A human whose login was recovered a short while ago.
};

struct AccessQuestion {
    const Principal* principal = nullptr;           // Null: no valid credential was given.
    std::optional<TenantId> tenant = std::nullopt;  // From the path.
    bool tenant_exists = false;
    bool changes = false;     // The operation is more than a look.
    bool is_of_bot = false;   // The path names an instance that a bot keeps.
    bool vote_rests = false;  // Of the human who asks.
};

AccessVerdict decide_access(const Access& access, const AccessQuestion& question);

}  // namespace interlock
