#include "relay/rules/dead_letters.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

using Seqs = std::vector<std::int64_t>;

Timestamp at_second(std::int64_t seconds) {
    return Timestamp{} + Duration::of_seconds(seconds);
}

Seqs seqs_of(const std::vector<DeadLetterHead>& letters) {
    Seqs seqs;
    for (const DeadLetterHead& letter : letters) {
        seqs.push_back(letter.seq);
    }
    return seqs;
}

// relay-connector.md#bounds-of-an-instance
TEST(DeadLetters, BeyondTheirNumberTheOneThatDiedFirstGoes) {
    DeadLetters letters({.dead_entries_max = 2});
    letters.add({.seq = 9, .bytes = 1, .dead_at = at_second(1)});
    letters.add({.seq = 3, .bytes = 1, .dead_at = at_second(2)});
    EXPECT_EQ(seqs_of(letters.take_surplus(10)), Seqs{});
    letters.add({.seq = 10, .bytes = 1, .dead_at = at_second(3)});
    EXPECT_EQ(seqs_of(letters.take_surplus(10)), Seqs{9});
    EXPECT_EQ(letters.size(), 2u);
    EXPECT_FALSE(letters.contains(9));
    EXPECT_TRUE(letters.contains(3));
}

TEST(DeadLetters, BeyondTheirBytesAsManyGoAsItTakes) {  // relay-connector.md#bounds-of-an-instance
    DeadLetters letters({.dead_bytes_max = 10});
    for (std::int64_t seq = 1; seq <= 4; ++seq) {
        letters.add({.seq = seq, .bytes = 3, .dead_at = at_second(seq)});
    }
    EXPECT_EQ(seqs_of(letters.take_surplus(10)), Seqs{1});
    letters.add({.seq = 5, .bytes = 8, .dead_at = at_second(5)});
    EXPECT_EQ(seqs_of(letters.take_surplus(2)), (Seqs{2, 3}));
    EXPECT_EQ(seqs_of(letters.take_surplus(2)), Seqs{4});
    EXPECT_EQ(letters.bytes(), 8);
}

TEST(DeadLetters, EndWhenTheirTimeIsOver) {
    DeadLetters letters({.dead_life = Duration::of_seconds(100)});
    for (std::int64_t seq = 1; seq <= 3; ++seq) {
        letters.add({.seq = seq, .bytes = 3, .dead_at = at_second(seq)});
    }
    EXPECT_EQ(seqs_of(letters.take_expired(at_second(100), 10)), Seqs{});
    EXPECT_EQ(seqs_of(letters.take_expired(at_second(200), 2)), (Seqs{1, 2}));
    EXPECT_EQ(seqs_of(letters.take_expired(at_second(200), 2)), Seqs{3});
    EXPECT_EQ(letters.bytes(), 0);
}

TEST(DeadLetters, AreKeptAtExactlyTheirBytesAndGoAtExactlyTheirTime) {
    DeadLetters letters({.dead_bytes_max = 6, .dead_life = Duration::of_seconds(100)});
    letters.add({.seq = 1, .bytes = 3, .dead_at = at_second(1)});
    letters.add({.seq = 2, .bytes = 3, .dead_at = at_second(1)});
    EXPECT_EQ(seqs_of(letters.take_surplus(10)), Seqs{});
    EXPECT_EQ(seqs_of(letters.take_expired(at_second(101) - Duration{1}, 10)), Seqs{});
    EXPECT_EQ(seqs_of(letters.take_expired(at_second(101), 10)), (Seqs{1, 2}));
    EXPECT_EQ(seqs_of(letters.take_surplus(10)), Seqs{});
}

TEST(DeadLetters, AreTakenOnce) {
    DeadLetters letters{DeliveryBounds{}};
    letters.add({.seq = 1, .bytes = 3, .dead_at = at_second(1)});
    letters.add({.seq = 2, .bytes = 4, .dead_at = at_second(1)});
    EXPECT_TRUE(letters.remove(1));
    EXPECT_FALSE(letters.remove(1));
    EXPECT_EQ(letters.bytes(), 4);
    letters.clear();
    EXPECT_EQ(letters.size(), 0u);
    EXPECT_EQ(letters.bytes(), 0);
}

}  // namespace
}  // namespace interlock
