#include "engine/service/ledger_check.h"

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

Result<std::set<TenantId>> chains_of(const LedgerCheck& check) {
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
    return known;
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
    if (mirrored == check.mirror.end() && report.head.seq == 0 && !report.fault) {
        report.fault = ChainFault{1, "missing_record", "there is no chain of this tenant"};
        report.complete = false;
    }
    return report;
}

// What `_system` says of the other chains; wherever it was asked for or not.
class Checker {
public:
    Checker(const LedgerCheck& check, std::map<TenantId, RowSet> rows)
        : check_(check), rows_(std::move(rows)) {
        if (check_.segments != nullptr && check_.book == kLedgerBook && !check_.from_last_seal) {
            joined_.emplace(check_.store, *check_.segments);
        }
    }

    Result<ChainWalk> walk(const TenantId& tenant_id) {
        const auto mirrored = check_.mirror.find(tenant_id);
        const auto said = expected().find({std::string(check_.book), tenant_id});
        std::vector<SegmentFound> segments;
        if (check_.book == kLedgerBook && !check_.from_last_seal) {
            TRY_ASSIGN(segments, find_segments(tenant_id));
        }
        ChainSources sources{
            .store = store(),
            .keys = check_.keys,
            .book = check_.book,
            .mirror_head = mirrored == check_.mirror.end() ? nullptr : &mirrored->second,
            .live_rows = &rows_[tenant_id],
            .expected = said == expected().end() ? nullptr : &said->second,
            .turn = turn_,
            .from_last_seal = check_.from_last_seal,
            .is_from_before = check_.is_from_before,
            .check_artifacts = check_.check_artifacts,
        };
        if (check_.on_progress) {
            sources.on_progress = [&](std::int64_t seq) { check_.on_progress(tenant_id, seq); };
        }
        if (joined_) {
            sources.begin_seq = 0;
            for (const SegmentFound& segment : segments) {
                if (segment.state != SegmentFound::State::whole) {
                    sources.begin_seq = segment.to;
                }
            }
        }
        auto walked = walk_chain(sources, tenant_id);
        if (walked) {
            walked->report.segments = std::move(segments);
            name_changed_segment(walked->report);
            walked->report = missing_chain(check_, std::move(walked->report));
            return walked;
        }
        if (walked.error() == errors::corrupt_data) {
            return ChainWalk{find_damage(check_, tenant_id, walked.error()), {}};
        }
        return walked;
    }

    Result<ChainReport> walk_system() {
        TRY_ASSIGN(ChainWalk system, walk(system_tenant()));
        std::vector<HeadsPoint> points = std::move(system.heads_points);
        if (check_.from_last_seal) {
            TRY_ASSIGN(points, last_heads_point(store(), system.report.last_seal, check_.keys));
        }
        TRY_ASSIGN(auto fault, read_head_lists(store(), points, expected(), turn_));
        if (check_.turn != nullptr) {
            *check_.turn = turn_;
        }
        if (!fault) {
            TRY_ASSIGN(
                fault,
                behind_head_log(store(), check_.head_log, system.report, !check_.from_last_seal));
        }
        if (fault && !system.report.fault) {
            system.report.fault = std::move(fault);
            system.report.complete = false;
        }
        return std::move(system.report);
    }

    HeadExpectations& expected() {
        return check_.expected == nullptr ? own_expected_ : *check_.expected;
    }

private:
    LedgerStore& store() { return joined_ ? static_cast<LedgerStore&>(*joined_) : check_.store; }

    Result<std::vector<SegmentFound>> find_segments(const TenantId& tenant_id) {
        TRY_ASSIGN(const ArchiveState archive, load_archive(check_.store, tenant_id));
        std::vector<SegmentFound> found;
        for (const ArchivedSegment& segment : archive.segments) {
            found.push_back({segment.from, segment.to, segment.file});
            if (check_.segments == nullptr) {
                continue;
            }
            TRY_ASSIGN(const auto in, check_.segments->open(segment));
            if (in) {
                found.back().state = is_whole(*in, segment) ? SegmentFound::State::whole
                                                            : SegmentFound::State::changed;
            }
        }
        return found;
    }

    static void name_changed_segment(ChainReport& report) {
        for (const SegmentFound& segment : report.segments) {
            const bool is_first = !report.fault || report.fault->seq > segment.from;
            if (segment.state == SegmentFound::State::changed && is_first) {
                report.fault = ChainFault{
                    segment.from,
                    "changed_segment",
                    segment.file + " is not the file that was archived"};
                report.complete = false;
            }
        }
    }

    const LedgerCheck& check_;
    std::optional<JoinedLedger> joined_;
    std::map<TenantId, RowSet> rows_;
    HeadExpectations own_expected_;
    std::int64_t turn_ = check_.turn == nullptr ? 0 : *check_.turn;
};

}  // namespace

Result<std::vector<ChainReport>> check_ledger(const LedgerCheck& check) {
    TRY_ASSIGN(std::set<TenantId> chains, chains_of(check));
    std::map<TenantId, RowSet> rows;
    if (check.rows) {
        rows = *check.rows;
    } else {
        TRY_ASSIGN(rows, live_rows(check.store));
    }
    Checker checker(check, std::move(rows));
    std::map<TenantId, ChainReport> reports;
    const bool is_ledger = check.book == kLedgerBook;
    if (is_ledger && check.from_last_seal) {
        TRY(load_lineage(check.store, check.keys));
    }
    if (is_ledger && chains.contains(system_tenant())) {
        TRY_ASSIGN(reports[system_tenant()], checker.walk_system());
    }
    for (const auto& [place, points] : checker.expected()) {
        if (place.first == check.book) {
            chains.insert(place.second);
        }
    }
    chains.insert(check.tenants.begin(), check.tenants.end());
    for (const TenantId& tenant_id : chains) {
        const bool is_wanted =
            check.tenants.empty() || std::ranges::count(check.tenants, tenant_id) > 0;
        if (is_wanted && !reports.contains(tenant_id)) {
            TRY_ASSIGN(ChainWalk walked, checker.walk(tenant_id));
            reports[tenant_id] = std::move(walked.report);
        }
    }
    std::vector<ChainReport> listed;
    for (auto& [tenant_id, report] : reports) {
        // A broken `_system` is told even when another was asked for: its word is missing then.
        if (check.tenants.empty() || std::ranges::count(check.tenants, tenant_id) > 0 ||
            report.fault) {
            listed.push_back(std::move(report));
        }
    }
    return listed;
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
