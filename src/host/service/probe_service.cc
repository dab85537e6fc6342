#include "host/service/probe_service.h"

#include <utility>

#include "base/errors.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"
#include "engine/service/outbox_runner.h"
#include "host/wire/kill_switch.h"

namespace interlock {
namespace {

std::string machine_key(const TenantId& tenant_id) {
    return "probe/" + tenant_id.text();
}

}  // namespace

ProbeService::ProbeService(Parts parts) : parts_(std::move(parts)) {
    parts_.runner.on_effect(
        std::string(kProbeEffectKind),
        [this](Turn& turn, const EffectOutcome& outcome) { return on_outcome(turn, outcome); });
}

void ProbeService::run(Caller caller, ProbeRequest request, Reply reply) {
    parts_.submit(turn_of(std::move(caller), std::move(request), std::move(reply)));
}

TurnRequest ProbeService::turn_of(Caller caller, ProbeRequest request, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "submit_probe";
    turn.key = request.idempotency_key;
    turn.request_hash = std::move(caller.request_hash);
    turn.decide = [this, request = std::move(request)](Turn& t) { return decide(t, request); };
    turn.reply = std::move(reply);
    return turn;
}

Result<TurnReply> ProbeService::decide(Turn& turn, const ProbeRequest& request) {
    if (request.effect && !parts_.has_sink) {
        return fail(errors::no_effect_sink, "This server has no effect sink configured.");
    }
    if (request.effect && parts_.runner.effects_in_flight() >= kEffectsInFlightMax) {
        auto refusal = fail(errors::overloaded, "Too many effects are under way.");
        refusal.error().retry_after_seconds = 1;
        return refusal;
    }
    AuditDraft draft = turn.draft("PROBE_ACCEPTED");
    draft.decision_id = request.decision_id;
    draft.tick_id = request.tick_id;
    draft.reason = request.note;
    ProbeAnswer answer;
    answer.effect_status = "none";
    if (request.effect && parts_.latch.is_raised(turn.tenant_id())) {
        // A rule said no: a normal answer, on the record (I6).
        draft.event = "PROBE_REFUSED";
        draft.status = AuditStatus::failed;
        draft.detail.set("code", errors::kill_switch_active.code);
        TRY_ASSIGN(answer.audit_ref, turn.audit(std::move(draft)));
        answer.ok = false;
        answer.effect_status = "refused";
        answer.errors.push(
            encode(fail(errors::kill_switch_active, "The kill switch is on; no effect was sent.")
                       .error()));
        return Answer{200, to_text(encode(answer))};
    }
    TRY_ASSIGN(const std::optional<Json> state, turn.load(machine_key(turn.tenant_id())));
    if (state) {
        FieldReader in(*state);
        answer.probe_no = in.required<std::int64_t>("count");
    }
    ++answer.probe_no;
    turn.save(machine_key(turn.tenant_id()), Json::object({{"count", answer.probe_no}}));
    draft.detail.set("probe_no", answer.probe_no);
    if (!request.effect) {
        TRY_ASSIGN(answer.audit_ref, turn.audit(std::move(draft)));
        return Answer{200, to_text(encode(answer))};
    }
    const OpenOperation operation = turn.open_operation();
    Json json = Json::object(
        {{"probe_no", answer.probe_no},
         {"idempotency_key", request.idempotency_key.text()},
         {"decision_id", request.decision_id.text()},
         {"tick_id", request.tick_id.text()}});
    if (request.wait) {
        json.set("operation", encode(operation));
    }
    answer.effect_id =
        turn.effect({.kind = std::string(kProbeEffectKind), .json = std::move(json)});
    draft.detail.set("effect_id", answer.effect_id.text());
    TRY_ASSIGN(answer.audit_ref, turn.audit(std::move(draft)));
    if (request.wait) {
        return StillRunning{operation.operation_id};
    }
    answer.effect_status = "queued";
    return Answer{200, to_text(encode(answer))};
}

Result<void> ProbeService::on_outcome(Turn& turn, const EffectOutcome& outcome) {
    if (outcome.fate == EffectFate::unknown) {
        return {};  // The caller goes on waiting until it is settled (I4).
    }
    TRY_ASSIGN(const Json json, parse_json(outcome.effect.json));
    const Json* open = json.find("operation");
    if (open == nullptr) {
        return {};
    }
    TRY_ASSIGN(const OpenOperation operation, decode_open_operation(*open));
    ProbeAnswer answer;
    answer.ok = outcome.fate == EffectFate::done;
    answer.probe_no = json.find("probe_no")->as_int64().value_or(0);
    answer.effect_id = outcome.effect.effect_id;
    answer.effect_status = to_word(outcome.fate);
    if (!answer.ok) {
        answer.errors.push(encode(fail(errors::effect_refused, outcome.error_message).error()));
    }
    AuditDraft draft = turn.draft("PROBE_ANSWERED");
    draft.detail.set("effect_id", outcome.effect.effect_id.text());
    draft.status = answer.ok ? AuditStatus::passed : AuditStatus::failed;
    TRY_ASSIGN(answer.audit_ref, turn.audit(std::move(draft)));
    turn.complete(operation, Answer{200, to_text(encode(answer))});
    return {};
}

}  // namespace interlock
