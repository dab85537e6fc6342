#include "services/chain_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/field_reader.h"
#include "base/json_list.h"
#include "core/ledger/merkle.h"
#include "core/ledger/protected_rows.h"

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
        TRY(feed(verifier));
        TRY(compare_heads(verifier));
        take(verifier);
        TRY(compare_rows_of(verifier));
        return ChainWalk{std::move(report_), verifier.heads_points()};
    }

private:
    // The newest indexed place where a good seal stands; genesis when there is none.
    Result<SealPoint> start_point() {
        if (!sources_.from_last_seal || points_.empty()) {
            return SealPoint{};
        }
        TRY_ASSIGN(const auto found, find_seal(sources_.store, points_.back(), &sources_.keys));
        return found && found->seal.book == sources_.book ? found->point : SealPoint{};
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
            report_.known_seq = std::max(report_.known_seq, seq);
            verifier.expect_at_least({seq, hash}, who);
        };
        if (stored_.seq > 0) {
            expect(stored_.seq, stored_.hash, "the stored head");
        }
        for (const Checkpoint& point : points_) {
            expect(point.seq, point.hash, "a signed checkpoint");
        }
        if (sources_.expected != nullptr && !sources_.expected->empty()) {
            expect(
                sources_.expected->rbegin()->first,
                sources_.expected->rbegin()->second,
                "a seal of `_system`");
        }
        if (sources_.mirror_head != nullptr) {
            expect(sources_.mirror_head->seq, sources_.mirror_head->hash, "the head file");
        }
        return {};
    }

    void take(const ChainVerifier& verifier) {
        report_.records = verifier.count();
        report_.head = verifier.head();
        report_.checkpoints += verifier.seals();
        report_.breaks = verifier.breaks();
        report_.adopted = verifier.adopted();
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
                stored_.seq + 1, "head_mismatch", "there are records after the stored head"};
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

Json encode(const ChainReport& report) {
    Json breaks = Json::array();
    for (const BreakFound& found : report.breaks) {
        breaks.push(encode_break(found));
    }
    Json rows = Json::array();
    for (const RowFault& row : report.rows) {
        rows.push(Json::object({{"key", row.key}, {"problem", row.reason}}));
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
    });
    if (report.fault) {
        json.set("problem", report.fault->reason);
        json.set("detail", report.fault->detail);
    }
    return json;
}

Result<ChainWalk> walk_chain(const ChainSources& sources, const TenantId& tenant_id) {
    return Walk(sources, tenant_id).run();
}

Result<std::map<TenantId, RowSet>> live_rows(LedgerStore& store) {
    std::map<TenantId, RowSet> rows;
    for (const std::string_view prefix : kProtectedPrefixes) {
        TRY_ASSIGN(const auto states, store.load_states(std::string(prefix)));
        for (const auto& [machine_key, state] : states) {
            if (const auto row = protected_row(machine_key, state.json)) {
                rows[row->chain].set(machine_key, sha256_hex(row->text));
            }
        }
    }
    return rows;
}

Result<std::optional<FoundSeal>> find_seal(
    LedgerStore& store, const Checkpoint& place, const KeyLineage* keys) {
    TRY_ASSIGN(const auto entries, store.read_ledger(place.tenant_id, place.seq - 1, 1));
    if (entries.empty() || entries.front().seq != place.seq || entries.front().hash != place.hash) {
        return std::nullopt;
    }
    const auto json = parse_json(entries.front().canonical_json);
    auto record =
        json ? decode_audit_record(*json) : Result<AuditRecord>(std::unexpected(json.error()));
    if (!record || !is_seal(record->draft.event) || record->draft.tenant_id != place.tenant_id ||
        link_hash(record->prev_hash, entries.front().canonical_json) != place.hash) {
        return std::nullopt;
    }
    auto seal = decode_seal(record->draft.detail);
    if (!seal || !is_signed(*record, *seal) ||
        (keys != nullptr && !keys->holds(seal->epoch, seal->public_key))) {
        return std::nullopt;
    }
    SealPoint point{place.seq, place.hash, record->draft.timestamp, seal->rows};
    return FoundSeal{std::move(point), *std::move(seal), std::move(record->draft.artifacts)};
}

Result<void> load_lineage(LedgerStore& store, KeyLineage& keys) {
    TRY_ASSIGN(const auto points, store.read_checkpoints(system_tenant()));
    for (const Checkpoint& point : points) {
        TRY_ASSIGN(const auto found, find_seal(store, point, nullptr));
        if (!found) {
            continue;  // The walk says what is wrong with it.
        }
        const Seal& seal = found->seal;
        if (seal.broken && !keys.holds(seal.epoch, seal.public_key) &&
            seal.epoch == keys.last_epoch() + 1) {
            keys.begin_anew({seal.epoch, seal.public_key, ""});
        }
        if (seal.next_key && keys.holds(seal.epoch, seal.public_key)) {
            keys.add(*seal.next_key);
        }
    }
    return {};
}

Result<std::optional<ChainFault>> read_head_lists(
    LedgerStore& store, const std::vector<HeadsPoint>& points, HeadExpectations& expected) {
    for (const HeadsPoint& point : points) {
        const auto text = find_artifact(store, system_tenant(), point.list);
        auto lines = text ? parse_head_list(*text)
                          : Result<std::vector<HeadLine>>(
                                fail(errors::not_found, "the list of heads is gone or changed"));
        std::vector<std::string> leaves;
        if (lines) {
            for (const HeadLine& line : *lines) {
                leaves.push_back(to_text(line));
            }
        }
        if (!lines || static_cast<std::int64_t>(leaves.size()) != point.heads.count ||
            merkle_root(leaves) != point.heads.root) {
            return ChainFault{
                point.seq,
                "missing_artifact",
                lines ? "the list of heads is not the one that was sealed" : lines.error().message};
        }
        for (HeadLine& line : *lines) {
            expected[{line.book, line.tenant_id}].insert_or_assign(
                line.head.seq, std::move(line.head.hash));
        }
    }
    return std::nullopt;
}

Result<std::vector<HeadsPoint>> last_heads_point(
    LedgerStore& store, const SealPoint& last_seal, const KeyLineage& keys) {
    std::vector<HeadsPoint> points;
    if (last_seal.seq > 0) {
        TRY_ASSIGN(
            const auto found,
            find_seal(store, {system_tenant(), last_seal.seq, last_seal.hash, {}, {}}, &keys));
        if (found && found->seal.heads && !found->artifacts.empty()) {
            points.push_back({last_seal.seq, found->artifacts.front(), *found->seal.heads});
        }
    }
    return points;
}

Result<std::optional<ChainFault>> behind_head_log(
    LedgerStore& store, const std::vector<std::string>& lines, ChainReport& report, bool all) {
    const std::size_t first = all || lines.empty() ? 0 : lines.size() - 1;
    for (std::size_t i = first; i < lines.size(); ++i) {
        const auto json = parse_json(lines[i]);
        const Json* record = json ? json->find("record") : nullptr;
        const Json* hash = json ? json->find("hash") : nullptr;
        const Json* seq = record != nullptr ? record->find("seq") : nullptr;
        if (seq == nullptr || !seq->is_number() || hash == nullptr || !hash->is_string()) {
            return ChainFault{
                report.head.seq,
                "malformed_line",
                "line " + std::to_string(i + 1) + " of heads.log is no seal"};
        }
        const std::int64_t at = seq->as_int64().value_or(0);
        if (!report.breaks.empty() && at < report.breaks.back().seq) {
            continue;  // Of before a break, which is told anyway.
        }
        report.known_seq = std::max(report.known_seq, at);
        TRY_ASSIGN(const auto entries, store.read_ledger(system_tenant(), at - 1, 1));
        if (entries.empty() && at > report.head.seq) {
            return ChainFault{
                report.head.seq + 1,
                "truncated_tail",
                "heads.log says the chain reaches " + std::to_string(at) +
                    ", but the last record is " + std::to_string(report.head.seq)};
        }
        if (entries.empty() || entries.front().seq != at ||
            entries.front().hash != hash->as_string()) {
            return ChainFault{at, "head_mismatch", "heads.log holds another hash for this record"};
        }
    }
    return std::nullopt;
}

bool is_signed_by(const Checkpoint& checkpoint, std::string_view public_key) {
    const auto signature = from_hex(checkpoint.signature);
    const ChainHead head{checkpoint.seq, checkpoint.hash};
    return signature && ed25519_verify(
                            public_key,
                            checkpoint_text(checkpoint.tenant_id, head, to_text(checkpoint.at)),
                            *signature);
}

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

}  // namespace interlock
