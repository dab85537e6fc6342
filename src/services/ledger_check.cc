#include "services/ledger_check.h"

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

Result<std::vector<TenantId>> chains_of(const LedgerCheck& check) {
    if (!check.tenants.empty()) {
        return check.tenants;
    }
    std::set<TenantId> known;
    const auto heads = check.store.load_heads();
    // With a damaged table of heads the head files still name the chains.
    if (!heads && (heads.error() != errors::corrupt_data || check.mirror.empty())) {
        return std::unexpected(heads.error());
    }
    if (heads) {
        for (const auto& [tenant_id, head] : *heads) {
            known.insert(tenant_id);
        }
    }
    for (const auto& [tenant_id, head] : check.mirror) {
        known.insert(tenant_id);
    }
    return std::vector<TenantId>(known.begin(), known.end());
}

// Reads record by record until one cannot be read or does not hold.
ChainReport find_damage(const LedgerCheck& check, const TenantId& tenant_id, const Error& error) {
    ChainVerifier verifier(tenant_id);
    while (!verifier.fault()) {
        const std::int64_t after = verifier.head().seq;
        const auto entry = check.store.read_ledger(tenant_id, after, 1);
        if (!entry || entry->empty()) {
            break;
        }
        verifier.add(entry->front().seq, entry->front().canonical_json, entry->front().hash);
        if (check.on_progress) {
            check.on_progress(tenant_id, after + 1);
        }
    }
    ChainReport report;
    report.tenant_id = tenant_id;
    report.records = verifier.count();
    report.head = verifier.head();
    report.fault = verifier.fault();
    if (!report.fault) {
        report.fault = ChainFault{verifier.head().seq + 1, "unreadable_record", error.message};
    }
    return report;
}

// A chain of which nothing is left but a head file, or which was never there.
ChainReport missing_chain(const LedgerCheck& check, ChainReport report) {
    const auto mirrored = check.mirror.find(report.tenant_id);
    if (mirrored == check.mirror.end() && report.records == 0 && report.head.seq == 0) {
        report.fault = ChainFault{1, "missing_record", "there is no chain of this tenant"};
        report.complete = false;
    }
    return report;
}

Result<ChainReport> check_chain(const LedgerCheck& check, const TenantId& tenant_id) {
    const auto mirrored = check.mirror.find(tenant_id);
    ChainSources sources{
        .store = check.store,
        .mirror_head = mirrored == check.mirror.end() ? nullptr : &mirrored->second,
        .public_key = check.public_key,
        .from_last_checkpoint = check.from_last_checkpoint,
    };
    if (check.on_progress) {
        sources.on_progress = [&](std::int64_t seq) { check.on_progress(tenant_id, seq); };
    }
    auto report = verify_chain(sources, tenant_id);
    if (report) {
        return missing_chain(check, *std::move(report));
    }
    if (report.error() == errors::corrupt_data) {
        return find_damage(check, tenant_id, report.error());
    }
    return report;
}

}  // namespace

Result<std::vector<ChainReport>> check_ledger(const LedgerCheck& check) {
    TRY_ASSIGN(const std::vector<TenantId> chains, chains_of(check));
    std::vector<ChainReport> reports;
    for (const TenantId& tenant_id : chains) {
        TRY_ASSIGN(ChainReport report, check_chain(check, tenant_id));
        reports.push_back(std::move(report));
    }
    return reports;
}

bool log_broken_chains(std::string_view where, const std::vector<ChainReport>& reports) {
    bool is_broken = false;
    for (const ChainReport& report : reports) {
        if (report.fault) {
            is_broken = true;
            log_error(
                "chain_broken",
                {{"where", where},
                 {"tenant_id", report.tenant_id.text()},
                 {"seq", report.fault->seq},
                 {"reason", report.fault->reason},
                 {"detail", report.fault->detail}});
        }
    }
    return is_broken;
}

}  // namespace interlock
