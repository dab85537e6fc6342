// What a caller has to know of each operation: how it is called, by whom, with what. The commands
// of `interlock` are made from this list, which a check holds to the operation table (ADR 0031).
#pragma once

#include <string>

#include "host/face/operation.h"

namespace interlock {

// A JSON array with a line for each operation that answers JSON, in the order of the table.
std::string call_list(const OperationTable& table);

}  // namespace interlock
