// The agent loop (docs/contracts/agent-loop.md): PLAN → VALIDATE → DRY-RUN → EXECUTE → VERIFY →
// RECORD, one turn a step, each transition on the record. Outside planners drive it through the
// tools, built-in planners through ticks; both leave the same trail and neither has another way to
// a venue (I3).
//
// What a step needs of the venue is asked for as an effect, after the commit; the answer comes back
// as a turn of its own (loop_outcomes.cc, loop_reports.cc).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "account/ports/venue.h"
#include "account/rules/facts.h"
#include "account/rules/reconcile.h"
#include "account/rules/verification.h"
#include "engine/service/kill_latch.h"
#include "engine/service/outbox_runner.h"
#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"
#include "host/service/kill_switch_service.h"
#include "loop/rules/dry_run/hints.h"
#include "loop/rules/gates/gates.h"
#include "loop/service/loop_store.h"
#include "loop/wire/loop_tools.h"

namespace interlock {

// Effects of the loop. Orders are sent at most once; cancels and questions
// (engine/service/outbox_runner) are harmless twice.
inline constexpr std::string_view kOrderEffect = "order";

// Decision ids that are ours to give: a planner from outside that took one would have its decision
// overwritten, and the outcome of its orders would find no row.
inline constexpr std::string_view kBuiltinDecisionPrefix = "auto.";
inline constexpr std::string_view kSystemDecisionPrefix = "sys_";

struct LoopConfig {
    Asset quote;
    Decimal paper_deposit;         // What a paper account opens with.
    std::vector<Symbol> universe;  // Approved markets of a new account.
    std::vector<LimitChange> limits;
    Decimal transfer_threshold;   // Treasury transfers from here on need an approval.
    bool live_available = false;  // A live venue is configured.
    bool shadow_available = false;
};

class LoopService {
public:
    // Effects of all tenants under way at once; one more is refused as overload.
    static constexpr std::int64_t kEffectsInFlightMax = 4096;
    // Answers of read tools are kept this long.
    static constexpr Duration kReadAnswerLife = Duration::of_minutes(10);
    // Version of the policy that gates, dry run and planners follow; part of every replay.
    static constexpr std::string_view kPolicyVersion = "loop.v2";

    using OnAccount = std::function<void(const Account&)>;
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        KillLatch& latch;
        KillSwitchService& kill;
        const MarketFeed& feed;
        LoopConfig config;
        OnAccount on_account = nullptr;
    };
    explicit LoopService(Parts parts);

    // What the venue made of one order, for whoever judges its execution.
    struct OrderNews {
        const OrderRecord& order;
        EffectFate fate = EffectFate::done;
    };
    // The mode of the concern that one market is.
    struct MarketMode {
        Symbol symbol;
        RiskMode mode = RiskMode::normal;
    };
    // What control adds to the loop. Set before the first turn.
    struct Overlay {
        // The modes of the account's concerns, each for its own market alone.
        std::function<Result<std::vector<MarketMode>>(Turn&, const VenueAccount&)> market_modes;
        // What people should know of the account although it blocks nothing.
        std::function<Result<std::vector<std::string>>(Turn&, const VenueAccount&)> warnings;
        // The account's strategies that are active by the word of their concerns; gate 5 asks.
        std::function<Result<std::vector<StrategyId>>(Turn&, const VenueAccount&)>
            active_strategies;
        // The type of a strategy that is or was an instance of ours, which no outside planner may
        // pose as; empty: it never was one.
        std::function<Result<std::string>(Turn&, const VenueAccount&, const StrategyId&)>
            instance_type;
        // Orders of the account have just changed, in this turn.
        std::function<Result<void>(Turn&, const VenueAccount&)> on_orders;
        std::function<void(Turn&, const OrderNews&)> on_order_news;
    };
    void set_overlay(Overlay overlay) { overlay_ = std::move(overlay); }
    // `asset_not_allowed` names the markets that the turn's caller may not name. Set before the
    // first turn; without it every caller may name every market.
    using AssetRule = std::function<Result<void>(Turn&, std::span<const Symbol>)>;
    void set_asset_rule(AssetRule rule) { asset_rule_ = std::move(rule); }
    Result<void> check_assets(Turn& turn, std::span<const Symbol> symbols) {
        return asset_rule_ ? asset_rule_(turn, symbols) : Result<void>();
    }

    // After a restart: every account begins in safe recovery.
    Result<void> open();

    struct Caller {
        Principal principal;
        TenantId tenant_id;
        std::string request_hash;
        // Of a call whose request does not carry it; such a call may do without.
        std::optional<IdempotencyKey> key = std::nullopt;
    };
    using Reply = std::function<void(Result<Answer>)>;

    // The planner's tools as turns; the face submits them, benchmarks and the simulator run them
    // directly.
    TurnRequest state_turn(Caller caller, CanonicalStateRequest request, Reply reply);
    TurnRequest snapshot_turn(Caller caller, MarketSnapshotRequest request, Reply reply);
    TurnRequest validate_turn(Caller caller, ValidatePlanRequest request, Reply reply);
    TurnRequest dry_run_turn(Caller caller, DryRunPlanRequest request, Reply reply);
    TurnRequest execute_turn(Caller caller, ExecutePlanRequest request, Reply reply);
    TurnRequest verify_turn(Caller caller, VerifyExecutionRequest request, Reply reply);
    TurnRequest record_turn(Caller caller, RecordDecisionRequest request, Reply reply);
    // A call that could not be decoded: on the record as ERROR_EVENT, answered in the tools' shape.
    TurnRequest refusal_turn(Caller caller, const Json& body, Error error, Reply reply);

    void submit(TurnRequest turn) { parts_.submit(std::move(turn)); }

    // Accounts as committed, for the watch and the sink; any thread.
    struct Watched {
        VenueAccount account;
        std::int64_t fills_cursor = 0;
        std::int64_t version = 0;
        std::optional<Blocked> blocked = std::nullopt;  // By the account itself.
    };
    std::vector<Watched> watched() const;
    // One of them; nothing while the account is not open.
    std::optional<Watched> watched(const VenueAccount& account) const;

    // What a venue said of an account without being asked by a turn (the watch). A report that was
    // asked for before the account last changed is too old to be compared and is dropped. Nothing
    // is committed when it brings no news.
    TurnRequest report_turn(const Watched& asked_at, VenueReport report);
    // The same inside a turn. False: it was too old, nothing was taken from it.
    Result<bool> take_report(Turn& turn, const Watched& asked_at, const VenueReport& report);
    // Heartbeat of an account: day change, peak, risk tiers.
    TurnRequest beat_turn(const VenueAccount& account);

    // Reads of an account and a decision, for people and the command line.
    TurnRequest account_turn(Caller caller, AccountId account_id, Reply reply);
    TurnRequest decision_turn(Caller caller, DecisionId decision_id, Reply reply);

    // The pieces of a step, for the built-in planners' ticks and for control operations.

    // Facts of one step, as gates see them, and where they are kept.
    struct Gathered {
        AccountView view;
        VenueAccount key;
        StateFacts state;
        MarketSet market;
        StepInputs inputs;
        std::optional<Blocked> blocked = std::nullopt;  // Why the account does not trade.
    };
    // By its people and, after a kill switch, again by its people.
    Result<bool> is_trading_enabled(Turn& turn, const Account& account);
    // Why the account does not trade; nothing: it does.
    Result<std::optional<Blocked>> why_blocked(Turn& turn, const VenueAccount& account);
    // What does not block it and makes its orders smaller.
    Result<std::vector<std::string>> warnings_of(Turn& turn, const VenueAccount& account);
    // The switches' part of it.
    Result<std::optional<Blocked>> why_stopped(Turn& turn, const TenantId& tenant_id);
    // What of it lies in the account itself, as committed last; any thread.
    std::optional<Blocked> why_account_blocked(const VenueAccount& account) const;
    // What the overlay says; nothing without one.
    Result<std::vector<StrategyId>> active_strategies(Turn& turn, const VenueAccount& account);
    Result<std::string> instance_type(
        Turn& turn, const VenueAccount& account, const StrategyId& id);
    Result<VenueAccount> account_of(Turn& turn, const AccountId& account_id);
    // Opens the main account of a mode that is not live when it does not exist yet, and likewise
    // one that a human gave a name; all are funded alike.
    Result<AccountView> open_or_load(Turn& turn, const VenueAccount& account);
    Result<Gathered> gather(Turn& turn, const VenueAccount& account, const Plan& plan);
    // The same for looking only: without the depth of the books, which the dry run alone needs.
    Result<Gathered> gather_for(
        Turn& turn, const VenueAccount& account, const std::vector<Symbol>& symbols);
    // Writes the facts as artifacts of the turn and names them in `inputs`.
    Result<void> keep_inputs(Turn& turn, Gathered& facts);
    // The hashes under which keep_inputs would keep them.
    Result<Json> seen(const Gathered& facts);
    // Saves the account and, after the commit, tells the watch what it stands at.
    void put_account(Turn& turn, Account account);

    // The steps. Each audits, changes `decision` and leaves saving it to the caller.
    struct NewDecision {
        DecisionId decision_id;
        TickId tick_id;
        VenueAccount account;
        std::string planner;
        bool from_outside = true;
    };
    Result<Decision> begin_decision(
        Turn& turn, const NewDecision& wanted, const std::shared_ptr<const Decision>& before);
    Result<GateReport> validate_step(Turn& turn, Decision& decision, const Gathered& facts);
    // The VALIDATION_RESULT that validate_step would leave for a plan of ours, changing nothing;
    // with what was seen in its detail. `verdict_facts` are the members that differ from tick to
    // tick.
    struct Proposed {
        DecisionId decision_id;
        TickId tick_id;
        const Plan& plan;
    };
    Result<AuditDraft> foresee(Turn& turn, const Proposed& proposed, const Gathered& facts);
    static std::vector<std::string> verdict_facts();
    struct Rehearsal {
        bool pass = false;
        std::optional<Plan> adjusted;
        std::vector<Hint> hints;  // For outside planners.
    };
    Result<Rehearsal> dry_run_step(Turn& turn, Decision& decision, const Gathered& facts);
    // Writes the orders ahead and asks for the effects. An Error says why nothing was sent.
    Result<void> execute_step(Turn& turn, Decision& decision, const Gathered& facts);
    Result<void> record_step(Turn& turn, Decision& decision, AuditStatus status);
    // Audits one transition of the decision.
    struct StepRecord {
        std::string event;
        AuditStep step = AuditStep::control;
        AuditStatus status = AuditStatus::passed;
        std::string reason = {};
        Json detail = Json::object();
        std::vector<std::string> artifacts = {};
        AuditSeverity severity = AuditSeverity::info;
        bool by_planner = false;  // Else the executor speaks.
    };
    Result<void> audit_step(Turn& turn, Decision& decision, StepRecord record);

    // Asks the venue to cancel those open orders of the account, but for ones whose fate is not
    // known and ones on their way out already. Gives how many it asked for.
    using WhichOrders = std::function<bool(const OrderRecord&)>;
    struct CancelWish {
        VenueAccount account;
        std::string decision_id;  // Whose record the outcomes belong to; "sys_…" for none.
        WhichOrders which;
        bool again = false;  // Also those asked for before: a cancel is harmless twice.
    };
    Result<std::size_t> cancel_orders(Turn& turn, const CancelWish& wish);

    Result<void> enter_recovery_of(
        Turn& turn, const VenueAccount& account, std::vector<std::string> reasons);
    // Takes over a step of safe recovery with all that it asks for.
    Result<void> recover(Turn& turn, const VenueAccount& account, RecoveryStep step);

private:
    // With the depth of these books and of no other.
    Result<Gathered> gather_deep(
        Turn& turn,
        const VenueAccount& account,
        const std::vector<Symbol>& symbols,
        const std::vector<Symbol>& deep);
    Result<void> add_market_modes(Turn& turn, Gathered& facts);
    Result<RiskMode> kill_aftermath(Turn& turn, const TenantId& tenant_id);
    std::string config_ref(Turn& turn);
    // Of the decision's plan on these facts, which must outlive it.
    static GateInput gate_input(const Decision& decision, const Gathered& facts);

    TurnRequest tool_turn(Caller caller, std::string function, const ToolCall& call, Reply reply);
    // A rule of the loop said no: the tool's own answer, on the record.
    Result<TurnReply> refuse(Turn& turn, const ToolCall& call, const Error& error, AuditStep step);

    // The same for what a plan opens. What is held may be sold by whoever may trade, and cancels
    // name no market: a list bounds what a key gets into, not the way out.
    Result<void> check_opened(Turn& turn, const Plan& plan, const Gathered& facts);

    Result<TurnReply> run_state(Turn& turn, const CanonicalStateRequest& request);
    Result<TurnReply> run_snapshot(Turn& turn, const MarketSnapshotRequest& request);
    Result<TurnReply> run_validate(Turn& turn, const ValidatePlanRequest& request);
    Result<TurnReply> run_dry_run(Turn& turn, const DryRunPlanRequest& request);
    Result<TurnReply> run_execute(Turn& turn, const ExecutePlanRequest& request);
    Result<TurnReply> run_verify(Turn& turn, const VerifyExecutionRequest& request);
    Result<TurnReply> run_record(Turn& turn, const RecordDecisionRequest& request);

    // loop_execute.cc
    struct Reserved {
        Account account;
        AccountBooks books;
    };
    Result<std::vector<OrderRecord>> reserve_orders(
        Turn& turn, const Decision& decision, const Gathered& facts, Reserved& reserved);
    Result<void> reject_execution(
        Turn& turn, Decision& decision, const Gathered& facts, const Error& error);
    // The throttle counts for a strategy of ours from its first aggressive order on.
    Result<void> enter_strategy(Turn& turn, Account& account, const StrategyId& id);
    Result<void> note_execution(
        Turn& turn, Decision& decision, const Gathered& facts, Account& account);
    Result<void> write_cancel(
        Turn& turn, Decision& decision, AccountBooks& books, const OrderClientId& id);

    // loop_outcomes.cc
    Result<void> on_order(Turn& turn, const EffectOutcome& outcome);
    Result<void> on_cancel(Turn& turn, const EffectOutcome& outcome);
    Result<void> on_cancel_all(Turn& turn, const EffectOutcome& outcome);
    Result<void> book_fills(
        Turn& turn, Reserved& next, OrderRecord& order, const std::vector<VenueFill>& fills);
    Result<void> record_fill(Turn& turn, const OrderRecord& order, const BookedTrade& trade);
    Result<void> note_submit(Turn& turn, const OrderRecord& order, const EffectOutcome& outcome);
    // Every row has an outcome: answers the caller and asks the venue to confirm.
    Result<void> answer_execution(Turn& turn, Decision& decision);
    static Json execution_answer(const Decision& decision);

    // loop_reports.cc
    enum class AskCause { verify, recovery, tool };
    struct Ask {
        AskCause cause = AskCause::verify;
        std::vector<OrderClientId> ids = {};  // Besides those of unverified decisions.
        Json operation = {};                  // The call that waits for the answer.
    };
    Result<void> ask_venue(Turn& turn, const VenueAccount& account, Ask ask);
    Result<void> on_report(Turn& turn, const EffectOutcome& outcome);
    Result<Reconciliation> apply_report(
        Turn& turn,
        const VenueAccount& account,
        VenueReport report,
        const std::vector<OrderAnswer>& answers);
    Result<void> verify_decisions(
        Turn& turn,
        const VenueAccount& account,
        const Reconciliation& result,
        const std::vector<OrderAnswer>& answers);
    Result<void> verify_decision(
        Turn& turn, Decision& decision, const VerifyInput& input, AccountBooks& books);
    Result<std::vector<OrderRecord>> records_of(
        Turn& turn, const VenueAccount& account, const std::vector<OrderClientId>& ids);

    // loop_read.cc
    Result<Json> read_state(Turn& turn, const VenueAccount& account);
    Result<Json> read_strategies(Turn& turn, const Account& account);
    struct VenueWord {
        Json request;  // What the waiting call asked for.
        std::vector<OrderAnswer> answers;
        std::vector<Finding> drift;
    };
    Result<void> answer_verification(
        Turn& turn, const VenueAccount& account, const VenueWord& word);

    // loop_recovery.cc
    Result<void> on_recovery_timer(Turn& turn, const TimerItem& timer);
    Result<void> run_beat(Turn& turn, const VenueAccount& account);

    Result<void> tell_orders_changed(Turn& turn, const VenueAccount& account) {
        return overlay_.on_orders ? overlay_.on_orders(turn, account) : Result<void>();
    }

    Parts parts_;
    Overlay overlay_;
    AssetRule asset_rule_;
    std::string config_text_;  // Canonical; the `config` artifact of every replay.
    struct Shared;             // What other threads read.
    std::shared_ptr<Shared> shared_;
};

// The machine-readable part of a venue answer that an effect brings back.
Json encode_report_answer(const VenueReport& report, const std::vector<OrderAnswer>& answers);
struct ReportAnswer {
    VenueReport report;
    std::vector<OrderAnswer> answers;
};
Result<ReportAnswer> decode_report_answer(const Json& json);

}  // namespace interlock
