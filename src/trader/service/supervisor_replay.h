// The supervisor's stored decisions read back from a ledger, and decided again by the selector of
// this version: `interlock supervisor replay`. Reads only; works on any store, with or without a
// server beside it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/rules/hash_chain.h"
#include "trader/rules/replay/replay_inputs.h"
#include "trader/rules/supervisor/selector.h"

namespace interlock {

// Verdicts that a report lists; all of them are counted.
inline constexpr std::size_t kSupervisorVerdictsMax = 1000;

// One decision as it was recorded.
struct RecordedRound {
    DecisionId decision_id;
    std::int64_t seq = 0;
    Timestamp at;
    std::string concern_id;
    std::string selector;
    std::string dispatch;  // "none", "blocked" or "sent".
    Json decision;
    std::string bundle;  // "sha256:…"
    Json blocked = {};   // Why the concern did not trade; null when it did, or before it was told.
};
Json encode(const RecordedRound& round);

struct SupervisorLedger {
    LedgerStore& store;
    TenantId tenant_id;
    std::optional<Timestamp> since = {};
    // Told now and then how far the walk got; empty: nobody watches.
    std::function<void(std::int64_t seq, std::int64_t decisions)> on_progress = {};
};
// Every decision in the order of the chain, which is verified on the way. The fault, when there is
// one; nothing behind it was visited.
Result<std::optional<ChainFault>> walk_rounds(
    const SupervisorLedger& ledger, const std::function<Result<void>(RecordedRound)>& visit);

enum class RoundOutcome { same, changed, not_replayable };
std::string_view to_word(RoundOutcome outcome);

struct RoundVerdict {
    RecordedRound round;
    RoundOutcome outcome = RoundOutcome::same;
    std::string detail;  // What changed, or why it cannot be replayed; empty: nothing.
};

struct SupervisorReplayReport {
    TenantId tenant_id;
    std::int64_t decisions = 0;
    std::int64_t changed = 0;
    std::int64_t not_replayable = 0;
    std::vector<RoundVerdict> verdicts;
    std::optional<ChainFault> fault;

    bool ok() const { return changed == 0 && not_replayable == 0 && !fault; }
};
Json encode(const SupervisorReplayReport& report);

// `only_changed` leaves those out of the list that came out the same.
Result<SupervisorReplayReport> replay_supervisor(const SupervisorLedger& ledger, bool only_changed);

// One decision again. An Error means that reading failed.
Result<RoundVerdict> decide_again(RecordedRound round, ReplayInputs& inputs);

}  // namespace interlock
