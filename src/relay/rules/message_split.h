// Lengths in the units that platforms count in, and cutting a text into messages that fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "relay/wire/descriptor.h"

namespace interlock {

// No platform of ours allows less; a cut always makes progress above it.
inline constexpr std::size_t kSplitLimitMin = 32;

// Bytes that are not UTF-8 count as one character each.
std::size_t length_in(std::string_view text, LengthUnit unit);
// The longest start of `text` that has at most `limit` units and does not cut a character.
std::string_view prefix_in(std::string_view text, std::size_t limit, LengthUnit unit);

struct SplitRule {
    std::size_t limit = 4096;  // CHECKed to be at least kSplitLimitMin.
    LengthUnit unit = LengthUnit::code_points;
    bool keeps_fences = true;  // A cut inside ``` closes the block and opens it again.
};
// Cuts at the last line end that fits, else at the last space, else between characters. The blank
// at a cut is left out, everything else is kept in order. An empty text gives no message.
std::vector<std::string> split_message(std::string_view text, const SplitRule& rule);

}  // namespace interlock
