// The durable store of the plane: machine states, audit ledger, stored answers, outbox, timers,
// artifacts and checkpoints.
//
// A TurnCommit is everything one turn changes. commit() makes a batch of turns durable together
// with one sync, or changes nothing (I1). Called from the engine thread only, except the reads
// marked "any thread". conformance/ports/ledger_store_suite.h holds every implementation to these
// words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

// The state of one machine ("kill/demo", "approval/demo/apr_…") as JSON text.
struct StateWrite {
    std::string machine_key;
    // The version that was loaded; 0 when the machine did not exist. The new one is this plus one.
    std::int64_t loaded_version = 0;
    std::string json;
};

struct StoredState {
    std::int64_t version = 0;
    std::string json;
};

struct LedgerEntry {
    TenantId tenant_id;
    std::int64_t seq = 0;
    std::string canonical_json;  // Without `hash`.
    std::string hash;            // 64 hex digits.
    // Begins anew after a break: its seq may leave a gap, or replace a head beyond kHeadSeqMax.
    bool begins_anew = false;
    friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

struct LedgerHead {
    std::int64_t seq = 0;  // 0: the chain is empty.
    std::string hash;
    std::string proof = {};  // As engine/rules/tail_proof.h makes it; "" behind a seal.
    friend bool operator==(const LedgerHead&, const LedgerHead&) = default;
};

// Scope of an idempotency key (turns.md#1-idempotency).
struct AnswerKey {
    TenantId tenant_id;
    std::string function;
    IdempotencyKey key;
    friend auto operator<=>(const AnswerKey&, const AnswerKey&) = default;
};

struct StoredAnswer {
    std::string request_hash;
    OperationId operation_id;         // Set while and after the operation spans turns.
    std::optional<std::string> body;  // Nothing: still in progress.
    int http_status = 0;
    std::optional<Timestamp> expires_at;  // Nothing: kept forever.
};

struct AnswerWrite {
    AnswerKey key;
    StoredAnswer answer;
    // False: must not exist yet (conflict otherwise). True: replaces an answer in progress.
    bool completes = false;
};

// What may be done with an effect whose fate a crash left open (turns.md#3-effects).
enum class Delivery {
    at_most_once,  // May have run: becomes unknown and is reconciled, never sent again.
    repeatable,    // Harmless twice (cancels, notices): sent again.
};

enum class OutboxState { pending, unknown };

struct OutboxItem {
    EffectId effect_id;
    TenantId tenant_id;
    std::string kind;  // "probe", "cancel_all", ...
    std::string json;
    Delivery delivery = Delivery::at_most_once;
    OutboxState state = OutboxState::pending;
    Timestamp not_after;  // Checked right before the send.
};

struct TimerItem {
    TimerId timer_id;
    TenantId tenant_id;
    std::string kind;
    std::string json;
    Timestamp due_at;
};

struct ArtifactWrite {
    TenantId tenant_id;
    std::string hash;  // SHA-256 hex of bytes; writing the same one twice is fine.
    std::string bytes;
};

// Where a seal stands (engine/rules/seal.h), so that it is found without a walk. In chains of
// before seals were records it is the seal itself: a signature over engine/rules' checkpoint text.
struct Checkpoint {
    TenantId tenant_id;
    std::int64_t seq = 0;
    std::string hash;
    Timestamp at;
    std::string signature;  // Hex Ed25519.
};

// Vouches for the head of a chain after the batch that brings it.
struct HeadProof {
    TenantId tenant_id;
    std::string text;
};

// Something only one holder may have at a time ("active/demo/paper/main:btcusdt" by a strategy).
struct Claim {
    std::string name;
    std::string holder;
    friend bool operator==(const Claim&, const Claim&) = default;
};

// Records that lie in a verified file by now, and artifacts that only they referred to (ADR 0025).
struct LedgerRemoval {
    TenantId tenant_id;
    std::vector<std::int64_t> seqs;
    std::vector<std::string> artifacts;  // Hashes.
};

struct TurnCommit {
    std::vector<StateWrite> states;
    std::vector<LedgerEntry> audit;  // In chain order; seq continues the stored head.
    std::vector<AnswerWrite> answers;
    std::vector<OutboxItem> outbox;         // New ones.
    std::vector<EffectId> outbox_unknown;   // Marked unknown.
    std::vector<EffectId> outbox_finished;  // Removed: their outcome is in the ledger.
    std::vector<TimerItem> timers;          // New ones (an id that exists is replaced).
    std::vector<TimerId> timers_finished;   // Removed; absent ones are fine.
    std::vector<Claim> claims_released;     // Before any is taken; must be held as said.
    std::vector<Claim> claims_taken;        // Must be free.
    std::vector<ArtifactWrite> artifacts;
    std::vector<Checkpoint> checkpoints;
    std::vector<HeadProof> proofs;  // A head that moves without one has none afterwards.
    // Before anything of the whole batch is written; absent ones are fine. Heads and checkpoints
    // stay.
    std::vector<LedgerRemoval> removals;
};

class LedgerStore {
public:
    virtual ~LedgerStore() = default;

    // All or nothing, durable on return. `conflict` when a state was changed since it was loaded,
    // an answer exists already, a claim is another's, or a ledger entry does not continue its
    // chain; `io_failed` when the disk failed: then it is not known whether the batch is there, and
    // only a re-opened store tells.
    virtual Result<void> commit(std::span<const TurnCommit> turns) = 0;

    virtual Result<std::optional<StoredState>> load_state(const std::string& machine_key) = 0;
    // Every state whose key starts with `prefix`, in key order.
    virtual Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) = 0;
    virtual Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) = 0;
    // The same for many keys, in their order. A store that can reads them in one go.
    virtual Result<std::vector<std::optional<StoredAnswer>>> find_answers(
        std::span<const AnswerKey> keys) {
        std::vector<std::optional<StoredAnswer>> found;
        found.reserve(keys.size());
        for (const AnswerKey& key : keys) {
            auto answer = find_answer(key);
            if (!answer) {
                return std::unexpected(std::move(answer).error());
            }
            found.push_back(*std::move(answer));
        }
        return found;
    }
    // Removes answers that expired before `now`, at most `count_max`; says how many.
    virtual Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) = 0;
    // Gives up to `pages_max` pages that removals left empty back to the file system; says how many
    // are left. Nothing is left where there are no pages or the file cannot shrink.
    virtual Result<std::int64_t> free_pages(std::int64_t pages_max) {
        (void)pages_max;
        return 0;
    }
    // The holder of a claim; nothing while it is free.
    virtual Result<std::optional<std::string>> find_claim(const std::string& name) = 0;
    virtual Result<std::vector<OutboxItem>> load_outbox() = 0;
    virtual Result<std::vector<TimerItem>> load_timers() = 0;
    virtual Result<std::map<TenantId, LedgerHead>> load_heads() = 0;

    // Any thread: entries with seq > `after`, ascending, at most `count_max`.
    virtual Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) = 0;
    // Any thread: the stored head (kept apart from the entries, so truncation shows).
    virtual Result<LedgerHead> read_head(const TenantId& tenant_id) = 0;
    // Any thread: checkpoints in seq order.
    virtual Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) = 0;
    // Any thread.
    virtual Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) = 0;
};

}  // namespace interlock
