// The maker bot of a tenant (docs/contracts/bot.md#2-states): its life, its pulses, its
// configuration and its keys. A bot of n symbols is n instances of the strategy inventory_rails,
// which plan like any other strategy and whose plans go through the agent loop and nowhere else
// (I3).
//
//     a call ──► is it allowed now? ──► hydrate: ask the venue for everything ──► one commit
//     every 10 s ──► ask the venue ──► one turn: reconcile, look, act
//
// What a hydration read is judged and taken over in one commit: a crash before it leaves the state
// as it was. A bot that was running runs again after a restart, once it has been hydrated anew.
//
// All functions may be called from any thread; replies come once, from the engine or the caller.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bots/rules/bot_record.h"
#include "bots/service/bot_board.h"
#include "bots/service/pnl_job.h"
#include "bots/service/venue_weight.h"
#include "host/service/approval_service.h"
#include "host/service/principal_turn.h"
#include "host/service/vault_service.h"
#include "host/wire/exchange_keys.h"
#include "loop/service/loop_service.h"
#include "trader/service/control_service.h"
#include "trader/service/strategy_ticker.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind bot_busy{
    "bot_busy", 409, true, "A lifecycle call is under way; read /status, then call again."};
inline constexpr ErrorKind hydration_failed{
    "hydration_failed",
    503,
    true,
    "The exchange did not give all that is needed; call /initialize_bot again."};
inline constexpr ErrorKind config_moved{
    "config_moved",
    409,
    false,
    "The configuration changed since this was proposed; reject it and propose anew."};
inline constexpr ErrorKind nothing_to_change{
    "nothing_to_change", 422, false, "Read /config; what was asked for is in effect already."};
inline constexpr ErrorKind market_taken{
    "market_taken",
    409,
    false,
    "Another strategy is active on this market; stop it or take the symbol out of the bot."};
inline constexpr ErrorKind wrong_trade_mode{
    "wrong_trade_mode", 409, false, "Bring the tenant into paper mode first."};
}  // namespace errors

// The one account a tenant's bot trades on.
VenueAccount bot_account_of(const TenantId& tenant_id);

// What accounts, plans and grants have to say; each may be empty: then nothing is refused.
struct BotRules {
    // Any thread, without a turn: the account's plan is in force.
    std::function<bool(const TenantId&)> is_active;
    // The account may run a bot with this configuration now: its plan is in force and allows it.
    std::function<Result<void>(Turn&, const BotConfig&)> may_run;
    // The caller may set a bot with these markets trading: all are on their list.
    std::function<Result<void>(Turn&, const BotConfig&)> may_trade;
    // The caller may ask for this configuration: the same, and its assets are on their list.
    std::function<Result<void>(Turn&, const BotConfig&)> may_have;
    // An agent may put keys of this exchange: asked before the exchange is.
    std::function<Result<void>(Turn&, const std::string& exchange)> check_grant;
    // The same in the turn that keeps the keys; uses the owner's grant up.
    std::function<Result<void>(Turn&, const std::string& exchange)> take_grant;
};

class BotService : public StrategyKeeper {
public:
    static constexpr std::size_t kPulsesPerRoundMax = 256;
    // What the paper venue bears: 3,000 bots of three symbols.
    static constexpr std::int64_t kVenueWeightDefault = 1'200'000;
    // Facts of a pulse that are older than this are not acted on.
    static constexpr Duration kFactsLife = Duration::of_seconds(5);
    static constexpr std::size_t kFetchAgainMax = 3;
    static constexpr Duration kKeyCheckEvery = Duration::of_days(1);
    static constexpr std::int64_t kLogLinesMax = 2000;

    // Blocking; never on the engine thread.
    using Fetch = std::function<Result<VenueReport>(const VenueAccount&, std::int64_t cursor)>;
    // Puts a job where it may block; false: no room.
    using RunJob = std::function<bool(std::function<void()>)>;
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        LoopService& loop;
        StrategyRuntime& runtime;
        StrategyTicker& ticker;
        ControlService& control;
        KillSwitchService& kill;
        KillLatch& latch;
        ApprovalService& approvals;
        VaultService& vault;
        LedgerStore& store;
        const MarketFeed& feed;
        Clock& clock;
        Fetch fetch;
        RunJob run;
        PnlJobs& pnl;
        BotConfig defaults;  // Of a tenant whose owner has not chosen yet.
        std::int64_t weight_per_minute = kVenueWeightDefault;
    };
    explicit BotService(Parts parts);

    void set_rules(BotRules rules) { rules_ = std::move(rules); }
    // Before the engine starts: what is stored becomes visible; what ran is due.
    Result<void> open();

    using Caller = LoopService::Caller;
    using Reply = LoopService::Reply;

    // lifecycle
    struct Call {
        BotCall call = BotCall::initialize;
        std::optional<bool> cancel_orders = std::nullopt;  // Of a stop; nothing: the policy.
    };
    void call(Caller caller, Call call, Reply reply);

    // configuration_proposals. An agent's is a proposal (202), a person's applies at once.
    struct Change {
        std::string operation;  // "update_pnl"
        BotUpdate update;
        // Of the request itself: it is refused, with these and whatever else is found.
        std::vector<FieldProblem> problems = {};
    };
    void change(Caller caller, Change change, Reply reply);
    void reload(Caller caller, Reply reply);
    // The owner's policy for what a stop leaves behind.
    void set_stop_policy(Caller caller, bool cancel_on_stop, Reply reply);

    // exchange_connectivity
    void put_keys(Caller caller, ExchangeKeys keys, Reply reply);
    Result<void> check_exchange(const std::string& exchange) const {
        return parts_.vault.check_exchange(exchange);
    }
    void connect(Caller caller, Reply reply);
    void disconnect(Caller caller, Reply reply);

    // pnl_analytics
    void run_pnl(Caller caller, std::int64_t lookback_days, Reply reply);
    void stop_pnl(Caller caller, Reply reply);
    const PnlJobs& pnl() const { return parts_.pnl; }

    // What keeps a bot from trading besides its own state. Any thread.
    std::optional<Blocked> why_blocked(const TenantId& tenant_id, const BotView& view) const;
    std::optional<Blocked> why_held_up(const StrategyInstance& instance) const override;
    Result<bool> is_ticking(Turn& turn, const VenueAccount& account) const override;

    // Reads from the board; any thread, at once.
    Json status(const TenantId& tenant_id) const;
    Json balances(const TenantId& tenant_id) const;
    // The answer's text; made anew when its version has moved.
    std::string config(const TenantId& tenant_id);
    // The answer's text; made anew when the ledger has grown.
    struct Logs {
        std::string text;
        std::int64_t records_read = 0;  // None for a text that was kept.
    };
    Result<Logs> logs(const TenantId& tenant_id, std::int64_t lines);
    // From the board while the books have not moved, else by a turn.
    void positions(Caller caller, Reply reply);
    void exchange_status(Caller caller, Reply reply);

    // Inside a turn: the owner's default configuration of a tenant that has none yet.
    Result<void> adopt(Turn& turn, const TenantId& tenant_id, const BotConfig& config);
    // Inside a turn of the tenant: ends the pulses because it may not run a bot any more.
    Result<void> halt_by_rule(Turn& turn, const std::string& reason);
    // After its key was replaced: as a person would restart it.
    void restart_by_rule(const TenantId& tenant_id, const std::string& reason);

    // The pulses that are due: asks the venue on this thread and gives the turns that judge what it
    // said. The watch calls it, and the simulator.
    std::vector<TurnRequest> pulse();
    // Any thread: an order or a cancel is about to leave for the venue.
    void charge(const OutboxItem& effect);
    BotBoard& board() { return board_; }
    const BotBoard& board() const { return board_; }

private:
    static constexpr std::string_view kMakerType = "inventory_rails";
    static constexpr std::string_view kKeyCheckTimer = "bot_key_check";

    // One hydration from its call to its commit.
    struct Hydration {
        Caller caller;
        Reply reply;
        std::string function = {};  // The call's; empty: no call began it.
        BotWork work = BotWork::build;
        bool is_resumption = false;  // Ends a stall; the state stays running.
        BotState from = BotState::uninitialized;
        bool was_connected = true;
        std::int64_t config_version = 0;
        BotConfig config;
        std::string exchange;
        VenueAccount account;
        std::size_t fetches = 0;
        Json candles = Json::object();  // How many of each symbol.
    };
    using HydrationPtr = std::shared_ptr<Hydration>;
    // What the venue said, and when.
    struct Fetched {
        LoopService::Watched asked_at;
        VenueReport report;
        Timestamp began_at;
        Timestamp ended_at;
        Duration began;  // Monotonic: by which its age is judged.
    };
    // What comes before the venue is asked: an answer, or work.
    struct Prepared {
        std::optional<Answer> answer;
        HydrationPtr hydration;
    };

    TurnRequest turn_of(Caller caller, std::string function) const;
    // The same, answered from the store when its caller repeats a key.
    TurnRequest keyed_turn_of(Caller caller, std::string function) const;
    TurnRequest rule_turn(const TenantId& tenant_id, std::string function) const;
    Result<BotRecord> load(Turn& turn) const;
    void save(Turn& turn, BotRecord record);
    // After a commit: what everybody sees of it.
    void show(const TenantId& tenant_id, const BotRecord& record);
    std::vector<std::string> warnings_of(const BotConfig& config) const;
    struct Note {
        std::string event;
        std::string reason = {};
        Json detail = Json::object();
        AuditSeverity severity = AuditSeverity::info;
    };
    Result<std::string> note(Turn& turn, const BotRecord& record, Note note);
    // Whoever was told of the beginning is told of the end.
    static AuditSeverity severity_of_end(bool was_told) {
        return was_told ? AuditSeverity::critical : AuditSeverity::info;
    }
    // One change of state: saved, on the record.
    Result<std::string> move_to(Turn& turn, BotRecord record, BotState state, Note note);
    static Answer state_answer(const BotRecord& record, std::string message, Json more);

    // bot_calls.cc
    Result<Prepared> prepare(Turn& turn, const Caller& caller, const Call& call);
    Result<Answer> halt(
        Turn& turn, BotRecord record, bool cancel_orders, const std::string& reason);
    Result<HydrationPtr> begin(Turn& turn, const BotRecord& record, const std::string& exchange);

    // bot_hydration.cc
    void hydrate(const HydrationPtr& job);
    void fetch_all(const HydrationPtr& job);
    Result<Fetched> fetch_account(const VenueAccount& account);
    Result<void> check_markets(const Hydration& job);
    void take_over(const HydrationPtr& job, Fetched fetched);
    struct Taken {
        bool is_fresh = false;  // False: the account moved meanwhile; fetch again.
        Answer answer = {};
    };
    Result<Taken> run_take_over(Turn& turn, const Hydration& job, const Fetched& fetched);
    Json candles_of(const BotConfig& config) const;
    void give_up(const HydrationPtr& job, Error error);
    void end(const HydrationPtr& job, Result<Answer> answer);

    // bot_markets.cc
    // Makes the instances of the bot what `record` says; `record.markets` follows.
    Result<void> hold_markets(Turn& turn, BotRecord& record);
    Result<void> hold_market(Turn& turn, const BotRecord& record, const Symbol& symbol);
    Result<void> leave_market(Turn& turn, const Symbol& symbol);
    Result<StrategyInstance> instance_of(Turn& turn, const Symbol& symbol);
    Result<Json> open_orders_of(Turn& turn) const;

    // bot_pulse.cc
    TurnRequest pulse_turn(BotBoard::Due due, Result<Fetched> fetched);
    Result<BotBoard::Done> run_pulse(
        Turn& turn, const BotBoard::Due& due, const Result<Fetched>& fetched);
    Result<BotBoard::Done> run_stalled(
        Turn& turn, BotRecord record, const StallStep& step, const std::string& why);
    // Its times are left to the caller.
    Result<BotBoard::Done> look(
        Turn& turn, const BotRecord& record, const Fetched& fetched, Duration due_at);
    BotBoard::Done markets_seen(
        const VenueAccount& account,
        const BotRecord& record,
        const StrategyTicker::Round& round,
        Json& books) const;
    TurnRequest guarded(TurnRequest act, Duration not_after) const;
    void resume(const TenantId& tenant_id);

    // bot_changes.cc
    Result<TurnReply> run_change(Turn& turn, const Change& change);
    Result<TurnReply> propose(
        Turn& turn, const BotRecord& record, const BotConfig& next, const std::string& operation);
    Result<void> carry_out(Turn& turn, const Approval& approval);
    // Puts `next` into effect; a running or stopped bot's instances follow at once.
    Result<std::string> put_config(Turn& turn, BotRecord record, BotConfig next, Note note);
    Result<void> check_config(Turn& turn, const BotRecord& record, const UpdatedConfig& next);
    // Adds the amounts that are worth more than the account is.
    Result<void> add_too_large(
        Turn& turn,
        const BotRecord& record,
        const BotConfig& config,
        std::vector<FieldProblem>& problems);
    // The caller's key may trade all of these markets; keys without an asset list may.
    Result<void> check_markets_allowed(Turn& turn, const BotConfig& config) const {
        return rules_.may_trade ? rules_.may_trade(turn, config) : Result<void>();
    }

    // bot_keys.cc
    void begin_key_checks(const Caller& caller, Answer answer, Reply reply);
    static void set_key_check(Turn& turn);
    Result<void> on_key_check(Turn& turn, const TimerItem& timer);
    void lose_keys(const TenantId& tenant_id, const Error& error);
    static Result<std::optional<std::string>> exchange_of(Turn& turn);

    Parts parts_;
    BotRules rules_;
    BotBoard board_;
    VenueWeight weight_;
};

}  // namespace interlock
