// The parts that strategies play for the selector, and what it asks of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trader/rules/supervisor/market_narrative.h"

namespace interlock {

inline constexpr std::string_view kShortSide = "short";

enum class Role { none, idle, grid, trend, protector };
Role role_of(const CandidateFacts& candidate);

// Why the concern cannot be switched to this one; empty: it can.
std::string exclusion_of(const SupervisorFacts& facts, const CandidateFacts& candidate);

// The grid whose step and funds are the measure: the active one, or the first that could be.
const CandidateFacts* reference_grid(const SupervisorFacts& facts);

// Whether a grid could quote both sides; nothing when that is not known.
std::optional<bool> both_sides_funded(const SupervisorFacts& facts);

// Deepest pullback / (2 × grid step), at most 1; one half while either is unknown.
Decimal pullback_share(const SupervisorFacts& facts, const MarketNarrative& narrative);

}  // namespace interlock
