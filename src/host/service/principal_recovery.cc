// The part of the principal service that lets humans back in who lost password or second factor.
// The rules are in host/rules/recovery_policy.h; here they meet the records and the letters.
//
// A refused code says the same whatever was wrong: the answer leaves at once and the failure is
// recorded behind it, as for logins. There is no lock: a code cannot be guessed, and a lock would
// let a stranger keep the owner out. What tries cost is bounded for each peer instead.
#include <atomic>
#include <utility>

#include "base/errors.h"
#include "host/rules/approval_step.h"
#include "host/rules/login_policy.h"
#include "host/service/principal_service.h"
#include "host/wire/approval.h"

namespace interlock {
namespace {

std::unexpected<Error> bad_code() {
    return fail(
        errors::unauthenticated,
        "The email or the recovery code is not right.",
        "Check both; each code is good once. A colleague or the operator can help, too.");
}

std::string hash_of(const HumanId& human_id, const SecretString& code) {
    return recovery_code_hash(human_id, *read_recovery_code(code.reveal()));
}

std::string_view event_of(PrincipalService::RecoveryStep step) {
    switch (step) {
        case PrincipalService::RecoveryStep::started:
            return "HUMAN_RECOVERY_STARTED";
        case PrincipalService::RecoveryStep::ended:
            return "HUMAN_RECOVERY_ENDED";
        case PrincipalService::RecoveryStep::recovered:
            break;
    }
    return "HUMAN_RECOVERED";
}

}  // namespace

RecoveryCodes PrincipalService::new_codes(Human& human) {
    RecoveryCodes made;
    human.recovery.code_hashes.clear();
    for (std::size_t i = 0; i < kRecoveryCodesMax; ++i) {
        made.codes.push_back(recovery_code_from(parts_.ids.new_secret("ilr")));
        human.recovery.code_hashes.push_back(hash_of(human.human_id, made.codes.back()));
    }
    return made;
}

SessionInfo PrincipalService::info_of(
    const Human& human, const HumanSession& session, Timestamp at) const {
    SessionInfo info = session_info_of(human, session);
    info.recoveries = records_.recoveries_near(human, at);
    return info;
}

// In the chain of each tenant that the login opens, and of the host. Critical, because people of
// the tenant must be able to object: it shows among the alerts.
Result<std::string> PrincipalService::tell(Turn& turn, const RecoveryNews& news, Json detail) {
    std::set<TenantId> chains = news.human.memberships;
    chains.insert(system_tenant());
    std::string audit_ref;
    for (const TenantId& tenant_id : chains) {
        AuditDraft draft = turn.draft(std::string(event_of(news.step)));
        draft.tenant_id = tenant_id;
        draft.principal = news.by;
        draft.severity = AuditSeverity::critical;
        draft.detail = detail;
        draft.detail.set("human_id", news.human.human_id.text());
        draft.detail.set("email", news.human.email);
        TRY_ASSIGN(std::string ref, turn.audit(std::move(draft)));
        if (tenant_id == turn.tenant_id()) {
            audit_ref = std::move(ref);
        }
    }
    if (recovery_rule_) {
        TRY(recovery_rule_(turn, news));
    }
    return audit_ref;
}

void PrincipalService::recover(AttemptPeer peer, RecoverRequest request, Reply<LoggedIn> reply) {
    const std::string name = peer.address + "/" + sha256_hex(request.email);
    if (const auto let_in = recovery_door_.enter(peer, name, parts_.clock.now()); !let_in) {
        reply(std::unexpected(let_in.error()));
        return;
    }
    if (const auto good = check_new_password(request.password.reveal()); !good) {
        reply(std::unexpected(good.error()));
        return;
    }
    const auto attempt = std::make_shared<RecoveryTry>(RecoveryTry{
        std::move(request.email),
        read_recovery_code(request.code.reveal()),
        std::move(request.password)});
    const auto hash_and_recover = [this, attempt, reply](const HumanId& human_id) {
        auto hash = hash_password(attempt->password, parts_.password_cost);
        if (!hash) {
            reply(std::unexpected(std::move(hash).error()));
            return;
        }
        RightCode code{human_id, recovery_code_hash(human_id, *attempt->code), *std::move(hash)};
        parts_.submit(typed_turn<LoggedIn>(
            turn_of(somebody(), system_tenant(), "recover"),
            [this, code = std::move(code)](Turn& turn) { return decide_recovery(turn, code); },
            reply));
    };
    parts_.submit(typed_turn<RecoveryFacts>(
        turn_of(somebody(), system_tenant(), "recover"),
        [this, attempt](Turn& turn) { return gather_recovery(turn, *attempt); },
        [this, hash_and_recover, reply](Result<RecoveryFacts> facts) {
            if (!facts) {
                reply(std::unexpected(std::move(facts).error()));
            } else if (!facts->is_right) {
                refuse_recovery(*facts, reply);
            } else {
                // Whoever holds a good code is no stranger.
                const HumanId id = *facts->human_id;
                run_job(
                    {.is_known = true, .name = id.text()},
                    [hash_and_recover, id] { hash_and_recover(id); },
                    [reply](Error error) { reply(std::unexpected(std::move(error))); });
            }
        }));
}

Result<Outcome<PrincipalService::RecoveryFacts>> PrincipalService::gather_recovery(
    Turn& turn, const RecoveryTry& attempt) {
    TRY_ASSIGN(const std::optional<Human> human, records_.find_human_by_email(turn, attempt.email));
    RecoveryFacts facts;
    if (!human || !attempt.code) {
        facts.human_id = human ? std::optional(human->human_id) : std::nullopt;
        return facts;
    }
    facts.human_id = human->human_id;
    const auto helper = check_recovery_code(
        *human, {recovery_code_hash(human->human_id, *attempt.code), turn.now()});
    if (!helper && helper.error() == errors::recovery_waits) {
        return std::unexpected(helper.error());  // Told only to who holds the right code.
    }
    facts.is_right = helper.has_value();
    return facts;
}

void PrincipalService::refuse_recovery(const RecoveryFacts& facts, Reply<LoggedIn> reply) {
    if (facts.human_id) {
        TurnRequest request = turn_of(somebody(), system_tenant(), "recovery_failed");
        request.decide = [this, id = *facts.human_id](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(Human human, records_.human(turn, id));
            CountedTry counted = note_wrong_code(std::move(human), turn.now());
            if (counted.is_recorded) {
                records_.save(turn, counted.human);
                TRY(record_human(
                    turn, counted.human, "HUMAN_RECOVERY_FAILED", AuditStatus::failed));
            }
            return Answer{};
        };
        // Not a lock, so a count that the engine is too busy to take costs nothing.
        request.reply = [](const Result<Answer>&) {};
        parts_.submit(std::move(request));
    }
    reply(bad_code());
}

Result<Outcome<LoggedIn>> PrincipalService::decide_recovery(Turn& turn, const RightCode& code) {
    TRY_ASSIGN(Human human, records_.human(turn, code.human_id));
    TRY_ASSIGN(std::string helper, check_recovery_code(human, {code.code_hash, turn.now()}));
    Recovered by;
    constexpr std::string_view kHuman = "human:";
    if (helper.starts_with(kHuman)) {
        TRY_ASSIGN(
            const Human helping,
            records_.human(turn, HumanId::trusted(helper.substr(kHuman.size()))));
        by.helpers_hands = hands_on(helping);
    }
    by.helper = helper;
    by.password_hash = code.password_hash;
    RecoveryCodes codes = new_codes(human);
    by.code_hashes = human.recovery.code_hashes;
    TRY_ASSIGN(human, interlock::recover(std::move(human), std::move(by), turn.now()));
    TRY(tell(
        turn,
        {.human = human, .step = RecoveryStep::recovered, .by = "human:" + human.human_id.text()},
        Json::object(
            {{"helper", helper.empty() ? Json() : Json(helper)},
             {"vote_rests_until", to_text(*human.recovery.vote_rests_until)}})));
    TRY_ASSIGN(LoggedIn logged_in, start_session(turn, std::move(human)));
    logged_in.codes = std::move(codes);
    return logged_in;
}

void PrincipalService::make_recovery_codes(Principal principal, Reply<RecoveryCodes> reply) {
    in_session<RecoveryCodes>(
        std::move(principal),
        "make_recovery_codes",
        [this](InSession in) -> Result<Outcome<RecoveryCodes>> {
            // A stolen session must not be able to put its own way back in place.
            if (in.turn.now() - in.session.authenticated_at > kFreshAuthentication) {
                return fail(
                    errors::reauthentication_required, "New recovery codes need a fresh login.");
            }
            RecoveryCodes codes = new_codes(in.human);
            records_.save(in.turn, in.human);
            TRY(record_human(in.turn, in.human, "HUMAN_RECOVERY_CODES_MADE"));
            return codes;
        },
        std::move(reply));
}

Result<Human> PrincipalService::human_here(Turn& turn, const HumanId& human_id) {
    auto human = records_.human(turn, human_id);
    if (!human || !human->memberships.contains(turn.tenant_id())) {
        return fail(errors::not_found, "This tenant has no human of that id.");
    }
    return human;
}

void PrincipalService::start_recovery(
    Caller caller, HumanId human_id, StartRecovery request, Reply<StartedRecovery> reply) {
    parts_.submit(typed_turn<StartedRecovery>(
        turn_of(std::move(caller.principal), std::move(caller.tenant_id), "start_recovery"),
        [this, human_id = std::move(human_id), request = std::move(request)](Turn& turn) {
            return decide_start(turn, human_id, request);
        },
        std::move(reply)));
}

Result<Outcome<StartedRecovery>> PrincipalService::decide_start(
    Turn& turn, const HumanId& human_id, const StartRecovery& request) {
    TRY_ASSIGN(Human human, human_here(turn, human_id));
    if (!request.show_code && !recovery_rule_) {
        return fail(
            errors::invalid_request,
            "Nothing here sends letters.",
            "Ask for the code to be shown, and hand it over.");
    }
    RecoveryStart start{
        .at = turn.now(),
        .principal = turn.principal(),
        .request = request,
        .operator_delay = parts_.operator_recovery_delay,
    };
    Human helper;
    if (start.principal.kind == PrincipalKind::human) {
        TRY_ASSIGN(helper, records_.human(turn, HumanId::trusted(start.principal.id)));
        start.helper = &helper;
    }
    TRY_ASSIGN(human, interlock::start_recovery(std::move(human), start));
    StartedRecovery started;
    if (request.show_code) {
        started.code = recovery_code_from(parts_.ids.new_secret("ilr"));
        human.recovery.open->code_hash = hash_of(human.human_id, *started.code);
    }
    records_.save(turn, human);
    TRY_ASSIGN(
        started.audit_ref,
        tell(
            turn,
            {.human = human,
             .step = RecoveryStep::started,
             .by = to_text(turn.principal()),
             .code_by_letter = !request.show_code},
            Json::object(
                {{"good_from", to_text(human.recovery.open->good_from)},
                 {"expires_at", to_text(human.recovery.open->expires_at)},
                 {"code", request.show_code ? "shown" : "letter"},
                 {"reason", request.reason}})));
    started.notice = *notice_of(human, turn.now());
    started.notice.tenant_id = turn.tenant_id();
    return started;
}

void PrincipalService::object_to_recovery(Caller caller, HumanId human_id, Reply<Answer> reply) {
    TurnRequest request =
        turn_of(std::move(caller.principal), std::move(caller.tenant_id), "object_to_recovery");
    request.decide = [this, human_id = std::move(human_id)](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(Human human, human_here(turn, human_id));
        TRY_ASSIGN(
            human, interlock::object_to_recovery(std::move(human), turn.principal(), turn.now()));
        records_.save(turn, human);
        TRY_ASSIGN(
            const std::string audit_ref,
            tell(
                turn,
                {.human = human, .step = RecoveryStep::ended, .by = to_text(turn.principal())},
                Json::object({{"because", "objected"}})));
        Json answer = encode(human);
        answer.set("audit_ref", audit_ref);
        return Answer{.http_status = 200, .body = to_text(answer)};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

Result<void> PrincipalService::end_recovery_by_login(Turn& turn, Human& human) {
    if (!human.recovery.open) {
        return {};
    }
    const bool is_over = turn.now() >= human.recovery.open->expires_at;
    human = drop_recovery(std::move(human));
    if (is_over) {
        return {};
    }
    TRY(tell(
        turn,
        {.human = human, .step = RecoveryStep::ended, .by = "human:" + human.human_id.text()},
        Json::object({{"because", "logged_in"}})));
    return {};
}

}  // namespace interlock
