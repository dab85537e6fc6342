// Writes the rows of turns inside a transaction that someone else opened. This is the hot path of
// the plane: statements are prepared once, texts are bound in place and nothing is allocated per
// row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "engine/ports/ledger_store.h"
#include "engine/sqlite/sqlite_db.h"

namespace interlock {

class TurnWriter {
public:
    // `db` must outlive the writer.
    static Result<std::unique_ptr<TurnWriter>> prepare(SqliteDb& db);

    // All rows of the turns, then each touched chain's head once. On an Error the caller rolls
    // back.
    Result<void> write(std::span<const TurnCommit> turns);
    // The same for a batch that has no turns.
    Result<void> write_chains(
        std::span<const LedgerEntry> entries,
        std::span<const Checkpoint> checkpoints,
        std::span<const HeadProof> proofs);

private:
    // What a batch did to one chain. The views point into the batch.
    struct ChainGrowth {
        std::int64_t first_seq = 0;
        std::int64_t last_seq = 0;
        std::string_view last_hash;
        std::string_view proof;
        bool begins_anew = false;
    };

    explicit TurnWriter(SqliteDb& db) : db_(db) {}
    Result<void> remove(std::span<const LedgerRemoval> removals);
    Result<void> write_states(std::span<const StateWrite> states);
    Result<void> write_entries(std::span<const LedgerEntry> entries);
    Result<void> write_answers(std::span<const AnswerWrite> answers);
    Result<void> write_outbox(const TurnCommit& turn);
    Result<void> write_timers(const TurnCommit& turn);
    Result<void> write_claims(const TurnCommit& turn);
    Result<void> write_artifacts(std::span<const ArtifactWrite> artifacts);
    Result<void> write_checkpoints(std::span<const Checkpoint> checkpoints);
    void take_proofs(std::span<const HeadProof> proofs);
    Result<void> write_heads();

    SqliteDb& db_;
    std::unordered_map<std::string_view, ChainGrowth> growths_;  // Of the running batch.
    SqliteStatement insert_state_;
    SqliteStatement update_state_;
    SqliteStatement insert_entry_;
    SqliteStatement insert_head_;
    SqliteStatement update_head_;
    SqliteStatement jump_head_;
    SqliteStatement insert_answer_;
    SqliteStatement complete_answer_;
    SqliteStatement insert_outbox_;
    SqliteStatement mark_unknown_;
    SqliteStatement delete_outbox_;
    SqliteStatement replace_timer_;
    SqliteStatement delete_timer_;
    SqliteStatement release_claim_;
    SqliteStatement take_claim_;
    SqliteStatement insert_artifact_;
    SqliteStatement insert_checkpoint_;
    SqliteStatement delete_entry_;
    SqliteStatement delete_artifact_;
};

}  // namespace interlock
