#include "engine/sqlite/turn_writer.h"

#include <string>

#include "base/errors.h"
#include "engine/sqlite/turn_sql.h"

namespace interlock {

namespace {

std::string_view word_of(Delivery delivery) {
    return delivery == Delivery::at_most_once ? turn_sql::kAtMostOnce : turn_sql::kRepeatable;
}

std::string_view word_of(OutboxState state) {
    return state == OutboxState::pending ? turn_sql::kPending : turn_sql::kUnknown;
}

}  // namespace

Result<std::unique_ptr<TurnWriter>> TurnWriter::prepare(SqliteDb& db) {
    std::unique_ptr<TurnWriter> made(new TurnWriter(db));
    TRY_ASSIGN(made->insert_state_, db.prepare(turn_sql::kInsertState));
    TRY_ASSIGN(made->update_state_, db.prepare(turn_sql::kUpdateState));
    TRY_ASSIGN(made->insert_entry_, db.prepare(turn_sql::kInsertEntry));
    TRY_ASSIGN(made->insert_head_, db.prepare(turn_sql::kInsertHead));
    TRY_ASSIGN(made->update_head_, db.prepare(turn_sql::kUpdateHead));
    TRY_ASSIGN(made->jump_head_, db.prepare(turn_sql::kJumpHead));
    TRY_ASSIGN(made->insert_answer_, db.prepare(turn_sql::kInsertAnswer));
    TRY_ASSIGN(made->complete_answer_, db.prepare(turn_sql::kCompleteAnswer));
    TRY_ASSIGN(made->insert_outbox_, db.prepare(turn_sql::kInsertOutbox));
    TRY_ASSIGN(made->mark_unknown_, db.prepare(turn_sql::kMarkUnknown));
    TRY_ASSIGN(made->delete_outbox_, db.prepare(turn_sql::kDeleteOutbox));
    TRY_ASSIGN(made->replace_timer_, db.prepare(turn_sql::kReplaceTimer));
    TRY_ASSIGN(made->delete_timer_, db.prepare(turn_sql::kDeleteTimer));
    TRY_ASSIGN(made->release_claim_, db.prepare(turn_sql::kReleaseClaim));
    TRY_ASSIGN(made->take_claim_, db.prepare(turn_sql::kTakeClaim));
    TRY_ASSIGN(made->insert_artifact_, db.prepare(turn_sql::kInsertArtifact));
    TRY_ASSIGN(made->insert_checkpoint_, db.prepare(turn_sql::kInsertCheckpoint));
    TRY_ASSIGN(made->delete_entry_, db.prepare(turn_sql::kDeleteEntry));
    TRY_ASSIGN(made->delete_artifact_, db.prepare(turn_sql::kDeleteArtifact));
    return made;
}

Result<void> TurnWriter::write(std::span<const TurnCommit> turns) {
    growths_.clear();
    // First of all: what a turn of this batch stores anew must not go with what was archived.
    for (const TurnCommit& turn : turns) {
        TRY(remove(turn.removals));
    }
    for (const TurnCommit& turn : turns) {
        TRY(write_states(turn.states));
        TRY(write_entries(turn.audit));
        TRY(write_answers(turn.answers));
        TRY(write_outbox(turn));
        TRY(write_timers(turn));
        TRY(write_claims(turn));
        TRY(write_artifacts(turn.artifacts));
        TRY(write_checkpoints(turn.checkpoints));
        take_proofs(turn.proofs);
    }
    return write_heads();
}

Result<void> TurnWriter::write_chains(
    std::span<const LedgerEntry> entries,
    std::span<const Checkpoint> checkpoints,
    std::span<const HeadProof> proofs) {
    growths_.clear();
    TRY(write_entries(entries));
    TRY(write_checkpoints(checkpoints));
    take_proofs(proofs);
    return write_heads();
}

void TurnWriter::take_proofs(std::span<const HeadProof> proofs) {
    for (const HeadProof& proof : proofs) {
        if (const auto grown = growths_.find(proof.tenant_id.text()); grown != growths_.end()) {
            grown->second.proof = proof.text;
        }
    }
}

Result<void> TurnWriter::remove(std::span<const LedgerRemoval> removals) {
    for (const LedgerRemoval& removal : removals) {
        for (const std::int64_t seq : removal.seqs) {
            if (const int code = delete_entry_.run(removal.tenant_id, seq); !is_done(code)) {
                return std::unexpected(db_.error_of(code));
            }
        }
        for (const std::string& hash : removal.artifacts) {
            if (const int code = delete_artifact_.run(removal.tenant_id, hash); !is_done(code)) {
                return std::unexpected(db_.error_of(code));
            }
        }
    }
    return {};
}

Result<void> TurnWriter::write_states(std::span<const StateWrite> states) {
    for (const StateWrite& state : states) {
        const bool is_new = state.loaded_version == 0;
        const int code =
            is_new ? insert_state_.run(state.machine_key, state.json)
                   : update_state_.run(state.machine_key, state.loaded_version, state.json);
        const bool moved_on =
            is_new ? is_constraint(code) : is_done(code) && db_.rows_changed() == 0;
        if (moved_on) {
            return fail(errors::conflict, state.machine_key + " changed since it was loaded");
        }
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_entries(std::span<const LedgerEntry> entries) {
    for (const LedgerEntry& entry : entries) {
        const auto [place, is_first] = growths_.try_emplace(entry.tenant_id.text());
        ChainGrowth& growth = place->second;
        if (is_first) {
            growth.first_seq = entry.seq;
        }
        growth.begins_anew = growth.begins_anew || entry.begins_anew;
        if (!is_first && !entry.begins_anew && entry.seq != growth.last_seq + 1) {
            return fail(
                errors::conflict,
                "the ledger of " + entry.tenant_id.text() + " has a gap within the batch");
        }
        growth.last_seq = entry.seq;
        growth.last_hash = entry.hash;
        const int code =
            insert_entry_.run(entry.tenant_id, entry.seq, entry.canonical_json, entry.hash);
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_answers(std::span<const AnswerWrite> answers) {
    for (const AnswerWrite& write : answers) {
        SqliteStatement& statement = write.completes ? complete_answer_ : insert_answer_;
        const int code = statement.run(
            write.key.tenant_id,
            write.key.function,
            write.key.key,
            write.answer.request_hash,
            write.answer.operation_id,
            write.answer.body,
            std::int64_t{write.answer.http_status},
            write.answer.expires_at);
        const bool given_already =
            write.completes ? is_done(code) && db_.rows_changed() == 0 : is_constraint(code);
        if (given_already) {
            return fail(
                errors::conflict, "the answer to " + write.key.key.text() + " was given already");
        }
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_outbox(const TurnCommit& turn) {
    for (const OutboxItem& item : turn.outbox) {
        const int code = insert_outbox_.run(
            item.effect_id,
            item.tenant_id,
            item.kind,
            item.json,
            word_of(item.delivery),
            word_of(item.state),
            item.not_after);
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    for (const EffectId& effect_id : turn.outbox_unknown) {
        if (const int code = mark_unknown_.run(effect_id); !is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    for (const EffectId& effect_id : turn.outbox_finished) {
        if (const int code = delete_outbox_.run(effect_id); !is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_timers(const TurnCommit& turn) {
    for (const TimerItem& timer : turn.timers) {
        const int code = replace_timer_.run(
            timer.timer_id, timer.tenant_id, timer.kind, timer.json, timer.due_at);
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    for (const TimerId& timer_id : turn.timers_finished) {
        if (const int code = delete_timer_.run(timer_id); !is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_claims(const TurnCommit& turn) {
    for (const Claim& claim : turn.claims_released) {
        const int code = release_claim_.run(claim.name, claim.holder);
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
        if (db_.rows_changed() == 0) {
            return fail(errors::conflict, claim.name + " is not held by " + claim.holder);
        }
    }
    for (const Claim& claim : turn.claims_taken) {
        const int code = take_claim_.run(claim.name, claim.holder);
        if (is_constraint(code)) {
            return fail(errors::conflict, claim.name + " has another holder");
        }
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_artifacts(std::span<const ArtifactWrite> artifacts) {
    for (const ArtifactWrite& artifact : artifacts) {
        const int code =
            insert_artifact_.run(artifact.tenant_id, artifact.hash, SqliteBlob{artifact.bytes});
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_checkpoints(std::span<const Checkpoint> checkpoints) {
    for (const Checkpoint& checkpoint : checkpoints) {
        const int code = insert_checkpoint_.run(
            checkpoint.tenant_id,
            checkpoint.seq,
            checkpoint.hash,
            checkpoint.at,
            checkpoint.signature);
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> TurnWriter::write_heads() {
    for (const auto& [tenant_id, growth] : growths_) {
        const bool is_new = growth.first_seq == 1 && !growth.begins_anew;
        SqliteStatement& place = is_new ? insert_head_ : jump_head_;
        const int code = is_new || growth.begins_anew
                             ? place.run(tenant_id, growth.last_seq, growth.last_hash, growth.proof)
                             : update_head_.run(
                                   tenant_id,
                                   growth.last_seq,
                                   growth.last_hash,
                                   growth.proof,
                                   growth.first_seq - 1);
        const bool elsewhere =
            is_new ? is_constraint(code) : is_done(code) && db_.rows_changed() == 0;
        if (elsewhere) {
            return fail(
                errors::conflict,
                "the ledger of " + std::string(tenant_id) + " is at another entry");
        }
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

}  // namespace interlock
