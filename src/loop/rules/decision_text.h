// The text of a decision's row, written straight into one string: every step of the loop saves its
// decision, and a tree of JSON values in between would cost more than the gates do.
#pragma once

#include <string>

#include "loop/rules/decision.h"

namespace interlock {

// The bytes of to_text(encode(decision)); a test holds the two equal.
std::string row_text(const Decision& decision);

}  // namespace interlock
