#include "host/service/kill_switch_service.h"

#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "codec/error_json.h"
#include "engine/service/outbox_runner.h"

namespace interlock {
namespace {

std::string function_of(KillSwitchService::Form form) {
    return form == KillSwitchService::Form::py_tool ? "py_set_kill_switch" : "set_kill_switch";
}

std::string machine_key(const TenantId& tenant_id) {
    return "kill/" + tenant_id.text();
}

Result<KillState> load_state(Turn& turn, const TenantId& tenant_id) {
    return turn.load_or<KillState>(machine_key(tenant_id), decode_kill_state, KillState{});
}

KillCause cause_of(const Principal& principal) {
    switch (principal.kind) {
        case PrincipalKind::agent:
            return KillCause::agent;
        case PrincipalKind::human:
            return KillCause::human;
        case PrincipalKind::host_operator:
            return KillCause::host_operator;
        case PrincipalKind::internal:
            break;
    }
    return principal.id == "kill_file" ? KillCause::file : KillCause::rule;
}

KillCall call_of(const Turn& turn, const SetKillSwitch& request) {
    return {
        .tenant_id = turn.tenant_id(),
        .at = turn.now(),
        .principal = turn.principal(),
        .reason = request.reason,
        .decision_id = request.decision_id,
        .tick_id = request.tick_id,
        .claimed_actor = request.claimed_actor,
    };
}

// Whether the payload of a release says that trading goes on with it.
bool enables_trading(const Approval& approval) {
    const Json* const enable = approval.payload.find("enable_trading");
    return enable != nullptr && enable->is_bool() && enable->as_bool();
}

EffectDraft cancel_all_draft(const TenantId& tenant_id, const std::string& reason) {
    return {
        .kind = std::string(kCancelAllKind),
        .json = Json::object({{"tenant_id", tenant_id.text()}, {"reason", reason}}),
        .delivery = Delivery::repeatable,
        .life = Duration::of_days(365),
    };
}

}  // namespace

KillSwitchService::KillSwitchService(Parts parts) : parts_(std::move(parts)) {
    parts_.approvals.register_kind(
        ApprovalKind::kill_release,
        {.execute = [this](
                        Turn& turn,
                        const Approval& approval) { return execute_release(turn, approval); },
         .ended = [this](
                      Turn& turn,
                      const Approval& approval) { return release_ended(turn, approval); }});
}

Result<void> KillSwitchService::open() {
    TRY_ASSIGN(const auto stored, parts_.runner.stored_states("kill/"));
    for (const auto& [key, state] : stored) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        TRY_ASSIGN(const KillState kill, decode_kill_state(json));
        const TenantId tenant_id = TenantId::trusted(key.substr(std::string_view("kill/").size()));
        if (kill.active) {
            parts_.latch.raise(tenant_id);
        }
        const std::lock_guard lock(shown_mutex_);
        shown_.insert_or_assign(tenant_id, kill);
    }
    if (parts_.flag.is_raised()) {
        on_flag_raised();
    }
    return {};
}

void KillSwitchService::set(Caller caller, SetKillSwitch request, Reply reply) {
    if (request.active) {
        activate({std::move(caller), std::move(request)}, std::move(reply));
        return;
    }
    TurnRequest turn;
    turn.tenant_id = caller.tenant_id;
    turn.principal = caller.principal;
    turn.function = function_of(caller.form);
    turn.key = request.idempotency_key;
    turn.request_hash = caller.request_hash;
    turn.decide = [this, caller, request = std::move(request)](Turn& t) {
        return run_release_request(t, caller, request);
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

void KillSwitchService::activate(Activation activation, Reply reply) {
    parts_.latch.begin_activation(activation.caller.tenant_id);
    submit_activation(
        activation, [this, activation, reply](Result<Answer> first, bool recorded) mutable {
            const bool by_key = activation.request.idempotency_key &&
                                (first || first.error() == errors::idempotency_key_conflict);
            if (recorded || !by_key) {
                end_activation(activation, recorded);
                reply(std::move(first));
                return;
            }
            // The key was used before, so this turn decided nothing. A stop that comes late is
            // still a stop: it is recorded without the key, and the caller hears the stored answer
            // only when what it says is durable again.
            activation.request.idempotency_key.reset();
            activation.only_if_off = true;
            submit_activation(
                activation,
                [this, activation, reply, first](Result<Answer> second, bool recorded_now) {
                    end_activation(activation, recorded_now);
                    reply(recorded_now ? first : std::move(second));
                });
        });
}

void KillSwitchService::submit_activation(const Activation& activation, ActivationDone done) {
    const Caller& caller = activation.caller;
    const auto recorded = std::make_shared<bool>(false);
    TurnRequest turn;
    turn.tenant_id = caller.tenant_id;
    turn.principal = caller.principal;
    turn.function = function_of(caller.form);
    turn.key = activation.request.idempotency_key;
    turn.request_hash = caller.request_hash;
    turn.urgent = true;
    turn.decide = [this, activation, recorded](Turn& t) {
        t.after_commit([recorded] { *recorded = true; });
        return run_activation(t, activation);
    };
    turn.reply = [recorded, done = std::move(done)](Result<Answer> result) {
        done(std::move(result), *recorded);
    };
    parts_.submit(std::move(turn));
}

void KillSwitchService::end_activation(const Activation& activation, bool recorded) {
    const TenantId& tenant_id = activation.caller.tenant_id;
    if (!recorded) {
        log_error(
            "kill_record_failed",
            {{"tenant_id", tenant_id.text()}, {"reason", activation.request.reason}});
        // The file's words become the global reason, which every tenant may read: no tenant's own
        // words in there (I7).
        cancel_unrecorded(tenant_id, "a stop could not be recorded");
    }
    parts_.latch.end_activation(tenant_id);
}

Result<std::string> KillSwitchService::save(Turn& turn, const TenantId& tenant_id, KillStep step) {
    std::string ref;
    // Before its records, which name it; once more with the reference to the last of them.
    put_state(turn, tenant_id, step.state);
    for (AuditDraft& draft : step.audit) {
        draft.tenant_id = tenant_id;
        TRY_ASSIGN(ref, turn.audit(std::move(draft)));
    }
    step.state.audit_ref = ref;
    put_state(turn, tenant_id, step.state);
    if (step.cancel_all) {
        turn.effect(cancel_all_draft(tenant_id, step.state.reason));
    }
    return ref;
}

void KillSwitchService::put_state(Turn& turn, const TenantId& tenant_id, const KillState& state) {
    turn.save(machine_key(tenant_id), encode(state));
    turn.after_commit([this, tenant_id, state] {
        const std::lock_guard lock(shown_mutex_);
        shown_.insert_or_assign(tenant_id, state);
        store_failure_.clear();  // The store takes records again.
    });
}

Result<void> KillSwitchService::set_trading(Turn& turn, const TenantId& tenant_id, bool enabled) {
    TRY_ASSIGN(KillState state, load_state(turn, tenant_id));
    if (state.trading_enabled != enabled) {
        state.trading_enabled = enabled;
        put_state(turn, tenant_id, state);
    }
    return {};
}

void KillSwitchService::note_store_failure(const std::string& why) {
    const std::lock_guard lock(shown_mutex_);
    store_failure_ = why;
}

std::string KillSwitchService::store_failure() const {
    const std::lock_guard lock(shown_mutex_);
    return store_failure_;
}

std::optional<Blocked> KillSwitchService::why_stopped(
    const TenantId& tenant_id, const States& states) const {
    return interlock::why_stopped(
        {.own = states.own,
         .global = states.global,
         .is_latched = parts_.latch.is_raised(tenant_id),
         .is_latched_globally = parts_.latch.is_raised_global(),
         .store_failure = states.store_failure,
         .own_break = parts_.open_break(tenant_id),
         .global_break = parts_.open_break(system_tenant())});
}

Result<std::optional<Blocked>> KillSwitchService::why_stopped(
    Turn& turn, const TenantId& tenant_id) {
    TRY_ASSIGN(const KillState own, load_state(turn, tenant_id));
    TRY_ASSIGN(const KillState global, load_state(turn, system_tenant()));
    return why_stopped(tenant_id, {own, global, store_failure()});
}

std::optional<Blocked> KillSwitchService::why_stopped(const TenantId& tenant_id) const {
    static const KillState kNeverStopped;
    const std::lock_guard lock(shown_mutex_);
    const auto state_of = [this](const TenantId& one) -> const KillState& {
        const auto found = shown_.find(one);
        return found == shown_.end() ? kNeverStopped : found->second;
    };
    return why_stopped(tenant_id, {state_of(tenant_id), state_of(system_tenant()), store_failure_});
}

Result<std::optional<Blocked>> KillSwitchService::left_after_release(
    Turn& turn, const TenantId& tenant_id) {
    const bool is_host = tenant_id == system_tenant();
    const KillState free;
    TRY_ASSIGN(const KillState global, load_state(turn, system_tenant()));
    std::optional<Blocked> left = interlock::why_stopped(
        {.own = free,
         .global = is_host ? free : global,
         .own_break = parts_.open_break(tenant_id),
         .global_break = parts_.open_break(system_tenant())});
    if (!left && ask_account_ && !is_host) {
        TRY_ASSIGN(AccountWord word, ask_account_(turn, tenant_id));
        left = std::move(word.blocked);
    }
    return left;
}

Result<void> KillSwitchService::cite_in_tenants(
    Turn& turn, const std::string& event, const std::string& ref) {
    for (const TenantId& tenant_id : parts_.directory.tenants()) {
        if (tenant_id == system_tenant()) {
            continue;
        }
        AuditDraft draft = turn.draft(event);
        draft.tenant_id = tenant_id;
        draft.severity = AuditSeverity::critical;
        draft.detail.set("system_audit_ref", ref);
        TRY(turn.audit(std::move(draft)));
    }
    return {};
}

Result<TurnReply> KillSwitchService::run_activation(Turn& turn, const Activation& activation) {
    const Caller& caller = activation.caller;
    TRY_ASSIGN(KillState state, load_state(turn, caller.tenant_id));
    const bool first = !state.active;
    if (!first && activation.only_if_off) {
        TRY_ASSIGN(const KillStatus status, read_status(turn, caller.tenant_id));
        return answer_of(caller, status, std::nullopt);
    }
    KillStep step = interlock::activate(
        std::move(state), call_of(turn, activation.request), cause_of(caller.principal));
    TRY_ASSIGN(const std::string ref, save(turn, caller.tenant_id, std::move(step)));
    if (first && caller.tenant_id == system_tenant()) {
        TRY(cite_in_tenants(turn, "GLOBAL_KILL_SWITCH_ACTIVATED", ref));
    }
    TRY_ASSIGN(KillStatus status, read_status(turn, caller.tenant_id));
    status.audit_ref = ref;
    return answer_of(caller, status, std::nullopt);
}

// The latch is up, but the record of it failed and the store has since recovered. What is not on
// record cannot be released, so it is recorded now; the caller asks again.
Result<TurnReply> KillSwitchService::record_bare_latch(Turn& turn, const Caller& caller) {
    turn.after_commit([this, tenant_id = caller.tenant_id] {
        // Looked at again after the commit: a release earlier in this batch has lowered it by now.
        if (parts_.latch.is_raised_itself(tenant_id) &&
            parts_.latch.activations_under_way(tenant_id) == 0) {
            activate_by_rule(tenant_id, "latch_check", "stopped without a record");
        }
    });
    TRY_ASSIGN(const KillStatus status, read_status(turn, caller.tenant_id));
    Error error = fail(
                      errors::release_blocked,
                      "The kill switch is on and its record is still being written; ask again.")
                      .error();
    return answer_of(caller, status, std::move(error));
}

Result<TurnReply> KillSwitchService::run_release_request(
    Turn& turn, const Caller& caller, const SetKillSwitch& request) {
    TRY_ASSIGN(KillState state, load_state(turn, caller.tenant_id));
    if (!state.active && parts_.latch.is_raised_itself(caller.tenant_id)) {
        return record_bare_latch(turn, caller);
    }
    if (!state.active) {
        AuditDraft draft = turn.draft("KILL_RELEASE_NOT_NEEDED");
        draft.decision_id = request.decision_id;
        draft.tick_id = request.tick_id;
        draft.status = AuditStatus::skipped;
        draft.reason = request.reason;
        TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
        TRY_ASSIGN(KillStatus status, read_status(turn, caller.tenant_id));
        status.audit_ref = ref;
        return answer_of(caller, status, std::nullopt);
    }
    std::optional<ApprovalId> approval_id;
    if (state.release_approval_id) {
        TRY_ASSIGN(
            const std::optional<Approval> open,
            parts_.approvals.find(turn, caller.tenant_id, *state.release_approval_id));
        const bool is_pending = open && expire(*open, turn.now()).state == ApprovalState::pending;
        // One that asks for less than is wanted now is replaced; what was shown is never changed.
        if (is_pending && (enables_trading(*open) || !request.enable_trading)) {
            approval_id = open->approval_id;
        }
    }
    if (!approval_id) {
        std::optional<Blocked> left;
        if (request.enable_trading) {
            TRY_ASSIGN(left, left_after_release(turn, caller.tenant_id));
        }
        TRY_ASSIGN(
            const Approval approval,
            parts_.approvals.request(
                turn,
                {.kind = ApprovalKind::kill_release,
                 .payload = Json::object(
                     {{"tenant_id", caller.tenant_id.text()},
                      {"release", "kill_switch"},
                      {"enable_trading", request.enable_trading},
                      {"still_blocked", encode(left)},
                      {"since", state.since ? Json(to_text(*state.since)) : Json()},
                      {"stopped_because", state.reason}}),
                 .summary = "Release the kill switch of " + caller.tenant_id.text() +
                            (request.enable_trading ? " and enable trading" : "") +
                            (left ? "; still holding then: " + left->reason : "") +
                            " (stopped because: " + state.reason + ")",
                 .critical = true}));
        approval_id = approval.approval_id;
    }
    TRY_ASSIGN(
        const std::string ref,
        save(
            turn,
            caller.tenant_id,
            request_release(std::move(state), call_of(turn, request), *approval_id)));
    TRY_ASSIGN(KillStatus status, read_status(turn, caller.tenant_id));
    status.audit_ref = ref;
    Error error =
        fail(
            errors::approval_required,
            "The kill switch stays on until a human approves " + approval_id->text() + ".")
            .error();
    return answer_of(caller, status, std::move(error));
}

Result<void> KillSwitchService::execute_release(Turn& turn, const Approval& approval) {
    const TenantId& tenant_id = approval.tenant_id;
    const bool global = tenant_id == system_tenant();
    const std::string problem = parts_.chain_problem(tenant_id);
    // Taken before the commit: an activation that comes in from now on is not undone. One that came
    // before and is not recorded yet forbids the release, or the count would cover it unseen.
    const std::uint64_t seen = parts_.latch.raised_count(tenant_id);
    const ReleaseFacts facts{
        .unknown_effects = turn.unknown_effects(tenant_id),
        .chain_valid = problem.empty(),
        .chain_problem = problem,
        // The file stops everything, so no release makes sense while it lies there.
        .flag_file_raised = parts_.flag.is_raised(),
        .activation_under_way = parts_.latch.activations_under_way(tenant_id) > 0,
    };
    if (std::optional<Error> blocked = why_not_released(facts)) {
        return std::unexpected(*std::move(blocked));
    }
    TRY_ASSIGN(KillState state, load_state(turn, tenant_id));
    SetKillSwitch request;
    request.reason = approval.comment.empty() ? approval.summary : approval.comment;
    KillCall call = call_of(turn, request);
    call.tenant_id = tenant_id;
    if (state.release_approval_id != approval.approval_id) {
        return fail(errors::approval_not_pending, "Another request took this one's place.");
    }
    TRY_ASSIGN(
        const std::string ref,
        save(
            turn,
            tenant_id,
            release(std::move(state), call, approval.approval_id, enables_trading(approval))));
    if (global) {
        TRY(cite_in_tenants(turn, "GLOBAL_KILL_SWITCH_RELEASED", ref));
    }
    turn.after_commit([this, tenant_id, seen] { parts_.latch.lower(tenant_id, seen); });
    return {};
}

Result<void> KillSwitchService::release_ended(Turn& turn, const Approval& approval) {
    TRY_ASSIGN(KillState state, load_state(turn, approval.tenant_id));
    if (state.release_approval_id != approval.approval_id) {
        return {};
    }
    SetKillSwitch request;
    request.reason = approval.comment.empty() ? approval.summary : approval.comment;
    KillCall call = call_of(turn, request);
    call.tenant_id = approval.tenant_id;
    TRY(save(
        turn,
        approval.tenant_id,
        release_declined(std::move(state), call, to_word(approval.state))));
    return {};
}

Result<KillStatus> KillSwitchService::read_status(Turn& turn, const TenantId& tenant_id) {
    TRY_ASSIGN(const KillState own, load_state(turn, tenant_id));
    TRY_ASSIGN(const KillState global, load_state(turn, system_tenant()));
    const bool latched_globally = parts_.latch.is_raised_global();
    KillStatus status;
    status.tenant_active = tenant_id != system_tenant() && own.active;
    status.global_active = global.active || latched_globally;
    status.active =
        status.tenant_active || status.global_active || parts_.latch.is_raised(tenant_id);
    const KillState& shown = status.global_active && !own.active ? global : own;
    status.reason = shown.reason;
    status.by = shown.by;
    status.since = shown.since;
    status.release_approval_id = own.release_approval_id;
    status.blocked = why_stopped(tenant_id, {own, global, store_failure()});
    if (!status.blocked && ask_account_ && tenant_id != system_tenant()) {
        TRY_ASSIGN(AccountWord word, ask_account_(turn, tenant_id));
        status.blocked = std::move(word.blocked);
        status.warnings = std::move(word.warnings);
    }
    status.audit_ref = own.audit_ref;
    return status;
}

void KillSwitchService::status(Caller caller, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = caller.tenant_id;
    turn.principal = caller.principal;
    turn.function = "get_kill_switch";
    turn.decide = [this, caller](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const KillStatus status, read_status(t, caller.tenant_id));
        return Answer{200, to_text(encode(status))};
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

Answer KillSwitchService::answer_of(
    const Caller& caller, const KillStatus& status, std::optional<Error> error) {
    Answer answer;
    answer.keep = !error;
    if (caller.form == Form::py_tool) {
        PyKillAnswer py{
            .ok = !error, .kill_switch_active = status.active, .audit_ref = status.audit_ref};
        if (error) {
            Json item = encode(*error);
            if (status.release_approval_id) {
                item.set("approval_id", status.release_approval_id->text());
            }
            py.errors.push(std::move(item));
        }
        answer.body = to_text(encode(py));
        return answer;
    }
    // Asking for a release is accepted, not done: 202, with the approval to wait for.
    answer.http_status = error ? 202 : 200;
    answer.body = to_text(encode(status));
    return answer;
}

void KillSwitchService::cancel_unrecorded(const TenantId& tenant_id, const std::string& reason) {
    if (const auto raised = parts_.flag.raise(reason); !raised) {
        log_error("kill_file_failed", {{"message", raised.error().message}});
    }
    const EffectDraft draft = cancel_all_draft(tenant_id, reason);
    OutboxItem cancel;
    // An id of its own each time: the sink takes no id twice.
    cancel.effect_id = EffectId::trusted(parts_.ids.new_id("eff"));
    cancel.tenant_id = tenant_id;
    cancel.kind = draft.kind;
    cancel.json = to_text(draft.json);
    cancel.delivery = draft.delivery;
    parts_.send_directly({std::move(cancel)});
}

void KillSwitchService::stop_without_engine(const std::string& reason) {
    parts_.latch.raise_global();
    cancel_unrecorded(system_tenant(), reason);
}

void KillSwitchService::on_flag_raised() {
    SetKillSwitch request;
    request.reason = parts_.flag.reason();
    if (request.reason.empty()) {
        request.reason = "The file KILL was found in the data folder; it gives no reason.";
    }
    activate(
        {.caller = {internal_principal("kill_file"), system_tenant(), Form::plain, {}},
         .request = std::move(request),
         .only_if_off = true},
        [](const Result<Answer>&) {});
}

void KillSwitchService::activate_by_rule(
    const TenantId& tenant_id, std::string rule, std::string reason) {
    SetKillSwitch request;
    request.reason = std::move(reason);
    activate(
        {{internal_principal(std::move(rule)), tenant_id, Form::plain, {}}, std::move(request)},
        [](const Result<Answer>&) {});
}

void KillSwitchService::keep_stopped(
    const TenantId& tenant_id, std::string rule, std::string reason) {
    SetKillSwitch request;
    request.reason = std::move(reason);
    activate(
        {.caller = {internal_principal(std::move(rule)), tenant_id, Form::plain, {}},
         .request = std::move(request),
         .only_if_off = true},
        [](const Result<Answer>&) {});
}

}  // namespace interlock
