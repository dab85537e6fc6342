// How many files and connections this process may have open.
#pragma once

#include <cstdint>

namespace interlock {

// Takes all that the system allows, and warns when that is less than the connections configured.
void raise_descriptor_limit(std::int64_t connections);

}  // namespace interlock
