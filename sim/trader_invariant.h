// The promises of the trader (docs/contracts/control-decision.md#rules), checked from outside: on
// every commit of the store, on every order that reaches the venue, on every answer to a control
// decision and on what runs after a restart. What is known of strategies and concerns is decoded
// from what was committed; nothing is asked of the services.
//
// The names they are reported by: "one_active", "switch", "control", "strategy", "running".
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/wire/audit_record.h"
#include "sim/command.h"
#include "sim/loop_invariant.h"
#include "sim/supervisors.h"
#include "sim/venue_model.h"
#include "sim/violation.h"
#include "trader/service/strategy_runtime.h"
#include "trader/wire/strategy_instance.h"

namespace interlock::sim {

class TraderInvariant {
public:
    // `loop` sees every commit first.
    TraderInvariant(VenueModel& venue, const LoopInvariant& loop, ViolationLog& log)
        : venue_(venue), loop_(loop), log_(log) {}

    // One committed turn, with its records decoded.
    void on_commit(const TurnCommit& turn, std::span<const AuditRecord> records);
    // An order on its way to the venue.
    void on_submit(const VenueOrderRequest& request);
    // The answer to a control decision. `is_calm`: no fault of the store was on in this life.
    void on_reply(const Command& command, const Result<Answer>& result, bool is_calm);
    // A server has just started: what runs, and whose claims the store holds.
    void on_start(const StrategyRuntime& running, LedgerStore& store);
    // Nothing is under way and no fault is on.
    void check_rest(const StrategyRuntime& running, LedgerStore& store);

    Supervisors::View look(const TenantId& tenant_id, const std::string& symbol) const;
    bool is_switching() const;

    struct Counts {
        std::uint64_t attempts = 0;     // Control decisions on record.
        std::uint64_t applied = 0;      // Of these, without dry runs.
        std::uint64_t hand_overs = 0;   // Switches that had to wait for cancels, done.
        std::uint64_t roll_backs = 0;   // Switches rolled back.
        std::uint64_t interrupted = 0;  // Switches that a restart found under way.
        std::uint64_t orders = 0;       // Written ahead by strategies.
    };
    const Counts& counts() const { return counts_; }

private:
    using OrderName = std::pair<VenueAccount, OrderClientId>;
    using DecisionName = std::pair<TenantId, std::string>;
    struct ConcernName {
        VenueAccount account;
        Symbol symbol;
        friend auto operator<=>(const ConcernName&, const ConcernName&) = default;
    };
    // One CONTROL_DECISION record, as far as it concerns the turn's changes.
    struct Word {
        std::string decision_id;
        std::string action;
        std::string concern_id;
        std::string target;
        std::string status;
        bool is_dry = false;
    };
    struct TurnWords {
        std::vector<Word> decisions;
        std::set<std::string> stopped;   // Strategies, by STRATEGY_STOPPED.
        std::set<std::string> applying;  // Decisions, by CONTROL_APPLYING.
        bool is_bots = false;            // A maker bot took markets or left them.
        const Word* applied(const std::string& concern_id, std::string_view action) const;
        bool has_outcome(const std::string& decision_id) const;
    };
    // What an answer must find on the record.
    struct Attempt {
        std::string status;
        std::string validation;
        std::string result;
        std::string applied_at;
    };

    TurnWords read_records(std::span<const AuditRecord> records);
    void on_decision(const AuditRecord& record, TurnWords& words);
    void on_instance(const StrategyInstance& next, const TurnWords& words);
    const StrategyInstance* on_standing(const StateWrite& state, const TurnWords& words);
    bool on_concern(const Concern& next, const TurnWords& words);
    void on_hand_over(const Concern& next);
    void on_order(const OrderRecord& order);
    void check_agreement(const ConcernName& name);
    void check_claims(LedgerStore& store);
    void check_running(const StrategyRuntime& running);
    // No order of a strategy that does not trade is left at the venue.
    void check_withdrawn();
    void check_answer(const Command& command, const Json& answer);
    void check_helper_answer(const Command& command, const Json& answer);
    const StrategyInstance* instance_of(const VenueAccount& account, const StrategyId& id) const;
    const Concern* concern_of(const VenueAccount& account, const Symbol& symbol) const;
    void broken(std::string_view invariant, const std::string& what) {
        log_.report(invariant, what);
    }

    VenueModel& venue_;
    const LoopInvariant& loop_;
    ViolationLog& log_;
    std::map<std::pair<VenueAccount, StrategyId>, StrategyInstance> instances_;
    std::map<ConcernName, Concern> concerns_;
    std::map<OrderName, OrderRecord> orders_;                                     // Of strategies.
    std::map<std::pair<TenantId, std::string>, std::vector<Attempt>> on_record_;  // By payload.
    std::map<DecisionName, std::set<std::string>> statuses_;
    std::map<DecisionName, std::uint64_t> applied_;
    std::map<DecisionName, std::string> first_answers_;  // Of applied decisions.
    std::map<ConcernName, DecisionId> inherited_;        // Switches an earlier life left behind.
    Counts counts_;
};

}  // namespace interlock::sim
