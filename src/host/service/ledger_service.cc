#include "host/service/ledger_service.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/errors.h"
#include "base/log.h"
#include "engine/rules/merkle.h"
#include "engine/service/archive_read.h"

namespace interlock {
namespace {

constexpr Duration kDutyPeriod = Duration::of_seconds(1);

Result<AuditRecord> record_of(const LedgerEntry& entry) {
    TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
    TRY_ASSIGN(AuditRecord record, decode_audit_record(json));
    record.hash = entry.hash;
    return record;
}

TurnRequest request_of(const TenantId& tenant_id, std::string function) {
    TurnRequest request;
    request.tenant_id = tenant_id;
    request.principal = internal_principal("ledger");
    request.function = std::move(function);
    return request;
}

// The line of the head log: the record and its hash, as an export writes them.
std::string line_of(const LedgerEntry& entry) {
    return R"({"record":)" + entry.canonical_json + R"(,"hash":")" + entry.hash + "\"}";
}

}  // namespace

LedgerService::LedgerService(Parts parts) : parts_(parts), lineage_(parts.keys.first_public_key()) {
    parts_.runner.set_seal_rule([this] { seal_due(); });
}

Result<std::vector<ChainReport>> LedgerService::open() {
    TRY(load_lineage(parts_.store, lineage_));
    TRY(settle_key());
    TRY_ASSIGN(std::vector<ChainReport> reports, verify_all());
    TRY(load_breaks());
    key_since_ = parts_.clock.now();
    was_from_before_ = parts_.keys.is_from_before();
    bool must_seal = false;
    for (const ChainReport& report : reports) {
        sealed_[report.tenant_id] = report.last_seal;
        const bool is_unadopted =
            was_from_before_ && report.last_seal.seq == 0 && report.head.seq > 0;
        if (report.fault) {
            // Or nobody starts: a seal that came next would vouch for what was found.
            TRY(break_chain(report));
        } else if (is_unadopted) {
            adopt(report.tenant_id);
        }
        must_seal = must_seal || report.fault || is_unadopted;
    }
    // Only now: a seal that came first would vouch for what is to be adopted or broken.
    for (const ChainReport& report : reports) {
        const auto head = parts_.runner.heads().find(report.tenant_id);
        if (head != parts_.runner.heads().end() && head->second.seq == report.head.seq) {
            parts_.runner.unsealed().set(
                report.tenant_id, {report.unsealed, report.unsealed_since});
        }
    }
    sign_all();
    if (must_seal) {
        seal_system(KeyMove::now);  // The head log and the other chains' heads count from here.
    }
    return reports;
}

// Which key must be the current one follows from the chain. Another one, or none, is a break of
// `_system`: somebody put the folder together from parts, or a backup was restored.
Result<void> LedgerService::settle_key() {
    TRY_ASSIGN(bool is_there, parts_.keys.settle({lineage_.last_epoch(), lineage_.last_key()}));
    if (!is_there) {
        // The index may be what is wrong: the records know better.
        lineage_ = KeyLineage(parts_.keys.first_public_key());
        TRY(walk_chain({.store = parts_.store, .keys = lineage_}, system_tenant()));
        TRY_ASSIGN(is_there, parts_.keys.settle({lineage_.last_epoch(), lineage_.last_key()}));
    }
    if (!is_there) {
        is_key_lost_ = true;
        TRY(parts_.keys.begin_anew(lineage_.last_epoch() + 1));
        const SealKeys::Key key = parts_.keys.current();
        lineage_.begin_anew({key.epoch, key.public_key, ""});
    }
    return {};
}

Result<std::vector<ChainReport>> LedgerService::verify_all() {
    TRY_ASSIGN(const auto mirror, parts_.mirror.load());
    HeadExpectations& expected = expected_;
    std::vector<ChainReport> reports;
    const auto walk = [&](const TenantId& tenant_id) -> Result<ChainWalk> {
        const auto mirrored = mirror.find(tenant_id);
        const auto said = expected.find({std::string(kLedgerBook), tenant_id});
        const RowSet& rows = parts_.runner.rows(tenant_id);
        return walk_chain(
            {.store = parts_.store,
             .keys = lineage_,
             .mirror_head = mirrored == mirror.end() ? nullptr : &mirrored->second,
             .live_rows = &rows,
             .expected = said == expected.end() ? nullptr : &said->second,
             .turn = turn_,
             .from_last_seal = true,
             .is_from_before = parts_.keys.is_from_before()},
            tenant_id);
    };
    std::set<TenantId> chains;
    for (const auto& [tenant_id, head] : parts_.runner.heads()) {
        chains.insert(tenant_id);
    }
    for (const auto& [tenant_id, head] : mirror) {
        if (head.seq > 0) {
            chains.insert(tenant_id);
        }
    }
    // `_system` first: its last seal says how far the others must reach.
    if (chains.contains(system_tenant())) {
        TRY_ASSIGN(ChainWalk system, walk(system_tenant()));
        TRY_ASSIGN(
            const auto points, last_heads_point(parts_.store, system.report.last_seal, lineage_));
        TRY_ASSIGN(auto fault, read_head_lists(parts_.store, points, expected, turn_));
        if (fault && !system.report.fault) {
            system.report.fault = std::move(fault);
        }
        TRY_ASSIGN(const auto lines, parts_.head_log.read());
        TRY_ASSIGN(auto behind, behind_head_log(parts_.store, lines, system.report, false));
        if (behind && !system.report.fault) {
            system.report.has_gap = behind->reason == "truncated_tail";
            system.report.fault = std::move(behind);
        }
        if (is_key_lost_ && !system.report.fault) {
            system.report.fault = ChainFault{
                system.report.head.seq,
                "lost_key",
                "the sealing key is not the one that the last seal names"};
        }
        reports.push_back(std::move(system.report));
        chains.erase(system_tenant());
    }
    for (const auto& [place, points] : expected) {
        if (place.first == kLedgerBook) {
            chains.insert(place.second);
        }
    }
    for (const TenantId& tenant_id : chains) {
        TRY_ASSIGN(ChainWalk one, walk(tenant_id));
        reports.push_back(std::move(one.report));
    }
    return reports;
}

Result<void> LedgerService::run(TurnRequest request) {
    Result<void> done;
    request.reply = [&done](Result<Answer> answer) {
        if (!answer) {
            done = std::unexpected(std::move(answer).error());
        }
    };
    std::vector<TurnRequest> batch;
    batch.push_back(std::move(request));
    parts_.runner.run_batch(std::move(batch));
    return done;
}

Seal LedgerService::seal_of(Turn& turn, const TenantId& tenant_id) {
    const SealKeys::Key key = parts_.keys.current();
    const SealPoint& before = sealed_[tenant_id];
    const RowSet rows = turn.rows_of(tenant_id);
    return {
        .epoch = key.epoch,
        .public_key = key.public_key,
        .previous_seq = before.seq,
        .previous_hash = before.hash,
        .rows = {static_cast<std::int64_t>(rows.size()), rows.root()},
    };
}

void LedgerService::seal(const TenantId& tenant_id) {
    TurnRequest request = request_of(tenant_id, "seal");
    request.decide = [this](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(
            const SealPoint point,
            turn.audit_seal(
                turn.draft(std::string(kSealEvent)),
                seal_of(turn, turn.tenant_id()),
                [this](std::string_view text) { return parts_.keys.sign(text); }));
        turn.after_commit(
            [this, tenant_id = turn.tenant_id(), point] { sealed_[tenant_id] = point; });
        return Answer{};
    };
    run(std::move(request));
}

std::vector<HeadLine> LedgerService::heads_of_all(Turn& turn) const {
    std::vector<HeadLine> lines;
    for (const auto& [tenant_id, head] : parts_.runner.heads()) {
        if (tenant_id != system_tenant()) {
            lines.push_back({std::string(kLedgerBook), tenant_id, turn.head_of(tenant_id)});
        }
    }
    if (other_heads_) {
        std::ranges::move(other_heads_(), std::back_inserter(lines));
    } else {
        // Nobody has opened them yet: what the last list said of them still holds.
        for (const auto& [place, points] : expected_) {
            if (place.first != kLedgerBook && !points.empty()) {
                const auto& [seq, hash] = *points.rbegin();
                lines.push_back({place.first, place.second, {seq, hash}});
            }
        }
    }
    std::ranges::sort(
        lines, {}, [](const HeadLine& line) { return std::pair(line.book, line.tenant_id); });
    return lines;
}

void LedgerService::seal_system(KeyMove move) {
    TurnRequest request = request_of(system_tenant(), "seal");
    const auto lease =
        std::make_shared<std::unique_lock<std::mutex>>(parts_.keys.lease(), std::defer_lock);
    request.decide = [this, move, lease](Turn& turn) -> Result<TurnReply> {
        if (!lease->owns_lock()) {
            lease->lock();
        }
        Seal seal = seal_of(turn, system_tenant());
        AuditDraft draft = turn.draft(std::string(kSealEvent));
        const std::vector<HeadLine> lines = heads_of_all(turn);
        std::vector<std::string> leaves;
        std::string list;
        for (const HeadLine& line : lines) {
            leaves.push_back(to_text(line));
            list += leaves.back() + "\n";
        }
        seal.heads = SealedHeads{static_cast<std::int64_t>(leaves.size()), merkle_root(leaves)};
        draft.artifacts.push_back(turn.put_artifact(std::move(list)));
        const bool is_old = turn.now() - key_since_ >= kSealKeyLife;
        const auto next = parts_.keys.next_public_key();
        if (next && !awaits_heads_ && (move == KeyMove::now || is_old)) {
            const std::int64_t epoch = seal.epoch + 1;
            seal.next_key =
                KeyStep{epoch, *next, to_hex(parts_.keys.sign(key_step_text(epoch, *next)))};
        }
        const std::optional<KeyStep> step = seal.next_key;
        TRY_ASSIGN(
            const SealPoint point,
            turn.audit_seal(std::move(draft), std::move(seal), [this](std::string_view text) {
                return parts_.keys.sign(text);
            }));
        turn.after_commit([this, point, step, at = turn.now()] {
            sealed_[system_tenant()] = point;
            if (step) {
                lineage_.add(*step);
                parts_.keys.advance();
                key_since_ = at;
            }
            const auto entries = parts_.store.read_ledger(system_tenant(), point.seq - 1, 1);
            if (entries && !entries->empty()) {
                const std::string line = line_of(entries->front());
                parts_.head_log.append(line);
                if (on_system_seal_) {
                    on_system_seal_(line);
                }
            }
        });
        return Answer{};
    };
    run(std::move(request));
}

void LedgerService::set_other_heads(std::function<std::vector<HeadLine>()> heads) {
    other_heads_ = std::move(heads);
    if (std::exchange(awaits_heads_, false)) {
        seal_system(KeyMove::now);
    }
}

void LedgerService::seal_due() {
    const Timestamp now = parts_.clock.now();
    const auto is_due = [&](const TenantId& tenant_id) {
        return parts_.runner.unsealed().is_due(tenant_id, now);
    };
    bool has_sealed = false;
    std::vector<TenantId> due;
    for (const auto& [tenant_id, head] : parts_.runner.heads()) {
        if (tenant_id != system_tenant() && is_due(tenant_id)) {
            due.push_back(tenant_id);
        }
    }
    for (const TenantId& tenant_id : due) {
        seal(tenant_id);
        has_sealed = true;
    }
    const bool is_hour_over = now - sealed_[system_tenant()].at >= kSealPeriod;
    if (is_due(system_tenant()) || (has_sealed && is_hour_over)) {
        seal_system(KeyMove::when_due);
    }
}

void LedgerService::duty() {
    const Duration monotonic = parts_.clock.monotonic();
    if (monotonic.microseconds - last_duty_.microseconds < kDutyPeriod.microseconds) {
        return;
    }
    last_duty_ = monotonic;
    parts_.runner.seal_if_due();
    if (const auto purged = parts_.store.purge_answers(parts_.clock.now(), kPurgePerDuty);
        !purged) {
        log_warn("purge_failed", {{"message", purged.error().message}});
    }
}

void LedgerService::sign_all() {
    std::vector<TenantId> moved;
    for (const auto& [tenant_id, head] : parts_.runner.heads()) {
        if (tenant_id != system_tenant() && parts_.runner.unsealed().of(tenant_id).records > 0) {
            moved.push_back(tenant_id);
        }
    }
    for (const TenantId& tenant_id : moved) {
        seal(tenant_id);
    }
    if (!moved.empty() || parts_.runner.unsealed().of(system_tenant()).records > 0) {
        seal_system(KeyMove::now);
    }
}

// What was written before seals were records keeps the promise it had; from here on the new one
// holds.
void LedgerService::adopt(const TenantId& tenant_id) {
    TurnRequest request = request_of(tenant_id, "adopt_chain");
    request.decide = [this](Turn& turn) -> Result<TurnReply> {
        Seal seal = seal_of(turn, turn.tenant_id());
        seal.adopted = turn.head_of(turn.tenant_id()).seq;
        AuditDraft draft = turn.draft(std::string(kSealEvent));
        draft.reason = "adopts the records before it; from here on seals vouch for the chain";
        draft.artifacts.push_back(turn.put_artifact(row_list(turn.rows_of(turn.tenant_id()))));
        TRY_ASSIGN(
            const SealPoint point,
            turn.audit_seal(std::move(draft), std::move(seal), [this](std::string_view text) {
                return parts_.keys.sign(text);
            }));
        turn.after_commit(
            [this, tenant_id = turn.tenant_id(), point] { sealed_[tenant_id] = point; });
        return Answer{};
    };
    run(std::move(request));
}

Result<std::vector<AuditRecord>> LedgerService::read(
    const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) {
    if (archive_) {
        const ArchiveState archive = archive_(tenant_id);
        if (const ArchivedSegment* segment = archive.find(after + 1)) {
            return archived_error(tenant_id, after + 1, *segment);
        }
    }
    TRY_ASSIGN(
        const auto entries,
        parts_.store.read_ledger(tenant_id, after, std::min(count_max, kPageMax)));
    std::vector<AuditRecord> records;
    for (const LedgerEntry& entry : entries) {
        TRY_ASSIGN(AuditRecord record, record_of(entry));
        records.push_back(std::move(record));
    }
    return records;
}

Result<std::vector<AuditRecord>> LedgerService::tail(
    const TenantId& tenant_id, std::int64_t count) {
    TRY_ASSIGN(const LedgerHead head, parts_.store.read_head(tenant_id));
    const std::int64_t first = archive_ ? std::max<std::int64_t>(archive_(tenant_id).to(), 1) : 1;
    return read(tenant_id, std::max(first - 1, head.seq - count), count);
}

Result<ChainHead> LedgerService::head(const TenantId& tenant_id) {
    TRY_ASSIGN(const LedgerHead head, parts_.store.read_head(tenant_id));
    return head.seq == 0 ? ChainHead{} : ChainHead{head.seq, head.hash};
}

Result<std::vector<Checkpoint>> LedgerService::checkpoints(const TenantId& tenant_id) {
    return parts_.store.read_checkpoints(tenant_id);
}

Result<std::optional<std::string>> LedgerService::artifact(
    const TenantId& tenant_id, const std::string& hash) {
    return parts_.store.read_artifact(tenant_id, hash);
}

Result<LedgerService::SignedHead> LedgerService::signed_head(const TenantId& tenant_id) {
    TRY_ASSIGN(const ChainHead head, this->head(tenant_id));
    const SealKeys::Key key = parts_.keys.current();
    return SignedHead{
        sign_head(
            [this](std::string_view text) { return parts_.keys.sign(text); },
            tenant_id,
            head,
            parts_.clock.now()),
        key};
}

}  // namespace interlock
