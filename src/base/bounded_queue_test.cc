// Tests of the bounded queue: both bounds, the order of the lanes, closing, and hand-over between
// threads.
#include "base/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace interlock {
namespace {

using namespace std::chrono_literals;
constexpr auto kNoWait = 0us;
// Long enough never to pass; a test that waited it out would run into its own time limit.
constexpr auto kForever = std::chrono::microseconds(100s);

TEST(BoundedQueue, RefusesWhenFullAndLeavesTheItemUntouched) {
    BoundedQueue<std::unique_ptr<int>> queue(1, 1);
    EXPECT_TRUE(queue.push(std::make_unique<int>(1)));
    auto second = std::make_unique<int>(2);
    EXPECT_FALSE(queue.push(std::move(second)));
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(*second, 2);
    EXPECT_EQ(queue.size(), 1u);
}

TEST(BoundedQueue, TakesAgainOnceThereIsRoom) {
    BoundedQueue<int> queue(2, 0);
    EXPECT_TRUE(queue.push(1));
    EXPECT_TRUE(queue.push(2));
    EXPECT_FALSE(queue.push(3));
    EXPECT_EQ(queue.pop(1, kNoWait), std::vector<int>{1});
    EXPECT_TRUE(queue.push(4));
    EXPECT_EQ(queue.pop(9, kNoWait), (std::vector<int>{2, 4}));
}

TEST(BoundedQueue, AFullQueueStillTakesAnUrgentItem) {
    BoundedQueue<int> queue(1, 1);
    EXPECT_TRUE(queue.push(1));
    EXPECT_TRUE(queue.push_front_lane(2));
}

TEST(BoundedQueue, TheFrontLaneHasItsOwnBound) {
    BoundedQueue<int> queue(5, 1);
    EXPECT_TRUE(queue.push_front_lane(1));
    EXPECT_FALSE(queue.push_front_lane(2));
    EXPECT_TRUE(queue.push(3));
}

TEST(BoundedQueue, TheFrontLaneComesFirstAndEachLaneKeepsItsOrder) {
    BoundedQueue<int> queue(5, 5);
    queue.push(1);
    queue.push(2);
    queue.push_front_lane(8);
    queue.push_front_lane(9);
    EXPECT_EQ(queue.pop(3, kNoWait), (std::vector<int>{8, 9, 1}));
    EXPECT_EQ(queue.pop(3, kNoWait), std::vector<int>{2});
}

TEST(BoundedQueue, AnEmptyQueueGivesNothingWithoutWaiting) {
    BoundedQueue<int> queue(1, 1);
    EXPECT_TRUE(queue.pop(1, kNoWait).empty());
}

TEST(BoundedQueue, AfterClosingPushesFailAndTheRestCanBePopped) {
    BoundedQueue<int> queue(5, 5);
    queue.push(1);
    queue.push_front_lane(2);
    queue.close();
    EXPECT_TRUE(queue.is_closed());
    EXPECT_FALSE(queue.push(3));
    EXPECT_FALSE(queue.push_front_lane(4));
    EXPECT_EQ(queue.pop(9, kForever), (std::vector<int>{2, 1}));
    EXPECT_TRUE(queue.pop(9, kForever).empty());
}

TEST(BoundedQueue, ClosingWakesEveryWaitingConsumer) {
    BoundedQueue<int> queue(1, 1);
    std::thread first([&] { EXPECT_TRUE(queue.pop(1, kForever).empty()); });
    std::thread second([&] { EXPECT_TRUE(queue.pop(1, kForever).empty()); });
    queue.close();
    first.join();
    second.join();
}

TEST(BoundedQueue, AnItemInTheMiddleLaneEndsTheWait) {
    BoundedQueue<int> queue(1, 1, 1);
    EXPECT_TRUE(queue.push_middle_lane(7));
    EXPECT_EQ(queue.pop(1, kForever), std::vector<int>{7});
}

TEST(BoundedQueue, EveryItemOfManyProducersArrivesExactlyOnce) {
    constexpr int kProducers = 4;
    constexpr int kItems = 2000;
    BoundedQueue<int> queue(16, 4);
    std::vector<std::thread> producers;
    for (int producer = 0; producer < kProducers; ++producer) {
        producers.emplace_back([&queue, producer] {
            for (int i = 0; i < kItems; ++i) {
                while (!queue.push(producer * kItems + i)) {
                    std::this_thread::yield();
                }
            }
        });
    }
    std::vector<int> seen(kProducers * kItems);
    for (int taken = 0; taken < kProducers * kItems;) {
        for (const int item : queue.pop(8, kForever)) {
            ++seen[static_cast<std::size_t>(item)];
            ++taken;
        }
    }
    for (std::thread& producer : producers) {
        producer.join();
    }
    EXPECT_EQ(seen, std::vector<int>(kProducers * kItems, 1));
}

// Consumers that take one item at a time and producers that wake only who is not awake: no item may
// be left lying while somebody waits. A lost waking would show as a test that takes for ever.
TEST(BoundedQueue, ManyConsumersMissNoItem) {
    constexpr int kConsumers = 3;
    constexpr int kItems = 3000;
    BoundedQueue<int> queue(4, 4);
    std::atomic<int> taken = 0;
    std::vector<std::thread> consumers;
    for (int i = 0; i < kConsumers; ++i) {
        consumers.emplace_back([&] {
            for (auto items = queue.pop(1, kForever); !items.empty();
                 items = queue.pop(1, kForever)) {
                ++taken;
            }
        });
    }
    for (int i = 0; i < kItems; ++i) {
        while (!queue.push(int{i})) {
            std::this_thread::yield();
        }
        // Every now and then all of them are asleep again.
        while (i % 100 == 0 && taken <= i) {
            std::this_thread::yield();
        }
    }
    while (taken < kItems) {
        std::this_thread::yield();
    }
    queue.close();
    for (std::thread& consumer : consumers) {
        consumer.join();
    }
    EXPECT_EQ(taken, kItems);
}

}  // namespace
}  // namespace interlock
