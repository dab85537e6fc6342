// The promise of folding (audit-ledger.md 5), checked on every commit: each count is of one turn
// that changed nothing, hangs on the count before it, and ends in a record that says exactly it.
// Reported as "fold".
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/ports/ledger_store.h"
#include "engine/rules/fold.h"
#include "engine/wire/audit_record.h"
#include "sim/violation.h"

namespace interlock::sim {

class FoldInvariant {
public:
    explicit FoldInvariant(ViolationLog& log) : log_(log) {}

    // One committed turn, with its records decoded and their hashes.
    void on_commit(const TurnCommit& turn, std::span<const AuditRecord> records);

    std::uint64_t counted() const { return counted_; }

private:
    void on_row(const std::string& key, FoldRow next, std::span<const AuditRecord> records);
    void on_counted(const OpenFold& before, const OpenFold& after);
    void on_ended(const OpenFold& fold, std::span<const AuditRecord> records);
    void on_record(const AuditRecord& record);
    void broken(const std::string& what) { log_.report("fold", what); }

    ViolationLog& log_;
    std::map<std::string, FoldRow> rows_;  // As committed last.
    // Every record of the run, by tenant and audit_ref: a fold names one of them.
    std::map<std::pair<TenantId, std::string>, AuditRecord> repeated_;
    std::uint64_t counted_ = 0;
    std::int64_t counted_in_turn_ = 0;
};

}  // namespace interlock::sim
