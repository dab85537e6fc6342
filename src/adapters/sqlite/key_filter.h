// Which keys may be in a table: never says no to one that is. Most machines that turns ask for
// under an id they were just given are new, and looking for a new one in the index costs as much as
// writing it.
//
// A Bloom filter in blocks of one cache line, in stages: a full stage gets a larger one beside it,
// so nothing is ever filled again. It cannot forget; it suits keys that are never deleted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace interlock {

class KeyFilter {
public:
    // Two bytes a key. Past `keys_max` it holds no more and says yes to everything.
    static constexpr std::size_t kKeysMax = std::size_t{4} * 1024 * 1024;

    explicit KeyFilter(std::size_t keys_max = kKeysMax) : keys_max_(keys_max) {}

    void add(std::string_view key);
    // Says yes to everything from now on: for when not all keys could be read.
    void give_up();
    bool may_have(std::string_view key) const;
    std::size_t bytes() const;

private:
    static constexpr std::size_t kFirstStageKeys = 32 * 1024;
    static constexpr std::size_t kBlockWords = 8;
    static constexpr std::size_t kKeysPerBlock = 32;
    using Block = std::array<std::uint64_t, kBlockWords>;

    struct Stage {
        explicit Stage(std::size_t keys)
            : blocks((keys + kKeysPerBlock - 1) / kKeysPerBlock), room(keys) {}
        std::vector<Block> blocks;
        std::size_t room;  // Keys that may still be added.
    };

    std::size_t keys_max_;
    std::size_t keys_ = 0;
    bool is_full_ = false;
    std::vector<Stage> stages_;
};

}  // namespace interlock
