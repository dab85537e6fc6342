#include "relay/sqlite/buffer_places.h"

#include <gtest/gtest.h>

namespace interlock {

namespace {

std::vector<std::int64_t> seqs_of(const BufferPlaces& places, const std::string& instance_id) {
    std::vector<std::int64_t> seqs;
    if (const auto* const slots = places.of(instance_id)) {
        for (const BufferPlaces::Slot& slot : *slots) {
            seqs.push_back(slot.seq);
        }
    }
    return seqs;
}
using Seqs = std::vector<std::int64_t>;

}  // namespace

TEST(BufferPlaces, KeepsTheEntriesOfAnInstanceInOrder) {
    BufferPlaces places;
    EXPECT_TRUE(places.add("i", {.seq = 20, .place = 1}));
    EXPECT_TRUE(places.add("i", {.seq = 30, .place = 2}));
    EXPECT_TRUE(places.add("i", {.seq = 10, .place = 3}));
    EXPECT_TRUE(places.add("j", {.seq = 10, .place = 4}));
    EXPECT_EQ(seqs_of(places, "i"), (Seqs{10, 20, 30}));
    EXPECT_EQ(places.find({"i", 10}), 3);
    EXPECT_EQ(places.find({"j", 10}), 4);
    EXPECT_EQ(places.find({"i", 15}), std::nullopt);
    EXPECT_EQ(places.find({"i", 40}), std::nullopt);
    EXPECT_EQ(places.find({"k", 10}), std::nullopt);
    EXPECT_EQ(BufferPlaces::after(*places.of("i"), 10)->seq, 20);
}

TEST(BufferPlaces, RefusesANumberThatIsTaken) {
    BufferPlaces places;
    EXPECT_TRUE(places.add("i", {.seq = 1, .place = 1}));
    EXPECT_TRUE(places.add("i", {.seq = 2, .place = 2}));
    EXPECT_FALSE(places.add("i", {.seq = 1, .place = 3}));
    EXPECT_FALSE(places.add("i", {.seq = 2, .place = 3}));
    EXPECT_EQ(places.find({"i", 1}), 1);
}

TEST(BufferPlaces, RemovesOnlyWhatIsThere) {
    BufferPlaces places;
    EXPECT_TRUE(places.add("i", {.seq = 1, .place = 7}));
    EXPECT_EQ(places.remove({"i", 2}), std::nullopt);
    EXPECT_EQ(places.remove({"j", 1}), std::nullopt);
    EXPECT_EQ(places.remove({"i", 1}), 7);
    EXPECT_EQ(places.remove({"i", 1}), std::nullopt);
}

TEST(BufferPlaces, TakesBackEverythingSinceItWasKept) {
    BufferPlaces places;
    EXPECT_TRUE(places.add("i", {.seq = 1, .place = 1}));
    EXPECT_TRUE(places.add("i", {.seq = 2, .place = 2}));
    places.keep();
    EXPECT_EQ(places.remove({"i", 1}), 1);
    EXPECT_TRUE(places.add("i", {.seq = 1, .place = 9}));  // The same number anew.
    EXPECT_EQ(places.remove({"i", 2}), 2);
    EXPECT_TRUE(places.add("i", {.seq = 3, .place = 10}));
    EXPECT_TRUE(places.add("new", {.seq = 1, .place = 11}));
    places.undo();
    EXPECT_EQ(seqs_of(places, "i"), (Seqs{1, 2}));
    EXPECT_EQ(places.find({"i", 1}), 1);
    EXPECT_EQ(seqs_of(places, "new"), Seqs{});
    places.undo();  // Nothing is left to take back.
    EXPECT_EQ(seqs_of(places, "i"), (Seqs{1, 2}));
}

}  // namespace interlock
