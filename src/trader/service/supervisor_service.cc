#include "trader/service/supervisor_service.h"

#include <algorithm>
#include <variant>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/log.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kHashDigitsInId = 32;
constexpr std::size_t kNumberLengthMax = 20;
constexpr std::string_view kPausedByUs = "paused by hermes.";

// What is kept of a concern between two rounds.
struct SupervisorRow {
    std::int64_t rounds = 0;
    SupervisorMemory memory;
};

Json encode_row(const SupervisorRow& row) {
    return Json::object({{"rounds", row.rounds}, {"memory", encode(row.memory)}});
}

Result<SupervisorRow> decode_supervisor_row(const Json& json) {
    FieldReader in(json);
    SupervisorRow row;
    row.rounds = in.required<std::int64_t>("rounds");
    if (const Json* memory = in.required_object("memory")) {
        if (auto read = decode_supervisor_memory(*memory)) {
            row.memory = *std::move(read);
        } else {
            in.absorb(read.error());
        }
    }
    return in.finish(std::move(row));
}

std::string row_key(const StrategyScope& scope, const ConcernId& id) {
    return "supervisor/" + scope.tenant_id.text() + "/" + std::string(to_word(scope.mode)) + "/" +
           id.text();
}

// Ids are named per tenant and rounds counted per mode, so a mode beside paper is part of the name.
DecisionId decision_id_of(const StrategyScope& scope, const ConcernId& concern, std::int64_t n) {
    std::string mode = scope.mode == TradeMode::paper ? "" : "." + std::string(to_word(scope.mode));
    const std::size_t taken = kSupervisorDecisionPrefix.size() + mode.size() + kNumberLengthMax + 1;
    const std::string name = concern.text().size() + taken <= kIdLengthMax
                                 ? concern.text()
                                 : sha256_hex(concern.text()).substr(0, kHashDigitsInId);
    return DecisionId::trusted(
        std::string(kSupervisorDecisionPrefix) + name + mode + "." + std::to_string(n));
}

TurnRequest internal_turn(const TenantId& tenant_id, std::string function) {
    TurnRequest turn;
    turn.tenant_id = tenant_id;
    turn.principal = internal_principal("supervisor");
    turn.function = std::move(function);
    return turn;
}

void log_failure(const Result<Answer>& answer) {
    if (!answer) {
        log_error("supervisor_failed", {{"message", answer.error().message}});
    }
}

std::string text_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

bool is_applied(const TurnReply& reply) {
    const auto* answer = std::get_if<Answer>(&reply);
    const auto json = answer == nullptr ? Result<Json>(Json()) : parse_json(answer->body);
    return json && text_at(*json, "status") == "applied";
}

// The first ones by id; the active one is always among them.
void keep_within_bound(std::vector<CandidateFacts>& candidates, const Concern& concern) {
    std::sort(
        candidates.begin(), candidates.end(), [](const CandidateFacts& a, const CandidateFacts& b) {
            return a.strategy_id < b.strategy_id;
        });
    if (candidates.size() <= kCandidatesMax) {
        return;
    }
    const auto active =
        std::find_if(candidates.begin(), candidates.end(), [&](const CandidateFacts& candidate) {
            return concern.active_strategy_id == candidate.strategy_id;
        });
    if (active != candidates.end() &&
        active - candidates.begin() >= static_cast<std::ptrdiff_t>(kCandidatesMax)) {
        std::swap(candidates[kCandidatesMax - 1], *active);
    }
    candidates.resize(kCandidatesMax);
}

}  // namespace

std::vector<TurnRequest> SupervisorService::due_turns(Duration now) {
    std::vector<TurnRequest> turns;
    if (!parts_.config.enabled) {
        return turns;
    }
    for (const LoopService::Watched& watched : parts_.loop.watched()) {
        const StrategyScope scope = scope_of(watched.account);
        const bool is_chosen =
            parts_.config.tenants.empty() || parts_.config.tenants.contains(scope.tenant_id);
        std::optional<Duration>& due = due_[scope];
        if (is_chosen && (!due || *due <= now)) {
            due = {now.microseconds + parts_.config.every.microseconds};
            turns.push_back(round_turn(scope));
        }
    }
    return turns;
}

TurnRequest SupervisorService::round_turn(StrategyScope scope) {
    TurnRequest turn = internal_turn(scope.tenant_id, "supervisor_round");
    turn.decide = [this, scope = std::move(scope)](Turn& t) { return run_round(t, scope); };
    turn.reply = log_failure;
    return turn;
}

Result<TurnReply> SupervisorService::run_round(Turn& turn, const StrategyScope& scope) {
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, scope.tenant_id));
    const bool is_due = mode.mode == scope.mode && !under_way_.contains(scope);
    if (!is_due) {
        return Answer{200, "{}"};  // Its tenant runs another mode now, or it is not through yet.
    }
    TRY_ASSIGN(const auto known, load_instance_list(turn, scope));
    std::map<ConcernId, Visit> visits;
    for (const StrategyId& id : known->ids) {
        TRY_ASSIGN(const auto instance, load_instance(turn, scope, id));
        if (instance) {
            Visit& visit = visits[concern_id_of(instance->account.account_id, instance->symbol)];
            visit.account = instance->account;
            visit.symbol = instance->symbol;
            visit.ids.push_back(id);
        }
    }
    auto round = std::make_shared<Round>();
    round->scope = scope;
    for (auto& [id, visit] : visits) {
        round->visits.push_back(std::move(visit));
    }
    turn.after_commit([this, round] {
        if (!round->visits.empty()) {
            under_way_.insert(round->scope);
            parts_.submit(visit_turn(round));
        }
    });
    return Answer{200, "{}"};
}

// The next concern, once, whether the one before was committed or dropped.
void SupervisorService::go_on(const std::shared_ptr<Round>& round, std::size_t finished) {
    if (round->done != finished) {
        return;
    }
    if (++round->done < round->visits.size()) {
        parts_.submit(visit_turn(round));
    } else {
        under_way_.erase(round->scope);
    }
}

TurnRequest SupervisorService::visit_turn(const std::shared_ptr<Round>& round) {
    const std::size_t at = round->done;
    TurnRequest turn = internal_turn(round->visits[at].account.tenant_id, "supervise");
    turn.decide = [this, round, at](Turn& t) -> Result<TurnReply> {
        t.after_commit([this, round, at] { go_on(round, at); });
        return run_visit(t, round->visits[at]);
    };
    turn.reply = [this, round, at](const Result<Answer>& answer) {
        log_failure(answer);
        if (!answer && answer.error() == errors::overloaded) {
            round->done = round->visits.size();  // The rest has to wait for the next round.
            under_way_.erase(round->scope);
            return;
        }
        go_on(round, at);
    };
    return turn;
}

Result<TurnReply> SupervisorService::run_visit(Turn& turn, const Visit& visit) {
    const StrategyScope scope = scope_of(visit.account);
    TRY_ASSIGN(const std::optional<SupervisorFacts> gathered, gather(turn, visit));
    if (!gathered) {
        return Answer{200, "{}"};
    }
    // Decided on what a replay will read, not on what it was made from.
    TRY_ASSIGN(const std::string bundle, canonical_json(encode(*gathered)));
    TRY_ASSIGN(const Json stored, parse_json(bundle));
    TRY_ASSIGN(const Timestamp now, parse_timestamp(to_text(turn.now())));
    TRY_ASSIGN(const SupervisorFacts facts, decode_supervisor_facts(stored, now));
    const SupervisorDecision decision = supervise(facts);

    const std::string key = row_key(scope, facts.concern_id);
    TRY_ASSIGN(SupervisorRow row, turn.load_or(key, decode_supervisor_row, SupervisorRow{}));
    ++row.rounds;
    const DecisionId id = decision_id_of(scope, facts.concern_id, row.rounds);
    TRY_ASSIGN(auto blocked, why_blocked(turn, visit));
    TRY(record(turn, {facts, decision, id, turn.put_artifact(bundle), std::move(blocked)}));
    TurnReply reply = Answer{200, "{}"};
    const bool is_sent = decision.action != SupervisorAction::keep && parts_.config.allow_actions;
    if (is_sent) {
        TRY_ASSIGN(reply, parts_.control.apply(turn, control_payload(facts, decision, id)));
    }
    row.memory = remember(facts, decision, is_sent && is_applied(reply));
    turn.save(key, encode_row(row));
    return reply;
}

// Not among the facts it decides by: what it would do is worth knowing also while nothing trades.
Result<std::optional<Blocked>> SupervisorService::why_blocked(Turn& turn, const Visit& visit) {
    TRY_ASSIGN(const auto concern, load_concern_of(turn, visit.account, visit.symbol));
    if (concern && concern->active_strategy_id) {
        TRY_ASSIGN(
            const auto active,
            load_instance(turn, scope_of(visit.account), *concern->active_strategy_id));
        if (active) {
            return parts_.ticker.why_blocked(turn, *active, concern.get());
        }
    }
    return parts_.loop.why_blocked(turn, visit.account);
}

Result<std::optional<SupervisorFacts>> SupervisorService::gather(Turn& turn, const Visit& visit) {
    const StrategyScope scope = scope_of(visit.account);
    TRY_ASSIGN(const auto concern, load_concern_of(turn, visit.account, visit.symbol));
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, scope.tenant_id));
    if (!concern || mode.mode != scope.mode) {
        return std::nullopt;
    }
    TRY_ASSIGN(
        LoopService::Gathered account, parts_.loop.gather_for(turn, visit.account, {visit.symbol}));
    SupervisorFacts facts;
    for (const StrategyId& id : visit.ids) {
        TRY_ASSIGN(const auto instance, load_instance(turn, scope, id));
        if (instance) {
            TRY_ASSIGN(CandidateFacts candidate, look_at(turn, account, instance, concern));
            facts.candidates.push_back(std::move(candidate));
        }
    }
    keep_within_bound(facts.candidates, *concern);
    TRY_ASSIGN(
        const SupervisorRow row,
        turn.load_or(row_key(scope, concern->concern_id), decode_supervisor_row, SupervisorRow{}));
    facts.concern_id = concern->concern_id;
    facts.account_id = concern->account.account_id;
    facts.symbol = concern->symbol;
    facts.now = turn.now();
    facts.status = concern->status;
    facts.risk_mode = concern->risk_mode;
    facts.quality = concern->quality;
    facts.is_switching = concern->switching.has_value();
    facts.kill_switch_active = parts_.latch.is_raised(scope.tenant_id);
    facts.active_strategy_id = concern->active_strategy_id;
    facts.active_since = concern->activated_at;
    facts.signals = parts_.feed.signals(concern->symbol, kSupervisedTimeframes);
    facts.memory = row.memory;
    facts.policy = parts_.config.policy;
    return facts;
}

Result<CandidateFacts> SupervisorService::look_at(
    Turn& turn,
    LoopService::Gathered& facts,
    const std::shared_ptr<const StrategyInstance>& instance,
    const std::shared_ptr<const Concern>& concern) {
    CandidateFacts candidate;
    candidate.strategy_id = instance->strategy_id;
    candidate.strategy_type = instance->strategy_type;
    candidate.concern_id = concern->concern_id;
    candidate.mode = instance->mode;
    candidate.paused = instance->paused;
    candidate.paused_by_supervisor =
        instance->paused && instance->last_transition.starts_with(kPausedByUs);
    candidate.is_latched = instance->is_latched;
    candidate.trade_side = text_at(instance->config, "trade_side");
    TRY_ASSIGN(candidate.problem, parts_.control.problem_of(turn, *instance));
    TRY_ASSIGN(const StrategyTicker::Sight sight, parts_.ticker.sight_of(facts, instance, concern));
    candidate.status =
        std::string(status_of(*instance, concern->quality, sight.blocked.has_value()));
    if (sight.strategy) {
        if (const auto stepped = parts_.ticker.step(sight, facts)) {
            take_supervision(candidate, stepped->assessment.supervision);
        }
    }
    return candidate;
}

Result<void> SupervisorService::record(Turn& turn, const Decided& decided) {
    const SupervisorDecision& decision = decided.decision;
    const bool is_keep = decision.action == SupervisorAction::keep;
    const bool is_blocked = !is_keep && !parts_.config.allow_actions;
    AuditDraft draft = turn.draft(std::string(kSupervisorEvent));
    draft.decision_id = decided.id;
    draft.status = is_keep || is_blocked ? AuditStatus::skipped : AuditStatus::started;
    draft.reason = decision.reason;
    draft.artifacts = {decided.bundle};
    draft.detail = Json::object({
        {"selector", kSelectorVersion},
        {"concern_id", decided.facts.concern_id.text()},
        {"now", to_text(decided.facts.now)},
        {"decision", encode(decision)},
        {"dispatch",
         is_keep      ? "none"
         : is_blocked ? "blocked"
                      : "sent"},
        {"payload", is_keep ? Json() : control_payload(decided.facts, decision, decided.id)},
        {"blocked", encode(decided.blocked)},
    });
    TRY(turn.audit(std::move(draft)));
    return {};
}

Result<Json> SupervisorService::list(const TenantId& tenant_id, const Page& page) {
    const std::int64_t limit = std::min(page.limit, kListMax);
    TRY_ASSIGN(const ChainHead head, parts_.ledger.head(tenant_id));
    const std::int64_t end = std::min(page.before.value_or(head.seq + 1), head.seq + 1);
    const std::int64_t first = std::max<std::int64_t>(1, end - kScanMax);
    std::vector<AuditRecord> found;
    for (std::int64_t after = first - 1; after < end - 1;) {
        const std::int64_t count = std::min(LedgerService::kPageMax, end - 1 - after);
        TRY_ASSIGN(std::vector<AuditRecord> records, parts_.ledger.read(tenant_id, after, count));
        if (records.empty()) {
            break;
        }
        after = records.back().seq;
        for (AuditRecord& record : records) {
            if (record.draft.event == kSupervisorEvent) {
                found.push_back(std::move(record));
            }
        }
    }
    std::int64_t next = first;
    Json decisions = Json::array();
    for (auto record = found.rbegin(); record != found.rend(); ++record) {
        const bool is_keep = text_at(record->draft.detail, "dispatch") == "none";
        if (page.only_actions && is_keep) {
            continue;
        }
        if (std::ssize(decisions.items()) >= limit) {
            break;
        }
        next = record->seq;
        Json one = record->draft.detail;
        one.set("decision_id", record->draft.decision_id.text());
        one.set("seq", record->seq);
        one.set("bundle", record->draft.artifacts.empty() ? "" : record->draft.artifacts.front());
        decisions.push(std::move(one));
    }
    if (std::ssize(decisions.items()) < limit) {
        next = first;
    }
    return Json::object({
        {"enabled", parts_.config.enabled},
        {"allow_actions", parts_.config.allow_actions},
        {"decisions", std::move(decisions)},
        {"next_before", next > 1 ? Json(next) : Json()},
    });
}

}  // namespace interlock
