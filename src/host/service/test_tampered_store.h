// A ledger store as somebody with a shell left it: passes everything on, except what a test changes
// on the way.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/rules/hash_chain.h"

namespace interlock {

class TamperedStore final : public LedgerStore {
public:
    explicit TamperedStore(LedgerStore& whole) : whole_(whole) {}

    // What is changed; empty: nothing. Clearing the text means that it is gone.
    std::function<void(const std::string& key, std::string& json)> on_state;
    std::function<void(std::string& bytes)> on_artifact;
    // Changes records; the chain is sealed anew, as somebody would who knows how it works.
    std::function<void(AuditDraft& draft)> on_record;
    // Changes texts without sealing anew.
    std::function<void(LedgerEntry& entry)> on_entry;

    Result<void> commit(std::span<const TurnCommit> turns) override { return whole_.commit(turns); }
    Result<std::optional<StoredState>> load_state(const std::string& key) override {
        TRY_ASSIGN(auto state, whole_.load_state(key));
        if (state && on_state) {
            on_state(key, state->json);
            return state->json.empty() ? std::nullopt : state;
        }
        return state;
    }
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override {
        return whole_.load_states(prefix);
    }
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override {
        return whole_.find_answer(key);
    }
    Result<std::optional<std::string>> find_claim(const std::string& name) override {
        return whole_.find_claim(name);
    }
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override {
        return whole_.purge_answers(now, count_max);
    }
    Result<std::vector<OutboxItem>> load_outbox() override { return whole_.load_outbox(); }
    Result<std::vector<TimerItem>> load_timers() override { return whole_.load_timers(); }
    Result<std::map<TenantId, LedgerHead>> load_heads() override { return whole_.load_heads(); }
    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override {
        TRY_ASSIGN(auto all, chain(tenant_id));
        std::vector<LedgerEntry> page;
        for (LedgerEntry& entry : all) {
            if (entry.seq > after && std::ssize(page) < count_max) {
                page.push_back(std::move(entry));
            }
        }
        return page;
    }
    Result<LedgerHead> read_head(const TenantId& tenant_id) override {
        TRY_ASSIGN(const auto all, chain(tenant_id));
        return all.empty() ? LedgerHead() : LedgerHead{all.back().seq, all.back().hash};
    }
    Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) override {
        return whole_.read_checkpoints(tenant_id);
    }
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override {
        TRY_ASSIGN(auto bytes, whole_.read_artifact(tenant_id, hash));
        if (bytes && on_artifact) {
            on_artifact(*bytes);
            return bytes->empty() ? std::nullopt : bytes;
        }
        return bytes;
    }

private:
    Result<std::vector<LedgerEntry>> chain(const TenantId& tenant_id) {
        TRY_ASSIGN(auto all, whole_.read_ledger(tenant_id, 0, 1'000'000));
        ChainHead head;
        for (LedgerEntry& entry : all) {
            if (on_record) {
                TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
                TRY_ASSIGN(AuditRecord record, decode_audit_record(json));
                on_record(record.draft);
                TRY_ASSIGN(const SealedRecord sealed, seal(head, record.draft));
                entry.canonical_json = sealed.canonical;
                entry.hash = head.hash;
            }
            if (on_entry) {
                on_entry(entry);
            }
        }
        return all;
    }

    LedgerStore& whole_;
};

}  // namespace interlock
