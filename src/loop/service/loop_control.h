// Control of the agent loop by people (docs/contracts/agent-loop.md#control-by-people).
//
// What makes an account safer happens at once; what makes it looser becomes an approval that is
// bound to the account, the values it was asked for and the values it starts from. A refusal by a
// rule is on the record like the change itself (control_call.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/service/kill_latch.h"
#include "host/service/approval_service.h"
#include "host/service/ledger_service.h"
#include "loop/service/control_call.h"
#include "loop/service/loop_service.h"
#include "loop/wire/control.h"

namespace interlock {

class LoopControl {
public:
    // Audit records looked at for one page of alerts; the page then says where to go on.
    static constexpr std::int64_t kAlertScanMax = 2000;
    static constexpr std::int64_t kAlertPageMax = 100;

    struct Parts {
        LoopService& loop;
        SubmitTurn submit;
        ApprovalService& approvals;
        KillSwitchService& kill;
        LedgerService& ledger;
        KillLatch& latch;
        const MarketFeed& feed;
        LoopConfig config;
    };
    explicit LoopControl(Parts parts);

    using Caller = LoopService::Caller;
    using Reply = LoopService::Reply;

    // One control call as one turn; `function` is the operation's id.
    template <class Request>
    void call(Caller caller, std::string function, Request request, Reply reply) {
        ControlFunction named{std::move(function), request.call.idempotency_key};
        parts_.submit(control_turn(
            std::move(caller),
            std::move(named),
            [this, request = std::move(request)](Turn& turn) { return run(turn, request); },
            std::move(reply)));
    }

    void get_limits(Caller caller, AccountId account_id, Reply reply);
    void list_accounts(Caller caller, Reply reply);

    struct AlertPage {
        std::int64_t before = 0;  // Only records older than this; 0: from the newest on.
        std::int64_t limit = 0;
        std::function<void(std::int64_t)> on_records_read = {};  // At once; may be empty.
    };
    // Any thread: reads the ledger there, the suppressions in a turn.
    void list_alerts(Caller caller, AlertPage page, Reply reply);

private:
    Result<TurnReply> run(Turn& turn, const OpenAccountRequest& request);
    Result<TurnReply> run(Turn& turn, const ChangeLimitsRequest& request);
    Result<TurnReply> run(Turn& turn, const SetModeRequest& request);
    Result<TurnReply> run(Turn& turn, const SetTradingRequest& request);
    Result<TurnReply> run(Turn& turn, const PutStrategyRequest& request);
    Result<TurnReply> run(Turn& turn, const EnableStrategyRequest& request);
    Result<TurnReply> run(Turn& turn, const ChangeUniverseRequest& request);
    Result<TurnReply> run(Turn& turn, const TransferTreasuryRequest& request);
    Result<TurnReply> run(Turn& turn, const BookCostRequest& request);
    Result<TurnReply> run(Turn& turn, const ResumeRecoveryRequest& request);
    Result<TurnReply> run(Turn& turn, const ResetDrawdownRequest& request);
    Result<TurnReply> run(Turn& turn, const ConfirmFlowRequest& request);
    Result<TurnReply> run(Turn& turn, const SuppressAlertRequest& request);

    // loop_control_approvals.cc: what an approval carries out, exactly as it was hashed.
    void register_kinds();
    Result<void> execute_limits(Turn& turn, const Approval& approval);
    Result<void> execute_reset(Turn& turn, const Json& payload);
    Result<void> execute_mode(Turn& turn, const Approval& approval);
    Result<void> execute_transfer(Turn& turn, const Approval& approval);
    Result<void> execute_universe(Turn& turn, const Approval& approval);
    Result<void> execute_suppression(Turn& turn, const Approval& approval);

    struct Opened {
        Account account;
        AccountBooks books;
    };
    Result<Opened> open(Turn& turn, const AccountId& account_id);
    Result<Opened> load(Turn& turn, const Json& payload);

    // One record of what a person or an approval changed.
    struct Change {
        std::string event;
        const Account* account = nullptr;
        std::string reason = {};
        Json detail = Json::object();
    };
    Result<std::string> audit(Turn& turn, Change change);
    // Files the approval and answers 202 with its id.
    Result<TurnReply> ask(Turn& turn, ApprovalService::Draft draft, Json answer);
    Result<void> save_mode(Turn& turn, TradeMode from, TradeMode to);
    MarketSet market_of(const Opened& opened) const;

    Parts parts_;
};

}  // namespace interlock
