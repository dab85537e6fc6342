// Gathers what gates, dry run and planners see of an account (StateFacts), and runs the risk tiers
// over the same numbers.
//
// Orders whose fate is not known are reserved at their worst case: an unknown buy counts in
// exposure and locked cash, an unknown sell as an open sell (I4).
#pragma once

#include <vector>

#include "account/rules/account.h"
#include "account/wire/state_facts.h"
#include "market/wire/market_facts.h"

namespace interlock {

struct GatherInput {
    const Account& account;
    const std::vector<SymbolBook>& books;  // Ascending by symbol.
    const MarketSet& market;
    Timestamp now;
    bool kill_switch_active = true;
    RiskMode stricter_mode = RiskMode::normal;  // Of concern, degrade level and kill aftermath.
    bool permissions_verified = false;
};
// An overflow anywhere gives an Error, and then nothing may pass (I5).
Result<StateFacts> gather_facts(const GatherInput& input);

// Positions at cost plus what open buys may still spend. Moves only with our own orders, never with
// prices: what safe recovery watches.
Result<Decimal> worst_case_exposure(const std::vector<SymbolBook>& books);

// Quote that is neither locked nor earmarked; never negative.
Result<Decimal> free_quote(const Account& account, const std::vector<SymbolBook>& books);

// Treasury figures as of now (agent-loop.md#costs).
struct TreasuryFigures {
    Decimal daily_total_cost;
    Decimal rolling_surplus_30d;
    Decimal runway_days;
    bool principal_protected = false;  // False too when equity is not known.
};
Result<TreasuryFigures> treasury_figures(
    const Account& account, const std::optional<Decimal>& equity, Timestamp now);

Result<TierInput> tier_input(const GatherInput& input);
// Evaluates the tiers for one tick and keeps their state in the account.
Result<TierStep> scale_risk(Account& account, const GatherInput& input);

}  // namespace interlock
