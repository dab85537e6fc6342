// The ledger store in memory: the exact semantics of engine/ports/ledger_store.h without a disk,
// for tests and the simulator.
//
// Everything lies in ordered maps, so two runs over the same commits read the same. The contents
// are a plain value: taking them out and handing them to a new store is this store's "re-open".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports/ledger_store.h"

namespace interlock {

struct MemoryLedgerContents {
    struct QueuedEffect {
        std::int64_t position = 0;  // The outbox is read in the order it was filled.
        OutboxItem item;
    };

    std::map<std::string, StoredState> states;
    std::map<std::pair<TenantId, std::int64_t>, LedgerEntry> ledger;
    std::map<TenantId, LedgerHead> heads;
    std::map<AnswerKey, StoredAnswer> answers;
    std::map<EffectId, QueuedEffect> outbox;
    std::int64_t next_outbox_position = 0;
    std::map<TimerId, TimerItem> timers;
    std::map<std::string, std::string> claims;  // Holder by name.
    std::map<std::pair<TenantId, std::string>, std::string> artifacts;
    std::map<std::pair<TenantId, std::int64_t>, Checkpoint> checkpoints;
};

class MemoryLedgerStore final : public LedgerStore {
public:
    MemoryLedgerStore() = default;
    explicit MemoryLedgerStore(MemoryLedgerContents contents) : contents_(std::move(contents)) {}

    // What is stored, leaving this store empty.
    MemoryLedgerContents take_contents();
    // What somebody with a shell does: `edit` changes what is stored behind everybody's back.
    template <class Edit>
    void tamper(Edit edit) {
        const std::lock_guard lock(mutex_);
        edit(contents_);
    }

    Result<void> commit(std::span<const TurnCommit> turns) override;
    Result<std::optional<StoredState>> load_state(const std::string& machine_key) override;
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override;
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override;
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override;
    Result<std::optional<std::string>> find_claim(const std::string& name) override;
    Result<std::vector<OutboxItem>> load_outbox() override;
    Result<std::vector<TimerItem>> load_timers() override;
    Result<std::map<TenantId, LedgerHead>> load_heads() override;
    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override;
    Result<LedgerHead> read_head(const TenantId& tenant_id) override;
    Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) override;
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override;

private:
    void apply_removals(const TurnCommit& turn);
    Result<void> apply(const TurnCommit& turn);
    Result<void> apply_state(const StateWrite& write);
    Result<void> apply_entry(const LedgerEntry& entry);
    Result<void> apply_answer(const AnswerWrite& write);
    Result<void> apply_outbox(const TurnCommit& turn);
    Result<void> apply_claims(const TurnCommit& turn);
    void apply_rest(const TurnCommit& turn);

    // Notes how to put back what `map` holds for `key`, so that a refused batch leaves no trace.
    template <class Map>
    void remember(Map& map, const typename Map::key_type& key);

    std::mutex mutex_;  // Guards all below: some reads come from any thread.
    MemoryLedgerContents contents_;
    std::vector<std::function<void()>> undo_;
};

}  // namespace interlock
