// Records of the ledger laid out for people, and the choice of which ones.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/rules/hash_chain.h"
#include "engine/service/ledger_export.h"
#include "engine/wire/audit_record.h"

namespace interlock {

inline constexpr std::int64_t kTailMax = 100'000;

// The named chain, or the only tenant's when none is named; a usage error that lists them
// otherwise.
Result<TenantId> choose_chain(
    LedgerStore& store, const std::string& named, const std::string& data_folder = {});
// The named chain, or every tenant's when none is named.
Result<std::vector<TenantId>> choose_chains(LedgerStore& store, const std::string& named);

struct TailOptions {
    std::string data_folder;
    TenantId tenant_id;
    std::int64_t count = 20;
    bool follow = false;
    bool json = false;
};
// The newest records, oldest of them first. With `follow` it returns only when `out` fails.
Result<void> print_tail(LedgerStore& store, const TailOptions& options, std::ostream& out);

// By sequence number or by audit_ref, whose hash must then be the record's.
Result<AuditRecord> find_record(
    LedgerStore& store, const TenantId& tenant_id, const std::string& text);

std::string describe_record(const AuditRecord& record);
// One line that says where the tenant's chain is broken and what to do; empty without a fault.
std::string describe_fault(const TenantId& tenant_id, const std::optional<ChainFault>& fault);
std::string describe_export(const ExportReport& report);

}  // namespace interlock
