// Keeps what is known of a chain that does not hold before the server goes on behind it: the
// report, the changed rows, the head file and the head log as they were. The records themselves
// stay where they are; rows are written over by the work that goes on.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "engine/service/chain_check.h"

namespace interlock {

// Rows that may be told in full; of all others a report gives the hash, for they hold hashes of
// keys, addresses or what a vault keeps.
bool may_be_told(std::string_view machine_key);

// A folder of its own in quarantine/, never written over. What cannot be kept is logged. `store`
// has the rows as they were found.
void keep_evidence(
    const std::string& data_folder, const ChainReport& report, Timestamp now, LedgerStore& store);

}  // namespace interlock
