#include "bots/service/bot_service.h"

#include "base/errors.h"
#include "base/log.h"

namespace interlock {

BotService::BotService(Parts parts) : parts_(std::move(parts)), weight_(parts_.weight_per_minute) {
    parts_.runtime.set_keeper(*this);
    parts_.approvals.register_kind(
        ApprovalKind::config_proposal,
        {.execute = [this](
                        Turn& turn, const Approval& approval) { return carry_out(turn, approval); },
         .ended = [](Turn&, const Approval&) -> Result<void> { return {}; }});
    parts_.runner.on_timer(std::string(kKeyCheckTimer), [this](Turn& turn, const TimerItem& timer) {
        return on_key_check(turn, timer);
    });
}

Result<void> BotService::open() {
    TRY_ASSIGN(const auto stored, parts_.runner.stored_states(std::string(kBotPrefix)));
    for (const auto& [key, state] : stored) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        TRY_ASSIGN(BotRecord record, decode_bot_record(json));
        const TenantId tenant_id = TenantId::trusted(key.substr(kBotPrefix.size()));
        show(tenant_id, record);
        board_.spread(tenant_id, parts_.clock.monotonic());
    }
    return {};
}

TurnRequest BotService::turn_of(Caller caller, std::string function) const {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = std::move(function);
    return turn;
}

TurnRequest BotService::keyed_turn_of(Caller caller, std::string function) const {
    std::optional<IdempotencyKey> key = std::move(caller.key);
    std::string hash = std::move(caller.request_hash);
    TurnRequest turn = turn_of(std::move(caller), std::move(function));
    turn.key = std::move(key);
    turn.request_hash = std::move(hash);
    return turn;
}

TurnRequest BotService::rule_turn(const TenantId& tenant_id, std::string function) const {
    TurnRequest turn = turn_of({internal_principal("bot"), tenant_id, {}}, std::move(function));
    turn.reply = [name = turn.function](Result<Answer> answer) {
        if (!answer) {
            log_error("bot_turn_failed", {{"turn", name}, {"message", answer.error().message}});
        }
    };
    return turn;
}

VenueAccount bot_account_of(const TenantId& tenant_id) {
    return {tenant_id, default_account_id(), TradeMode::paper};
}

Result<BotRecord> BotService::load(Turn& turn) const {
    BotRecord fresh;
    fresh.config = parts_.defaults;
    fresh.approved = parts_.defaults;
    TRY_ASSIGN(
        const auto stored,
        turn.load_as<BotRecord>(bot_machine(turn.tenant_id()), decode_bot_record));
    return stored ? *stored : fresh;
}

void BotService::save(Turn& turn, BotRecord record) {
    record.changed_at = turn.now();
    record.changed_by = to_text(turn.principal());
    const auto shared = std::make_shared<const BotRecord>(std::move(record));
    turn.save_as<BotRecord>(bot_machine(turn.tenant_id()), shared);
    turn.after_commit([this, tenant_id = turn.tenant_id(), shared] {
        show(tenant_id, *shared);
        board_.forget_text(tenant_id, kExchangeText);
        if (shared->state != BotState::running) {
            weight_.forget(tenant_id);
        }
    });
}

void BotService::show(const TenantId& tenant_id, const BotRecord& record) {
    board_.show(
        tenant_id,
        {.record = record,
         .warnings = warnings_of(record.config),
         .now = parts_.clock.monotonic()});
}

std::vector<std::string> BotService::warnings_of(const BotConfig& config) const {
    return too_small_amounts(config, parts_.feed.facts(config.symbols));
}

Result<std::string> BotService::note(Turn& turn, const BotRecord& record, Note wanted) {
    AuditDraft draft = turn.draft(std::move(wanted.event));
    draft.reason = std::move(wanted.reason);
    draft.detail = std::move(wanted.detail);
    draft.detail.set("bot_state", to_word(record.state));
    draft.severity = wanted.severity;
    return turn.audit(std::move(draft));
}

Result<std::string> BotService::move_to(Turn& turn, BotRecord record, BotState state, Note wanted) {
    wanted.detail.set("from", to_word(record.state));
    wanted.detail.set("to", to_word(state));
    record.state = state;
    TRY_ASSIGN(std::string ref, note(turn, record, std::move(wanted)));
    save(turn, std::move(record));
    TRY(settle_blocks(turn, bot_account_of(turn.tenant_id()), this));
    return ref;
}

Answer BotService::state_answer(const BotRecord& record, std::string message, Json more) {
    Json body =
        Json::object({{"message", std::move(message)}, {"bot_state", to_word(record.state)}});
    for (const auto& [name, value] : more.members()) {
        body.set(name, value);
    }
    return {200, to_text(body)};
}

Result<void> BotService::adopt(Turn& turn, const TenantId& tenant_id, const BotConfig& config) {
    TRY_ASSIGN(const std::optional<Json> stored, turn.load(bot_machine(tenant_id)));
    if (stored) {
        return {};
    }
    BotRecord record;
    record.config = config;
    record.approved = config;
    record.changed_at = turn.now();
    record.changed_by = to_text(turn.principal());
    AuditDraft draft = turn.draft("BOT_CONFIG");
    draft.tenant_id = tenant_id;
    draft.reason = "the owner's default configuration";
    draft.detail = Json::object({{"config", encode(config)}});
    TRY(turn.audit(std::move(draft)));
    const auto shared = std::make_shared<const BotRecord>(std::move(record));
    turn.save_as<BotRecord>(bot_machine(tenant_id), shared);
    turn.after_commit([this, tenant_id, shared] { show(tenant_id, *shared); });
    return {};
}

}  // namespace interlock
