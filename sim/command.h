// What a caller sends to the server, and the people and agents who send it.
//
// One Command may be delivered more than once: that is what networks and retrying agents do. Each
// delivery has a number of its own and gets at most one reply.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/wire/principal.h"
#include "engine/wire/probe.h"
#include "host/service/kill_switch_service.h"
#include "host/wire/approval.h"
#include "host/wire/kill_switch.h"

namespace interlock::sim {

struct Command {
    enum class Kind {
        probe,
        kill_on,
        kill_off,
        kill_status,
        list_approvals,
        get_approval,
        approve,
        reject,
        tool,
        control,  // A supervisor's decision; `body` is the payload.
        helper,   // A person's call around strategies: `tool`, about `strategy_id`.
        bot,      // A call around a tenant's maker bot: `tool` with `body`.
    };
    Kind kind = Kind::probe;
    TenantId tenant_id;
    Principal principal;
    ProbeRequest probe;
    SetKillSwitch kill;
    KillSwitchService::Form form = KillSwitchService::Form::plain;
    ApprovalId approval_id;
    ApprovalDecision decision;
    std::string tool;         // One of the planner's; `body` is what it sends.
    std::string strategy_id;  // What a helper is about; a concern for set_concern.
    Json body;
    std::string request_hash;
    Timestamp sent_at;
};
std::string_view to_word(Command::Kind kind);

// The idempotency scope of a command; nothing when it has no key.
std::optional<AnswerKey> answer_key_of(const Command& command);
// One line for the trace.
std::string to_text(const Command& command);

struct Delivered {
    std::uint64_t number = 0;
    Command command;
};

// Everybody in a simulation. A tenant's id never occurs inside anything made for another tenant, so
// finding it there is finding a leak.
struct People {
    std::vector<TenantId> tenants;  // Without `_system`.
    std::map<TenantId, std::vector<Principal>> agents;
    std::map<TenantId, std::vector<Principal>> humans;  // `_system` too.
    Principal host_operator;

    // Where a principal, in its text form, belongs; null for the operator and internal ones.
    const TenantId* home_of(std::string_view principal_text) const;
};
// `humans_min` for every tenant; some have one or two more.
People make_people(std::uint64_t seed, std::uint64_t humans_min);

}  // namespace interlock::sim
