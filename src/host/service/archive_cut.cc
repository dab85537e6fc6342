#include "host/service/archive_cut.h"

#include "base/errors.h"
#include "engine/service/ledger_export.h"

namespace interlock {
namespace {

// The last seal that may be cut at.
Result<std::optional<Checkpoint>> find_cut(
    LedgerStore& store,
    const std::vector<Checkpoint>& points,
    std::int64_t from,
    Timestamp not_after) {
    for (auto point = points.rbegin(); point != points.rend() && point->seq > from; ++point) {
        const bool is_last = point->seq == points.back().seq;
        if (is_last || point->at > not_after || point->seq - from >= kSegmentRecordsMax) {
            continue;
        }
        // In chains of before seals were records the index names other records, too.
        TRY_ASSIGN(const auto seal, find_seal(store, *point, nullptr));
        if (seal) {
            return *point;
        }
    }
    return std::nullopt;
}

}  // namespace

std::unexpected<Error> not_archived(const TenantId& tenant_id, const ChainFault& fault) {
    return fail(
        errors::cannot_archive,
        "The chain of " + tenant_id.text() + " does not hold at record " +
            std::to_string(fault.seq) + " (" + fault.reason + ": " + fault.detail +
            "), so it stays as it is.",
        "Run `interlock audit verify`, keep a copy of the data folder, and look into it.");
}

Result<std::optional<ArchivedSegment>> choose_segment(
    LedgerStore& store, const TenantId& tenant_id, Timestamp not_after) {
    TRY_ASSIGN(const ArchiveState archive, load_archive(store, tenant_id));
    TRY_ASSIGN(const auto points, store.read_checkpoints(tenant_id));
    const std::int64_t from = archive.segments.empty() ? 1 : archive.to();
    TRY_ASSIGN(const auto cut, find_cut(store, points, from, not_after));
    if (!cut) {
        return std::nullopt;
    }
    ArchivedSegment segment{
        .from = from,
        .to = cut->seq,
        .hash = cut->hash,
        .at = cut->at,
        .file = segment_file(tenant_id, from, cut->seq),
        .sha256 = {},
        .seals_root = {}};
    std::vector<ChainHead> seals;
    for (const Checkpoint& point : points) {
        if (point.seq >= segment.from && point.seq <= segment.to) {
            seals.push_back({point.seq, point.hash});
        }
    }
    segment.seals = std::ssize(seals);
    segment.seals_root = seals_root(seals);
    return segment;
}

Result<void> confirm_segment(
    std::istream& in, const SegmentCheck& check, ArchivedSegment& segment) {
    TRY_ASSIGN(
        const ExportReport read,
        verify_export(in, {.public_key = check.first_public_key, .keys = &check.keys}));
    if (read.chain.fault) {
        return not_archived(check.tenant_id, *read.chain.fault);
    }
    const ChainHead& head = read.chain.head;
    if (!read.chain.complete || read.chain.tenant_id != check.tenant_id || head.seq != segment.to ||
        head.hash != segment.hash || read.to_seq != segment.to ||
        read.chain.first_seq != segment.from) {
        return fail(errors::io_failed, "What was written to " + segment.file + " reads otherwise.");
    }
    for (const BreakFound& found : read.chain.breaks) {
        if (found.accepted_by.empty() || segment.breaks.size() >= kSegmentBreaksMax) {
            return fail(
                errors::cannot_archive,
                "The break at record " + std::to_string(found.broken.bad_seq) + " of " +
                    check.tenant_id.text() + " was not accepted before record " +
                    std::to_string(segment.to) + ".",
                "Archive again when its acceptance is older than --keep.");
        }
        segment.breaks.push_back(found);
    }
    segment.adopted = read.chain.adopted;
    return {};
}

}  // namespace interlock
