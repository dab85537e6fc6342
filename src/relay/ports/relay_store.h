// The durable store of the relay: small rows, events, the buffers of instances, dead letters and
// the relay's own hash chains (ADR 0012).
//
// commit() makes one batch durable with one sync, or changes nothing. Everything is called from the
// relay's lane only. conformance/ports/relay_store_suite.h holds implementations to these words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/ports/ledger_store.h"
#include "engine/wire/ids.h"
#include "relay/rules/dead_letters.h"

namespace interlock {

// A row of a kind ("route", "scope", …; relay/wire/relay_rows.h) under its key.
struct RelayRowWrite {
    std::string kind;
    std::string key;
    std::optional<std::string> json;  // Nothing: the row goes; an absent one is fine.
    std::optional<Timestamp> expires_at = std::nullopt;
    bool must_be_new = false;  // `conflict` for the whole batch when the key is taken.
};
struct RelayRow {
    std::string key;
    std::string json;
    std::optional<Timestamp> expires_at;
};

// That a platform event came, and what was decided about it.
struct RelayEventRow {
    std::string event_key;  // "discord/100/1234": platform, bot and the platform's own id.
    TenantId tenant_id;     // Empty: no route.
    Timestamp at;
    std::string digest;  // SHA-256 hex of the event's text; the text itself is not kept here.
    std::string why;     // JSON: the gate's steps for every instance that was asked about.
    Timestamp expires_at;
};

// A message that waits for its instance's acknowledgement.
struct BufferEntry {
    std::string instance_id;
    std::int64_t seq = 0;  // Grows within an instance and is never used twice.
    EntryKind kind = EntryKind::inbound;
    std::string event_key;
    Timestamp at;
    int attempts = 0;  // Sockets it was written to that ended without its acknowledgement.
    std::string text;  // JSON: the event, or the forward.
};
// The same without its text, for the queue in memory.
struct BufferEntryHead {
    std::string instance_id;
    std::int64_t seq = 0;
    EntryKind kind = EntryKind::inbound;
    Timestamp at;
    int attempts = 0;
    std::int64_t bytes = 0;  // Of the text.
};

struct BufferKey {
    std::string instance_id;
    std::int64_t seq = 0;
};
struct AttemptsWrite {
    BufferKey key;
    int attempts = 0;
};

// A message that could not be delivered, kept for a person to look at.
struct DeadLetter {
    BufferEntry entry;
    TenantId tenant_id;
    std::string reason;  // "overflow", "not_acknowledged", "expired"
    Timestamp dead_at;
};

// What one batch changes, done in the order of the members.
struct RelayCommit {
    std::vector<RelayRowWrite> rows;      // In order; a later one of the same key wins.
    std::vector<RelayEventRow> events;    // `conflict` when one exists.
    std::vector<BufferEntry> appended;    // `conflict` when the number is taken.
    std::vector<BufferKey> acknowledged;  // Removed; absent ones are fine.
    std::vector<AttemptsWrite> attempts;  // Absent ones are fine.
    // An entry of the buffer with the same key goes away. With an empty `text`, text and event_key
    // are that entry's, and without such an entry there is nothing to keep. `conflict` when the
    // letter exists.
    std::vector<DeadLetter> dead;
    std::vector<BufferKey> dead_removed;  // Absent ones are fine.
    std::vector<LedgerEntry> audit;       // In chain order; seq continues the stored head.
    std::vector<Checkpoint> checkpoints;
    std::vector<HeadProof> proofs;  // As in TurnCommit.

    bool empty() const;
};

// A dead letter without its text, for the list in memory.
struct StoredDeadLetter {
    std::string instance_id;
    DeadLetterHead head;
};

class RelayStore {
public:
    virtual ~RelayStore() = default;

    // All or nothing, durable on return. `conflict` as said above or when an audit entry does not
    // continue its chain; `io_failed` when the disk failed: then it is not known whether the batch
    // is there, no further one is taken, and only a re-opened store tells.
    virtual Result<void> commit(const RelayCommit& batch) = 0;

    virtual Result<std::optional<RelayRow>> find_row(
        std::string_view kind, std::string_view key) = 0;
    // Rows of a kind whose key begins with `prefix` and comes after `after`, in key order.
    virtual Result<std::vector<RelayRow>> read_rows(
        std::string_view kind,
        std::string_view prefix,
        std::string_view after,
        std::int64_t count_max) = 0;
    // The keys of those given that are stored, in any order. One call per batch of arrivals.
    virtual Result<std::vector<std::string>> known_events(
        const std::vector<std::string>& event_keys) = 0;
    virtual Result<std::optional<RelayEventRow>> find_event(const std::string& event_key) = 0;
    // The last committed first.
    virtual Result<std::vector<RelayEventRow>> read_events(std::int64_t count_max) = 0;

    // Every entry that waits, by instance and seq; for the start.
    virtual Result<std::vector<BufferEntryHead>> load_buffer_heads() = 0;
    // Entries of an instance with seq > `after`, in order, at most so many and, after the first, at
    // most so many bytes of text.
    virtual Result<std::vector<BufferEntry>> read_entries(
        const std::string& instance_id,
        std::int64_t after,
        std::int64_t count_max,
        std::int64_t bytes_max) = 0;
    // Of an instance, "" for all; those after `after` in (instance, seq) order.
    virtual Result<std::vector<DeadLetter>> read_dead_letters(
        const std::string& instance_id, const BufferKey& after, std::int64_t count_max) = 0;
    // Every dead letter, the one that died first first; for the start.
    virtual Result<std::vector<StoredDeadLetter>> load_dead_letters() = 0;

    // Removes rows and events whose time ended before `now`, at most `count_max` of each and the
    // oldest first; says how many in all. Until then they are found like any other. Texts that
    // commits have removed leave the disk with it, at the latest.
    virtual Result<std::int64_t> purge(Timestamp now, std::int64_t count_max) = 0;

    virtual Result<std::map<TenantId, LedgerHead>> load_heads() = 0;
};

}  // namespace interlock
