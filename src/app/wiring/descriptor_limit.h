// How many files the process may have open.
#pragma once

#include <cstdint>

namespace interlock {

// Raises it as far as the host lets us. Gives how many of these connections there can be then, and
// warns when that is fewer.
std::int64_t raise_descriptor_limit(std::int64_t connections);

}  // namespace interlock
