// The part of the onboarding service that knows how long an account may be used.
#include <algorithm>

#include "base/errors.h"
#include "bots/service/onboarding_service.h"
#include "engine/rules/notice_rules.h"

namespace interlock {
namespace {

TimerId plan_timer(const TenantId& tenant_id) {
    return TimerId::trusted("plan_expiry_" + tenant_id.text());
}

TimerId unclaimed_timer(const TenantId& tenant_id) {
    return TimerId::trusted("unclaimed_signup_" + tenant_id.text());
}

}  // namespace

void OnboardingService::set_plan_timer(
    Turn& turn, const TenantId& tenant_id, const SignupFacts& signup) {
    const auto next = next_trial_word(signup, turn.now());
    if (!next) {
        turn.clear_timer(plan_timer(tenant_id));
        return;
    }
    turn.set_timer(
        {.timer_id = plan_timer(tenant_id),
         .tenant_id = tenant_id,
         .kind = "plan_expiry",
         .json = "{}",
         .due_at = *next});
}

void OnboardingService::set_unclaimed_timer(
    Turn& turn, const TenantId& tenant_id, const SignupFacts& signup) {
    if (!is_unclaimed(signup)) {
        turn.clear_timer(unclaimed_timer(tenant_id));
        return;
    }
    turn.set_timer(
        {.timer_id = unclaimed_timer(tenant_id),
         .tenant_id = tenant_id,
         .kind = "unclaimed_signup",
         .json = "{}",
         .due_at = turn.now() + kUnclaimedLife});
}

Result<void> OnboardingService::end_plan(Turn& turn) {
    return hooks_.on_inactive ? hooks_.on_inactive(turn, turn.tenant_id()) : Result<void>();
}

Result<void> OnboardingService::expire(Turn& turn) {
    TRY_ASSIGN(OnboardingRow row, load_row(turn, turn.tenant_id()));
    if (!row.signup || !next_trial_word(*row.signup, turn.now())) {
        return {};
    }
    if (!is_trial_over(*row.signup, turn.now())) {
        AuditDraft draft = turn.draft(std::string(kTrialEndsEvent));
        draft.detail.set("trial_expires", to_text(*row.signup->trial_expires));
        TRY(turn.audit(std::move(draft)));
        set_plan_timer(turn, turn.tenant_id(), *row.signup);
        return {};
    }
    row.signup->is_active = false;
    save_row(turn, turn.tenant_id(), row);
    set_unclaimed_timer(turn, turn.tenant_id(), *row.signup);
    AuditDraft draft = turn.draft("PLAN_EXPIRED");
    draft.detail.set("plan", to_word(row.signup->plan));
    draft.detail.set("trial_expires", to_text(*row.signup->trial_expires));
    TRY(turn.audit(std::move(draft)));
    return end_plan(turn);
}

// Whoever has made a key of their own or has a password here uses the account: asked again later.
Result<bool> OnboardingService::is_in_use(Turn& turn, const OnboardingRow& row) {
    PrincipalRecords& records = parts_.principals.records();
    TRY_ASSIGN(const Tenant tenant, records.tenant(turn, turn.tenant_id()));
    TRY_ASSIGN(const TenantPeople people, records.people_of(turn, turn.tenant_id()));
    return std::any_of(
               people.humans.begin(),
               people.humans.end(),
               [](const Human& human) { return human.is_activated(); }) ||
           std::any_of(
               tenant.access_keys.begin(), tenant.access_keys.end(), [&](const AccessKey& key) {
                   return key.is_active() && key.key_id != row.key_id;
               });
}

Result<void> OnboardingService::let_go_unclaimed(Turn& turn) {
    const TenantId& tenant_id = turn.tenant_id();
    TRY_ASSIGN(OnboardingRow row, load_row(turn, tenant_id));
    if (!row.signup || !is_unclaimed(*row.signup)) {
        return {};
    }
    TRY_ASSIGN(const bool used, is_in_use(turn, row));
    if (used) {
        set_unclaimed_timer(turn, tenant_id, *row.signup);
        return {};
    }
    PrincipalRecords& records = parts_.principals.records();
    TRY_ASSIGN(const TenantPeople people, records.people_of(turn, tenant_id));
    for (Human human : people.humans) {
        human.memberships.erase(tenant_id);
        if (human.memberships.empty()) {
            records.remove_human(turn, human);
        } else {
            records.save(turn, human);
        }
    }
    TRY(records.remove_tenant(turn, tenant_id));
    row.signup = let_go(*std::move(row.signup));
    row.key_id.reset();
    row.asset_lists.clear();
    save_row(turn, tenant_id, row);
    AuditDraft signup = turn.draft("SIGNUP_LET_GO");
    signup.reason = "nobody took the account over";
    TRY(turn.audit(std::move(signup)));
    AuditDraft removed = turn.draft("TENANT_REMOVED");
    removed.tenant_id = system_tenant();
    removed.detail.set("tenant_id", tenant_id.text());
    TRY(turn.audit(std::move(removed)));
    return {};
}

void OnboardingService::set_plan(Caller caller, SetPlan request, Reply<BotAccountView> reply) {
    change(
        std::move(caller),
        "set_plan",
        [this, request](Turn& turn, OnboardingRow& row) { return decide_plan(turn, row, request); },
        std::move(reply));
}

Result<void> OnboardingService::decide_plan(
    Turn& turn, OnboardingRow& row, const SetPlan& request) {
    if (turn.principal().kind != PrincipalKind::host_operator) {
        return fail(errors::forbidden, "Only the operator of this host sets plans.");
    }
    TRY_ASSIGN(SignupFacts * signup, signup_of(row));
    const bool was_active = signup->is_active;
    *signup = with_plan(std::move(*signup), request.plan, turn.now());
    set_plan_timer(turn, turn.tenant_id(), *signup);
    set_unclaimed_timer(turn, turn.tenant_id(), *signup);
    AuditDraft draft = turn.draft(request.plan ? "PLAN_SET" : "PLAN_ENDED");
    draft.detail.set("plan", to_word(signup->plan));
    draft.detail.set(
        "trial_expires", signup->trial_expires ? Json(to_text(*signup->trial_expires)) : Json());
    TRY(turn.audit(std::move(draft)));
    return was_active && !signup->is_active ? end_plan(turn) : Result<void>();
}

Result<void> OnboardingService::check_active(Turn& turn) {
    TRY_ASSIGN(const OnboardingRow row, load_row(turn, turn.tenant_id()));
    if (!view_of(turn.tenant_id(), row, turn.now()).active) {
        return fail(
            errors::plan_inactive,
            "The " + std::string(to_word(row.signup->plan)) + " plan of this account is over.");
    }
    return {};
}

Result<std::size_t> OnboardingService::symbols_max(Turn& turn) {
    TRY_ASSIGN(const OnboardingRow row, load_row(turn, turn.tenant_id()));
    return view_of(turn.tenant_id(), row, turn.now()).symbols_max;
}

}  // namespace interlock
