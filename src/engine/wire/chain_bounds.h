// Numbers that a chain can have. What is kept apart from the records (head rows, head files, the
// index of seals, the head log) may have been written by anybody and say anything.
#pragma once

#include <cstdint>

namespace interlock {

// No chain gets here: one record each microsecond would take 285 years, and numbers in JSON are
// exact up to here.
inline constexpr std::int64_t kChainSeqMax = std::int64_t{1} << 53;
// What a head apart from the records may claim beyond them. A larger number is nobody's: the rest
// is room for a chain that has to go on above what was claimed.
inline constexpr std::int64_t kHeadSeqMax = kChainSeqMax / 2;

}  // namespace interlock
