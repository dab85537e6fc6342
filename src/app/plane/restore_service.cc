#include "app/plane/restore_service.h"

#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "bots/wire/onboarding_row.h"
#include "host/rules/approval_step.h"
#include "host/rules/key_policy.h"
#include "host/service/ledger_service.h"
#include "host/wire/key_lock.h"
#include "loop/service/loop_import.h"

namespace interlock {
namespace {

constexpr std::string_view kWhy = "void: this server was restored from a backup";

std::string_view after_prefix(std::string_view key, std::string_view prefix) {
    return key.substr(prefix.size());
}

// The rights that a human's row gives for a time; false when there is none. A used recovery code
// would be good again, so all of them go.
bool end_rights_of(Human& human) {
    const bool had_any = !human.sessions.empty() || human.one_time_code || human.totp_key_offered ||
                         human.recovery.open || !human.recovery.code_hashes.empty();
    human.sessions.clear();
    human.one_time_code.reset();
    human.totp_key_offered.reset();
    human.recovery.open.reset();
    human.recovery.code_hashes.clear();
    return had_any;
}

// The request's time is up at once: no vote counts any more, and its timer ends it the usual way
// with the engine's first round.
Result<void> end_now(Turn& turn, const std::string& key, Approval approval) {
    approval.expires_at = turn.now();
    approval.comment = kWhy;
    turn.save(key, encode(approval));
    AuditDraft draft = turn.draft("APPROVAL_VOIDED");
    draft.reason = kWhy;
    draft.detail.set("approval_id", approval.approval_id.text());
    TRY(turn.audit(std::move(draft)));
    turn.set_timer({
        .timer_id = TimerId::trusted("approval_expiry." + approval.approval_id.text()),
        .tenant_id = approval.tenant_id,
        .kind = "approval_expiry",
        .json = approval.approval_id.text(),
        .due_at = turn.now(),
    });
    return {};
}

}  // namespace

Result<void> RestoreService::run(
    const TenantId& tenant_id, std::function<Result<void>(Turn&)> decide) {
    Result<void> done;
    TurnRequest request;
    request.tenant_id = tenant_id;
    request.principal = internal_principal("restore");
    request.function = "restore";
    request.decide = [&decide](Turn& turn) -> Result<TurnReply> {
        TRY(decide(turn));
        return Answer{};
    };
    request.reply = [&done](Result<Answer> answer) {
        if (!answer) {
            done = std::unexpected(std::move(answer).error());
        }
    };
    std::vector<TurnRequest> batch;
    batch.push_back(std::move(request));
    parts_.runner.run_batch(std::move(batch));
    return done;
}

Result<std::optional<RestoreState>> RestoreService::read_row() {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states(std::string(kRestoreKey)));
    const auto found = rows.find(std::string(kRestoreKey));
    if (found == rows.end()) {
        return std::optional<RestoreState>();
    }
    TRY_ASSIGN(const Json json, parse_json(found->second.json));
    TRY_ASSIGN(RestoreState state, decode_restore_state(json));
    return std::optional<RestoreState>(std::move(state));
}

Result<std::optional<RestoreService::Voided>> RestoreService::open() {
    TRY_ASSIGN(const std::optional<RestoreState> row, read_row());
    if (!row || row->voided_at) {
        return std::optional<Voided>();
    }
    Voided voided;
    TRY(lock_keys(voided));
    TRY(end_sign_ins(voided));
    TRY(end_approvals(voided));
    TRY(end_grants(voided));
    TRY(import_orders(voided));
    TRY(finish(voided));
    log_warn(
        "restored_folder_opened",
        {{"keys_locked", voided.keys},
         {"humans_signed_out", voided.humans},
         {"approvals_ended", voided.approvals},
         {"grants_ended", voided.grants},
         {"orders_imported", voided.orders}});
    return std::optional<Voided>(voided);
}

Result<RestoreService::Verdict> RestoreService::verdict() {
    TRY_ASSIGN(const std::optional<RestoreState> row, read_row());
    if (!row) {
        return Verdict{};
    }
    Verdict verdict{.is_unconfirmed = true, .void_before = row->voided_at.value_or(Timestamp{})};
    const std::string key = "break/" + system_tenant().text();
    TRY_ASSIGN(const auto breaks, parts_.runner.stored_states(key));
    if (const auto found = breaks.find(key); found != breaks.end()) {
        TRY_ASSIGN(const Json json, parse_json(found->second.json));
        TRY_ASSIGN(const BreakState state, decode_break_state(json));
        verdict.is_unconfirmed = state.accepted_by.empty();
    }
    return verdict;
}

void RestoreService::confirm_key(Caller caller, KeyId key_id, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "confirm_access_key";
    turn.decide = [this, key_id = std::move(key_id)](Turn& in) {
        return run_confirmation(in, key_id);
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

Result<TurnReply> RestoreService::run_confirmation(Turn& turn, const KeyId& key_id) {
    const Timestamp session_now = parts_.directory.time_of_sessions(turn.now());
    if (session_now - turn.principal().authenticated_at > kFreshAuthentication) {
        return fail(errors::reauthentication_required, "Confirming a key needs a fresh login.");
    }
    TRY_ASSIGN(const Tenant tenant, parts_.principals.tenant(turn, turn.tenant_id()));
    TRY_ASSIGN(const Tenant after, confirm_access_key(tenant, key_id));
    const AccessKey& key = *find_access_key(after, key_id);
    if (is_locked(*find_access_key(tenant, key_id))) {
        parts_.principals.save(turn, after);
        AuditDraft draft = turn.draft("ACCESS_KEY_CONFIRMED");
        draft.detail = encode(key);
        TRY(turn.audit(std::move(draft)));
    }
    return Answer{200, to_text(encode(key))};
}

Result<void> RestoreService::lock_keys(Voided& voided) {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states("tenant/"));
    for (const auto& [key, stored] : rows) {
        const TenantId tenant_id = TenantId::trusted(std::string(after_prefix(key, "tenant/")));
        std::int64_t locked = 0;
        const auto decide = [&](Turn& turn) -> Result<void> {
            TRY_ASSIGN(auto tenant, parts_.principals.find_tenant(turn, tenant_id));
            if (!tenant) {
                return {};
            }
            const std::vector<KeyId> ids = lock_access_keys(*tenant);
            locked = std::ssize(ids);
            if (ids.empty()) {
                return {};
            }
            parts_.principals.save(turn, *tenant);
            AuditDraft draft = turn.draft("ACCESS_KEYS_LOCKED");
            draft.severity = AuditSeverity::critical;
            draft.reason = "a key may have been revoked since the backup; a human confirms it";
            Json list = Json::array();
            for (const KeyId& id : ids) {
                list.push(id.text());
            }
            draft.detail.set("key_ids", std::move(list));
            TRY(turn.audit(std::move(draft)));
            return {};
        };
        TRY(run(tenant_id, decide));
        voided.keys += locked;
    }
    return {};
}

Result<void> RestoreService::end_sign_ins(Voided& voided) {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states("human/"));
    for (const auto& [key, stored] : rows) {
        if (stored.json == "null") {
            continue;  // Removed.
        }
        const HumanId human_id = HumanId::trusted(std::string(after_prefix(key, "human/")));
        bool had_any = false;
        const auto decide = [&](Turn& turn) -> Result<void> {
            TRY_ASSIGN(Human human, parts_.principals.human(turn, human_id));
            had_any = end_rights_of(human);
            if (!had_any) {
                return {};
            }
            parts_.principals.save(turn, human);
            AuditDraft draft = turn.draft("HUMAN_SIGNED_OUT");
            draft.reason = kWhy;
            draft.detail.set("human_id", human_id.text());
            TRY(turn.audit(std::move(draft)));
            return {};
        };
        TRY(run(system_tenant(), decide));
        voided.humans += had_any ? 1 : 0;
    }
    return {};
}

Result<void> RestoreService::end_approvals(Voided& voided) {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states("approval/"));
    for (const auto& [key, stored] : rows) {
        TRY_ASSIGN(const Json json, parse_json(stored.json));
        TRY_ASSIGN(const Approval approval, decode_approval(json));
        if (approval.state != ApprovalState::pending) {
            continue;
        }
        const auto decide = [&](Turn& turn) -> Result<void> {
            return end_now(turn, key, approval);
        };
        TRY(run(approval.tenant_id, decide));
        ++voided.approvals;
    }
    return {};
}

Result<void> RestoreService::end_grants(Voided& voided) {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states(std::string(kOnboardingPrefix)));
    for (const auto& [key, stored] : rows) {
        TRY_ASSIGN(const Json json, parse_json(stored.json));
        const auto row = decode_onboarding_row(json);
        if (!row || !row->key_grant) {
            continue;
        }
        const TenantId tenant_id =
            TenantId::trusted(std::string(after_prefix(key, kOnboardingPrefix)));
        const auto decide = [&](Turn& turn) -> Result<void> {
            OnboardingRow next = *row;
            next.key_grant.reset();
            turn.save(key, encode(next));
            AuditDraft draft = turn.draft("KEY_GRANT_REVOKED");
            draft.reason = kWhy;
            draft.detail = encode(*row->key_grant);
            TRY(turn.audit(std::move(draft)));
            return {};
        };
        TRY(run(tenant_id, decide));
        ++voided.grants;
    }
    return {};
}

Result<void> RestoreService::import_orders(Voided& voided) {
    for (const LoopService::Watched& watched : parts_.loop.watched()) {
        const auto venue = parts_.venues.find(watched.account.mode);
        if (venue == parts_.venues.end()) {
            continue;  // Nothing can be sent there either.
        }
        auto history = venue->second->history(watched.account);
        if (!history) {
            Error error = std::move(history).error();
            error.message =
                "After a restore the venue must say what it did since: " + std::move(error.message);
            return std::unexpected(std::move(error));
        }
        std::int64_t imported = 0;
        const auto decide = [&](Turn& turn) -> Result<void> {
            TRY_ASSIGN(
                imported,
                import_history(turn, {parts_.loop, parts_.feed, watched.account, *history}));
            return {};
        };
        TRY(run(watched.account.tenant_id, decide));
        voided.orders += imported;
    }
    return {};
}

Result<void> RestoreService::finish(const Voided& voided) {
    return run(system_tenant(), [&](Turn& turn) -> Result<void> {
        TRY_ASSIGN(
            const auto row,
            turn.load_as<RestoreState>(std::string(kRestoreKey), decode_restore_state));
        if (!row) {
            return fail(errors::internal, "the row of the restore is gone");
        }
        RestoreState state = *row;
        state.voided_at = turn.now();
        turn.save(std::string(kRestoreKey), encode(state));
        AuditDraft draft = turn.draft("BACKUP_RESTORED");
        draft.severity = AuditSeverity::critical;
        draft.reason = "opened stopped: what gave rights for a time is void, keys are locked";
        draft.detail = Json::object({
            {"break_seq", state.break_seq},
            {"keys_locked", voided.keys},
            {"humans_signed_out", voided.humans},
            {"approvals_ended", voided.approvals},
            {"grants_ended", voided.grants},
            {"orders_imported", voided.orders},
        });
        TRY(turn.audit(std::move(draft)));
        return {};
    });
}

}  // namespace interlock
