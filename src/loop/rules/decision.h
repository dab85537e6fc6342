// One decision on its way through the loop (docs/contracts/agent-loop.md#states): what was planned,
// what the gates and the dry run said and on which facts, what was sent, and what the venue made of
// it. Stored whole, so that a restart goes on where it stopped and a replay finds every input.
//
//     planned ─► rejected                      (a gate said no; may be planned again)
//        └─► validated ─► aborted              (the dry run said no; likewise)
//                 └─► rehearsed ─► executing ─► executed ─► recorded
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/intent.h"
#include "account/wire/venue_order.h"
#include "base/json.h"
#include "base/time.h"

namespace interlock {

enum class DecisionStage {
    planned,
    rejected,
    validated,
    aborted,
    rehearsed,  // The dry run passed.
    executing,
    executed,
    recorded,
};
std::string_view to_word(DecisionStage stage);
// Whether a plan may still be (re)made under this decision.
bool is_open(DecisionStage stage);

inline constexpr Duration kTicketLife = Duration::of_seconds(120);

// Proof that exactly these intents passed (I3).
struct GateTicket {
    std::string intents_hash;
    std::int64_t state_version = 0;
    std::string market_hash;
    Timestamp expires_at;
    friend bool operator==(const GateTicket&, const GateTicket&) = default;
};

// Content-addressed inputs of one step: "sha256:<hex>".
struct StepInputs {
    std::string state_ref;
    std::string market_ref;
    friend bool operator==(const StepInputs&, const StepInputs&) = default;
};

// One row of `execution` in the answer of py_execute_plan.
struct Execution {
    IntentId intent_id;
    OrderClientId order_client_id;
    Symbol symbol;
    std::string exchange_order_id;          // Empty: null on the wire.
    std::string submit_status = "pending";  // Then acked, rejected, timeout or unknown.
    std::string reject_code;                // Empty: null on the wire.
    friend bool operator==(const Execution&, const Execution&) = default;
};
Json encode(const Execution& execution);

struct CancelRow {
    OrderClientId order_client_id;
    std::string status = "pending";  // Then canceled, not_open or unknown.
    friend bool operator==(const CancelRow&, const CancelRow&) = default;
};

struct Decision {
    DecisionId decision_id;
    TickId tick_id;
    VenueAccount account;
    DecisionStage stage = DecisionStage::planned;
    std::int64_t attempt = 1;
    std::string planner;  // Principal of the outside planner, or "builtin:<strategy>".
    bool from_outside = true;
    Json planner_input;  // A built-in planner's settings; null for an outside planner.
    Plan plan;
    std::string config_ref;
    StepInputs validate_inputs;
    StepInputs dry_run_inputs;
    StepInputs execute_inputs;
    std::optional<GateTicket> gate_ticket;
    std::optional<GateTicket> dry_run_ticket;
    Json validation;  // As answered; null before.
    Json dry_run;
    Decimal slippage_bps;  // Assumptions of the dry run.
    Decimal fee_bps;
    std::vector<Execution> execution;
    std::vector<CancelRow> cancels;
    Json operation;     // The open call that waits for the venue; null without one.
    Json verification;  // Null before.
    Json record;        // What py_record_decision brought; null before.
    // Of its record; empty and null before, and in decisions of policy 1.
    std::string state_delta_ref;
    Json metrics;
    std::string ledger_ref;
    std::string audit_ref;  // Of the latest step.
    Timestamp planned_at;
    std::optional<Timestamp> executed_at;
    std::optional<Timestamp> recorded_at;
};
Json encode(const Decision& decision);
Result<Decision> decode_decision(const Json& json);

// One decision keeps one tick; `decision_mismatch` names the one it began in.
Result<void> require_tick(const Decision& decision, const TickId& tick_id);

// True once no row is pending.
bool is_answered(const Decision& decision);
// ok: every order acked; partial: some; error: none.
std::string_view execution_status(const Decision& decision);

// Why these intents may not be executed under this decision; nothing when they may
// (agent-loop.md#proof-of-passing). `now` decides about expiry.
struct ExecuteClaim {
    const Plan& plan;  // approved_intents and cancels.
    Timestamp now;
};
std::optional<Error> why_not_executable(const Decision& decision, const ExecuteClaim& claim);

// Parts of the record that its metrics are reckoned from (state_delta.h).
Json encode_execution(const Decision& decision);
Json encode_timestamps(const Decision& decision);

// The replay record (replay.md#1-what-is-replayed).
Json replay_record(const Decision& decision);

}  // namespace interlock
