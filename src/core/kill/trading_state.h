// Whether anything of a tenant may trade, and if not, why. Pure; every display asks these
// functions, so that no two of them disagree. One reason goes out, the strongest first:
//
//     store failed > the host's chain broken > stopped for all > this chain broken > stopped here
//         > disabled for all > disabled here > of the account > of the market > of the strategy's
//         amounts
#pragma once

#include <optional>
#include <string>

#include "contracts/kill/blocked.h"
#include "contracts/strategy/strategy_instance.h"
#include "core/account/account.h"
#include "core/kill/kill_step.h"
#include "core/strategy/strategy.h"

namespace interlock {

struct StopFacts {
    const KillState& own;  // For the system tenant the same as `global`.
    const KillState& global;
    bool is_latched = false;  // Up before its record is, and without one when the store failed.
    bool is_latched_globally = false;
    std::string store_failure = {};  // Why a commit failed; empty when none did.
    // What of an audit chain does not hold and was accepted by nobody: no release is granted then.
    std::string own_break = {};
    std::string global_break = {};  // Of `_system`, in words that every tenant may read.
};
std::optional<Blocked> why_stopped(const StopFacts& facts);

// What of the account itself keeps it from trading, or from entering anew.
std::optional<Blocked> why_account_blocked(const Account& account);

// What keeps a strategy that is active on this market from trading there, its account aside.
struct MarketWord {
    const Concern& concern;
    const Strategy* strategy = nullptr;   // Nothing: it cannot be opened.
    const MarketFacts* market = nullptr;  // Nothing: its market is not known now.
    bool is_throttled = false;            // Executed too often; a human enables it again.
};
std::optional<Blocked> why_market_blocked(const MarketWord& word);

// Whether a plan of this part may pass in spite of it: cancels always, reductions where only
// entries are held back.
bool lets_through(const Blocked& blocked, PlanPart part);

}  // namespace interlock
