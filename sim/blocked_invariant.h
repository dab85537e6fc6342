// What displays tell of whether something trades (kill-switch.md 2.5), reckoned here from the rows
// as they are committed and held against what leaves and what is shown: no order is written ahead
// for an account that is blocked, no display says another thing than the rows do, the records of a
// block come in pairs, and what is known is not put to the gates again. Reported as "blocked".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "account/rules/account.h"
#include "engine/ports/ledger_store.h"
#include "engine/wire/audit_record.h"
#include "host/rules/kill_step.h"
#include "sim/loop_invariant.h"
#include "sim/violation.h"

namespace interlock::sim {

class BlockedInvariant {
public:
    // `loop` sees every commit first.
    BlockedInvariant(const LoopInvariant& loop, ViolationLog& log) : loop_(loop), log_(log) {}

    // One committed turn, with its records decoded.
    void on_commit(const TurnCommit& turn, std::span<const AuditRecord> records);

    // A display of a server that is at rest for a moment.
    struct Display {
        const VenueAccount& account;
        std::string where;
        std::string code;          // Of its `blocked`; empty: it says that it trades.
        bool is_latched = false;   // The switch may be up before its record is.
        bool is_stalled = false;   // The bot's own word, which others check.
        bool is_strategy = false;  // Has reasons of its own besides the account's.
    };
    void on_display(const Display& display);
    // Strategies have ticked on the account since it last changed: what is on record is true.
    void check_noted(const VenueAccount& account);

    struct Counts {
        std::uint64_t begun = 0;
        std::uint64_t changed = 0;
        std::uint64_t ended = 0;
        std::uint64_t displays = 0;  // Compared while something was blocked.
    };
    const Counts& counts() const { return counts_; }

private:
    // With a strategy, or "" for all of the account.
    using Place = std::pair<VenueAccount, std::string>;

    std::string code_of(const VenueAccount& account) const;
    void on_record(const AuditRecord& record);
    void check_orders();
    void broken(const std::string& what) { log_.report("blocked", what); }

    const LoopInvariant& loop_;
    ViolationLog& log_;
    std::map<TenantId, KillState> switches_;    // As committed.
    std::map<VenueAccount, Account> accounts_;  // Likewise.
    std::map<Place, std::string> noted_;        // The code on record.
    std::set<std::pair<VenueAccount, OrderClientId>> orders_;
    Counts counts_;
};

}  // namespace interlock::sim
