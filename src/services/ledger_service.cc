#include "services/ledger_service.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/errors.h"
#include "base/field_reader.h"
#include "base/log.h"

namespace interlock {
namespace {

constexpr std::int64_t kVerifyPage = 1000;
constexpr Duration kDutyPeriod = Duration::of_seconds(1);

Result<AuditRecord> record_of(const LedgerEntry& entry) {
    TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
    TRY_ASSIGN(AuditRecord record, decode_audit_record(json));
    record.hash = entry.hash;
    return record;
}

void expect_mirror(ChainVerifier& verifier, const LedgerHead& mirror_head) {
    verifier.expect_at_least({mirror_head.seq, mirror_head.hash}, "the head file");
}

// Feeds all entries after the verifier's start, checking on the way what is known about single
// ones: signed points, and a head file that lags behind.
Result<void> walk(
    const ChainSources& sources,
    const TenantId& tenant_id,
    const std::vector<Checkpoint>& points,
    ChainVerifier& verifier) {
    std::size_t next = 0;
    std::int64_t after = verifier.head().seq;
    while (!verifier.fault()) {
        TRY_ASSIGN(const auto page, sources.store.read_ledger(tenant_id, after, kVerifyPage));
        for (const LedgerEntry& entry : page) {
            verifier.add(entry.seq, entry.canonical_json, entry.hash);
            while (next < points.size() && points[next].seq < entry.seq) {
                ++next;
            }
            if (next < points.size() && points[next].seq == entry.seq) {
                verifier.expect_point(entry.seq, points[next].hash);
            }
            if (sources.mirror_head != nullptr && sources.mirror_head->seq == entry.seq) {
                expect_mirror(verifier, *sources.mirror_head);
            }
            after = entry.seq;
        }
        if (sources.on_progress) {
            sources.on_progress(after);
        }
        if (static_cast<std::int64_t>(page.size()) < kVerifyPage) {
            return {};
        }
    }
    return {};
}

}  // namespace

Json encode(const Checkpoint& checkpoint) {
    return Json::object({
        {"tenant_id", checkpoint.tenant_id.text()},
        {"seq", checkpoint.seq},
        {"hash", checkpoint.hash},
        {"at", to_text(checkpoint.at)},
        {"signature", checkpoint.signature},
    });
}

Result<Checkpoint> decode_checkpoint(const Json& json) {
    FieldReader in(json);
    Checkpoint checkpoint{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .seq = in.required<std::int64_t>("seq"),
        .hash = in.required<std::string>("hash"),
        .at = in.required<Timestamp>("at"),
        .signature = in.required<std::string>("signature"),
    };
    in.reject_unknown();
    return in.finish(std::move(checkpoint));
}

Json encode(const ChainReport& report) {
    Json json = Json::object({
        {"tenant_id", report.tenant_id.text()},
        {"ok", !report.fault && report.complete},
        {"integrity", !report.fault},
        {"completeness", report.complete},
        {"records", report.records},
        {"first_seq", report.first_seq},
        {"head_seq", report.head.seq},
        {"head_hash", report.head.hash},
        {"checkpoints", report.checkpoints},
        {"first_bad_seq", report.fault ? Json(report.fault->seq) : Json()},
    });
    if (report.fault) {
        json.set("problem", report.fault->reason);
        json.set("detail", report.fault->detail);
    }
    return json;
}

Checkpoint sign_checkpoint(
    const Ed25519KeyPair& key, const TenantId& tenant_id, const ChainHead& head, Timestamp at) {
    return {
        .tenant_id = tenant_id,
        .seq = head.seq,
        .hash = head.hash,
        .at = at,
        .signature = to_hex(ed25519_sign(key, checkpoint_text(tenant_id, head, to_text(at)))),
    };
}

bool is_signed_by(const Checkpoint& checkpoint, std::string_view public_key) {
    const auto signature = from_hex(checkpoint.signature);
    const ChainHead head{checkpoint.seq, checkpoint.hash};
    return signature && ed25519_verify(
                            public_key,
                            checkpoint_text(checkpoint.tenant_id, head, to_text(checkpoint.at)),
                            *signature);
}

Result<ChainReport> verify_chain(const ChainSources& sources, const TenantId& tenant_id) {
    TRY_ASSIGN(const auto points, sources.store.read_checkpoints(tenant_id));
    ChainReport report;
    report.tenant_id = tenant_id;
    std::optional<ChainFault> bad_signature;
    ChainHead start;
    for (const Checkpoint& point : points) {
        if (!is_signed_by(point, sources.public_key)) {
            bad_signature = ChainFault{
                point.seq, "bad_checkpoint", "the signature of this checkpoint does not hold"};
            break;
        }
        ++report.checkpoints;
        if (sources.from_last_checkpoint) {
            start = {point.seq, point.hash};
        }
    }
    ChainVerifier verifier(tenant_id, start);
    report.first_seq = start.seq + 1;
    TRY(walk(sources, tenant_id, points, verifier));
    TRY_ASSIGN(const LedgerHead stored, sources.store.read_head(tenant_id));
    // Each of these was written apart from the entries; any of them may know of a longer chain.
    if (stored.seq > 0) {
        verifier.expect_at_least({stored.seq, stored.hash}, "the stored head");
    }
    for (const Checkpoint& point : points) {
        verifier.expect_at_least({point.seq, point.hash}, "a signed checkpoint");
    }
    if (sources.mirror_head != nullptr) {
        expect_mirror(verifier, *sources.mirror_head);
    }
    report.records = verifier.count();
    report.head = verifier.head();
    report.fault = verifier.fault() ? verifier.fault() : bad_signature;
    report.complete = !report.fault && stored.seq == report.head.seq;
    if (!report.fault && !report.complete) {
        report.fault =
            ChainFault{stored.seq + 1, "head_mismatch", "there are records after the stored head"};
    }
    return report;
}

LedgerService::LedgerService(Parts parts) : parts_(parts) {}

Result<std::vector<ChainReport>> LedgerService::open() {
    TRY_ASSIGN(const auto mirror, parts_.mirror.load());
    std::vector<ChainReport> reports;
    for (const auto& [tenant_id, head] : parts_.runner.heads()) {
        const auto found = mirror.find(tenant_id);
        TRY_ASSIGN(
            ChainReport report,
            verify_chain(
                {.store = parts_.store,
                 .mirror_head = found == mirror.end() ? nullptr : &found->second,
                 .public_key = parts_.key.public_key,
                 .from_last_checkpoint = true},
                tenant_id));
        reports.push_back(std::move(report));
        TRY_ASSIGN(const auto points, parts_.store.read_checkpoints(tenant_id));
        if (!points.empty()) {
            signed_[tenant_id] = {points.back().seq, points.back().at};
        }
    }
    for (const auto& [tenant_id, head] : mirror) {
        if (!parts_.runner.heads().contains(tenant_id) && head.seq > 0) {
            ChainReport report;
            report.tenant_id = tenant_id;
            report.fault =
                ChainFault{1, "truncated_tail", "the head file knows a chain that is gone"};
            reports.push_back(std::move(report));
        }
    }
    return reports;
}

void LedgerService::sign(const TenantId& tenant_id) {
    TurnRequest request;
    request.tenant_id = tenant_id;
    request.principal = internal_principal("checkpoint");
    request.function = "sign_checkpoint";
    request.decide = [this](Turn& turn) -> Result<TurnReply> {
        const ChainHead head = turn.head_of(turn.tenant_id());
        turn.add_checkpoint(sign_checkpoint(parts_.key, turn.tenant_id(), head, turn.now()));
        turn.after_commit([this, tenant_id = turn.tenant_id(), seq = head.seq, at = turn.now()] {
            signed_[tenant_id] = {seq, at};
        });
        return Answer{};
    };
    std::vector<TurnRequest> batch;
    batch.push_back(std::move(request));
    parts_.runner.run_batch(std::move(batch));
}

void LedgerService::duty() {
    const Duration monotonic = parts_.clock.monotonic();
    if (monotonic.microseconds - last_duty_.microseconds < kDutyPeriod.microseconds) {
        return;
    }
    last_duty_ = monotonic;
    const Timestamp now = parts_.clock.now();
    std::vector<TenantId> due;
    for (const auto& [tenant_id, head] : parts_.runner.heads()) {
        Signed& last = signed_[tenant_id];
        if (last.at == Timestamp{}) {
            last.at = now;  // A new chain: its first hour starts here.
        }
        const std::int64_t fresh = head.seq - last.seq;
        if (fresh >= kCheckpointEvery || (fresh > 0 && now - last.at >= kCheckpointPeriod)) {
            due.push_back(tenant_id);
        }
    }
    for (const TenantId& tenant_id : due) {
        sign(tenant_id);
    }
    if (const auto purged = parts_.store.purge_answers(now, kPurgePerDuty); !purged) {
        log_warn("purge_failed", {{"message", purged.error().message}});
    }
}

void LedgerService::sign_all() {
    std::vector<TenantId> moved;
    for (const auto& [tenant_id, head] : parts_.runner.heads()) {
        if (head.seq > signed_[tenant_id].seq) {
            moved.push_back(tenant_id);
        }
    }
    for (const TenantId& tenant_id : moved) {
        sign(tenant_id);
    }
}

std::string LedgerService::chain_problem(const TenantId& tenant_id) {
    const auto report = verify_chain(
        {.store = parts_.store,
         .mirror_head = nullptr,
         .public_key = parts_.key.public_key,
         .from_last_checkpoint = true},
        tenant_id);
    if (!report) {
        return report.error().message;
    }
    return report->fault ? std::string(report->fault->reason) + " at record " +
                               std::to_string(report->fault->seq)
                         : std::string();
}

Result<std::vector<AuditRecord>> LedgerService::read(
    const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) {
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
    return read(tenant_id, std::max<std::int64_t>(0, head.seq - count), count);
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

Result<Checkpoint> LedgerService::signed_head(const TenantId& tenant_id) {
    TRY_ASSIGN(const ChainHead head, this->head(tenant_id));
    return sign_checkpoint(parts_.key, tenant_id, head, parts_.clock.now());
}

}  // namespace interlock
