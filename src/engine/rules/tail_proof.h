// What vouches for a chain between two seals (ADR 0015): each batch signs the heads it moved.
//
// Without it anybody who can write the database could hang records on the last seal, together with
// the rows they name, and the next start would seal them. One signature does for a batch: it is
// over the Merkle root of the heads, and each chain keeps its path to it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rules/seal.h"

namespace interlock {

// A proof per head, in their order: "<epoch> <count> <index> <signature>" and the path, by spaces.
std::vector<std::string> prove_tails(
    std::span<const HeadLine> heads, std::int64_t epoch, const SignText& sign);

// The number of the key that signed this head; nothing when the proof is of another head, is none,
// or its key does not follow from the first one.
std::optional<std::int64_t> proven_by(
    const HeadLine& head, std::string_view proof, const KeyLineage& keys);

}  // namespace interlock
