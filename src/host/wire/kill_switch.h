// The kill switch on the wire: `py_set_kill_switch` and our own `/kill`.
// docs/contracts/kill-switch.md is the table of these fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "engine/wire/ids.h"
#include "host/wire/blocked.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind kill_switch_active{
    "kill_switch_active",
    423,
    false,
    "Nothing trades until a human approves the release of the kill switch."};
inline constexpr ErrorKind approval_required{
    "approval_required",
    403,
    false,
    "Ask a human of this tenant to approve the pending request, then read the state again."};
inline constexpr ErrorKind release_blocked{
    "release_blocked", 409, true, "Settle what the message names, then approve the release again."};
}  // namespace errors

// Where an activation came from; kept in the record so that a drill and an emergency differ.
enum class KillCause { agent, human, host_operator, file, rule };
std::string_view to_word(KillCause cause);

struct SetKillSwitch {
    bool active = true;
    std::string reason;
    // The tool's correlation ids; absent on `/kill`, where an emergency must cost no friction.
    DecisionId decision_id;
    TickId tick_id;
    std::optional<IdempotencyKey> idempotency_key;
    std::string claimed_actor;  // As the caller put it; the server records the real principal.
    // Of a release: the same approval lets trading go on. Otherwise it stays off until a human
    // enables it.
    bool enable_trading = false;
};

// `py_set_kill_switch`: all six fields required, unknown ones refused.
Result<SetKillSwitch> decode_py_set_kill_switch(const Json& json);
// `POST /kill`: `active` required; reason, idempotency_key and enable_trading optional.
Result<SetKillSwitch> decode_set_kill(const Json& json);

Json py_set_kill_switch_schema();
Json py_set_kill_switch_answer_schema();
Json set_kill_schema();
Json kill_status_schema();

// What `GET /kill` tells.
struct KillStatus {
    bool active = false;  // Effective: the tenant's own switch or the global one.
    bool tenant_active = false;
    bool global_active = false;
    std::string reason;  // Of the switch that is on (global first); empty when off.
    std::string by;
    std::optional<Timestamp> since;
    std::optional<ApprovalId> release_approval_id;  // Pending release, if any.
    std::optional<Blocked> blocked;                 // Nothing: it may trade.
    std::vector<std::string> warnings;              // What makes orders smaller.
    std::string audit_ref;  // Of the latest change; empty when there was none.
};
Json encode(const KillStatus& status);

// The answer of `py_set_kill_switch`.
struct PyKillAnswer {
    bool ok = true;
    bool kill_switch_active = false;
    Json errors = Json::array();
    std::string audit_ref;
};
Json encode(const PyKillAnswer& answer);

}  // namespace interlock
