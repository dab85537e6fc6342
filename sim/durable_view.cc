#include "sim/durable_view.h"

#include <array>
#include <limits>

#include "base/json.h"
#include "engine/sqlite/sqlite_db.h"
#include "engine/wire/audit_record.h"
#include "sim/crash_vfs.h"

namespace interlock::sim {

namespace {

constexpr std::array<std::string_view, 3> kSteps{
    "\"event\":\"VALIDATION_RESULT\"",
    "\"event\":\"DRY_RUN_RESULT\"",
    "\"event\":\"EXECUTION_ATTEMPT\""};

std::string text_of(const Json& json, std::string_view key) {
    const Json* found = json.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

}  // namespace

bool DurableView::justifies(const OutboxItem& effect) {
    const std::string& effect_id = effect.effect_id.text();
    return seen_[effect.tenant_id].effects.contains(effect_id) ||
           catch_up(effect.tenant_id).effects.contains(effect_id);
}

const OrderEvidence* DurableView::evidence_of(const TenantId& tenant_id, const OrderClientId& id) {
    const bool is_seen = seen_[tenant_id].orders.contains(id);
    const Seen& seen = is_seen ? seen_[tenant_id] : catch_up(tenant_id);
    const auto found = seen.orders.find(id);
    return found == seen.orders.end() ? nullptr : &found->second;
}

void DurableView::note_step(Seen& seen, const LedgerEntry& entry) {
    const auto json = parse_json(entry.canonical_json);
    const auto record = json ? decode_audit_record(*json) : Result<AuditRecord>(AuditRecord{});
    if (!record) {
        return;
    }
    const AuditDraft& draft = record->draft;
    const bool passed = draft.status == AuditStatus::passed;
    if (draft.event == "VALIDATION_RESULT") {
        seen.rehearsed.erase(draft.decision_id);
        seen.validated.erase(draft.decision_id);
        if (passed) {
            seen.validated.insert(draft.decision_id);
        }
    } else if (draft.event == "DRY_RUN_RESULT" && passed) {
        seen.rehearsed.insert(draft.decision_id);
    } else if (draft.event == "EXECUTION_ATTEMPT" && draft.status == AuditStatus::started) {
        const Json* orders = draft.detail.find("orders");
        for (const Json& row : orders == nullptr ? Json::Array() : orders->items()) {
            seen.orders[OrderClientId::trusted(text_of(row, "order_client_id"))] = {
                .decision_id = draft.decision_id,
                .tick_id = draft.tick_id,
                .intent_id = IntentId::trusted(text_of(row, "intent_id")),
                .is_validated = seen.validated.contains(draft.decision_id),
                .is_rehearsed = seen.rehearsed.contains(draft.decision_id),
            };
        }
    }
}

DurableView::Seen& DurableView::catch_up(const TenantId& tenant_id) {
    Seen& seen = seen_[tenant_id];
    for (const LedgerEntry& entry : entries_after(tenant_id, seen.seq)) {
        seen.seq = entry.seq;
        // The canonical text is ours; looking for its members is as good as decoding it.
        constexpr std::string_view kMember = "\"effect_id\":\"";
        const std::size_t at = entry.canonical_json.find(kMember);
        if (at != std::string::npos &&
            entry.canonical_json.find("\"event\":\"PROBE_ACCEPTED\"") != std::string::npos) {
            const std::size_t start = at + kMember.size();
            const std::size_t end = entry.canonical_json.find('"', start);
            seen.effects.insert(entry.canonical_json.substr(start, end - start));
        }
        for (const std::string_view event : kSteps) {
            if (entry.canonical_json.find(event) != std::string::npos) {
                note_step(seen, entry);
            }
        }
    }
    return seen;
}

std::vector<LedgerEntry> StoreDurableView::entries_after(
    const TenantId& tenant_id, std::int64_t after) {
    auto entries = store_.read_ledger(tenant_id, after, std::numeric_limits<std::int64_t>::max());
    return entries ? *std::move(entries) : std::vector<LedgerEntry>();
}

struct DiskDurableView::Opened {
    Opened(const CrashDisk& disk, const std::string& path)
        : generation(disk.durable_generation()), copy(disk.durable_copy(power)), vfs(copy) {
        auto opened = SqliteDb::open({.path = path, .vfs_name = vfs.name()});
        if (!opened || !opened->read_text("PRAGMA locking_mode = EXCLUSIVE")) {
            return;
        }
        auto prepared = opened->prepare(
            "SELECT seq, json FROM ledger WHERE tenant_id = ?1 AND seq > ?2 ORDER BY seq");
        if (prepared) {
            db = *std::move(opened);
            query = *std::move(prepared);
        }
    }

    const std::uint64_t generation;
    Power power;
    CrashDisk copy;
    CrashVfs vfs;
    // The statement after its connection, so that it goes first. Empty when the synced bytes are no
    // database yet.
    std::optional<SqliteDb> db;
    SqliteStatement query;
};

DiskDurableView::DiskDurableView(const CrashDisk& disk, std::string path)
    : disk_(disk), path_(std::move(path)) {}

DiskDurableView::~DiskDurableView() = default;

std::vector<LedgerEntry> DiskDurableView::entries_after(
    const TenantId& tenant_id, std::int64_t after) {
    if (opened_ == nullptr || opened_->generation != disk_.durable_generation()) {
        opened_.reset();
        opened_ = std::make_unique<Opened>(disk_, path_);
    }
    std::vector<LedgerEntry> entries;
    if (!opened_->db) {
        return entries;
    }
    SqliteRows rows = opened_->query.query(tenant_id, after);
    while (true) {
        const auto more = rows.next();
        if (!more || !*more) {
            return entries;
        }
        entries.push_back({tenant_id, rows.integer(0), rows.text(1), {}});
    }
}

}  // namespace interlock::sim
