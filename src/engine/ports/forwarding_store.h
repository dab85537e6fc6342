// A ledger store that hands every call on to another one: for what stands between
// services and their store and overrides the calls it cares about.
#pragma once

#include "engine/ports/ledger_store.h"

namespace interlock {

class ForwardingStore : public LedgerStore {
public:
    explicit ForwardingStore(LedgerStore& inner) : inner_(inner) {}

    Result<void> commit(std::span<const TurnCommit> turns) override { return inner_.commit(turns); }
    Result<std::optional<StoredState>> load_state(const std::string& machine_key) override {
        return inner_.load_state(machine_key);
    }
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override {
        return inner_.load_states(prefix);
    }
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override {
        return inner_.find_answer(key);
    }
    Result<std::optional<std::string>> find_claim(const std::string& name) override {
        return inner_.find_claim(name);
    }
    Result<std::vector<std::optional<StoredAnswer>>> find_answers(
        std::span<const AnswerKey> keys) override {
        return inner_.find_answers(keys);
    }
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override {
        return inner_.purge_answers(now, count_max);
    }
    Result<std::int64_t> free_pages(std::int64_t pages_max) override {
        return inner_.free_pages(pages_max);
    }
    Result<std::vector<OutboxItem>> load_outbox() override { return inner_.load_outbox(); }
    Result<std::vector<TimerItem>> load_timers() override { return inner_.load_timers(); }
    Result<std::map<TenantId, LedgerHead>> load_heads() override { return inner_.load_heads(); }
    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override {
        return inner_.read_ledger(tenant_id, after, count_max);
    }
    Result<LedgerHead> read_head(const TenantId& tenant_id) override {
        return inner_.read_head(tenant_id);
    }
    Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) override {
        return inner_.read_checkpoints(tenant_id);
    }
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override {
        return inner_.read_artifact(tenant_id, hash);
    }

protected:
    LedgerStore& inner_;
};

}  // namespace interlock
