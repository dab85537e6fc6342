// Accounts of bot owners: signing up, plans and their trials, the activation letter, the access
// key, and what the owner allows an agent. docs/contracts/onboarding.md has the rules.
//
// Every change is a turn on the machine "onboarding/<tenant>". A letter is sent by a worker after
// the commit of the turn that made its code; the timer set in that same turn makes the next
// attempt, so a crash in between costs time and nothing else. No answer of this service is stored,
// because some hold an access key.
//
// Functions with a reply may be called from any thread; those with a Turn inside one.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "bots/rules/account_policy.h"
#include "bots/service/account_board.h"
#include "bots/service/signup_door.h"
#include "engine/service/worker_pool.h"
#include "host/ports/mailer.h"
#include "host/service/principal_service.h"

namespace interlock {

class OnboardingService {
public:
    // Rows whose letter is due and that one turn of open() takes up again.
    static constexpr std::size_t kRepairsPerTurn = 500;
    // Letters that strangers may ask for in an hour: of one peer, and for one address.
    static constexpr std::size_t kLettersPerPeer = 10;
    static constexpr std::size_t kLettersPerAddress = 3;

    // All of these outlive the service.
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        PrincipalService& principals;
        WorkerPool& workers;  // Letters are sent here: not the pool that checks passwords.
        Mailer& mailer;
        Clock& clock;
        IdSource& ids;
        std::function<std::string()> base_url;  // Asked by each letter; from any thread.
        SignupRules rules = {};
    };
    explicit OnboardingService(Parts parts);

    // What others do about accounts; each may be empty. Set before the engine starts.
    struct Hooks {
        // Inside the turn of the signup, which fails with it.
        std::function<Result<void>(Turn&, const TenantId&, const BotPlan&)> on_signup;
        // Inside the turn that ends the plan.
        std::function<Result<void>(Turn&, const TenantId&)> on_inactive;
        // After the commit, on the engine thread. The key that is dead now, if there was one.
        std::function<void(const TenantId&, const std::optional<KeyId>&)> on_key_replaced;
        // This server reaches an exchange of that name.
        std::function<Result<void>(const std::string& exchange)> check_exchange = {};
    };
    void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

    // Loads the accounts, and lets every letter that is due be tried at once with a new code. After
    // the principals and the runner, before the engine starts.
    Result<void> open();

    // Before the workers stop, from any thread: letters that wait for one are left for the next
    // start, so that a mail server that does not answer holds up nothing.
    void stop() { is_stopping_ = true; }

    template <class T>
    using Reply = TypedReply<T>;
    struct Caller {
        Principal principal;
        TenantId tenant_id;
    };

    // Whoever signs up: the operator, or anyone.
    struct Peer {
        Principal principal;
        std::string address;  // Empty: not counted by peer.
        bool is_loopback = false;
    };
    void signup(Peer peer, SignupRequest request, Reply<NewAccount> reply);

    // From any thread, without a turn.
    BotAccountView view(const TenantId& tenant_id) const;
    // {"tenant_id", "plan", …}: the answer of account_status.
    std::string status_text(const TenantId& tenant_id) const;

    // The answer of these is the account as it is then. set_plan is the operator's.
    void set_plan(Caller caller, SetPlan request, Reply<BotAccountView> reply);
    void resend_activation(Caller caller, Reply<BotAccountView> reply);
    // Anyone's, for an address: whoever owns an account that waits for it gets the letter again.
    // The answer is the same whether there is one or not, and comes before that is looked at.
    void ask_letter(
        const AttemptPeer& peer, const std::string& email, const Reply<std::monostate>& reply);
    void grant_key_provisioning(Caller caller, GrantKeys request, Reply<BotAccountView> reply);
    void revoke_key_provisioning(Caller caller, Reply<BotAccountView> reply);

    // A human's: revokes the account's key and makes a new one in the same turn.
    void regenerate_key(Caller caller, Reply<RegeneratedKey> reply);

    void set_asset_list(Caller caller, SetAssetList request, Reply<Json> reply);
    void list_asset_lists(Caller caller, Reply<Json> reply);

    // Inside a turn of the tenant's. `plan_inactive` when its plan is over.
    Result<void> check_active(Turn& turn);
    // Markets the plan allows.
    Result<std::size_t> symbols_max(Turn& turn);
    // `grant_required` where the turn's caller needs the owner's grant and has none.
    Result<void> check_grant(Turn& turn, const std::string& exchange);
    // The same, and the grant is used up. Only in the turn that does what it was given for.
    Result<void> take_grant(Turn& turn, const std::string& exchange);
    // `asset_not_allowed` names those that the caller's key may not name.
    Result<void> check_assets(
        Turn& turn, const Principal& principal, std::span<const Symbol> symbols);

private:
    // What became of one attempt to send a letter.
    struct MailOutcome {
        std::int64_t serial = 0;
        std::string error;      // Empty: sent.
        bool is_final = false;  // The same letter would be refused again.
        bool was_tried = true;  // False: no worker took it.
    };

    struct GrantGiven {
        TenantId tenant_id;
        std::string by;
        GrantKeys request;
    };

    TurnRequest turn_of(Caller caller, std::string function) const;
    void change(
        Caller caller,
        std::string function,
        std::function<Result<void>(Turn&, OnboardingRow&)> decide,
        Reply<BotAccountView> reply);

    static Result<OnboardingRow> load_row(Turn& turn, const TenantId& tenant_id);
    static Result<SignupFacts*> signup_of(OnboardingRow& row);
    void save_row(Turn& turn, const TenantId& tenant_id, const OnboardingRow& row);
    AccessKey new_key(Turn& turn, const SecretString& secret, std::string label);

    Result<Outcome<NewAccount>> decide_signup(
        Turn& turn, const SignupRequest& request, const std::string& peer);
    Result<void> store_account(Turn& turn, const Tenant& tenant, const Human& owner);
    Result<Outcome<RegeneratedKey>> decide_new_key(Turn& turn);
    static Result<void> give_grant(Turn& turn, const GrantGiven& given, OnboardingRow& row);
    Result<Outcome<Json>> decide_asset_list(Turn& turn, const SetAssetList& request);
    Result<void> decide_plan(Turn& turn, OnboardingRow& row, const SetPlan& request);
    Result<void> decide_resend(Turn& turn, OnboardingRow& row);
    void resend_for(const TenantId& tenant_id, const HumanId& owner);
    Result<void> on_activated(Turn& turn, const PrincipalService::Activation& activation);

    static void set_plan_timer(Turn& turn, const TenantId& tenant_id, const SignupFacts& signup);
    static void set_unclaimed_timer(
        Turn& turn, const TenantId& tenant_id, const SignupFacts& signup);
    static void set_mail_timer(Turn& turn, const TenantId& tenant_id, Timestamp at);
    Result<void> expire(Turn& turn);
    Result<void> end_plan(Turn& turn);
    Result<bool> is_in_use(Turn& turn, const OnboardingRow& row);
    Result<void> let_go_unclaimed(Turn& turn);
    Result<void> try_letter(Turn& turn);
    Result<void> give_up_letter(Turn& turn, OnboardingRow& row, std::string error);
    void send_letter(TenantId tenant_id, std::int64_t serial, std::shared_ptr<Mail> letter);
    void record_letter(const TenantId& tenant_id, MailOutcome outcome);
    Result<void> decide_letter(Turn& turn, const MailOutcome& outcome);
    Result<void> repair_letters(std::span<const TenantId> tenants);

    Parts parts_;
    Hooks hooks_;
    AccountBoard board_;
    SignupDoor door_;
    AttemptDoor letter_door_{kLettersPerPeer, kLettersPerAddress};
    std::atomic<bool> is_stopping_{false};
};

}  // namespace interlock
