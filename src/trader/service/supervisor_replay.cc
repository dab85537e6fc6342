#include "trader/service/supervisor_replay.h"
#include "engine/service/archive_read.h"

#include <array>

#include "base/errors.h"
#include "engine/wire/audit_record.h"
#include "trader/rules/replay/json_difference.h"
#include "trader/service/replay_service.h"
#include "trader/service/supervisor_service.h"

namespace interlock {
namespace {

constexpr std::int64_t kPage = 1000;
constexpr std::array<std::string_view, 3> kOutcomes{"same", "changed", "not_replayable"};

std::string text_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

RecordedRound round_of(const AuditRecord& record) {
    const Json& detail = record.draft.detail;
    const Json* decision = detail.find("decision");
    const Json* const blocked = detail.find("blocked");
    const auto now = parse_timestamp(text_at(detail, "now"));
    return {
        .decision_id = record.draft.decision_id,
        .seq = record.seq,
        .at = now ? *now : record.draft.timestamp,
        .concern_id = text_at(detail, "concern_id"),
        .selector = text_at(detail, "selector"),
        .dispatch = text_at(detail, "dispatch"),
        .decision = decision == nullptr ? Json() : *decision,
        .bundle = record.draft.artifacts.empty() ? "" : record.draft.artifacts.front(),
        .blocked = blocked == nullptr ? Json() : *blocked,
    };
}

// "switch to s2 (trend_takes_over)"
std::string short_of(const Json& decision) {
    std::string text = text_at(decision, "action");
    if (const std::string target = text_at(decision, "target_strategy_id"); !target.empty()) {
        text += " to " + target;
    }
    if (const std::string mode = text_at(decision, "risk_mode"); !mode.empty()) {
        text += " " + mode;
    }
    return text + " (" + text_at(decision, "rule") + ")";
}

}  // namespace

std::string_view to_word(RoundOutcome outcome) {
    return kOutcomes[static_cast<std::size_t>(outcome)];
}

Json encode(const RecordedRound& round) {
    return Json::object({
        {"decision_id", round.decision_id.text()},
        {"seq", round.seq},
        {"at", to_text(round.at)},
        {"concern_id", round.concern_id},
        {"selector", round.selector},
        {"dispatch", round.dispatch},
        {"decision", round.decision},
        {"bundle", round.bundle},
        {"blocked", round.blocked},
    });
}

Result<std::optional<ChainFault>> walk_rounds(
    const SupervisorLedger& ledger, const std::function<Result<void>(RecordedRound)>& visit) {
    TRY_ASSIGN(const auto start, readable_from(ledger.store, ledger.tenant_id));
    ChainVerifier verifier(ledger.tenant_id, ChainVerifier::Trust{}, start.value_or(SealPoint{}));
    std::int64_t visited = 0;
    while (!verifier.fault()) {
        TRY_ASSIGN(
            const auto entries,
            ledger.store.read_ledger(ledger.tenant_id, verifier.head().seq, kPage));
        if (entries.empty()) {
            break;
        }
        for (const LedgerEntry& entry : entries) {
            verifier.add(entry.seq, entry.canonical_json, entry.hash);
            if (verifier.fault()) {
                break;
            }
            // A look at the text is cheaper than reading it; a false yes does no harm.
            if (!entry.canonical_json.contains(kSupervisorEvent)) {
                continue;
            }
            TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
            TRY_ASSIGN(const AuditRecord record, decode_audit_record(json));
            const bool is_wanted = record.draft.event == kSupervisorEvent &&
                                   (!ledger.since || record.draft.timestamp >= *ledger.since);
            if (is_wanted) {
                ++visited;
                TRY(visit(round_of(record)));
            }
        }
        if (ledger.on_progress) {
            ledger.on_progress(verifier.head().seq, visited);
        }
    }
    TRY_ASSIGN(const LedgerHead stored, ledger.store.read_head(ledger.tenant_id));
    verifier.expect_at_least({stored.seq, stored.hash}, "the stored head");
    return verifier.fault();
}

Result<RoundVerdict> decide_again(RecordedRound round, ReplayInputs& inputs) {
    RoundVerdict verdict{.round = std::move(round), .outcome = RoundOutcome::same, .detail = {}};
    const auto not_replayable = [&verdict](std::string why) {
        verdict.outcome = RoundOutcome::not_replayable;
        verdict.detail = std::move(why);
        return verdict;
    };
    const auto bundle = inputs.json_of(verdict.round.bundle);
    if (!bundle) {
        const bool is_finding =
            bundle.error() == errors::not_replayable || bundle.error() == errors::replay_differs;
        if (!is_finding) {
            return std::unexpected(bundle.error());
        }
        return not_replayable(bundle.error().message);
    }
    const auto facts = decode_supervisor_facts(*bundle, verdict.round.at);
    if (!facts) {
        return not_replayable("The bundle cannot be read: " + facts.error().message);
    }
    const Json again = encode(supervise(*facts));
    const std::string difference = first_difference(verdict.round.decision, again);
    if (!difference.empty()) {
        verdict.outcome = RoundOutcome::changed;
        const std::string before = short_of(verdict.round.decision);
        const std::string after = short_of(again);
        verdict.detail = before == after ? difference : before + " is now " + after;
    }
    return verdict;
}

Result<SupervisorReplayReport> replay_supervisor(
    const SupervisorLedger& ledger, bool only_changed) {
    SupervisorReplayReport report;
    report.tenant_id = ledger.tenant_id;
    ReplayInputs inputs = stored_inputs(ledger.store, ledger.tenant_id);
    TRY_ASSIGN(report.fault, walk_rounds(ledger, [&](RecordedRound round) -> Result<void> {
                   TRY_ASSIGN(RoundVerdict verdict, decide_again(std::move(round), inputs));
                   ++report.decisions;
                   report.changed += verdict.outcome == RoundOutcome::changed ? 1 : 0;
                   report.not_replayable += verdict.outcome == RoundOutcome::not_replayable ? 1 : 0;
                   const bool is_listed = !only_changed || verdict.outcome != RoundOutcome::same;
                   if (is_listed && report.verdicts.size() < kSupervisorVerdictsMax) {
                       report.verdicts.push_back(std::move(verdict));
                   }
                   return {};
               }));
    return report;
}

Json encode(const SupervisorReplayReport& report) {
    Json verdicts = Json::array();
    for (const RoundVerdict& verdict : report.verdicts) {
        Json one = encode(verdict.round);
        one.set("outcome", to_word(verdict.outcome));
        one.set("detail", verdict.detail);
        verdicts.push(std::move(one));
    }
    Json fault;
    if (report.fault) {
        fault = Json::object({
            {"seq", report.fault->seq},
            {"reason", report.fault->reason},
            {"detail", report.fault->detail},
        });
    }
    return Json::object({
        {"ok", report.ok()},
        {"tenant_id", report.tenant_id.text()},
        {"selector", kSelectorVersion},
        {"decisions", report.decisions},
        {"changed", report.changed},
        {"not_replayable", report.not_replayable},
        {"verdicts", std::move(verdicts)},
        {"chain_fault", std::move(fault)},
    });
}

}  // namespace interlock
