#include "bots/service/onboarding_service.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/peer_group.h"
#include "base/redaction.h"
#include "host/rules/key_policy.h"

namespace interlock {
namespace {

// Whoever signs up is nobody yet. Not an internal principal: those go through a lane of the engine
// that strangers must not be able to fill.
Principal newcomer() {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    principal.id = "signup";
    return principal;
}

AuditDraft signup_record(const Turn& turn, const TenantId& tenant_id, const OnboardingRow& row) {
    const SignupFacts& signup = *row.signup;
    AuditDraft draft = turn.draft("SIGNUP");
    draft.tenant_id = tenant_id;
    draft.detail.set("email", signup.email);
    draft.detail.set("human_id", signup.human_id.text());
    draft.detail.set("plan", to_word(signup.plan));
    draft.detail.set("trial_expires", to_text(*signup.trial_expires));
    draft.detail.set("key_id", row.key_id->text());
    draft.detail.set("peer", signup.peer);
    draft.detail.set("agent_metadata", signup.agent_metadata);
    return draft;
}

}  // namespace

OnboardingService::OnboardingService(Parts parts)
    : parts_(std::move(parts)), door_(parts_.rules.bounds) {
    parts_.principals.set_activation_rule(
        [this](Turn& turn, const PrincipalService::Activation& activation) {
            return on_activated(turn, activation);
        });
    parts_.runner.on_timer(
        "plan_expiry", [this](Turn& turn, const TimerItem&) { return expire(turn); });
    parts_.runner.on_timer("unclaimed_signup", [this](Turn& turn, const TimerItem&) {
        return let_go_unclaimed(turn);
    });
    parts_.runner.on_timer(
        "activation_mail", [this](Turn& turn, const TimerItem&) { return try_letter(turn); });
}

Result<void> OnboardingService::open() {
    TRY_ASSIGN(const auto states, parts_.runner.stored_states(std::string(kOnboardingPrefix)));
    const Timestamp now = parts_.clock.now();
    std::vector<std::pair<Timestamp, std::string>> signups;
    std::vector<TenantId> due;
    for (const auto& [machine, state] : states) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        TRY_ASSIGN(const OnboardingRow row, decode_onboarding_row(json));
        const TenantId tenant_id = TenantId::trusted(machine.substr(kOnboardingPrefix.size()));
        board_.publish(tenant_id, row, now);
        if (row.signup) {
            signups.emplace_back(row.signup->at, row.signup->peer);
            if (row.signup->mail.state == MailState::due) {
                due.push_back(tenant_id);
            }
        }
    }
    std::sort(signups.begin(), signups.end());
    for (const auto& [at, peer] : signups) {
        door_.remember(peer, at, now);
    }
    for (std::size_t at = 0; at < due.size(); at += kRepairsPerTurn) {
        const std::size_t count = std::min(kRepairsPerTurn, due.size() - at);
        TRY(repair_letters(std::span(due).subspan(at, count)));
    }
    return {};
}

TurnRequest OnboardingService::turn_of(Caller caller, std::string function) const {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = std::move(function);
    return turn;
}

void OnboardingService::change(
    Caller caller,
    std::string function,
    std::function<Result<void>(Turn&, OnboardingRow&)> decide,
    Reply<BotAccountView> reply) {
    TypedDecide<BotAccountView> run =
        [this, decide = std::move(decide)](Turn& turn) -> Result<Outcome<BotAccountView>> {
        TRY_ASSIGN(OnboardingRow row, load_row(turn, turn.tenant_id()));
        TRY(decide(turn, row));
        save_row(turn, turn.tenant_id(), row);
        return view_of(turn.tenant_id(), row, turn.now());
    };
    parts_.submit(typed_turn<BotAccountView>(
        turn_of(std::move(caller), std::move(function)), std::move(run), std::move(reply)));
}

Result<OnboardingRow> OnboardingService::load_row(Turn& turn, const TenantId& tenant_id) {
    return turn.load_or(onboarding_machine(tenant_id), decode_onboarding_row, OnboardingRow{});
}

Result<SignupFacts*> OnboardingService::signup_of(OnboardingRow& row) {
    if (!row.signup) {
        return fail(errors::no_signup, "Nobody signed up for this tenant.");
    }
    if (is_let_go(*row.signup)) {
        return fail(errors::not_found, "Nobody took this account over, and it was let go.");
    }
    return &*row.signup;
}

void OnboardingService::save_row(Turn& turn, const TenantId& tenant_id, const OnboardingRow& row) {
    turn.save(onboarding_machine(tenant_id), encode(row));
    turn.after_commit(
        [this, tenant_id, row, now = turn.now()] { board_.publish(tenant_id, row, now); });
}

AccessKey OnboardingService::new_key(Turn& turn, const SecretString& secret, std::string label) {
    AccessKey key;
    key.key_id = KeyId::trusted(turn.new_id("key"));
    key.label = std::move(label);
    // All of a bot that an agent may call. The ledger, approvals and accounts are the owner's to
    // read, who can make a key with `read` for an agent that is to have them too.
    key.scopes = {Scope::bot};
    key.key_hash = sha256_hex(secret.reveal());
    key.hint = secret.hint();
    key.created_at = turn.now();
    return key;
}

void OnboardingService::signup(Peer peer, SignupRequest request, Reply<NewAccount> reply) {
    const bool by_operator = peer.principal.kind == PrincipalKind::host_operator;
    const bool counts_peer = !by_operator && (!peer.is_loopback || parts_.rules.limits_loopback);
    const std::string group = counts_peer ? peer_group(peer.address) : std::string();
    if (!by_operator && !parts_.rules.open) {
        reply(fail(errors::signup_closed, "Only the operator signs people up on this host."));
        return;
    }
    if (!by_operator) {
        if (const auto entered = door_.enter(group, parts_.clock.now()); !entered) {
            reply(std::unexpected(entered.error()));
            return;
        }
    }
    TypedDecide<NewAccount> decide = [this, group, request = std::move(request)](Turn& turn) {
        return decide_signup(turn, request, group);
    };
    // An attempt counts whatever comes of it, so that nobody tries addresses for nothing; but what
    // this host could not do is not held against the caller.
    Reply<NewAccount> answer = [this, by_operator, group, reply](Result<NewAccount> account) {
        if (!account && !by_operator && account.error().retryable()) {
            door_.give_back(group);
        }
        reply(std::move(account));
    };
    const Principal caller = by_operator ? peer.principal : newcomer();
    parts_.submit(typed_turn<NewAccount>(
        turn_of({caller, system_tenant()}, "signup"), std::move(decide), std::move(answer)));
}

Result<Outcome<NewAccount>> OnboardingService::decide_signup(
    Turn& turn, const SignupRequest& request, const std::string& peer) {
    PrincipalRecords& records = parts_.principals.records();
    TRY_ASSIGN(const auto known, records.find_human_by_email(turn, request.email));
    if (known) {
        return fail(errors::email_in_use, "Somebody on this host has this address already.");
    }
    Tenant tenant;
    tenant.tenant_id = TenantId::trusted(turn.new_id("tn"));
    CHECK(is_tenant_text(tenant.tenant_id.text()));
    tenant.name = "Signup of " + request.email;
    tenant.created_at = turn.now();
    Human owner;
    owner.human_id = HumanId::trusted(turn.new_id("hum"));
    owner.email = request.email;
    owner.memberships = {tenant.tenant_id};
    owner.created_at = turn.now();
    tenant.human_ids = {owner.human_id};
    SecretString secret = parts_.ids.new_secret("ilk");
    const AccessKey key = new_key(turn, secret, "signup");
    TRY_ASSIGN(tenant, add_access_key(std::move(tenant), key));
    TRY(store_account(turn, tenant, owner));

    SignupFacts signup;
    signup.email = request.email;
    signup.human_id = owner.human_id;
    signup.requested_plan = request.plan;
    signup.plan = request.plan;
    signup.agent_metadata = request.agent_metadata;
    mask_secrets(signup.agent_metadata, SecretDepth::full);  // Kept for ever in row and record.
    signup.at = turn.now();
    signup.peer = peer;
    signup.trial_expires = turn.now() + kTrialLife;
    set_plan_timer(turn, tenant.tenant_id, signup);
    set_mail_timer(turn, tenant.tenant_id, turn.now());
    const Timestamp trial_expires = *signup.trial_expires;
    OnboardingRow row;
    row.signup = std::move(signup);
    row.key_id = key.key_id;
    save_row(turn, tenant.tenant_id, row);
    if (hooks_.on_signup) {
        TRY(hooks_.on_signup(turn, tenant.tenant_id, plan_of(request.plan)));
    }
    TRY_ASSIGN(std::string audit_ref, turn.audit(signup_record(turn, tenant.tenant_id, row)));
    return NewAccount{
        .tenant_id = tenant.tenant_id,
        .access_key = std::move(secret),
        .key_id = key.key_id,
        .plan = request.plan,
        .trial_expires = trial_expires,
        .audit_ref = std::move(audit_ref)};
}

Result<void> OnboardingService::store_account(
    Turn& turn, const Tenant& tenant, const Human& owner) {
    PrincipalRecords& records = parts_.principals.records();
    const bool by_operator = turn.principal().kind == PrincipalKind::host_operator;
    TRY(records.add_tenant(
        turn, tenant, by_operator ? kTenantsMax : kTenantsMax - kTenantsForOperator));
    records.add_human(turn, owner);
    AuditDraft draft = turn.draft("TENANT_CREATED");
    draft.detail.set("tenant_id", tenant.tenant_id.text());
    draft.detail.set("name", tenant.name);
    TRY(turn.audit(std::move(draft)));
    return {};
}

BotAccountView OnboardingService::view(const TenantId& tenant_id) const {
    return board_.view(tenant_id, parts_.clock.now());
}

std::string OnboardingService::status_text(const TenantId& tenant_id) const {
    return board_.status_text(tenant_id, parts_.clock.now());
}

}  // namespace interlock
