#include "engine/service/chain_check.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "engine/ports/head_mirror.h"
#include "engine/rules/merkle.h"
#include "engine/rules/protected_rows.h"
#include "engine/rules/tail_proof.h"
#include "engine/service/archive_read.h"
#include "engine/wire/chain_bounds.h"

namespace interlock {
namespace {

constexpr std::int64_t kVerifyPage = 1000;
constexpr std::string_view kRefPrefix = "sha256:";

void expect_mirror(ChainVerifier& verifier, const LedgerHead& mirror_head) {
    verifier.expect_at_least({mirror_head.seq, mirror_head.hash}, "the head file");
}

// One walk over one chain, with everything that vouches for it.
class Walk {
public:
    Walk(const ChainSources& sources, const TenantId& tenant_id)
        : sources_(sources), tenant_id_(tenant_id) {}

    Result<ChainWalk> run() {
        TRY_ASSIGN(points_, sources_.store.read_checkpoints(tenant_id_));
        TRY_ASSIGN(const SealPoint start, start_point());
        ChainVerifier::Trust trust{.keys = &sources_.keys, .book = sources_.book};
        trust.artifact = [this](const std::string& ref) {
            return find_artifact(sources_.store, tenant_id_, ref);
        };
        if (sources_.check_artifacts) {
            trust.on_artifact = [this](std::int64_t seq, const std::string& ref) {
                check_artifact(seq, ref);
            };
        }
        ChainVerifier verifier(tenant_id_, std::move(trust), start);
        report_.tenant_id = tenant_id_;
        report_.first_seq = start.seq + 1;
        if (!sources_.from_last_seal) {
            TRY(check_archived(start.seq));
        }
        TRY(feed(verifier));
        TRY(compare_heads(verifier));
        check_tail(verifier);
        take(verifier);
        TRY(compare_rows_of(verifier));
        return ChainWalk{std::move(report_), verifier.heads_points()};
    }

private:
    // Numbers in the index that no chain can have: only the whole chain knows whether that is told.
    bool has_absurd_index() const {
        return !points_.empty() && (points_.front().seq < 1 || points_.back().seq > kHeadSeqMax);
    }

    // The newest indexed place where a good seal stands; genesis when there is none.
    Result<SealPoint> start_point() {
        if (sources_.from_last_seal && !points_.empty() && !has_absurd_index()) {
            TRY_ASSIGN(const auto found, find_seal(sources_.store, points_.back(), &sources_.keys));
            if (found && found->seal.book == sources_.book) {
                TRY_ASSIGN(const bool has_turn, is_in_turn(*found));
                if (has_turn) {
                    return found->point;
                }
            }
        }
        if (sources_.book != kLedgerBook) {
            return SealPoint{};
        }
        TRY_ASSIGN(archive_, load_archive(sources_.store, tenant_id_));
        const std::int64_t begin = sources_.begin_seq.value_or(archive_.to());
        if (begin > 0 && tenant_id_ == system_tenant()) {
            TRY(load_lineage(sources_.store, sources_.keys));
        }
        return begin > 0 ? cut_point(begin) : first_point();
    }

    // The seal with which the chain begins since what stood before it was archived.
    Result<SealPoint> cut_point(std::int64_t begin) {
        const auto place = std::ranges::lower_bound(points_, begin, {}, &Checkpoint::seq);
        if (place != points_.end() && place->seq == begin) {
            TRY_ASSIGN(const auto found, find_seal(sources_.store, *place, &sources_.keys));
            if (found && found->seal.book == sources_.book) {
                return found->point;
            }
        }
        set_fault(begin, "missing_checkpoint", "the seal at which the chain was cut is gone");
        // What follows may still hang on it.
        for (const ArchivedSegment& segment : archive_.segments) {
            if (segment.to == begin) {
                return SealPoint{.seq = begin, .hash = segment.hash, .at = segment.at};
            }
        }
        return SealPoint{};
    }

    // Genesis. Records that were taken out up to a seal, without a word about it, are a fault that
    // leaves the rest of the chain as good as it was.
    Result<SealPoint> first_point() {
        TRY_ASSIGN(const auto first, sources_.store.read_ledger(tenant_id_, 0, 1));
        if (first.empty() || first.front().seq == 1) {
            return SealPoint{};
        }
        const std::int64_t seq = first.front().seq;
        const auto place = std::ranges::lower_bound(points_, seq, {}, &Checkpoint::seq);
        if (place == points_.end() || place->seq != seq) {
            return SealPoint{};
        }
        TRY_ASSIGN(const auto found, find_seal(sources_.store, *place, &sources_.keys));
        if (!found || found->seal.broken) {
            return SealPoint{};  // A break says itself what was found before it.
        }
        set_fault(
            1,
            "missing_record",
            "the chain begins with record " + std::to_string(seq) +
                ", and no row says that what stood before it was archived");
        return found->point;
    }

    // What is left of records that were archived and are not walked over.
    Result<void> check_archived(std::int64_t begin) {
        for (const ArchivedSegment& segment : archive_.segments) {
            if (segment.to > begin) {
                return {};
            }
            std::vector<ChainHead> seals;
            for (const Checkpoint& point : points_) {
                if (point.seq >= segment.from && point.seq <= segment.to) {
                    seals.push_back({point.seq, point.hash});
                }
                const bool is_kept = tenant_id_ == system_tenant() && point.seq < segment.to &&
                                     point.seq >= segment.from;
                if (is_kept && !point.signature.empty()) {
                    TRY_ASSIGN(const auto found, find_seal(sources_.store, point, nullptr));
                    if (!found && !is_signed_by(point, first_key())) {
                        set_fault(
                            point.seq, "missing_checkpoint", "this seal of `_system` is gone");
                    }
                }
            }
            if (std::ssize(seals) != segment.seals || seals_root(seals) != segment.seals_root) {
                set_fault(
                    segment.from,
                    "bad_checkpoint",
                    "the index of the seals in " + segment.file + " is not what was archived");
            }
            report_.breaks.insert(
                report_.breaks.end(), segment.breaks.begin(), segment.breaks.end());
            if (segment.adopted) {
                report_.adopted = segment.adopted;
            }
        }
        return {};
    }

    // Whether the key that signed a seal had its turn then; the whole walk says what it is if not.
    Result<bool> is_in_turn(const FoundSeal& found) {
        if (!is_system()) {
            return found.point.seq <= listed_seq() || found.seal.epoch >= sources_.turn;
        }
        if (points_.size() < 2) {
            return true;
        }
        TRY_ASSIGN(
            const auto before,
            find_seal(sources_.store, points_[points_.size() - 2], &sources_.keys));
        if (!before) {
            return found.seal.adopted.has_value();  // Behind detached ones of before.
        }
        const std::int64_t epoch = before->point.epoch;
        return found.seal.epoch == epoch || (found.seal.broken && found.seal.epoch == epoch + 1);
    }

    Result<void> feed(ChainVerifier& verifier) {
        auto next =
            std::ranges::lower_bound(points_, verifier.head().seq + 1, {}, &Checkpoint::seq);
        std::int64_t after = verifier.head().seq;
        bool is_last = false;
        while (!is_last) {
            TRY_ASSIGN(const auto page, sources_.store.read_ledger(tenant_id_, after, kVerifyPage));
            for (const LedgerEntry& entry : page) {
                verifier.add(entry.seq, entry.canonical_json, entry.hash);
                while (next != points_.end() && next->seq < entry.seq) {
                    ++next;
                }
                const bool has_point = next != points_.end() && next->seq == entry.seq;
                check_index(verifier, entry.seq, has_point ? &*next : nullptr);
                if (sources_.mirror_head != nullptr && sources_.mirror_head->seq == entry.seq) {
                    expect_mirror(verifier, *sources_.mirror_head);
                }
                check_expected(verifier, entry.seq);
                after = entry.seq;
            }
            report_.known_seq = std::max(report_.known_seq, after);
            if (sources_.on_progress) {
                sources_.on_progress(after);
            }
            is_last = static_cast<std::int64_t>(page.size()) < kVerifyPage;
        }
        return {};
    }

    void set_fault(std::int64_t seq, std::string_view reason, std::string detail) {
        faults_.push_back({seq, std::string(reason), std::move(detail)});
    }

    // Whether a break on record tells this very fault. Records after it do not make it another one:
    // what it is about stays where it is.
    bool is_told(const ChainVerifier& verifier, const ChainFault& fault) const {
        const auto tells = [&](const BreakFound& found) {
            return found.broken.reason == fault.reason && found.broken.detail == fault.detail;
        };
        return std::ranges::any_of(verifier.breaks(), tells) ||
               std::ranges::any_of(archive_.segments, [&](const ArchivedSegment& segment) {
                   return std::ranges::any_of(segment.breaks, tells);
               });
    }

    // A claim that no record can keep: of a number beyond all that a chain can reach. It is a fault
    // of this chain and no knowledge of how long it is.
    bool is_impossible(std::int64_t seq, const ChainVerifier& verifier) const {
        return seq > std::max(kHeadSeqMax, verifier.head().seq);
    }
    static std::string impossible_text(std::int64_t seq, std::string_view who) {
        return std::string(who) + " names record " + std::to_string(seq) +
               ", which no chain can have";
    }

    // The first fault that no break names.
    std::optional<ChainFault> open_fault(const ChainVerifier& verifier) const {
        std::optional<ChainFault> first = verifier.fault();
        for (const ChainFault& fault : faults_) {
            const bool is_known = std::ranges::any_of(verifier.breaks(), [&](const BreakFound& b) {
                return b.seq > fault.seq && b.broken.reason == fault.reason;
            });
            if (!is_known && (!first || fault.seq < first->seq)) {
                first = fault;
            }
        }
        return first;
    }

    // A seal is in the index, and what is in the index is a seal or, in records of before, a
    // detached signature by the first key.
    void check_index(ChainVerifier& verifier, std::int64_t seq, const Checkpoint* point) {
        if (verifier.fault()) {
            return;
        }
        const bool is_seal = verifier.last_seal().seq == seq;
        if (is_seal && point == nullptr) {
            set_fault(seq, "missing_checkpoint", "this seal is gone from the index of checkpoints");
        }
        if (point == nullptr) {
            return;
        }
        verifier.expect_point(seq, point->hash);
        if (verifier.fault()) {
            return;
        }
        if (is_seal) {
            const auto found = find_seal(sources_.store, *point, nullptr);
            if (found && *found && (*found)->seal.signature != point->signature) {
                set_fault(seq, "bad_checkpoint", "the index holds another signature of this seal");
            }
            if (found && *found && !is_system() && seq > listed_seq() &&
                (*found)->seal.epoch < sources_.turn) {
                set_fault(seq, "bad_checkpoint", "the key that signs it has had its turn");
            }
            return;
        }
        if (verifier.last_seal().seq > 0) {
            set_fault(seq, "bad_checkpoint", "the index names a seal where none stands");
        } else if (!is_signed_by(*point, first_key())) {
            set_fault(seq, "bad_checkpoint", "the signature of this checkpoint does not hold");
        } else {
            ++report_.checkpoints;
        }
    }

    std::string first_key() const { return from_hex(sources_.keys.first_key()).value_or(""); }

    void check_expected(ChainVerifier& verifier, std::int64_t seq) {
        if (sources_.expected == nullptr || verifier.fault()) {
            return;
        }
        const auto found = sources_.expected->find(seq);
        if (found != sources_.expected->end() && found->second != verifier.head().hash) {
            set_fault(
                seq, "head_mismatch", "a seal of `_system` holds another hash for this record");
        }
    }

    bool is_system() const { return tenant_id_ == system_tenant() && sources_.book == kLedgerBook; }

    // How far the newest list of heads vouches for the chain.
    std::int64_t listed_seq() const {
        const bool is_listed = sources_.expected != nullptr && !sources_.expected->empty();
        return is_listed ? sources_.expected->rbegin()->first : 0;
    }

    // Behind the last seal only a proof tells our records from those of anybody who can write.
    void check_tail(const ChainVerifier& verifier) {
        const std::int64_t sealed = std::max(verifier.last_seal().seq, listed_seq());
        const bool is_old = verifier.last_seal().seq == 0 && sources_.is_from_before;
        if (verifier.fault() || is_old || verifier.head().seq <= sealed ||
            stored_.seq != verifier.head().seq) {
            return;
        }
        const ChainTail tail{
            .line = {std::string(sources_.book), tenant_id_, verifier.head()},
            .proof = stored_.proof,
            .turn = is_system() ? verifier.last_seal().epoch : sources_.turn};
        if (!is_proven(tail, sources_.keys)) {
            set_fault(
                sealed + 1,
                "unproven_tail",
                "nobody who holds the key vouches for the records from here to " +
                    std::to_string(verifier.head().seq));
            std::map<std::string, std::string> was;  // Before the first of these records.
            for (const RowChange& change : verifier.changes()) {
                was.try_emplace(change.key, change.was);
            }
            for (const auto& [key, said] : was) {
                const RowSet* live = sources_.live_rows;
                const std::string found = live == nullptr ? std::string() : live->hash_of(key);
                report_.rows.push_back({key, "unproven_row", said, found});
            }
        }
    }

    void check_artifact(std::int64_t seq, const std::string& ref) {
        if (!seen_.insert(ref).second) {
            return;
        }
        ++report_.artifacts;
        const auto bytes = sources_.store.read_artifact(tenant_id_, ref.substr(kRefPrefix.size()));
        if (!bytes) {
            set_fault(seq, "unreadable_record", ref + ": " + bytes.error().message);
        } else if (!*bytes) {
            set_fault(seq, "missing_artifact", ref + " is gone");
        } else if ("sha256:" + sha256_hex(**bytes) != ref) {
            set_fault(seq, "changed_artifact", "the bytes kept as " + ref + " are others");
        }
    }

    // Each of these was written apart from the entries; any of them may know of a longer chain.
    Result<void> compare_heads(ChainVerifier& verifier) {
        TRY_ASSIGN(stored_, sources_.store.read_head(tenant_id_));
        const auto expect = [&](std::int64_t seq, const std::string& hash, std::string_view who) {
            if (is_impossible(seq, verifier)) {
                set_fault(verifier.head().seq, "head_mismatch", impossible_text(seq, who));
                return;
            }
            report_.known_seq = std::max(report_.known_seq, seq);
            verifier.expect_at_least({seq, hash}, who);
        };
        if (stored_.seq > 0) {
            expect(stored_.seq, stored_.hash, "the stored head");
        }
        for (const Checkpoint& point : points_) {
            if (point.seq >= 1 && !is_impossible(point.seq, verifier)) {
                expect(point.seq, point.hash, "a signed checkpoint");
                continue;
            }
            // The index keeps its rows, so the next start meets this one again.
            ChainFault fault{
                verifier.head().seq,
                "bad_checkpoint",
                impossible_text(point.seq, "the index of checkpoints")};
            if (!is_told(verifier, fault)) {
                faults_.push_back(std::move(fault));
            }
        }
        if (sources_.expected != nullptr && !sources_.expected->empty()) {
            expect(
                sources_.expected->rbegin()->first,
                sources_.expected->rbegin()->second,
                "a seal of `_system`");
        }
        if (sources_.mirror_head != nullptr && sources_.mirror_head->seq == kUnreadableHead) {
            set_fault(verifier.head().seq, "head_mismatch", "the head file holds no head");
        } else if (sources_.mirror_head != nullptr) {
            expect(sources_.mirror_head->seq, sources_.mirror_head->hash, "the head file");
        }
        return {};
    }

    void take(const ChainVerifier& verifier) {
        report_.records = verifier.count();
        report_.head = verifier.head();
        report_.checkpoints += verifier.seals();
        report_.breaks.insert(
            report_.breaks.end(), verifier.breaks().begin(), verifier.breaks().end());
        if (verifier.adopted()) {
            report_.adopted = verifier.adopted();
        }
        report_.last_seal = verifier.last_seal();
        report_.unsealed = verifier.unsealed();
        report_.unsealed_since = verifier.unsealed_since();
        report_.fault = open_fault(verifier);
        report_.has_gap = verifier.fault().has_value();
        if (!report_.fault && verifier.overdue() && !sources_.is_from_before) {
            report_.fault = verifier.overdue();
        }
        report_.complete = !report_.fault && stored_.seq == report_.head.seq;
        if (!report_.fault && !report_.complete) {
            report_.fault = ChainFault{
                std::max<std::int64_t>(stored_.seq, 0) + 1,
                "head_mismatch",
                "there are records after the stored head"};
        }
    }

    Result<void> compare_rows_of(const ChainVerifier& verifier) {
        const bool has_names = verifier.last_seal().seq > 0 || !sources_.is_from_before;
        if (sources_.live_rows == nullptr || report_.fault || !has_names) {
            return {};
        }
        if (verifier.knows_all_rows()) {
            report_.rows = compare_rows(verifier.rows(), *sources_.live_rows);
        } else {
            const auto before = rows_before(*sources_.live_rows, verifier.changes());
            if (before && before->root() == verifier.last_seal().rows.root) {
                return {};
            }
            // Only the whole history knows which row it is.
            ChainSources whole = sources_;
            whole.from_last_seal = false;
            TRY_ASSIGN(ChainWalk walk, Walk(whole, tenant_id_).run());
            report_ = std::move(walk.report);
            if (!report_.fault) {
                report_.rows = {{"(a row)", "changed_row"}};
            }
        }
        if (!report_.rows.empty()) {
            const RowFault& first = report_.rows.front();
            report_.fault = ChainFault{
                report_.head.seq,
                first.reason,
                first.key + " is not what the records say" +
                    (report_.rows.size() > 1
                         ? ", and " + std::to_string(report_.rows.size() - 1) + " more"
                         : std::string())};
            report_.complete = false;
        }
        return {};
    }

    const ChainSources& sources_;
    const TenantId& tenant_id_;
    std::vector<Checkpoint> points_;
    ArchiveState archive_;
    LedgerHead stored_;
    std::vector<ChainFault> faults_;  // Besides the verifier's own.
    std::set<std::string> seen_;
    ChainReport report_;
};

Json encode_break(const BreakFound& found) {
    return Json::object({
        {"seq", found.seq},
        {"at", to_text(found.at)},
        {"first_bad_seq", found.broken.bad_seq},
        {"problem", found.broken.reason},
        {"detail", found.broken.detail},
        {"rows", json_list(found.broken.rows)},
        {"accepted_by", found.accepted_by.empty() ? Json() : Json(found.accepted_by)},
    });
}

}  // namespace

std::optional<std::string> find_artifact(
    LedgerStore& store, const TenantId& tenant_id, std::string_view ref) {
    if (!ref.starts_with(kRefPrefix)) {
        return std::nullopt;
    }
    const std::string hash(ref.substr(kRefPrefix.size()));
    auto bytes = store.read_artifact(tenant_id, hash);
    // Bytes that do not give their name are as good as none.
    return bytes && *bytes && sha256_hex(**bytes) == hash ? *std::move(bytes) : std::nullopt;
}

std::string_view to_word(SegmentFound::State state) {
    constexpr std::array<std::string_view, 3> kWords{"not_at_hand", "whole", "changed"};
    return kWords[static_cast<std::size_t>(state)];
}

Json encode(const ChainReport& report) {
    Json breaks = Json::array();
    for (const BreakFound& found : report.breaks) {
        breaks.push(encode_break(found));
    }
    Json rows = Json::array();
    for (const RowFault& row : report.rows) {
        rows.push(Json::object({{"key", row.key}, {"problem", row.reason}}));
    }
    Json segments = Json::array();
    for (const SegmentFound& segment : report.segments) {
        segments.push(Json::object({
            {"from", segment.from},
            {"to", segment.to},
            {"file", segment.file},
            {"state", to_word(segment.state)},
        }));
    }
    Json json = Json::object({
        {"tenant_id", report.tenant_id.text()},
        {"ok", report.ok()},
        {"integrity", !report.fault},
        {"completeness", report.complete},
        {"records", report.records},
        {"first_seq", report.first_seq},
        {"head_seq", report.head.seq},
        {"head_hash", report.head.hash},
        {"checkpoints", report.checkpoints},
        {"artifacts", report.artifacts},
        {"adopted_records", report.adopted ? Json(*report.adopted) : Json()},
        {"breaks", std::move(breaks)},
        {"changed_rows", std::move(rows)},
        {"first_bad_seq", report.fault ? Json(report.fault->seq) : Json()},
        {"segments", std::move(segments)},
    });
    if (report.fault) {
        json.set("problem", report.fault->reason);
        json.set("detail", report.fault->detail);
    }
    return json;
}

bool is_proven(const ChainTail& tail, const KeyLineage& keys) {
    const auto epoch = proven_by(tail.line, tail.proof, keys);
    return epoch && *epoch >= tail.turn;
}

Result<ChainWalk> walk_chain(const ChainSources& sources, const TenantId& tenant_id) {
    return Walk(sources, tenant_id).run();
}

}  // namespace interlock
