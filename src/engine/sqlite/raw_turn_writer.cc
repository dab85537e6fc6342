#include "engine/sqlite/raw_turn_writer.h"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "engine/sqlite/sqlite_db.h"
#include "engine/sqlite/sqlite_schema.h"
#include "engine/sqlite/turn_sql.h"
#include "engine/sqlite/wal_checkpointer.h"

namespace interlock {

namespace {

using StatementOwner = std::unique_ptr<sqlite3_stmt, SqliteDeleter>;

struct HeadRow {
    std::string_view tenant_id;
    std::int64_t first_seq = 0;
    std::int64_t last_seq = 0;
    std::string_view hash;
    std::string_view proof = "";  // A view of nothing would be a null.
};

struct Batch {
    std::span<const TurnCommit> turns;
    std::vector<HeadRow> heads;  // Worked out before the clock runs.
};

// Not called `bind`: that name would find std::bind for a std::string and do nothing.
inline void bind_value(sqlite3_stmt* statement, int index, std::string_view text) {
    sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
inline void bind_value(sqlite3_stmt* statement, int index, std::int64_t number) {
    sqlite3_bind_int64(statement, index, number);
}

class RawLoop {
public:
    explicit RawLoop(sqlite3* db) : db_(db) {}

    void write(const Batch& batch) {
        step(begin_);
        for (const TurnCommit& turn : batch.turns) {
            write_states(turn);
            write_entries(turn);
            write_answers(turn);
            write_effects(turn);
            write_timers(turn);
            write_claims(turn);
            write_records(turn);
        }
        write_heads(batch.heads);
        step(commit_);
    }

    bool went_well() const { return went_well_; }

private:
    sqlite3_stmt* prepare(std::string_view sql) {
        sqlite3_stmt* statement = nullptr;
        const int code = sqlite3_prepare_v3(
            db_,
            sql.data(),
            static_cast<int>(sql.size()),
            SQLITE_PREPARE_PERSISTENT,
            &statement,
            nullptr);
        went_well_ = went_well_ && code == SQLITE_OK;
        owned_.emplace_back(statement);
        return statement;
    }

    void step(sqlite3_stmt* statement) {
        went_well_ &= sqlite3_step(statement) == SQLITE_DONE;
        sqlite3_reset(statement);
    }

    void write_states(const TurnCommit& turn) {
        for (const StateWrite& state : turn.states) {
            if (state.loaded_version == 0) {
                bind_value(insert_state_, 1, state.machine_key);
                bind_value(insert_state_, 2, state.json);
                step(insert_state_);
            } else {
                bind_value(update_state_, 1, state.machine_key);
                bind_value(update_state_, 2, state.loaded_version);
                bind_value(update_state_, 3, state.json);
                step(update_state_);
            }
        }
    }

    void write_entries(const TurnCommit& turn) {
        for (const LedgerEntry& entry : turn.audit) {
            bind_value(insert_entry_, 1, entry.tenant_id.text());
            bind_value(insert_entry_, 2, entry.seq);
            bind_value(insert_entry_, 3, entry.canonical_json);
            bind_value(insert_entry_, 4, entry.hash);
            step(insert_entry_);
        }
    }

    void write_answers(const TurnCommit& turn) {
        for (const AnswerWrite& write : turn.answers) {
            sqlite3_stmt* const statement = write.completes ? complete_answer_ : insert_answer_;
            bind_value(statement, 1, write.key.tenant_id.text());
            bind_value(statement, 2, write.key.function);
            bind_value(statement, 3, write.key.key.text());
            bind_value(statement, 4, write.answer.request_hash);
            bind_value(statement, 5, write.answer.operation_id.text());
            if (write.answer.body) {
                bind_value(statement, 6, *write.answer.body);
            } else {
                sqlite3_bind_null(statement, 6);
            }
            bind_value(statement, 7, std::int64_t{write.answer.http_status});
            if (write.answer.expires_at) {
                bind_value(statement, 8, write.answer.expires_at->microseconds);
            } else {
                sqlite3_bind_null(statement, 8);
            }
            step(statement);
        }
    }

    void write_effects(const TurnCommit& turn) {
        for (const OutboxItem& item : turn.outbox) {
            bind_value(insert_outbox_, 1, item.effect_id.text());
            bind_value(insert_outbox_, 2, item.tenant_id.text());
            bind_value(insert_outbox_, 3, item.kind);
            bind_value(insert_outbox_, 4, item.json);
            const bool once = item.delivery == Delivery::at_most_once;
            bind_value(insert_outbox_, 5, once ? turn_sql::kAtMostOnce : turn_sql::kRepeatable);
            const bool pending = item.state == OutboxState::pending;
            bind_value(insert_outbox_, 6, pending ? turn_sql::kPending : turn_sql::kUnknown);
            bind_value(insert_outbox_, 7, item.not_after.microseconds);
            step(insert_outbox_);
        }
        for (const EffectId& effect_id : turn.outbox_unknown) {
            bind_value(mark_unknown_, 1, effect_id.text());
            step(mark_unknown_);
        }
        for (const EffectId& effect_id : turn.outbox_finished) {
            bind_value(delete_outbox_, 1, effect_id.text());
            step(delete_outbox_);
        }
    }

    void write_timers(const TurnCommit& turn) {
        for (const TimerItem& timer : turn.timers) {
            bind_value(replace_timer_, 1, timer.timer_id.text());
            bind_value(replace_timer_, 2, timer.tenant_id.text());
            bind_value(replace_timer_, 3, timer.kind);
            bind_value(replace_timer_, 4, timer.json);
            bind_value(replace_timer_, 5, timer.due_at.microseconds);
            step(replace_timer_);
        }
        for (const TimerId& timer_id : turn.timers_finished) {
            bind_value(delete_timer_, 1, timer_id.text());
            step(delete_timer_);
        }
    }

    void write_claims(const TurnCommit& turn) {
        for (const Claim& claim : turn.claims_released) {
            bind_value(release_claim_, 1, claim.name);
            bind_value(release_claim_, 2, claim.holder);
            step(release_claim_);
        }
        for (const Claim& claim : turn.claims_taken) {
            bind_value(take_claim_, 1, claim.name);
            bind_value(take_claim_, 2, claim.holder);
            step(take_claim_);
        }
    }

    void write_records(const TurnCommit& turn) {
        for (const ArtifactWrite& artifact : turn.artifacts) {
            bind_value(insert_artifact_, 1, artifact.tenant_id.text());
            bind_value(insert_artifact_, 2, artifact.hash);
            sqlite3_bind_blob64(
                insert_artifact_, 3, artifact.bytes.data(), artifact.bytes.size(), SQLITE_STATIC);
            step(insert_artifact_);
        }
        for (const Checkpoint& checkpoint : turn.checkpoints) {
            bind_value(insert_checkpoint_, 1, checkpoint.tenant_id.text());
            bind_value(insert_checkpoint_, 2, checkpoint.seq);
            bind_value(insert_checkpoint_, 3, checkpoint.hash);
            bind_value(insert_checkpoint_, 4, checkpoint.at.microseconds);
            bind_value(insert_checkpoint_, 5, checkpoint.signature);
            step(insert_checkpoint_);
        }
    }

    void write_heads(const std::vector<HeadRow>& heads) {
        for (const HeadRow& head : heads) {
            sqlite3_stmt* const statement = head.first_seq == 1 ? insert_head_ : update_head_;
            bind_value(statement, 1, head.tenant_id);
            bind_value(statement, 2, head.last_seq);
            bind_value(statement, 3, head.hash);
            bind_value(statement, 4, head.proof);
            if (head.first_seq != 1) {
                bind_value(statement, 5, head.first_seq - 1);
            }
            step(statement);
        }
    }

    sqlite3* db_;
    bool went_well_ = true;
    std::vector<StatementOwner> owned_;
    sqlite3_stmt* begin_ = prepare("BEGIN IMMEDIATE");
    sqlite3_stmt* commit_ = prepare("COMMIT");
    sqlite3_stmt* insert_state_ = prepare(turn_sql::kInsertState);
    sqlite3_stmt* update_state_ = prepare(turn_sql::kUpdateState);
    sqlite3_stmt* insert_entry_ = prepare(turn_sql::kInsertEntry);
    sqlite3_stmt* insert_head_ = prepare(turn_sql::kInsertHead);
    sqlite3_stmt* update_head_ = prepare(turn_sql::kUpdateHead);
    sqlite3_stmt* insert_answer_ = prepare(turn_sql::kInsertAnswer);
    sqlite3_stmt* complete_answer_ = prepare(turn_sql::kCompleteAnswer);
    sqlite3_stmt* insert_outbox_ = prepare(turn_sql::kInsertOutbox);
    sqlite3_stmt* mark_unknown_ = prepare(turn_sql::kMarkUnknown);
    sqlite3_stmt* delete_outbox_ = prepare(turn_sql::kDeleteOutbox);
    sqlite3_stmt* replace_timer_ = prepare(turn_sql::kReplaceTimer);
    sqlite3_stmt* delete_timer_ = prepare(turn_sql::kDeleteTimer);
    sqlite3_stmt* release_claim_ = prepare(turn_sql::kReleaseClaim);
    sqlite3_stmt* take_claim_ = prepare(turn_sql::kTakeClaim);
    sqlite3_stmt* insert_artifact_ = prepare(turn_sql::kInsertArtifact);
    sqlite3_stmt* insert_checkpoint_ = prepare(turn_sql::kInsertCheckpoint);
};

std::vector<Batch> plan(std::span<const TurnCommit> turns, std::size_t turns_per_batch) {
    std::vector<Batch> batches;
    while (!turns.empty()) {
        Batch batch{turns.first(std::min(turns.size(), turns_per_batch)), {}};
        turns = turns.subspan(batch.turns.size());
        std::map<std::string_view, HeadRow> heads;
        for (const TurnCommit& turn : batch.turns) {
            for (const LedgerEntry& entry : turn.audit) {
                HeadRow& head = heads[entry.tenant_id.text()];
                head.first_seq = head.first_seq == 0 ? entry.seq : head.first_seq;
                head.tenant_id = entry.tenant_id.text();
                head.last_seq = entry.seq;
                head.hash = entry.hash;
            }
            for (const HeadProof& proof : turn.proofs) {
                heads[proof.tenant_id.text()].proof = proof.text;
            }
        }
        for (const auto& [tenant_id, head] : heads) {
            batch.heads.push_back(head);
        }
        batches.push_back(std::move(batch));
    }
    return batches;
}

// The updates are the only writes that can miss without an error code.
Result<void> require_all_rows(SqliteDb& db, std::span<const TurnCommit> turns) {
    std::map<std::string_view, std::int64_t> versions;
    std::map<std::string_view, std::int64_t> seqs;
    for (const TurnCommit& turn : turns) {
        for (const StateWrite& state : turn.states) {
            versions[state.machine_key] = state.loaded_version + 1;
        }
        for (const LedgerEntry& entry : turn.audit) {
            seqs[entry.tenant_id.text()] = entry.seq;
        }
    }
    const auto require = [&db](std::string_view sql, const auto& expected) -> Result<void> {
        TRY_ASSIGN(SqliteStatement statement, db.prepare(sql));
        for (const auto& [key, number] : expected) {
            SqliteRows rows = statement.query(key);
            TRY_ASSIGN(const bool found, rows.next());
            if (!found || rows.integer(0) != number) {
                return fail(
                    errors::invalid_request,
                    "the recorded turns do not start where this store is: " + std::string(key));
            }
        }
        return {};
    };
    TRY(require("SELECT version FROM machine_state WHERE machine_key = ?1", versions));
    return require("SELECT seq FROM heads WHERE tenant_id = ?1", seqs);
}

}  // namespace

Result<RawWriteReport> write_turns_raw(
    const RawWriteOptions& options, std::span<const TurnCommit> turns, Clock& clock) {
    TRY_ASSIGN(SqliteDb db, SqliteDb::open({.path = options.path}));
    TRY(configure_writer(db));
    TRY(migrate(db));
    TRY_ASSIGN(const auto checkpointer, WalCheckpointer::attach(db, {.path = options.path}));
    const std::vector<Batch> batches =
        plan(turns, std::max<std::size_t>(1, options.turns_per_batch));
    RawLoop loop(db.handle());

    const Duration started = clock.monotonic();
    for (const Batch& batch : batches) {
        loop.write(batch);
        checkpointer->after_commit();
    }
    const Duration ended = clock.monotonic();

    if (!loop.went_well()) {
        return fail(errors::io_failed, "the bare loop could not write all rows");
    }
    TRY(require_all_rows(db, turns));
    return RawWriteReport{
        .elapsed = {ended.microseconds - started.microseconds},
        .batches = static_cast<std::int64_t>(batches.size())};
}

}  // namespace interlock
