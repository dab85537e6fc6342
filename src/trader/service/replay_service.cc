#include "trader/service/replay_service.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/errors.h"
#include "engine/rules/fold.h"
#include "engine/service/archive_read.h"
#include "loop/service/loop_service.h"
#include "loop/service/loop_store.h"

namespace interlock {
namespace {

static_assert(LoopService::kPolicyVersion == kReplayPolicy);

constexpr std::int64_t kPage = 1000;

class ReplayWalk {
public:
    explicit ReplayWalk(const ReplayCheck& check)
        : check_(check),
          verifier_(check.tenant_id),
          inputs_(stored_inputs(check.store, check.tenant_id)) {}

    Result<ReplayReport> run() {
        TRY(begin());
        TRY(walk());
        report_.next_from = verifier_.head().seq + 1;
        TRY(compare_stored());
        ReplayReport report = std::move(report_);
        report.tenant_id = check_.tenant_id;
        report.fault = verifier_.fault();
        for (const auto& [id, replay] : replays_) {
            count(replay.verdict(), report);
        }
        if (check_.decision_id && report.decisions == 0 && !report.fault) {
            return fail(
                errors::not_found,
                "The ledger of " + check_.tenant_id.text() + " has no decision " +
                    check_.decision_id->text() + ".");
        }
        return report;
    }

private:
    Result<void> begin() {
        if (check_.from_seq <= 1) {
            TRY_ASSIGN(const auto start, readable_from(check_.store, check_.tenant_id));
            if (start) {
                verifier_ = ChainVerifier(check_.tenant_id, ChainVerifier::Trust{}, *start);
                from_seq_ = start->seq + 1;
            }
            return {};
        }
        TRY_ASSIGN(
            const auto before, check_.store.read_ledger(check_.tenant_id, check_.from_seq - 2, 1));
        if (before.empty() || before.front().seq != check_.from_seq - 1) {
            return fail(
                errors::not_found,
                "The ledger of " + check_.tenant_id.text() + " has no record " +
                    std::to_string(check_.from_seq - 1) + " to go on from.");
        }
        verifier_ = ChainVerifier(
            check_.tenant_id,
            ChainVerifier::Trust{},
            SealPoint{.seq = before.front().seq, .hash = before.front().hash, .at = {}});
        return {};
    }

    Result<void> walk() {
        while (!verifier_.fault()) {
            const std::int64_t after = verifier_.head().seq;
            TRY_ASSIGN(
                const auto entries, check_.store.read_ledger(check_.tenant_id, after, kPage));
            if (entries.empty()) {
                break;
            }
            for (const LedgerEntry& entry : entries) {
                verifier_.add(entry.seq, entry.canonical_json, entry.hash);
                if (verifier_.fault()) {
                    break;
                }
                if (may_matter(entry)) {
                    TRY(take(entry));
                }
                if (entry.canonical_json.find(kFoldEvent) != std::string::npos) {
                    TRY(take_fold(entry));
                }
            }
            if (check_.on_progress) {
                check_.on_progress(verifier_.head().seq, std::ssize(replays_));
            }
        }
        TRY_ASSIGN(const LedgerHead stored, check_.store.read_head(check_.tenant_id));
        verifier_.expect_at_least({stored.seq, stored.hash}, "the stored head");
        return {};
    }

    // A look at the text is cheaper than reading it; a false yes does no harm.
    bool may_matter(const LedgerEntry& entry) const {
        return !check_.decision_id ||
               entry.canonical_json.find(check_.decision_id->text()) != std::string::npos;
    }

    static Result<AuditRecord> record_of(const LedgerEntry& entry) {
        TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
        TRY_ASSIGN(AuditRecord record, decode_audit_record(json));
        record.hash = entry.hash;
        return record;
    }

    Result<void> take_fold(const LedgerEntry& entry) {
        TRY_ASSIGN(const AuditRecord record, record_of(entry));
        if (record.draft.event != kFoldEvent) {
            return {};
        }
        ++report_.folds;
        std::optional<AuditRecord> repeated;
        if (const auto fold = decode_fold(record.draft.detail)) {
            report_.folded += fold->count;
            const std::int64_t seq = std::atoll(fold->of_ref.c_str());
            const auto found = check_.store.read_ledger(check_.tenant_id, seq - 1, 1);
            if (seq < from_seq_ && check_.from_seq <= 1) {
                return {};  // Archived, and not at hand: nothing to compare with.
            }
            TRY(found);
            if (!found->empty()) {
                TRY_ASSIGN(repeated, record_of(found->front()));
            }
        }
        std::string problem = fold_problem(record, repeated ? &*repeated : nullptr);
        if (!problem.empty() && report_.bad_folds.size() < kReplayFindingsMax) {
            report_.bad_folds.push_back({record.seq, std::move(problem)});
        }
        return {};
    }

    // Past `from_seq` a later attempt is the first that is seen of a decision begun before.
    bool begins(const AuditRecord& record) const {
        const Json* attempt = record.draft.detail.find("attempt");
        const bool is_first = attempt != nullptr && attempt->as_int64() == 1;
        return is_plan(record) && (is_first || from_seq_ <= 1) &&
               (!check_.since || record.draft.timestamp >= *check_.since);
    }

    Result<void> take(const LedgerEntry& entry) {
        TRY_ASSIGN(const AuditRecord record, record_of(entry));
        const DecisionId& id = record.draft.decision_id;
        if (check_.decision_id && id != *check_.decision_id) {
            return {};
        }
        auto found = replays_.find(id);
        if (found == replays_.end()) {
            if (!begins(record)) {
                return {};  // Reads and refusals decide nothing, or the decision is too old.
            }
            if (replays_.size() >= kReplayDecisionsMax) {
                return fail(
                    errors::out_of_range,
                    "There are more than " + std::to_string(kReplayDecisionsMax) + " decisions.",
                    "Replay the newest ones with --since.");
            }
            found = replays_.emplace(id, DecisionReplay(id)).first;
            first_seqs_.emplace(id, record.seq);
        }
        return found->second.add(record, inputs_);
    }

    Result<void> compare_stored() {
        if (verifier_.fault()) {
            return {};  // The stored decisions are ahead of what was replayed.
        }
        std::int64_t compared = 0;
        for (auto& [id, replay] : replays_) {
            TRY_ASSIGN(const auto row, check_.store.load_state(decision_key(check_.tenant_id, id)));
            if (!row) {
                replay.compare_stored(nullptr);
                continue;
            }
            const auto json = parse_json(row->json);
            const Json unreadable;
            replay.compare_stored(json ? &*json : &unreadable);
            const Json* recorded_at = json ? json->find("recorded_at") : nullptr;
            if (recorded_at == nullptr || recorded_at->is_null()) {
                report_.next_from = std::min(report_.next_from, first_seqs_.at(id));
            }
            if (++compared % kPage == 0 && check_.on_progress) {
                check_.on_progress(verifier_.head().seq, compared);
            }
        }
        return {};
    }

    void count(const ReplayVerdict& verdict, ReplayReport& report) const {
        ++report.decisions;
        report.steps += verdict.steps;
        report.differing += verdict.outcome == ReplayOutcome::differs ? 1 : 0;
        if (verdict.is_other_policy) {
            ++report.other_policy;
        } else {
            report.not_replayable += verdict.outcome == ReplayOutcome::not_replayable ? 1 : 0;
        }
        const bool is_told = verdict.is_other_policy ? check_.decision_id.has_value()
                                                     : verdict.outcome != ReplayOutcome::ok;
        if (is_told && report.findings.size() < kReplayFindingsMax) {
            report.findings.push_back(verdict);
        }
    }

    const ReplayCheck& check_;
    std::int64_t from_seq_ = check_.from_seq;  // Or where the chain begins since it was cut.
    ChainVerifier verifier_;
    ReplayInputs inputs_;
    std::map<DecisionId, DecisionReplay> replays_;
    std::map<DecisionId, std::int64_t> first_seqs_;
    ReplayReport report_;
};

}  // namespace

Json encode(const ReplayReport& report) {
    Json findings = Json::array();
    for (const ReplayVerdict& verdict : report.findings) {
        findings.push(encode(verdict));
    }
    Json fault;
    if (report.fault) {
        fault = Json::object({
            {"seq", report.fault->seq},
            {"reason", report.fault->reason},
            {"detail", report.fault->detail},
        });
    }
    Json bad_folds = Json::array();
    for (const ReplayReport::BadFold& bad : report.bad_folds) {
        bad_folds.push(Json::object({{"seq", bad.seq}, {"problem", bad.problem}}));
    }
    return Json::object({
        {"ok", report.ok()},
        {"tenant_id", report.tenant_id.text()},
        {"decisions", report.decisions},
        {"steps", report.steps},
        {"differing", report.differing},
        {"not_replayable", report.not_replayable},
        {"other_policy", report.other_policy},
        {"findings", std::move(findings)},
        {"folds", report.folds},
        {"folded", report.folded},
        {"bad_folds", std::move(bad_folds)},
        {"next_from", report.next_from},
        {"chain_fault", std::move(fault)},
    });
}

ReplayInputs stored_inputs(LedgerStore& store, const TenantId& tenant_id) {
    return ReplayInputs([&store, tenant_id](const std::string& hash) {
        return store.read_artifact(tenant_id, hash);
    });
}

Result<ReplayReport> replay_ledger(const ReplayCheck& check) {
    return ReplayWalk(check).run();
}

}  // namespace interlock
