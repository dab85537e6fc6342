// Who is asking. Every turn carries a Principal; agents never approve.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/wire/audit_record.h"
#include "engine/wire/ids.h"

namespace interlock {

enum class PrincipalKind {
    host_operator,  // The operator socket or token: runs the host, approves nothing.
    human,          // Logged in with a password (and a one-time code, if set up).
    agent,          // An access key.
    internal,       // The program itself: timers, recovery, automatic rules.
};

// What an access key may do. A human or the operator needs no scope; the access table names them.
enum class Scope { planner, supervisor, bot, read, probe };

std::string_view to_word(PrincipalKind kind);
std::string_view to_word(Scope scope);
Result<Scope> parse_scope(std::string_view word);
// All scopes, in declaration order.
const std::vector<Scope>& all_scopes();

struct Principal {
    PrincipalKind kind = PrincipalKind::internal;
    std::string id;              // key_id, human_id, "local", or the internal rule's name.
    std::set<TenantId> tenants;  // Where an agent or human belongs; unused for the operator.
    std::set<Scope> scopes;      // Agents only.
    SessionId session_id;        // Humans only.
    Timestamp authenticated_at;  // Humans: when the password was last given.

    bool belongs_to(const TenantId& tenant) const { return tenants.contains(tenant); }
};

// "agent:key_…", "human:hum_…", "operator:local", "internal:recovery": as the ledger names it.
std::string to_text(const Principal& principal);

// The `actor` in the records of this principal: a planner is codex, a person human, the rest
// python.
AuditActor actor_of(const Principal& principal);

Principal internal_principal(std::string rule);

}  // namespace interlock
