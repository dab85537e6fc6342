// What keeps a strategy from trading on its market, its account aside, and what passes in spite of
// a block. Pure; weaker than why_stopped and why_account_blocked.
#pragma once

#include <optional>

#include "host/wire/blocked.h"
#include "trader/rules/strategy.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

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
