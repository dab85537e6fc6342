#include "adapters/sqlite/key_filter.h"

#include <algorithm>
#include <functional>

namespace interlock {
namespace {

constexpr int kBitsPerKey = 6;
constexpr unsigned kBitWidth = 9;  // A block has 512 bits.

// Where a key lies: a number for the block and one for its bits.
struct Place {
    std::uint64_t block = 0;
    std::uint64_t bits = 0;
};

std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15ULL;
    value ^= value >> 29;
    return value;
}

Place place_of(std::string_view key) {
    const std::uint64_t hash = std::hash<std::string_view>{}(key);
    return {mixed(hash), mixed(hash ^ 0x5851f42d4c957f2dULL)};
}

// Calls `visit` with the word and the mask of each bit.
template <class Visit>
bool every_bit(std::uint64_t bits, Visit visit) {
    for (int i = 0; i < kBitsPerKey; ++i, bits >>= kBitWidth) {
        const auto bit = bits & ((1U << kBitWidth) - 1);
        if (!visit(static_cast<std::size_t>(bit / 64), std::uint64_t{1} << (bit % 64))) {
            return false;
        }
    }
    return true;
}

}  // namespace

void KeyFilter::add(std::string_view key) {
    if (is_full_) {
        return;
    }
    if (keys_ >= keys_max_) {
        give_up();
        return;
    }
    if (stages_.empty() || stages_.back().room == 0) {
        const std::size_t wanted = std::max(kFirstStageKeys, keys_);
        stages_.emplace_back(std::min(wanted, keys_max_ - keys_));
    }
    Stage& stage = stages_.back();
    --stage.room;
    ++keys_;
    const Place place = place_of(key);
    Block& block = stage.blocks[place.block % stage.blocks.size()];
    every_bit(place.bits, [&](std::size_t word, std::uint64_t mask) {
        block[word] |= mask;
        return true;
    });
}

void KeyFilter::give_up() {
    is_full_ = true;
    stages_ = {};
}

bool KeyFilter::may_have(std::string_view key) const {
    if (is_full_) {
        return true;
    }
    const Place place = place_of(key);
    return std::any_of(stages_.begin(), stages_.end(), [&](const Stage& stage) {
        const Block& block = stage.blocks[place.block % stage.blocks.size()];
        return every_bit(place.bits, [&](std::size_t word, std::uint64_t mask) {
            return (block[word] & mask) != 0;
        });
    });
}

std::size_t KeyFilter::bytes() const {
    std::size_t total = 0;
    for (const Stage& stage : stages_) {
        total += stage.blocks.size() * sizeof(Block);
    }
    return total;
}

}  // namespace interlock
