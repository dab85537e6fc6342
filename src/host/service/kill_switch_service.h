// The kill switch (docs/contracts/kill-switch.md#1-turning-it-on, I6): every way in, one record,
// one way out.
//
// Order of acts on activation: the latch (receiving thread, no queue) → the record (urgent lane) →
// cancels. If the record cannot be committed the latch stays up, the KILL file is written and the
// cancels go out all the same: the one exception to I1.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/ports/kill_flag.h"
#include "engine/service/kill_latch.h"
#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"
#include "host/rules/kill_step.h"
#include "host/rules/why_stopped.h"
#include "host/service/approval_service.h"

namespace interlock {

class KillSwitchService {
public:
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        KillLatch& latch;
        KillFlag& flag;
        PrincipalDirectory& directory;
        ApprovalService& approvals;
        // Hands effects straight to the outbox, past the store; for cancels whose record failed.
        std::function<void(std::vector<OutboxItem>)> send_directly;
        // Walks the tenant's chain from its last checkpoint; the problem, or "" when it holds.
        std::function<std::string(const TenantId&)> chain_problem;
        IdSource& ids;
        // Any thread: what of a chain does not hold and was accepted by nobody; or "".
        std::function<std::string(const TenantId&)> open_break;
    };
    explicit KillSwitchService(Parts parts);

    // Raises the latches that the store and the KILL file remember. Before any effect may run.
    Result<void> open();

    using Reply = std::function<void(Result<Answer>)>;
    enum class Form { plain, py_tool };  // Shape of the answer.
    struct Caller {
        Principal principal;
        TenantId tenant_id;  // `_system` is the global switch.
        Form form = Form::plain;
        std::string request_hash;
    };
    // Any thread. For an activation the latch is up when this returns.
    void set(Caller caller, SetKillSwitch request, Reply reply);
    void status(Caller caller, Reply reply);

    // Why nothing of the tenant trades, its accounts aside. In a turn, or from any thread by what
    // was committed last.
    Result<std::optional<Blocked>> why_stopped(Turn& turn, const TenantId& tenant_id);
    std::optional<Blocked> why_stopped(const TenantId& tenant_id) const;
    // What a tenant's main account says for the status of the tenant. Set before the first turn.
    struct AccountWord {
        std::optional<Blocked> blocked;
        std::vector<std::string> warnings;  // What blocks nothing and people should know.
    };
    using AskAccount = std::function<Result<AccountWord>(Turn&, const TenantId&)>;
    void set_account_word(AskAccount ask) { ask_account_ = std::move(ask); }
    // Any thread: a commit failed, which is why the latch of all tenants is up.
    void note_store_failure(const std::string& why);
    // Turns the tenant's trading on or off; the caller records it.
    Result<void> set_trading(Turn& turn, const TenantId& tenant_id, bool enabled);

    // Any thread: the KILL file was seen. Latches at once; records it unless it is on already.
    void on_flag_raised();
    // Any thread: an internal rule stops a tenant, or everything for `_system`.
    void activate_by_rule(const TenantId& tenant_id, std::string rule, std::string reason);
    // The same for what was told before: adds no record when the switch is on already.
    void keep_stopped(const TenantId& tenant_id, std::string rule, std::string reason);

    // Any thread: stops everything without the engine, which gives no sign of life. Latch, KILL
    // file and cancels; the record follows when the engine comes back and sees the file.
    void stop_without_engine(const std::string& reason);

private:
    void cancel_unrecorded(const TenantId& tenant_id, const std::string& reason);
    struct Activation {
        Caller caller;
        SetKillSwitch request;
        bool only_if_off = false;  // Adds no record when the switch is on already.
    };
    // Told whether the activation is on durable record, whatever the answer says.
    using ActivationDone = std::function<void(Result<Answer>, bool recorded)>;
    void activate(Activation activation, Reply reply);
    void submit_activation(const Activation& activation, ActivationDone done);
    void end_activation(const Activation& activation, bool recorded);
    Result<TurnReply> run_activation(Turn& turn, const Activation& activation);
    Result<TurnReply> record_bare_latch(Turn& turn, const Caller& caller);
    Result<TurnReply> run_release_request(
        Turn& turn, const Caller& caller, const SetKillSwitch& request);
    Result<void> execute_release(Turn& turn, const Approval& approval);
    Result<void> release_ended(Turn& turn, const Approval& approval);
    Result<std::string> save(Turn& turn, const TenantId& tenant_id, KillStep step);
    Result<void> cite_in_tenants(Turn& turn, const std::string& event, const std::string& ref);
    Result<KillStatus> read_status(Turn& turn, const TenantId& tenant_id);
    Answer answer_of(const Caller& caller, const KillStatus& status, std::optional<Error> error);
    // Saves the state, and shows it once it is committed.
    void put_state(Turn& turn, const TenantId& tenant_id, const KillState& state);
    struct States {
        const KillState& own;
        const KillState& global;
        const std::string& store_failure;
    };
    std::optional<Blocked> why_stopped(const TenantId& tenant_id, const States& states) const;
    // What keeps the tenant from trading, as of now, once a release has enabled it.
    Result<std::optional<Blocked>> left_after_release(Turn& turn, const TenantId& tenant_id);
    std::string store_failure() const;

    Parts parts_;
    AskAccount ask_account_;
    mutable std::mutex shown_mutex_;       // One of ADR 0007's.
    std::map<TenantId, KillState> shown_;  // As committed.
    std::string store_failure_;            // Of the last commit that failed.
};

}  // namespace interlock
