// The part of the principal service that lets humans in: login and activation.
//
// A refused login says the same, and takes as long, whatever was wrong. Three things see to that:
// an unknown address is checked against a dummy hash; password and one-time code are both judged on
// the worker, before any turn that writes; and the refusal leaves at once, while the failure is
// recorded behind it.
#include <algorithm>
#include <atomic>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "host/rules/device_policy.h"
#include "host/rules/login_policy.h"
#include "host/rules/session_policy.h"
#include "host/service/principal_service.h"

namespace interlock {
namespace {

std::unexpected<Error> bad_login() {
    return fail(
        errors::unauthenticated,
        "The email, password or one-time code is not right.",
        "Check them and try again. Whoever lost them gets back in at /recover.");
}

std::unexpected<Error> bad_code() {
    return fail(
        errors::unauthenticated,
        "The one-time code is not valid.",
        "Give the newest one, once; codes of an app change every half minute.");
}

}  // namespace

Principal somebody() {
    Principal principal;
    principal.kind = PrincipalKind::human;
    principal.id = "not_logged_in";
    return principal;
}

std::string dummy_password_hash(PasswordCost cost) {
    constexpr std::size_t kSaltLength = 22;  // 16 and 32 bytes in base64 without padding.
    constexpr std::size_t kHashLength = 43;
    return "$argon2id$v=19$m=" + std::to_string(cost.memory_bytes / 1024) +
           ",t=" + std::to_string(cost.passes) + ",p=1$" + std::string(kSaltLength, 'A') + "$" +
           std::string(kHashLength, 'A');
}

Result<std::string> record_human(
    Turn& turn, const Human& human, std::string event, AuditStatus status) {
    AuditDraft draft = turn.draft(std::move(event));
    draft.tenant_id = system_tenant();
    draft.status = status;
    if (status == AuditStatus::passed) {
        draft.principal = "human:" + human.human_id.text();  // Proven a moment ago.
    }
    draft.detail.set("human_id", human.human_id.text());
    return turn.audit(std::move(draft));
}

void PrincipalService::login(LoginRequest request, Reply<LoggedIn> reply) {
    const auto shared = std::make_shared<LoginRequest>(std::move(request));
    parts_.submit(typed_turn<LoginFacts>(
        turn_of(somebody(), system_tenant(), "login"),
        [this, shared](Turn& turn) { return gather_login(turn, *shared); },
        [this, shared, reply](Result<LoginFacts> facts) {
            if (!facts) {
                reply(std::unexpected(std::move(facts).error()));
                return;
            }
            const bool is_known = !facts->device.empty();
            run_job(
                {.is_known = is_known, .name = is_known ? facts->counted->text() : shared->peer},
                [this, shared, reply, facts = *facts] { check_login(facts, *shared, reply); },
                [reply](Error error) { reply(std::unexpected(std::move(error))); });
        }));
}

Result<Outcome<PrincipalService::LoginFacts>> PrincipalService::gather_login(
    Turn& turn, const LoginRequest& request) {
    const std::string& email = request.email;
    LoginFacts facts;
    facts.password_hash = dummy_password_hash(parts_.password_cost);
    TRY_ASSIGN(const std::optional<Human> human, records_.find_human_by_email(turn, email));
    if (!human) {
        facts.stranger = sha256_hex(email);
        if (const auto known = strangers_.find(facts.stranger); known != strangers_.end()) {
            TRY(check_not_locked(known->second, turn.now()));
        }
        return facts;
    }
    if (request.device) {
        const std::string device = sha256_hex(request.device->reveal());
        facts.device = is_known_device(*human, device) ? device : "";
    }
    TRY(check_not_locked(login_counter(*human, facts.device), turn.now()));
    facts.counted = human->human_id;
    if (human->is_activated()) {
        facts.human_id = human->human_id;
        facts.password_hash = *human->password_hash;
        facts.totp_key = human->totp_key;
        facts.totp_last_step = human->totp_last_step;
    }
    return facts;
}

// On a worker.
void PrincipalService::check_login(
    LoginFacts facts, const LoginRequest& request, Reply<LoggedIn> reply) {
    const bool right_password = verify_password(request.password, facts.password_hash);
    LoginProof proof{
        .facts = std::move(facts), .keeps_cookies = !request.want_token, .totp_step = {}};
    bool right_code = true;
    if (proof.facts.totp_key) {
        proof.totp_step = accepted_totp_step(
            {.key_text = *proof.facts.totp_key,
             .code = request.totp.value_or(""),
             .last_step = proof.facts.totp_last_step},
            parts_.clock.now());
        right_code = proof.totp_step.has_value();
    }
    if (!proof.facts.human_id || !right_password || !right_code) {
        refuse_login(std::move(proof.facts), std::move(reply));
        return;
    }
    parts_.submit(typed_turn<LoggedIn>(
        turn_of(somebody(), system_tenant(), "login"),
        [this, proof = std::move(proof)](Turn& turn) { return decide_login(turn, proof); },
        std::move(reply)));
}

// The caller waits only until the failure stands in the engine's queue, not for its commit: the
// time of a write would tell a known address from an unknown one. A failure that the engine does
// not take is answered as overload, as a right password would have been, so that it was no free
// guess.
void PrincipalService::refuse_login(LoginFacts facts, Reply<LoggedIn> reply) {
    const auto answered = std::make_shared<std::atomic<bool>>(false);
    TurnRequest request = turn_of(somebody(), system_tenant(), "login_failed");
    request.decide = [this, facts = std::move(facts)](Turn& turn) -> Result<TurnReply> {
        TRY(count_failure(turn, facts));
        return Answer{};
    };
    request.reply = [answered, reply](Result<Answer> counted) {
        if (!counted && !answered->exchange(true)) {
            reply(std::unexpected(std::move(counted).error()));
        }
    };
    parts_.submit(std::move(request));
    if (!answered->exchange(true)) {
        reply(bad_login());
    }
}

Result<void> PrincipalService::count_failure(Turn& turn, const LoginFacts& facts) {
    if (!facts.counted) {
        turn.after_commit(
            [this, stranger = facts.stranger, at = turn.now()] { count_stranger(stranger, at); });
        return {};
    }
    TRY_ASSIGN(Human human, records_.human(turn, *facts.counted));
    LoginCounter& counter = login_counter(human, facts.device);
    if (!check_not_locked(counter, turn.now())) {
        return {};  // One of several at a time; the lock holds already.
    }
    counter = after_failure(counter, turn.now());
    records_.save(turn, human);
    TRY(record_human(turn, human, "HUMAN_LOGIN_FAILED", AuditStatus::failed));
    return {};
}

void PrincipalService::count_stranger(const std::string& stranger, Timestamp at) {
    log_warn("login_of_unknown_address");
    if (!strangers_.contains(stranger) && strangers_.size() >= kStrangersMax) {
        strangers_.erase(std::min_element(
            strangers_.begin(), strangers_.end(), [](const auto& a, const auto& b) {
                return a.second.locked_until < b.second.locked_until;
            }));
    }
    LoginCounter& counter = strangers_[stranger];
    if (check_not_locked(counter, at)) {
        counter = after_failure(counter, at);
    }
}

Result<Outcome<LoggedIn>> PrincipalService::decide_login(Turn& turn, const LoginProof& proof) {
    TRY_ASSIGN(Human human, records_.human(turn, *proof.facts.human_id));
    // Guesses that were let in together count one after the other: a right one behind five wrong
    // ones comes too late, and must not be told from them.
    LoginCounter& counter = login_counter(human, proof.facts.device);
    const bool locked = !check_not_locked(counter, turn.now());
    const bool replayed = proof.totp_step && *proof.totp_step <= human.totp_last_step;
    const bool changed =
        human.password_hash != proof.facts.password_hash || human.totp_key != proof.facts.totp_key;
    if (locked || replayed || changed) {
        return bad_login();
    }
    counter = {};
    human.totp_last_step = proof.totp_step.value_or(human.totp_last_step);
    auto device = know_device(human, proof.facts.device, proof.keeps_cookies, turn.now());
    TRY(end_recovery_by_login(turn, human));
    TRY_ASSIGN(LoggedIn logged_in, start_session(turn, std::move(human)));
    logged_in.device = std::move(device);
    return logged_in;
}

std::optional<SecretString> PrincipalService::know_device(
    Human& human, const std::string& known_hash, bool keeps_cookies, Timestamp at) {
    if (!known_hash.empty()) {
        human = remember_device(std::move(human), known_hash, at);
        return std::nullopt;
    }
    if (!keeps_cookies) {
        return std::nullopt;  // A program's login must not push a browser out of the list.
    }
    SecretString secret = parts_.ids.new_secret("ild");
    human = remember_device(std::move(human), sha256_hex(secret.reveal()), at);
    return secret;
}

Result<LoggedIn> PrincipalService::start_session(Turn& turn, Human human) {
    SecretString token = parts_.ids.new_secret("ils");
    HumanSession session;
    session.session_id = SessionId::trusted(turn.new_id("ses"));
    session.token_hash = sha256_hex(token.reveal());
    session.created_at = turn.now();
    session.authenticated_at = parts_.directory.time_of_sessions(turn.now());
    session.expires_at = session.authenticated_at + kSessionLife;
    human = open_session(std::move(human), session);
    records_.save(turn, human);
    TRY(record_human(turn, human, "HUMAN_LOGGED_IN"));
    return LoggedIn{info_of(human, session, turn.now()), std::move(token), {}};
}

void PrincipalService::activate(ActivateRequest request, Reply<LoggedIn> reply) {
    if (const auto good = check_new_password(request.password.reveal()); !good) {
        reply(std::unexpected(good.error()));
        return;
    }
    const auto password = std::make_shared<SecretString>(std::move(request.password));
    const std::string code_hash = sha256_hex(request.code.reveal());
    const bool grants = request.grant_key_provisioning;
    const bool keeps_cookies = !request.want_token;
    struct Good {};
    TypedDecide<Good> check = [this, code_hash, password](Turn& turn) -> Result<Outcome<Good>> {
        const auto human_id = records_.holder_of_code(code_hash);
        if (!human_id) {
            return bad_code();
        }
        TRY_ASSIGN(const Human human, records_.human(turn, *human_id));
        TRY(check_one_time_code(human, code_hash, turn.now()));
        TRY(check_new_password(password->reveal(), human.email));
        return Good{};
    };
    const auto hash_and_activate = [this, password, code_hash, grants, keeps_cookies, reply] {
        auto hash = hash_password(*password, parts_.password_cost);
        if (!hash) {
            reply(std::unexpected(std::move(hash).error()));
            return;
        }
        parts_.submit(typed_turn<LoggedIn>(
            turn_of(somebody(), system_tenant(), "activate"),
            [this, proof = ActivationProof{code_hash, *std::move(hash), grants, keeps_cookies}](
                Turn& turn) { return decide_activation(turn, proof); },
            reply));
    };
    parts_.submit(typed_turn<Good>(
        turn_of(somebody(), system_tenant(), "activate"),
        std::move(check),
        [this, hash_and_activate, peer = std::move(request.peer), reply](Result<Good> good) {
            if (!good) {
                reply(std::unexpected(std::move(good).error()));
                return;
            }
            // Whoever holds a good code is expected, and is not kept waiting by strangers.
            run_job({.is_known = true, .name = peer}, hash_and_activate, [reply](Error error) {
                reply(std::unexpected(std::move(error)));
            });
        }));
}

Result<Outcome<LoggedIn>> PrincipalService::decide_activation(
    Turn& turn, const ActivationProof& proof) {
    const auto human_id = records_.holder_of_code(proof.code_hash);
    if (!human_id) {
        return bad_code();
    }
    TRY_ASSIGN(Human human, records_.human(turn, *human_id));
    TRY(check_one_time_code(human, proof.code_hash, turn.now()));
    human.password_hash = proof.password_hash;
    human.one_time_code.reset();
    human.logins = {};
    RecoveryCodes codes = new_codes(human);
    for (const TenantId& tenant_id : human.memberships) {
        AuditDraft draft = turn.draft("HUMAN_ACTIVATED");
        draft.tenant_id = tenant_id;
        draft.principal = "human:" + human.human_id.text();
        draft.detail.set("human_id", human.human_id.text());
        draft.detail.set("email", human.email);
        TRY(turn.audit(std::move(draft)));
    }
    if (activation_rule_) {
        TRY(activation_rule_(turn, {human, proof.grant_key_provisioning}));
    }
    auto device = know_device(human, "", proof.keeps_cookies, turn.now());
    TRY_ASSIGN(LoggedIn logged_in, start_session(turn, std::move(human)));
    logged_in.device = std::move(device);
    logged_in.codes = std::move(codes);
    return logged_in;
}

}  // namespace interlock
