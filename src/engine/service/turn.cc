#include "engine/service/turn.h"

#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "engine/rules/notice_rules.h"
#include "engine/rules/protected_rows.h"

namespace interlock {

Json encode(const OpenOperation& operation) {
    Json json = Json::object({{"operation_id", operation.operation_id.text()}});
    if (operation.key) {
        json.set("tenant_id", operation.key->tenant_id.text());
        json.set("function", operation.key->function);
        json.set("key", operation.key->key.text());
        json.set("request_hash", operation.request_hash);
        if (operation.answer_life) {
            json.set("answer_life_us", operation.answer_life->microseconds);
        }
    }
    return json;
}

Result<OpenOperation> decode_open_operation(const Json& json) {
    FieldReader in(json);
    OpenOperation operation;
    operation.operation_id = in.required<OperationId>("operation_id");
    if (json.find("key") != nullptr) {
        operation.key = AnswerKey{
            in.required<TenantId>("tenant_id"),
            in.required<std::string>("function"),
            in.required<IdempotencyKey>("key")};
        operation.request_hash = in.required<std::string>("request_hash");
        if (const auto life = in.optional<std::int64_t>("answer_life_us")) {
            operation.answer_life = Duration{*life};
        }
    }
    return in.finish(std::move(operation));
}

Turn::Turn(
    TurnBackground& background, BatchStage& batch, const TurnRequest& request, Folding folding)
    : background_(background),
      batch_(batch),
      request_(request),
      now_(background.now()),
      folding_(folding) {}

Result<HeldState*> Turn::find_state(const std::string& machine_key, KeepState keep) {
    for (BatchStage* stage : {&staged_, &batch_}) {
        if (const auto found = stage->states.find(machine_key); found != stage->states.end()) {
            return found->second.stored.version == 0 ? nullptr : &found->second;
        }
    }
    TRY_ASSIGN(HeldState* const stored, background_.stored_state(machine_key, keep));
    if (stored == nullptr && keep == KeepState::in_store) {
        staged_.states.try_emplace(machine_key);  // So that saving it does not ask again.
    }
    return stored;
}

Result<std::optional<Json>> Turn::load(const std::string& machine_key) {
    TRY_ASSIGN(const HeldState* held, find_state(machine_key));
    if (held == nullptr) {
        return std::optional<Json>();
    }
    TRY_ASSIGN(Json json, parse_json(held->stored.json));
    return std::optional<Json>(std::move(json));
}

HeldState& Turn::stage(const std::string& machine_key, std::string text, KeepState keep) {
    std::int64_t version = 0;
    if (const auto held = find_state(machine_key); held && *held != nullptr) {
        version = (*held)->stored.version;
    }
    HeldState& staged = staged_.states[machine_key];
    staged = {.stored = {version + 1, {}}, .is_lasting = keep == KeepState::in_memory};
    if (staged.is_lasting) {
        staged.stored.json = text;
    }
    note_row(machine_key, text);
    commit_.states.push_back({machine_key, version, std::move(text)});
    return staged;
}

void Turn::save(const std::string& machine_key, const Json& json) {
    stage(machine_key, to_text(json));
}

ChainHead Turn::head_of(const TenantId& tenant_id) const {
    if (const auto mine = staged_.heads.find(tenant_id); mine != staged_.heads.end()) {
        return mine->second;
    }
    if (const auto earlier = batch_.heads.find(tenant_id); earlier != batch_.heads.end()) {
        return earlier->second;
    }
    return background_.stored_head(tenant_id);
}

AuditDraft Turn::draft(std::string event) const {
    AuditDraft draft;
    draft.tenant_id = request_.tenant_id;
    draft.event = std::move(event);
    draft.actor = actor_of(request_.principal);
    draft.principal = to_text(request_.principal);
    draft.timestamp = now_;
    return draft;
}

Result<std::string> Turn::audit(AuditDraft draft) {
    TRY_ASSIGN(const AuditRecord record, seal_draft(std::move(draft)));
    return audit_ref(record);
}

Result<AuditRecord> Turn::seal_draft(AuditDraft draft) {
    ChainHead head = head_of(draft.tenant_id);
    if (draft.decision_id.empty()) {
        draft.decision_id = DecisionId::trusted("sys_" + std::to_string(head.seq + 1));
    }
    if (draft.tick_id.empty()) {
        draft.tick_id = TickId::trusted("-");
    }
    if (draft.timestamp == Timestamp{}) {
        draft.timestamp = now_;
    }
    const TenantId tenant_id = draft.tenant_id;
    // A turn may record for another tenant than its caller's: what the record refers to goes along.
    if (tenant_id != request_.tenant_id) {
        for (const std::string& ref : draft.artifacts) {
            for (std::size_t i = commit_.artifacts.size(); i-- > 0;) {
                if (ref.ends_with(commit_.artifacts[i].hash)) {
                    ArtifactWrite copy = commit_.artifacts[i];
                    copy.tenant_id = tenant_id;
                    commit_.artifacts.push_back(std::move(copy));
                    break;
                }
            }
        }
    }
    draft.rows = take_rows(tenant_id);
    if (draft.rows.size() > kRecordRowsMax) {
        return fail(errors::out_of_range, "A turn writes more protected rows than a record names.");
    }
    TRY_ASSIGN(SealedRecord sealed, seal(head, std::move(draft)));
    commit_.audit.push_back(
        {tenant_id, sealed.record.seq, std::move(sealed.canonical), sealed.record.hash});
    staged_.heads[tenant_id] = std::move(head);
    note_notice(sealed.record);
    return std::move(sealed.record);
}

void Turn::note_notice(const AuditRecord& record) {
    if (auto notice = notice_of(record)) {
        notices_.push_back(*std::move(notice));
    }
}

EffectId Turn::effect(EffectDraft draft) {
    OutboxItem item;
    item.effect_id = EffectId::trusted(new_id("eff"));
    item.tenant_id = request_.tenant_id;
    item.kind = std::move(draft.kind);
    item.json = to_text(draft.json);
    item.delivery = draft.delivery;
    item.not_after = now_ + draft.life;
    commit_.outbox.push_back(item);
    return item.effect_id;
}

void Turn::finish_effect(const EffectId& effect_id) {
    commit_.outbox_finished.push_back(effect_id);
    staged_.effects[effect_id] = std::nullopt;
}

void Turn::mark_effect_unknown(const EffectId& effect_id) {
    commit_.outbox_unknown.push_back(effect_id);
    staged_.effects[effect_id] = OpenEffect{request_.tenant_id, true};
}

bool Turn::is_effect_open(const EffectId& effect_id) const {
    for (const BatchStage* stage : {&staged_, static_cast<const BatchStage*>(&batch_)}) {
        if (const auto staged = stage->effects.find(effect_id); staged != stage->effects.end()) {
            return staged->second.has_value();
        }
    }
    return background_.open_effects().contains(effect_id);
}

std::int64_t Turn::unknown_effects(const TenantId& tenant_id) const {
    std::int64_t count = 0;
    const auto add = [&](const OpenEffect& effect) {
        const bool counts = tenant_id == system_tenant() || effect.tenant_id == tenant_id;
        count += effect.unknown && counts ? 1 : 0;
    };
    for (const auto& [effect_id, effect] : background_.open_effects()) {
        if (!staged_.effects.contains(effect_id) && !batch_.effects.contains(effect_id)) {
            add(effect);
        }
    }
    for (const auto& [effect_id, effect] : staged_.effects) {
        if (effect) {
            add(*effect);
        }
    }
    for (const auto& [effect_id, effect] : batch_.effects) {
        if (effect && !staged_.effects.contains(effect_id)) {
            add(*effect);
        }
    }
    return count;
}

// The last word of a turn on a timer counts.
void Turn::set_timer(TimerItem timer) {
    std::erase(commit_.timers_finished, timer.timer_id);
    std::erase_if(
        commit_.timers, [&](const TimerItem& set) { return set.timer_id == timer.timer_id; });
    commit_.timers.push_back(std::move(timer));
}

void Turn::clear_timer(TimerId timer_id) {
    std::erase_if(commit_.timers, [&](const TimerItem& set) { return set.timer_id == timer_id; });
    commit_.timers_finished.push_back(std::move(timer_id));
}

std::string Turn::put_artifact(std::string bytes) {
    std::string hash = sha256_hex(bytes);
    commit_.artifacts.push_back({request_.tenant_id, hash, std::move(bytes)});
    return "sha256:" + hash;
}

Result<SealPoint> Turn::audit_seal(
    AuditDraft draft, Seal seal, const SignText& sign, const std::optional<Continuation>& anew) {
    const TenantId tenant_id = draft.tenant_id;
    ChainHead head = anew ? anew->good : head_of(tenant_id);
    const std::int64_t first_seq = anew ? anew->first_seq : 0;
    const std::int64_t seq = anew ? first_seq : head.seq + 1;
    draft.decision_id = DecisionId::trusted("sys_" + std::to_string(seq));
    draft.tick_id = TickId::trusted("-");
    draft.rows = take_rows(tenant_id);
    const SealedRows rows = seal.rows;
    TRY_ASSIGN(
        SealedRecord sealed, sign_seal(head, std::move(draft), std::move(seal), sign, first_seq));
    const Json* signature = sealed.record.draft.detail.find("signature");
    commit_.checkpoints.push_back(
        {tenant_id, seq, sealed.record.hash, now_, signature->as_string()});
    commit_.audit.push_back(
        {tenant_id, seq, std::move(sealed.canonical), sealed.record.hash, anew.has_value()});
    staged_.heads[tenant_id] = std::move(head);
    note_notice(sealed.record);
    return SealPoint{seq, std::move(sealed.record.hash), now_, rows};
}

RowSet Turn::rows_of(const TenantId& chain) const {
    RowSet rows = background_.stored_rows(chain);
    for (const BatchStage* stage : {static_cast<const BatchStage*>(&batch_), &staged_}) {
        if (const auto staged = stage->rows.find(chain); staged != stage->rows.end()) {
            for (const auto& [machine_key, hash] : staged->second) {
                rows.set(machine_key, hash);
            }
        }
    }
    if (const auto open = open_rows_.find(chain); open != open_rows_.end()) {
        for (const auto& [machine_key, change] : open->second) {
            rows.set(machine_key, change.now);
        }
    }
    return rows;
}

void Turn::note_row(const std::string& machine_key, std::string_view text) {
    const std::optional<ProtectedRow> row = protected_row(machine_key, text);
    if (!row) {
        return;
    }
    std::string hash = sha256_hex(row->text);
    auto& rows = open_rows_[row->chain];
    const auto [place, is_first] = rows.try_emplace(machine_key);
    if (is_first) {
        place->second = {machine_key, named_row(row->chain, machine_key), {}};
    }
    place->second.now = std::move(hash);
    if (place->second.now == place->second.was) {
        rows.erase(place);
    }
}

std::string Turn::named_row(const TenantId& chain, const std::string& machine_key) const {
    for (const BatchStage* stage : {&staged_, static_cast<const BatchStage*>(&batch_)}) {
        if (const auto rows = stage->rows.find(chain); rows != stage->rows.end()) {
            if (const auto row = rows->second.find(machine_key); row != rows->second.end()) {
                return row->second;
            }
        }
    }
    return background_.stored_row(chain, machine_key);
}

std::vector<RowChange> Turn::take_rows(const TenantId& chain) {
    std::vector<RowChange> taken;
    if (const auto open = open_rows_.find(chain); open != open_rows_.end()) {
        for (auto& [machine_key, change] : open->second) {
            staged_.rows[chain][machine_key] = change.now;
            taken.push_back(std::move(change));
        }
        open_rows_.erase(open);
    }
    return taken;
}

Result<void> Turn::audit_rows() {
    while (!open_rows_.empty()) {
        const TenantId chain = open_rows_.begin()->first;
        if (open_rows_.begin()->second.empty()) {
            open_rows_.erase(open_rows_.begin());
            continue;
        }
        AuditDraft draft = this->draft(std::string(kRowsEvent));
        draft.tenant_id = chain;
        draft.step = AuditStep::record;
        draft.detail.set("function", request_.function);
        TRY(audit(std::move(draft)));
    }
    return {};
}

OpenOperation Turn::open_operation() {
    OpenOperation operation;
    operation.operation_id = OperationId::trusted(new_id("op"));
    if (request_.key) {
        operation.key = AnswerKey{request_.tenant_id, request_.function, *request_.key};
        operation.request_hash = request_.request_hash;
        operation.answer_life = request_.answer_life;
    }
    return operation;
}

void Turn::complete(const OpenOperation& operation, Answer answer) {
    if (operation.key) {
        StoredAnswer stored{
            .request_hash = operation.request_hash,
            .operation_id = operation.operation_id,
            .body = answer.body,
            .http_status = answer.http_status,
            .expires_at = std::nullopt,
        };
        if (operation.answer_life) {
            stored.expires_at = now_ + *operation.answer_life;
        }
        commit_.answers.push_back({*operation.key, std::move(stored), true});
    }
    completed_.emplace_back(operation.operation_id, std::move(answer));
}

}  // namespace interlock
