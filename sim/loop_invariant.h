// The promises of the agent loop (ARCHITECTURE.md#the-promises), checked from outside: on every
// commit of the store, on every order that reaches the venue, and on the books at the quiet end.
//
// Rule n of docs/contracts/agent-loop.md#what-no-agent-can-do is reported as "Nn". What these
// checkers know of an account they decode from what was committed; the reckoning of limits is their
// own.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/wire/audit_record.h"
#include "loop/service/loop_store.h"
#include "sim/durable_view.h"
#include "sim/limit_oracle.h"
#include "sim/venue_model.h"
#include "sim/violation.h"

namespace interlock::sim {

// A sum that overflowed counts as beyond every limit.
inline Decimal or_huge(const Result<Decimal>& value) {
    constexpr std::int64_t kHuge = 100'000'000'000'000'000;
    return value ? *value : Decimal(kHuge);
}

class LoopInvariant {
public:
    LoopInvariant(VenueModel& venue, ViolationLog& log) : venue_(venue), log_(log), limits_(log) {}

    // One committed turn, with its records decoded.
    void on_commit(const TurnCommit& turn, std::span<const AuditRecord> records);
    // An order on its way to the venue, and what the durable ledger says of it.
    void on_submit(const VenueOrderRequest& request, const OrderEvidence* evidence);
    // Nothing is under way and no fault is on: books and venue must say the same.
    void check_books();

    struct Counts {
        std::uint64_t orders = 0;
        std::uint64_t fills = 0;
        std::uint64_t unknown = 0;  // Orders whose outcome was open for a while.
        std::uint64_t replays = 0;
    };
    const Counts& counts() const { return counts_; }
    std::vector<VenueAccount> accounts() const;
    bool is_recovering(const VenueAccount& account) const;
    // For checkers that come after this one: what the latest commit brought, decoded.
    const std::vector<OrderRecord>& latest_orders() const { return latest_orders_; }
    const std::set<VenueAccount>& latest_accounts() const { return latest_accounts_; }
    const Account* find_account(const VenueAccount& account) const;
    // What the latest validation of the tenant's planner was judged on; null before the first.
    std::shared_ptr<const SeenFacts> seen_by(const TenantId& tenant_id) const;
    const LimitOracle& limits() const { return limits_; }

private:
    struct Held {
        std::shared_ptr<const Account> account;
        std::shared_ptr<const AccountBooks> books;
        std::set<OrderClientId> unsettled;
        std::set<std::pair<Symbol, std::int64_t>> trades;  // Booked.
    };
    using OrderName = std::pair<VenueAccount, OrderClientId>;

    // What a turn changed, and what its accounts were before.
    struct Before {
        std::shared_ptr<const Account> account;
        std::shared_ptr<const AccountBooks> books;
    };
    struct Changes {
        std::map<DecisionId, Decision> decisions;
        std::map<VenueAccount, Before> before;
        std::set<OrderName> written_ahead;  // Orders that did not exist before.
        // A built-in planner's decision may be judged several times in its turn, each time on a
        // smaller plan; only the last one is in its row.
        struct Rounds {
            std::int64_t total = 0;
            std::int64_t left = 0;
        };
        std::map<DecisionId, Rounds> rounds;
    };
    void check_secrets(const TurnCommit& turn);
    Changes take_states(const TurnCommit& turn);
    Held& touch(const VenueAccount& account, Changes& changes);
    void on_books(const StateWrite& state, Changes& changes);
    void on_account(const Json& json, Changes& changes);
    void on_order(const Json& json, Changes& changes);
    void on_record(const AuditRecord& record, Changes& changes);
    void on_fill(const AuditRecord& record);
    void check_validation(const Decision& decision, bool passed);
    void check_dry_run(const Decision& decision, bool passed, const Changes& changes);
    void check_plan(const Decision& decision);
    void check_touch(const OrderRecord& order, const SeenFacts& facts);
    void note_recorded(const Decision& decision, const AuditRecord& record);
    void check_execution(const Decision& decision, const Changes& changes);
    void check_entries(const Decision& decision, const Before& before);
    void check_limits(const Decision& decision, const Held& now);
    void check_losses(const Decision& decision, const Held& now, const MarketSet& market);
    void check_money(const VenueAccount& account, const Held& held);
    void check_reservations(const VenueAccount& account, const Held& held);
    void compare_with_venue(const VenueAccount& account, const Held& held);
    void compare_orders(const Held& held, const VenueReport& truth);
    void compare_fills(const Held& held, const VenueReport& truth);
    void compare_slippage(const VenueAccount& account, const VenueReport& truth);
    // Null when they cannot be had. The steps of a built-in planner share theirs.
    std::shared_ptr<const SeenFacts> facts_of(const StepInputs& inputs);
    void broken(std::string_view invariant, const std::string& what) {
        log_.report(invariant, what);
    }

    VenueModel& venue_;
    ViolationLog& log_;
    LimitOracle limits_;
    std::map<VenueAccount, Held> accounts_;
    std::map<OrderName, OrderRecord> orders_;
    std::map<std::string, std::string> artifacts_;  // By hash.
    std::map<OrderName, std::uint64_t> sent_;
    // Orders that were over when their decision was recorded, as its state delta tells them.
    struct RecordedOrder {
        Decimal filled_qty;
        Decimal filled_quote;
        std::optional<Decimal> slippage_bps;
    };
    std::map<OrderName, RecordedOrder> recorded_;
    StepInputs latest_inputs_;
    std::shared_ptr<const SeenFacts> latest_facts_;
    std::map<TenantId, std::shared_ptr<const SeenFacts>> seen_;
    std::vector<OrderRecord> latest_orders_;
    std::set<VenueAccount> latest_accounts_;
    Counts counts_;
};

}  // namespace interlock::sim
