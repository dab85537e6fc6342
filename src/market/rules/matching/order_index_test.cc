#include "market/rules/matching/order_index.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <vector>

namespace interlock {
namespace {

// Handles are places in `ids`; 0 stands for none.
class Indexed {
public:
    explicit Indexed(std::size_t expected) : index(expected, 1 << 20), ids(1) {}

    OrderIndex::Place find(std::uint64_t id) const {
        return index.find(id, [&](std::uint32_t handle) { return ids[handle] == id; });
    }
    void insert(std::uint64_t id) {
        ids.push_back(id);
        index.insert(find(id), static_cast<std::uint32_t>(ids.size() - 1));
    }

    OrderIndex index;
    std::vector<std::uint64_t> ids;
};

TEST(OrderIndex, AnswersLikeAMap) {
    EXPECT_TRUE(rc::check([] {
        Indexed table(*rc::gen::inRange<std::size_t>(0, 200));
        std::map<std::uint64_t, std::uint32_t> plain;
        for (int i = 0; i < 1000; ++i) {
            const auto id = *rc::gen::inRange<std::uint64_t>(0, 300);
            const auto place = table.find(id);
            const auto at = plain.find(id);
            RC_ASSERT(place.handle == (at == plain.end() ? 0 : at->second));
            if (at == plain.end()) {
                table.insert(id);
                plain[id] = static_cast<std::uint32_t>(table.ids.size() - 1);
            } else if (*rc::gen::inRange(0, 3) == 0) {
                table.index.erase(place);
                plain.erase(at);
            }
            RC_ASSERT(table.index.size() == plain.size());
        }
        for (const auto& [id, handle] : plain) {
            RC_ASSERT(table.find(id).handle == handle);
        }
    }));
}

TEST(OrderIndex, GrowsOnlyPastWhatWasExpected) {
    Indexed table(1000);
    const std::size_t before = table.index.memory_bytes();
    for (std::uint64_t id = 0; id < 1000; ++id) {
        table.insert(id * 4096);
    }
    EXPECT_EQ(table.index.memory_bytes(), before);
    for (std::uint64_t id = 1000; id < 2000; ++id) {
        table.insert(id * 4096);
    }
    EXPECT_EQ(table.index.memory_bytes(), 2 * before);
    for (std::uint64_t id = 0; id < 2000; ++id) {
        EXPECT_EQ(table.find(id * 4096).handle, id + 1);
    }
}

// Half full, a good spread looks at less than two slots on average; a bad one at hundreds.
TEST(OrderIndex, SpreadsIdsOfEveryStride) {
    for (const std::uint64_t stride : {1ull, 2ull, 1000ull, 1ull << 20, 1ull << 32, 1ull << 48}) {
        Indexed table(1 << 15);
        for (std::uint64_t i = 0; i < (1u << 15); ++i) {
            table.insert(i * stride);
        }
        std::uint64_t misses = 0;
        for (std::uint64_t i = 0; i < (1u << 15); ++i) {
            const auto place = table.find(i * stride);
            misses += (place.slot - (place.tag >> 16)) & 0xFFFF;
        }
        EXPECT_LT(misses, 1u << 16) << stride;
    }
}

}  // namespace
}  // namespace interlock
