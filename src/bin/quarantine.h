// Keeps what is known of a chain that does not hold before the server goes on behind it: the
// report, the head file and the head log as they were. The records themselves stay where they are.
#pragma once

#include <string>

#include "base/time.h"
#include "services/chain_check.h"

namespace interlock {

// A folder of its own in quarantine/, never written over. What cannot be kept is logged.
void keep_evidence(const std::string& data_folder, const ChainReport& report, Timestamp now);

}  // namespace interlock
