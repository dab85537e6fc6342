// A ledger store that passes everything on and keeps a copy of what was committed, so that a bare
// loop can write the very same rows afterwards.
#pragma once

#include <vector>

#include "engine/ports/ledger_store.h"

namespace interlock {

// About 200 MB of probes.
inline constexpr std::size_t kRecordedTurnsMax = 150'000;

class RecordingStore final : public LedgerStore {
public:
    // `store` outlives this.
    explicit RecordingStore(LedgerStore& store) : store_(store) {}

    // What was committed, in order; complete up to kRecordedTurnsMax.
    const std::vector<TurnCommit>& turns() const { return turns_; }
    std::vector<TurnCommit> take() { return std::move(turns_); }

    Result<void> commit(std::span<const TurnCommit> turns) override;
    Result<std::optional<StoredState>> load_state(const std::string& machine_key) override {
        return store_.load_state(machine_key);
    }
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override {
        return store_.load_states(prefix);
    }
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override {
        return store_.find_answer(key);
    }
    Result<std::optional<std::string>> find_claim(const std::string& name) override {
        return store_.find_claim(name);
    }
    Result<std::vector<std::optional<StoredAnswer>>> find_answers(
        std::span<const AnswerKey> keys) override {
        return store_.find_answers(keys);
    }
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override {
        return store_.purge_answers(now, count_max);
    }
    Result<std::vector<OutboxItem>> load_outbox() override { return store_.load_outbox(); }
    Result<std::vector<TimerItem>> load_timers() override { return store_.load_timers(); }
    Result<std::map<TenantId, LedgerHead>> load_heads() override { return store_.load_heads(); }
    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override {
        return store_.read_ledger(tenant_id, after, count_max);
    }
    Result<LedgerHead> read_head(const TenantId& tenant_id) override {
        return store_.read_head(tenant_id);
    }
    Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) override {
        return store_.read_checkpoints(tenant_id);
    }
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override {
        return store_.read_artifact(tenant_id, hash);
    }

private:
    LedgerStore& store_;
    std::vector<TurnCommit> turns_;
};

}  // namespace interlock
