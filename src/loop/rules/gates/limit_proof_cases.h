// The worlds in which limit_proof shows each limit at work: a table, one row per limit.
#pragma once

#include <span>

#include "loop/rules/gates/sample_world.h"

namespace interlock {

struct LimitProofCase {
    std::string_view name;
    std::string_view code;   // What the limit must reject with.
    std::string_view loose;  // A value under which the same world passes; may leave the range.
    // Used instead of a configured 0 where 0 switches the guard off; empty where it does not.
    std::string_view when_off;
    // Changes the wide-open world so that a limit of `value` rejects its plan. The world's limits
    // hold that value already.
    void (*arrange)(SampleWorld& world, Decimal value);
    // Recomputes what others make of the limits before a gate sees it: tier, accrual, counters.
    void (*derive)(SampleWorld& world) = nullptr;
    // Whether a market with these rules gives the limit anything to act on; null: any does.
    bool (*applies)(const MarketRules& rules) = nullptr;
};
std::span<const LimitProofCase> limit_proof_cases();

// A world with nothing in the way: huge funds, no venue filters, every limit at its loose value.
// Its market stands at 1 / 1.0002 and its plan buys 100 at 1.
SampleWorld wide_open_world();

}  // namespace interlock
