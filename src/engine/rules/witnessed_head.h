// A seal of `_system` as it leaves the data folder: the line of the head log,
// `{"record":…,"hash":…}`. It proves itself as far as it can alone: the hash is the record's, the
// signature that of the key it names. Whose key that is, the chain or a pinned public key must say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "engine/rules/seal.h"

namespace interlock {

// The book under which LedgerService::note_break() is told what a witness has and the chain has
// not.
inline constexpr std::string_view kWitnessBook = "witness";
// A longer line is none of ours: a seal has about a thousand bytes, its list of heads lies apart.
inline constexpr std::size_t kHeadLineBytesMax = std::size_t{64} * 1024;

struct WitnessedHead {
    ChainHead head;
    ChainHead previous;  // The seal before, as this one names it; seq 0: none.
    Timestamp at;
    std::int64_t epoch = 0;
    std::string public_key;  // Of that epoch, hex; the one that signed.
    std::string line;        // As it was given, without a newline.
};

// `invalid_request` with what is wrong when the line is no seal of `_system` or does not hold.
Result<WitnessedHead> read_head_line(std::string_view line);

// What a line is to somebody who has `newest` of the same chain already.
enum class HeadOrder {
    again,       // The same once more.
    follows,     // It names `newest` as the seal before.
    behind_gap,  // Later, with seals in between that nobody brought.
    conflicts,   // No chain has both: it went back, or was written anew.
};
HeadOrder order_of(const WitnessedHead& newest, const WitnessedHead& next);

// "17:0123456789abcdef", as people compare heads.
std::string short_text(const ChainHead& head);

}  // namespace interlock
