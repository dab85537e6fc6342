#include "sim/durable_view.h"

#include <limits>

#include "adapters/sqlite/sqlite_db.h"
#include "base/json.h"
#include "sim/crash_vfs.h"

namespace interlock::sim {

bool DurableView::justifies(const OutboxItem& effect) {
    Seen& seen = seen_[effect.tenant_id];
    const std::string& effect_id = effect.effect_id.text();
    if (seen.effects.contains(effect_id)) {
        return true;
    }
    for (const LedgerEntry& entry : entries_after(effect.tenant_id, seen.seq)) {
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
    }
    return seen.effects.contains(effect_id);
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
