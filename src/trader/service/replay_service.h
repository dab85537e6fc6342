// Replays recorded decisions of one tenant from its ledger: `interlock replay`, and the proof that
// the books were made by the rules they name (I9). Reads only; works on any store, with or without
// a server beside it. docs/contracts/replay.md says what is compared.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/rules/chain_verifier.h"
#include "trader/rules/replay/decision_replay.h"

namespace interlock {

// Decisions held in memory during one replay; one more ends it with an error that says so.
inline constexpr std::size_t kReplayDecisionsMax = 1'000'000;
// Verdicts other than ok that a report lists; all of them are counted.
inline constexpr std::size_t kReplayFindingsMax = 1000;

struct ReplayCheck {
    LedgerStore& store;
    TenantId tenant_id;
    std::optional<DecisionId> decision_id = {};  // Nothing: every decision.
    std::optional<Timestamp> since = {};         // Only decisions planned from here on.
    // The first record that is looked at; those before are taken as they are, not verified, and
    // what was planned in them is not replayed.
    std::int64_t from_seq = 1;
    // Told now and then how far the walk got; empty: nobody watches.
    std::function<void(std::int64_t seq, std::int64_t decisions)> on_progress = {};
};

struct ReplayReport {
    TenantId tenant_id;
    std::int64_t decisions = 0;
    std::int64_t steps = 0;
    std::int64_t differing = 0;
    std::int64_t not_replayable = 0;  // For want of an input.
    // Made under another policy than this program's: their chain proves them, nothing decides them
    // again, and that is no fault of theirs. Listed below only where one was asked for by its name.
    std::int64_t other_policy = 0;
    std::vector<ReplayVerdict> findings;  // In order of decisions.
    // Equal idle ticks and refusals that were counted, not recorded one by one (audit-ledger 5):
    // they cannot be replayed, their records can be checked.
    std::int64_t folds = 0;
    std::int64_t folded = 0;
    struct BadFold {
        std::int64_t seq = 0;
        std::string problem;
    };
    std::vector<BadFold> bad_folds;  // The first kReplayFindingsMax.
    // From where a later replay goes on: the first record of a decision that is not over yet, or
    // the end.
    std::int64_t next_from = 1;
    // The chain itself is broken: nothing behind that record was replayed.
    std::optional<ChainFault> fault;

    bool ok() const { return differing == 0 && not_replayable == 0 && bad_folds.empty() && !fault; }
};
Json encode(const ReplayReport& report);

// `not_found` when the decision asked for is not in the ledger.
Result<ReplayReport> replay_ledger(const ReplayCheck& check);

// Inputs from a store's artifacts.
ReplayInputs stored_inputs(LedgerStore& store, const TenantId& tenant_id);

}  // namespace interlock
