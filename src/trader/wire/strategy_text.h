// The texts of the rows of strategy instances and concerns, written straight into one string each:
// every control decision and many ticks save them.
#pragma once

#include <string>

#include "trader/wire/strategy_instance.h"

namespace interlock {

// The bytes of to_text(encode(...)); a test holds the two equal.
std::string row_text(const StrategyInstance& instance);
std::string row_text(const Concern& concern);

}  // namespace interlock
