// What would survive if the power went right now, for I1: is the record that justifies an effect
// safe before the effect leaves?
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "engine/ports/ledger_store.h"
#include "sim/crash_disk.h"

namespace interlock::sim {

// What a durable ledger says of one order.
struct OrderEvidence {
    DecisionId decision_id;
    TickId tick_id;
    IntentId intent_id;
    bool is_validated = false;  // VALIDATION_RESULT passed, before.
    bool is_rehearsed = false;  // DRY_RUN_RESULT passed after that.
};

class DurableView {
public:
    virtual ~DurableView() = default;
    // The durable EXECUTION_ATTEMPT `started` that names the order; null when there is none.
    const OrderEvidence* evidence_of(const TenantId& tenant_id, const OrderClientId& id);
    // Whether a durable record of the effect's tenant accepted exactly this effect.
    bool justifies(const OutboxItem& effect);

protected:
    // Durable entries of a tenant after `after`, in order.
    virtual std::vector<LedgerEntry> entries_after(
        const TenantId& tenant_id, std::int64_t after) = 0;

private:
    struct Seen {
        std::int64_t seq = 0;
        std::set<std::string> effects;
        std::set<DecisionId> validated;
        std::set<DecisionId> rehearsed;
        std::map<OrderClientId, OrderEvidence> orders;
    };
    Seen& catch_up(const TenantId& tenant_id);
    static void note_step(Seen& seen, const LedgerEntry& entry);
    std::map<TenantId, Seen> seen_;  // What is durable once is durable for ever.
};

// For a store that is durable as soon as it returns.
class StoreDurableView final : public DurableView {
public:
    explicit StoreDurableView(LedgerStore& store) : store_(store) {}

protected:
    std::vector<LedgerEntry> entries_after(const TenantId& tenant_id, std::int64_t after) override;

private:
    LedgerStore& store_;
};

// Opens the database on a copy of the synced bytes, anew whenever these have changed.
class DiskDurableView final : public DurableView {
public:
    DiskDurableView(const CrashDisk& disk, std::string path);
    ~DiskDurableView() override;

protected:
    std::vector<LedgerEntry> entries_after(const TenantId& tenant_id, std::int64_t after) override;

private:
    struct Opened;
    const CrashDisk& disk_;
    const std::string path_;
    std::unique_ptr<Opened> opened_;
};

}  // namespace interlock::sim
