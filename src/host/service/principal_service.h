// Tenants, access keys, humans and their sessions: who exists and how they prove it.
//
// Every change is a turn. Passwords are hashed and checked on the workers between two turns: the
// first gathers what is needed, the second checks that nothing has moved meanwhile and decides.
// Secrets are made here, shown once in the reply, and kept only as hashes; no secret is ever part
// of a stored answer.
//
// All functions may be called from any thread; replies come once, from the engine or a worker.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/crypto.h"
#include "base/errors.h"
#include "engine/ports/clock.h"
#include "engine/service/turn_runner.h"
#include "host/rules/recovery_policy.h"
#include "host/rules/session_policy.h"
#include "host/service/attempt_door.h"
#include "host/service/password_pool.h"
#include "host/service/principal_records.h"
#include "host/service/principal_turn.h"
#include "host/wire/account.h"
#include "host/wire/human.h"
#include "host/wire/tenant.h"

namespace interlock {

// What passwords of nobody are checked against, so that an unknown email takes as long as a known
// one: the text of a hash of this cost that no password has.
std::string dummy_password_hash(PasswordCost cost);

class PrincipalService {
public:
    // Failed logins of addresses that nobody has are counted like others, so that a lockout does
    // not tell who exists; in memory only, and the one that is open soonest gives way.
    static constexpr std::size_t kStrangersMax = 10'000;
    static constexpr std::size_t kTenantPageMax = 1000;
    // In an hour, of one peer: recovery codes in all, and for one address, known or not.
    static constexpr std::size_t kRecoveryTriesPerPeer = 10;
    static constexpr std::size_t kRecoveryTriesPerAccount = 5;

    // All of these outlive the service.
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        PrincipalDirectory& directory;
        PasswordPool& workers;
        Clock& clock;
        IdSource& ids;
        std::string operator_token_hash;
        PasswordCost password_cost = {};
        // How long a recovery that the operator starts waits; kOperatorDelayMin at least.
        Duration operator_recovery_delay = kOperatorDelayMin;
    };
    explicit PrincipalService(Parts parts);

    // Loads who exists. Before the engine starts.
    Result<void> open();

    // Somebody has just accepted an invitation. Runs in the turn that sets the password, which
    // fails with it. Before the engine starts.
    struct Activation {
        const Human& human;
        bool grant_key_provisioning = false;
    };
    using ActivationRule = std::function<Result<void>(Turn&, const Activation&)>;
    void set_activation_rule(ActivationRule rule) { activation_rule_ = std::move(rule); }

    // Something became of a recovery. Runs in its turn, after its records; writes the letters.
    enum class RecoveryStep { started, ended, recovered };
    struct RecoveryNews {
        const Human& human;  // As it is then.
        RecoveryStep step = RecoveryStep::started;
        std::string by;               // A principal's text form.
        bool code_by_letter = false;  // Their code has to be made and sent to them.
    };
    using RecoveryRule = std::function<Result<void>(Turn&, const RecoveryNews&)>;
    void set_recovery_rule(RecoveryRule rule) { recovery_rule_ = std::move(rule); }

    // For services that make tenants, keys and people inside turns of their own.
    PrincipalRecords& records() { return records_; }

    template <class T>
    using Reply = TypedReply<T>;
    struct Caller {
        Principal principal;
        TenantId tenant_id;
    };

    // Operator. 201, or 200 when the very same tenant exists.
    void create_tenant(Principal principal, CreateTenant request, Reply<Answer> reply);
    struct Page {
        TenantId after;  // Empty: from the start.
        std::size_t count_max = 100;
    };
    void list_tenants(Principal principal, Page page, Reply<Answer> reply);

    // The answer shows the key this once. The same idempotency key gives the same answer with null
    // in its place, and makes no second key.
    void create_access_key(Caller caller, CreateAccessKey request, Reply<Answer> reply);
    void revoke_access_key(Caller caller, KeyId key_id, Reply<Answer> reply);
    void list_access_keys(Caller caller, Reply<Answer> reply);

    // host/rules/invitation_policy.h says who may.
    void invite_human(Caller caller, InviteHuman request, Reply<Invitation> reply);
    void list_humans(Caller caller, Reply<Answer> reply);

    // Sets the first password with an invitation's code, and logs in.
    void activate(ActivateRequest request, Reply<LoggedIn> reply);
    void login(LoginRequest request, Reply<LoggedIn> reply);

    // The rest needs a human's session; `unauthenticated` when it has ended meanwhile.
    void logout(Principal principal, Reply<SessionInfo> reply);
    void session(Principal principal, Reply<SessionInfo> reply);
    void reauthenticate(
        Principal principal, ReauthenticateRequest request, Reply<SessionInfo> reply);
    // Ends the human's other sessions.
    void change_password(
        Principal principal, ChangePasswordRequest request, Reply<SessionInfo> reply);
    // Offers a key; it counts only after confirm_totp(). Needs a fresh login.
    void enrol_totp(Principal principal, Reply<TotpEnrolment> reply);
    void confirm_totp(Principal principal, ConfirmTotpRequest request, Reply<SessionInfo> reply);
    void disable_totp(Principal principal, DisableTotpRequest request, Reply<SessionInfo> reply);

    // Getting back in; host/rules/recovery_policy.h has the rules. A code and a new password
    // restore the login, and nothing else. Whatever is wrong, the answer is the same.
    void recover(AttemptPeer peer, RecoverRequest request, Reply<LoggedIn> reply);
    // A new set, shown this once; the old one is void. Needs a fresh login.
    void make_recovery_codes(Principal principal, Reply<RecoveryCodes> reply);
    void start_recovery(
        Caller caller, HumanId human_id, StartRecovery request, Reply<StartedRecovery> reply);
    void object_to_recovery(Caller caller, HumanId human_id, Reply<Answer> reply);

private:
    struct LoginFacts {
        std::optional<HumanId> human_id;  // Nothing: no such address, or not activated.
        std::string stranger;             // The address's hash, when nobody has it.
        std::optional<HumanId> counted;   // Whose failures a wrong password adds to ...
        std::string device;  // ... and of which device, by its hash; empty: strangers'.
        std::string password_hash;
        std::optional<std::string> totp_key;
        std::int64_t totp_last_step = 0;
    };
    struct LoginProof {
        LoginFacts facts;
        bool keeps_cookies = false;
        std::optional<std::int64_t> totp_step;
    };
    // What a check of the password inside a session came to.
    struct PasswordProof {
        bool right = false;
        std::string checked_hash;
    };
    // Inside a session: the human and their session, as they are in this turn.
    struct InSession {
        Turn& turn;
        Human human;
        HumanSession session;
    };
    template <class T>
    using SessionDecide = std::function<Result<Outcome<T>>(InSession)>;

    TurnRequest turn_of(Principal principal, TenantId tenant_id, std::string function) const;
    // A job for the workers, or `rate_limited` to whoever waits for it.
    void run_job(
        const PasswordPool::Owner& owner,
        std::function<void()> job,
        std::function<void(Error)> refuse);
    template <class T>
    void in_session(
        Principal principal, std::string function, SessionDecide<T> decide, Reply<T> reply);

    Result<TurnReply> decide_tenant(Turn& turn, const CreateTenant& request);
    Result<Answer> decide_key(Turn& turn, const CreateAccessKey& request, SecretString& secret);
    Result<Outcome<Invitation>> decide_invitation(Turn& turn, const InviteHuman& request);
    Result<std::string> admit(Turn& turn, const TenantId& tenant_id, Human& human);

    Result<Outcome<LoginFacts>> gather_login(Turn& turn, const LoginRequest& request);
    void check_login(LoginFacts facts, const LoginRequest& request, Reply<LoggedIn> reply);
    void refuse_login(LoginFacts facts, Reply<LoggedIn> reply);
    Result<void> count_failure(Turn& turn, const LoginFacts& facts);
    void count_stranger(const std::string& stranger, Timestamp at);
    Result<Outcome<LoggedIn>> decide_login(Turn& turn, const LoginProof& proof);
    struct ActivationProof {
        std::string code_hash;
        std::string password_hash;
        bool grant_key_provisioning = false;
        bool keeps_cookies = false;
    };
    Result<Outcome<LoggedIn>> decide_activation(Turn& turn, const ActivationProof& proof);
    Result<LoggedIn> start_session(Turn& turn, Human human);
    // After a right password: notes the use of a known device, or makes one for a browser and gives
    // its secret.
    std::optional<SecretString> know_device(
        Human& human, const std::string& known_hash, bool keeps_cookies, Timestamp at);

    struct RecoveryFacts {
        std::optional<HumanId> human_id;  // Nothing: nobody has this address.
        bool is_right = false;
    };
    struct RecoveryTry {
        std::string email;
        std::optional<SecretString> code;  // Nothing: what was typed is no code.
        SecretString password;
    };
    Result<Outcome<RecoveryFacts>> gather_recovery(Turn& turn, const RecoveryTry& attempt);
    void refuse_recovery(const RecoveryFacts& facts, Reply<LoggedIn> reply);
    struct RightCode {
        HumanId human_id;
        std::string code_hash;
        std::string password_hash;
    };
    Result<Outcome<LoggedIn>> decide_recovery(Turn& turn, const RightCode& code);
    Result<Outcome<StartedRecovery>> decide_start(
        Turn& turn, const HumanId& human_id, const StartRecovery& request);
    Result<Human> human_here(Turn& turn, const HumanId& human_id);
    // A new set in the human's row; the codes themselves are for the answer.
    RecoveryCodes new_codes(Human& human);
    Result<std::string> tell(Turn& turn, const RecoveryNews& news, Json detail);
    // Somebody who logs in needs no recovery: one that is open ends, and everybody hears of it.
    Result<void> end_recovery_by_login(Turn& turn, Human& human);
    SessionInfo info_of(const Human& human, const HumanSession& session, Timestamp at) const;

    void check_password(
        Principal principal, std::shared_ptr<SecretString> password, Reply<PasswordProof> next);
    Result<Outcome<SessionInfo>> refuse_proof(InSession in);
    Result<Outcome<SessionInfo>> accept_proof(InSession in, std::string event);

    Parts parts_;
    PrincipalRecords records_;
    ActivationRule activation_rule_;
    RecoveryRule recovery_rule_;
    AttemptDoor recovery_door_{kRecoveryTriesPerPeer, kRecoveryTriesPerAccount};
    std::map<std::string, LoginCounter> strangers_;  // Engine thread only.
};

// Nobody is logged in yet. Not an internal principal: those go through a lane of the engine that
// strangers must not be able to fill.
Principal somebody();

// The ledger's line about a human, in the host's own chain and in that human's name.
Result<std::string> record_human(
    Turn& turn, const Human& human, std::string event, AuditStatus status = AuditStatus::passed);

template <class T>
void PrincipalService::in_session(
    Principal principal, std::string function, SessionDecide<T> decide, Reply<T> reply) {
    const HumanId human_id = HumanId::trusted(principal.id);
    const SessionId session_id = principal.session_id;
    TypedDecide<T> run =
        [this, human_id, session_id, decide = std::move(decide)](Turn& turn) -> Result<Outcome<T>> {
        TRY_ASSIGN(Human human, records_.human(turn, human_id));
        const HumanSession* found = find_session(human, session_id, turn.now());
        if (found == nullptr) {
            return fail(errors::unauthenticated, "This session has ended.");
        }
        HumanSession session = *found;
        return decide(InSession{turn, std::move(human), std::move(session)});
    };
    parts_.submit(typed_turn<T>(
        turn_of(std::move(principal), system_tenant(), std::move(function)),
        std::move(run),
        std::move(reply)));
}

}  // namespace interlock
