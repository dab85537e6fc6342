#include "host/service/archive_service.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/log.h"
#include "codec/field_reader.h"
#include "host/service/ledger_service.h"

namespace interlock {
namespace {

constexpr std::string_view kArchivePrefix = "archive/";
constexpr std::string_view kArchivingPrefix = "archiving/";
constexpr std::size_t kFingerprintDigits = 16;
constexpr std::size_t kFolderBytesMax = 4096;

std::string archiving_key(const TenantId& tenant_id) {
    return std::string(kArchivingPrefix) + tenant_id.text();
}

// 64 bits of a hash. Two of them that are alike keep an artifact that could go.
std::uint64_t fingerprint(std::string_view hash) {
    std::uint64_t value = 0;
    std::from_chars(
        hash.data(), hash.data() + std::min(hash.size(), kFingerprintDigits), value, 16);
    return value;
}

std::unexpected<Error> refuse(std::string sentence) {
    return fail(errors::cannot_archive, std::move(sentence));
}

}  // namespace

Json encode(const ArchiveRequest& request) {
    return Json::object({
        {"tenant_id", request.tenant_id.text()},
        {"folder", request.folder},
        {"segment", encode(request.segment)},
    });
}

Result<ArchiveRequest> decode_archive_request(const Json& json) {
    FieldReader in(json);
    ArchiveRequest request{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .folder = in.required<std::string>("folder"),
        .segment = {},
    };
    const Json* segment = in.required_object("segment");
    if (in.ok() && request.folder.size() > kFolderBytesMax) {
        in.add_problem("folder", "is too long");
    }
    in.reject_unknown();
    TRY(in.finish(true));
    TRY_ASSIGN(request.segment, decode_segment(*segment));
    return request;
}

Result<void> ArchiveService::open() {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states(std::string(kArchivePrefix)));
    TRY_ASSIGN(const auto marks, parts_.runner.stored_states(std::string(kArchivingPrefix)));
    for (const auto& [key, stored] : rows) {
        const auto tenant_id = TenantId::trusted(key.substr(kArchivePrefix.size()));
        const auto json = parse_json(stored.json);
        auto state = json ? decode_archive(*json) : std::unexpected(json.error());
        if (!state) {
            // The chain's own walk has named it; nothing is removed by its word.
            log_error("archive_row_unreadable", {{"tenant_id", tenant_id.text()}});
            continue;
        }
        std::int64_t removed_to = 1;
        if (const auto mark = marks.find(archiving_key(tenant_id)); mark != marks.end()) {
            TRY_ASSIGN(const Json text, parse_json(mark->second.json));
            FieldReader in(text);
            removed_to = in.required<std::int64_t>("removed_to");
            TRY(in.finish(true));
        }
        publish(tenant_id, *std::move(state), removed_to);
    }
    return {};
}

void ArchiveService::publish(
    const TenantId& tenant_id, ArchiveState state, std::optional<std::int64_t> removed_to) {
    const std::lock_guard lock(mutex_);
    Known& known = known_[tenant_id];
    known.state = std::make_shared<const ArchiveState>(std::move(state));
    known.removed_to = removed_to.value_or(known.removed_to);
    has_work_ = true;
}

ArchiveState ArchiveService::archive_of(const TenantId& tenant_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(tenant_id);
    return found == known_.end() ? ArchiveState{} : *found->second.state;
}

Result<void> ArchiveService::require_live(const TenantId& tenant_id, std::int64_t seq) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(tenant_id);
    const ArchivedSegment* segment =
        found == known_.end() ? nullptr : found->second.state->find(seq);
    if (segment != nullptr) {
        return archived_error(tenant_id, seq, *segment);
    }
    return {};
}

std::map<TenantId, ArchiveProgress> ArchiveService::progress() const {
    const std::lock_guard lock(mutex_);
    std::map<TenantId, ArchiveProgress> all;
    for (const auto& [tenant_id, known] : known_) {
        const std::int64_t to = known.state->to();
        all[tenant_id] = {to, known.removed_to, known.removed_to >= to && !has_work_};
    }
    return all;
}

bool ArchiveService::has_work() const {
    const std::lock_guard lock(mutex_);
    return has_work_;
}

void ArchiveService::archive(Principal principal, ArchiveRequest request, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = request.tenant_id;
    turn.principal = std::move(principal);
    turn.function = "archive_segment";
    turn.decide = [this, request = std::move(request)](Turn& in) {
        return run_archive(in, request);
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

// A chain that somebody still has to look at stays where it is.
Result<void> ArchiveService::require_no_break(Turn& turn) {
    for (const TenantId& tenant_id : {turn.tenant_id(), system_tenant()}) {
        TRY_ASSIGN(const auto json, turn.load("break/" + tenant_id.text()));
        if (!json) {
            continue;
        }
        TRY_ASSIGN(const BreakState state, decode_break_state(*json));
        if (state.accepted_by.empty()) {
            return refuse(
                "The chain of " + tenant_id.text() + " is broken at record " +
                std::to_string(state.newest.bad_seq) + ", and no human has accepted it.");
        }
    }
    return {};
}

Result<void> ArchiveService::require_cut(
    Turn& turn, const ArchivedSegment& segment, const ArchiveState& state) {
    const std::int64_t next = state.segments.empty() ? 1 : state.to();
    if (segment.from != next || state.segments.size() >= kSegmentsMax) {
        return refuse(
            "The next segment of " + turn.tenant_id().text() + " begins with record " +
            std::to_string(next) + "; a chain has at most " + std::to_string(kSegmentsMax) + ".");
    }
    TRY_ASSIGN(const auto points, parts_.store.read_checkpoints(turn.tenant_id()));
    const auto point = std::ranges::find(points, segment.to, &Checkpoint::seq);
    if (point == points.end() || point->hash != segment.hash ||
        to_text(point->at) != to_text(segment.at)) {
        return refuse("Record " + std::to_string(segment.to) + " is not the seal that was named.");
    }
    if (point->seq >= points.back().seq || turn.now() - point->at < kArchiveKeepMin) {
        return refuse("The last seal and the records of the last day are not archived.");
    }
    std::vector<ChainHead> seals;
    for (const Checkpoint& one : points) {
        if (one.seq >= segment.from && one.seq <= segment.to) {
            seals.push_back({one.seq, one.hash});
        }
    }
    if (std::ssize(seals) != segment.seals || seals_root(seals) != segment.seals_root) {
        return refuse("The seals of the segment are not those of the chain.");
    }
    return {};
}

Result<TurnReply> ArchiveService::run_archive(Turn& turn, const ArchiveRequest& request) {
    const ArchivedSegment& segment = request.segment;
    TRY(require_no_break(turn));
    TRY_ASSIGN(
        ArchiveState state,
        turn.load_or(archive_key(turn.tenant_id()), decode_archive, ArchiveState{}));
    TRY(require_cut(turn, segment, state));
    if (parts_.file_bytes(request.folder, segment.file) != segment.bytes) {
        return refuse("The file " + segment.file + " is not there, or has another size.");
    }
    state.segments.push_back(segment);
    turn.save(archive_key(turn.tenant_id()), encode(state));
    AuditDraft draft = turn.draft(std::string(kSegmentEvent));
    draft.reason = "old records left the database in a verified file";
    draft.detail = encode(segment);
    draft.artifacts.push_back(turn.put_artifact(row_list(turn.rows_of(turn.tenant_id()))));
    TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
    turn.after_commit([this, tenant_id = turn.tenant_id(), state = std::move(state)] {
        publish(tenant_id, state, std::nullopt);
    });
    return Answer{
        200,
        to_text(Json::object({
            {"tenant_id", turn.tenant_id().text()},
            {"archived_to", segment.to},
            {"audit_ref", ref},
        }))};
}

void ArchiveService::duty() {
    if (is_asked_ || !has_work()) {
        return;
    }
    is_asked_ = true;
    TurnRequest request;
    request.tenant_id = system_tenant();
    request.principal = internal_principal("archive");
    request.function = "remove_archived";
    if (const auto begun = begin_next(); !begun) {
        stop(begun.error());
        return;
    }
    if (job_) {
        request.tenant_id = job_->tenant_id;
    }
    request.decide = [this](Turn& turn) { return run_piece(turn); };
    request.reply = [this](const Result<Answer>& answer) {
        is_asked_ = false;
        if (!answer && answer.error() != errors::overloaded) {
            stop(answer.error());
        }
    };
    parts_.submit(std::move(request));
}

// Whatever it is, the rows say how far it got: the next start, or the next segment, goes on.
void ArchiveService::stop(const Error& error) {
    log_warn("archive_stopped", {{"message", error.message}});
    is_asked_ = false;
    job_.reset();
    const std::lock_guard lock(mutex_);
    has_work_ = false;
}

// The first chain that has records to remove, if there is one.
Result<void> ArchiveService::begin_next() {
    if (job_) {
        return {};
    }
    std::optional<Job> next;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [tenant_id, known] : known_) {
            if (known.removed_to < known.state->to()) {
                next =
                    Job{.tenant_id = tenant_id,
                        .to = known.state->to(),
                        .next = known.removed_to,
                        .scanned = known.state->to() - 1,
                        .references = {},
                        .kept = {}};
                break;
            }
        }
    }
    if (next && next->tenant_id == system_tenant()) {
        TRY_ASSIGN(const auto points, parts_.store.read_checkpoints(next->tenant_id));
        for (const Checkpoint& point : points) {
            next->kept.insert(point.seq);
        }
    }
    job_ = std::move(next);
    return {};
}

Result<TurnReply> ArchiveService::run_piece(Turn& turn) {
    if (!job_) {
        turn.after_commit([this] { give_back(); });
        return Answer{};
    }
    // Up to the head as it is now: what this batch stores anew is written after what it removes.
    TRY_ASSIGN(const bool knows_all, scan(*job_));
    if (knows_all) {
        TRY(remove(turn, *job_));
    }
    return Answer{};
}

Result<bool> ArchiveService::scan(Job& job) {
    TRY_ASSIGN(
        const auto entries, parts_.store.read_ledger(job.tenant_id, job.scanned, kScanRecords));
    for (const LedgerEntry& entry : entries) {
        for (const std::string& hash : artifacts_of(entry.canonical_json)) {
            if (job.references.size() <= kReferencesMax) {
                job.references.insert(fingerprint(hash));
            }
        }
        job.scanned = entry.seq;
    }
    return std::ssize(entries) < kScanRecords;
}

Result<void> ArchiveService::remove(Turn& turn, Job& job) {
    TRY_ASSIGN(
        const auto entries, parts_.store.read_ledger(job.tenant_id, job.next - 1, kPieceRecords));
    LedgerRemoval removal{job.tenant_id, {}, {}};
    std::int64_t next = job.to;
    for (const LedgerEntry& entry : entries) {
        if (entry.seq >= job.to) {
            next = job.to;
            break;
        }
        next = entry.seq + 1;
        if (!job.kept.contains(entry.seq)) {
            removal.seqs.push_back(entry.seq);
        }
        for (std::string& hash : artifacts_of(entry.canonical_json)) {
            if (job.references.size() <= kReferencesMax &&
                !job.references.contains(fingerprint(hash))) {
                removal.artifacts.push_back(std::move(hash));
            }
        }
    }
    turn.save(archiving_key(job.tenant_id), Json::object({{"removed_to", next}}));
    turn.remove(std::move(removal));
    turn.after_commit([this, next] {
        job_->next = next;
        const bool is_done = next >= job_->to;
        {
            const std::lock_guard lock(mutex_);
            known_.at(job_->tenant_id).removed_to = next;
        }
        if (is_done) {
            log_info("segment_removed", {{"tenant_id", job_->tenant_id.text()}, {"to", job_->to}});
            job_.reset();
        }
    });
    return {};
}

void ArchiveService::give_back() {
    const auto left = parts_.store.free_pages(kPiecePages);
    if (!left) {
        log_warn("pages_not_freed", {{"message", left.error().message}});
    }
    if (!left || *left == 0) {
        const std::lock_guard lock(mutex_);
        has_work_ = std::ranges::any_of(known_, [](const auto& item) {
            return item.second.removed_to < item.second.state->to();
        });
    }
}

}  // namespace interlock
