#include "host/rules/recovery_policy.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/errors.h"
#include "host/rules/approval_step.h"
#include "host/rules/login_policy.h"
#include "host/wire/approval.h"
#include "host/wire/tenant.h"

namespace interlock {
namespace {

constexpr std::int64_t kSecond = Duration::of_seconds(1).microseconds;

std::string text_of(const HumanId& human_id) {
    return "human:" + human_id.text();
}

// The operator is one, however it came in.
bool is_operator(std::string_view principal) {
    return principal.starts_with("operator:");
}

bool is_open(const Human& human, Timestamp at) {
    return human.recovery.open && at < human.recovery.open->expires_at;
}

bool shares_a_tenant(const Human& human, const Principal& principal) {
    return std::ranges::any_of(human.memberships, [&](const TenantId& tenant_id) {
        return principal.belongs_to(tenant_id);
    });
}

Result<void> may_help(const Human& human, const RecoveryStart& start) {
    const Principal& by = start.principal;
    if (by.kind != PrincipalKind::human || start.helper == nullptr || !shares_a_tenant(human, by)) {
        return fail(
            errors::human_required, "Only a human of the same tenant or the operator may do this.");
    }
    if (text_of(human.human_id) == to_text(by)) {
        return fail(
            errors::invalid_request,
            "You are logged in: make new recovery codes instead.",
            "Make a new set of codes, or change the password.");
    }
    // The login opens every tenant of the person, so whoever restores it must be at home in all.
    if (!std::ranges::includes(start.helper->memberships, human.memberships)) {
        return fail(
            errors::recovery_elsewhere,
            "This person belongs to tenants that you do not, which the recovery would open, too.");
    }
    if (start.at - by.authenticated_at > kFreshAuthentication) {
        return fail(
            errors::reauthentication_required, "Helping somebody back in needs a fresh login.");
    }
    return check_vote(vote_rest_of(*start.helper), start.at);
}

Result<void> check_gap(const Human& human, Timestamp at) {
    const auto& last = human.recovery.last_started_at;
    if (!last || at >= *last + kRecoveryStartGap) {
        return {};
    }
    auto refusal =
        fail(errors::rate_limited, "A recovery of this person was started a short while ago.");
    refusal.error().retry_after_seconds =
        static_cast<int>(((*last + kRecoveryStartGap - at).microseconds + kSecond - 1) / kSecond);
    return refusal;
}

}  // namespace

std::set<std::string> hands_on(const Human& human) {
    std::set<std::string> hands = human.recovery.helpers;
    hands.insert(text_of(human.human_id));
    return hands;
}

bool count_as_one(const Human& a, const Human& b) {
    const std::set<std::string> left = hands_on(a);
    const std::set<std::string> right = hands_on(b);
    return std::ranges::any_of(left, [&](const std::string& hand) { return right.contains(hand); });
}

VoteRest vote_rest_of(const Human& human) {
    return {human.recovery.vote_rests_until, human.recovery.second_factor_due};
}

Result<Human> start_recovery(Human human, const RecoveryStart& start) {
    const bool by_operator = start.principal.kind == PrincipalKind::host_operator;
    if (!by_operator) {
        TRY(may_help(human, start));
    }
    if (!human.is_activated()) {
        return fail(errors::not_activated, "This person has not set a first password yet.");
    }
    // What a colleague began is not the operator's to replace: that would be a way to undo it.
    if (by_operator && is_open(human, start.at) && !is_operator(human.recovery.open->started_by)) {
        return fail(errors::recovery_open, "A colleague's recovery of this person is open.");
    }
    TRY(check_gap(human, start.at));
    RecoveryCase open;
    open.started_by = to_text(start.principal);
    open.reason = start.request.reason;
    open.started_at = start.at;
    open.good_from =
        by_operator ? start.at + std::max(start.operator_delay, kOperatorDelayMin) : start.at;
    open.expires_at = open.good_from + kRecoveryCodeLife;
    human.recovery.open = std::move(open);
    human.recovery.last_started_at = start.at;
    return human;
}

Result<Human> object_to_recovery(Human human, const Principal& by, Timestamp at) {
    const bool may = by.kind == PrincipalKind::host_operator
                         ? human.recovery.open && is_operator(human.recovery.open->started_by)
                         : by.kind == PrincipalKind::human && shares_a_tenant(human, by);
    if (!may && by.kind != PrincipalKind::host_operator) {
        return fail(errors::human_required, "Only a human of the same tenant may object.");
    }
    if (!is_open(human, at)) {
        return fail(errors::recovery_not_open, "No recovery of this person is open.");
    }
    if (!may) {
        return fail(errors::human_required, "The operator may withdraw only what it started.");
    }
    human.recovery.open.reset();
    return human;
}

Human drop_recovery(Human human) {
    human.recovery.open.reset();
    return human;
}

Result<std::string> check_recovery_code(const Human& human, const RecoveryProof& proof) {
    bool own = false;
    for (const std::string& hash : human.recovery.code_hashes) {
        own |= equal_in_constant_time(hash, proof.code_hash);  // All of them, always.
    }
    const auto& open = human.recovery.open;
    const bool given = open && open->code_hash && proof.at < open->expires_at &&
                       equal_in_constant_time(*open->code_hash, proof.code_hash);
    if (!human.is_activated() || (!own && !given)) {
        return fail(errors::unauthenticated, "The email or the recovery code is not right.");
    }
    if (own) {
        return std::string();
    }
    if (proof.at < open->good_from) {
        return fail(
            errors::recovery_waits,
            "This code is good from " + to_text(open->good_from) +
                " on; until then people of the tenant may object.");
    }
    return open->started_by;
}

Result<Human> recover(Human human, Recovered by, Timestamp at) {
    LoginRecovery& state = human.recovery;
    if (!by.helper.empty()) {
        state.helpers.insert(is_operator(by.helper) ? "operator" : by.helper);
        state.helpers.merge(by.helpers_hands);
        state.helpers.erase(text_of(human.human_id));
        if (state.helpers.size() > kHelpersMax) {
            return fail(
                errors::limit_reached,
                "As many people as may be have helped this person before.",
                "Have somebody help who did so before, or the operator.");
        }
    }
    human.password_hash = std::move(by.password_hash);
    state.second_factor_due = state.second_factor_due || human.totp_key.has_value();
    human.totp_key.reset();
    human.totp_key_offered.reset();
    human.sessions.clear();
    human.devices.clear();  // Whoever took the password may sit at one of them.
    human.logins = {};
    state.code_hashes = std::move(by.code_hashes);
    state.open.reset();
    state.tries = {};
    state.recovered_at = at;
    state.vote_rests_until = at + kVoteRest;
    return human;
}

CountedTry note_wrong_code(Human human, Timestamp at) {
    RecoveryTries& tries = human.recovery.tries;
    if (at < tries.quiet_until) {
        return {std::move(human), false};
    }
    ++tries.failed;
    tries.quiet_until = at + lock_after(tries.failed);
    return {std::move(human), true};
}

std::optional<RecoveryNotice> notice_of(const Human& human, Timestamp at) {
    const LoginRecovery& state = human.recovery;
    RecoveryNotice notice;
    notice.human_id = human.human_id;
    notice.email = human.email;
    if (is_open(human, at)) {
        notice.state = at < state.open->good_from ? "waiting" : "ready";
        notice.started_by = state.open->started_by;
        notice.reason = state.open->reason;
        notice.started_at = state.open->started_at;
        notice.good_from = state.open->good_from;
        notice.expires_at = state.open->expires_at;
        return notice;
    }
    if (vote_rest_of(human).rests_at(at)) {
        notice.state = "recovered";
        notice.started_at = state.recovered_at;
        notice.vote_rests_until = state.vote_rests_until;
        return notice;
    }
    return std::nullopt;
}

}  // namespace interlock
