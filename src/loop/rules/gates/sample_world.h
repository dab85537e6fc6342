// A healthy account in a calm market with one small order: facts that pass every gate. The proofs
// of doctor, the benchmark and the tests start here and change what they are about.
//
// BTCUSDT trades at 50000 / 50010 with ten levels of 1, 2, … 10 BTC on each side; the account holds
// 0.02 BTC and 9000 USDT; the plan buys 0.01 BTC at 50000 for the outside strategy `ext`.
#pragma once

#include "loop/rules/gates/gates.h"

namespace interlock {

struct SampleWorld {
    StateFacts state;
    MarketSet market;
    Plan plan;
    DecisionId decision_id;
    TickId tick_id;
    bool from_outside = true;

    // Of what is here now; the world must outlive it.
    GateInput input() const;
};

inline constexpr std::int64_t kSampleSymbolsMax = 9;
SampleWorld sample_world();
// With more symbols (at most kSampleSymbolsMax), each like the first, and an intent on every one.
SampleWorld sample_world(std::int64_t symbols);

// Its parts, for worlds of other shapes.
Symbol sample_symbol(std::int64_t number = 0);  // BTCUSDT is number 0.
Intent sample_buy(std::int64_t symbol_number = 0);
Intent sample_sell(std::int64_t symbol_number = 0);  // Of what is held: a reduction.
Decimal sample_decimal(std::string_view text);       // CHECKs the text.

}  // namespace interlock
