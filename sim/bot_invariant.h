// The promises of the maker bots (docs/contracts/bot.md#2-states), checked from outside: on every
// commit of the store, on every order that reaches the venue, on the venue's own list of trades, on
// answers, and on what a restarted server shows.
//
// The names they are reported by: "maker", "rails", "bot_state", "bot_idle", "proposal",
// "left".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "bots/rules/bot_record.h"
#include "bots/service/bot_board.h"
#include "engine/ports/ledger_store.h"
#include "engine/wire/audit_record.h"
#include "sim/bot_people.h"
#include "sim/command.h"
#include "sim/loop_invariant.h"
#include "sim/venue_model.h"
#include "sim/violation.h"

namespace interlock::sim {

class BotInvariant {
public:
    struct Parts {
        VenueModel& venue;
        const LoopInvariant& loop;  // Sees every commit first.
        BotConfig defaults;
        ViolationLog& log;
    };
    explicit BotInvariant(Parts parts) : parts_(std::move(parts)) {}

    // One committed turn, with its records decoded.
    void on_commit(const TurnCommit& turn, std::span<const AuditRecord> records);
    // An order on its way to the venue.
    void on_submit(const VenueOrderRequest& request);
    void on_reply(const Command& command, const Result<Answer>& result);
    // A server has just started; what it shows of the bots.
    void on_start(const BotBoard& board);
    // What the venue's list of trades says since the last time.
    void check_trades();
    // No fault is on and nothing is stopped: a bot that runs trades.
    void check_awake(const TenantId& tenant_id);

    BotPeople::View look(const TenantId& tenant_id) const;

    struct Counts {
        std::uint64_t launches = 0;  // Starts, restarts.
        std::uint64_t stops = 0;
        std::uint64_t pulses = 0;
        std::uint64_t stalls = 0;
        std::uint64_t resumptions = 0;
        std::uint64_t failures = 0;   // Fell back to uninitialized.
        std::uint64_t proposals = 0;  // Carried out.
        std::uint64_t changes = 0;
        std::uint64_t orders = 0;
        std::uint64_t buys = 0;  // Trades.
        std::uint64_t sells = 0;
    };
    const Counts& counts() const { return counts_; }

private:
    using MarketName = std::pair<VenueAccount, Symbol>;
    using OrderName = std::pair<VenueAccount, OrderClientId>;
    // What one turn's records say of a tenant's bot.
    struct Words {
        std::map<std::string, const AuditRecord*> events;  // By name; the last of each.
        const AuditRecord* find(std::string_view event) const;
        bool has_any(std::initializer_list<std::string_view> names) const;
    };
    struct Proposal {
        std::int64_t base_version = 0;
        std::string difference;
        bool is_carried_out = false;
    };
    // The engine's inventory, reckoned here.
    struct Inventory {
        std::optional<Decimal> start;  // Nothing: the engine has not begun.
        Decimal start_net;
        Decimal net;                // Bought less sold at the venue, fees in coins counted.
        Decimal rail;               // Twice the amount in effect.
        bool is_disturbed = false;  // Others sold coins of this market.
    };

    void on_record(const TenantId& tenant_id, const BotRecord& next, const Words& words);
    void check_state(const BotRecord& before, const BotRecord& next, const Words& words);
    void check_config(const BotRecord& before, const BotRecord& next, const Words& words);
    void check_session(const BotRecord& before, const BotRecord& next, const Words& words);
    void check_proposal(
        const BotRecord& before, const AuditRecord& change, const std::string& proposal_id);
    void on_instance(const Json& json);
    void on_order(const OrderRecord& order);
    void check_left(const TurnCommit& turn);
    void on_trade(const VenueAccount& account, const VenueFill& fill);
    BotRecord record_of(const TenantId& tenant_id) const;
    void broken(std::string_view invariant, const std::string& what) {
        parts_.log.report(invariant, what);
    }

    Parts parts_;
    std::map<TenantId, BotRecord> records_;
    std::set<TenantId> keyed_;     // Have exchange keys in the vault.
    std::set<TenantId> hydrated_;  // Were read anew in this life of the server, and since a stall.
    std::map<std::pair<TenantId, std::string>, Proposal> proposals_;
    std::map<OrderName, Decimal> orders_;  // Of bots, with the rail when they were written.
    std::map<MarketName, Inventory> inventories_;
    std::map<VenueAccount, std::int64_t> cursors_;
    Counts counts_;
};

}  // namespace interlock::sim
