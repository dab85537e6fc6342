#include "relay/rules/delivery_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

namespace interlock {
namespace {

using Seqs = std::vector<std::int64_t>;

Timestamp at_second(std::int64_t seconds) {
    return Timestamp{} + Duration::of_seconds(seconds);
}

void add(DeliveryQueue& queue, std::int64_t seq, EntryKind kind = EntryKind::inbound) {
    queue.append({.seq = seq, .kind = kind, .at = {}, .attempts = 0, .bytes = 10});
}

Seqs seqs_of(const std::vector<QueuedEntry>& entries) {
    Seqs seqs;
    for (const QueuedEntry& entry : entries) {
        seqs.push_back(entry.seq);
    }
    return seqs;
}

// Ends the socket there is and opens another.
void reconnect(DeliveryQueue& queue) {
    queue.disconnect({});
    queue.connect();
}

TEST(DeliveryQueue, DrainsOneAtATimeAndThenEight) {  // relay-connector.md#buffers
    DeliveryQueue queue;
    add(queue, 1);
    add(queue, 2);
    queue.connect();
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    for (std::int64_t seq = 3; seq < 14; ++seq) {
        add(queue, seq);
    }
    EXPECT_EQ(queue.take_due({}), Seqs{});
    EXPECT_EQ(queue.acknowledge(1), Seqs{1});
    EXPECT_FALSE(queue.take_drained());
    EXPECT_EQ(queue.take_due({}), Seqs{2});
    EXPECT_EQ(queue.acknowledge(2), Seqs{2});
    EXPECT_TRUE(queue.take_drained());
    EXPECT_FALSE(queue.take_drained());
    EXPECT_EQ(queue.take_due({}), (Seqs{3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(queue.acknowledge(5), Seqs{5});
    EXPECT_EQ(queue.take_due({}), Seqs{11});
}

TEST(DeliveryQueue, WritesNothingTwiceOnOneSocket) {  // relay-connector.md#buffers
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1);
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    EXPECT_EQ(queue.take_due(at_second(299)), Seqs{});
}

// relay-connector.md#buffers
TEST(DeliveryQueue, WritesTheUnacknowledgedTailAgainOnTheNextSocket) {
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1);
    add(queue, 2);
    add(queue, 3);
    EXPECT_EQ(queue.take_due({}), (Seqs{1, 2, 3}));
    EXPECT_EQ(queue.acknowledge(2), Seqs{2});
    reconnect(queue);
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    queue.acknowledge(1);
    EXPECT_EQ(queue.take_due({}), Seqs{3});
}

TEST(DeliveryQueue, LaysAsideWhatThreeSocketsDidNotAcknowledge) {  // relay-connector.md#buffers
    DeliveryQueue queue;
    add(queue, 1);
    add(queue, 2);
    for (int socket = 0; socket < 2; ++socket) {
        queue.connect();
        queue.take_due({});
        const auto end = queue.disconnect(at_second(60 * socket));
        ASSERT_EQ(end.tried.size(), 1u);
        EXPECT_EQ(end.tried[0].attempts, socket + 1);
        EXPECT_TRUE(end.dead.empty());
    }
    queue.connect();
    queue.take_due({});
    EXPECT_EQ(seqs_of(queue.disconnect(at_second(120)).dead), Seqs{1});
    EXPECT_EQ(queue.bytes(), 10);
    queue.connect();
    EXPECT_EQ(queue.take_due({}), Seqs{2});
}

TEST(DeliveryQueue, ANetworkThatFlapsIsNoReasonToGiveAMessageUp) {  // relay-connector.md#buffers
    DeliveryQueue queue;
    add(queue, 1);
    for (int socket = 0; socket < 50; ++socket) {
        queue.connect();
        EXPECT_EQ(queue.take_due({}), Seqs{1});
        const auto end = queue.disconnect(at_second(1) + Duration::of_milliseconds(400 * socket));
        EXPECT_EQ(end.tried.size(), socket == 0 ? 1u : 0u);
        EXPECT_TRUE(end.dead.empty());
    }
    EXPECT_EQ(queue.find(1)->attempts, 1);
    queue.connect();
    queue.take_due({});
    EXPECT_TRUE(queue.disconnect(at_second(60)).tried.empty());
    queue.connect();
    queue.take_due({});
    EXPECT_EQ(queue.disconnect(at_second(61)).tried.size(), 1u);
    queue.connect();
    queue.take_due({});
    EXPECT_EQ(seqs_of(queue.disconnect(at_second(121)).dead), Seqs{1});
}

TEST(DeliveryQueue, WhatAGatewayPassesOverCountsAtOnce) {  // relay-connector.md#buffers
    DeliveryQueue queue({.attempts_max = 2});
    queue.connect();
    add(queue, 1);
    add(queue, 2);
    add(queue, 3);
    queue.take_due({});
    queue.acknowledge(2);
    EXPECT_EQ(seqs_of(queue.disconnect(at_second(1)).tried), (Seqs{1, 3}));
    queue.connect();
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    queue.acknowledge(3);  // From the socket before: no word about the first on this one.
    EXPECT_TRUE(queue.disconnect(at_second(2)).dead.empty());
    add(queue, 4, EntryKind::passthrough);
    queue.connect();
    EXPECT_EQ(queue.take_due({}), (Seqs{1, 4}));
    queue.acknowledge(4);
    EXPECT_EQ(seqs_of(queue.disconnect(at_second(3)).dead), Seqs{1});
}

TEST(DeliveryQueue, AClockSetBackBeginsTheWaitAnew) {
    DeliveryQueue queue({.attempts_max = 2});
    add(queue, 1);
    for (const std::int64_t second : {5000, 10, 69}) {
        queue.connect();
        queue.take_due({});
        EXPECT_TRUE(queue.disconnect(at_second(second)).dead.empty());
    }
    queue.connect();
    queue.take_due({});
    EXPECT_EQ(seqs_of(queue.disconnect(at_second(70)).dead), Seqs{1});
}

TEST(DeliveryQueue, TakesAnAcknowledgementThatCrossedToANewSocket) {
    DeliveryQueue queue;
    add(queue, 1);
    add(queue, 2);
    queue.connect();
    queue.take_due({});
    reconnect(queue);
    EXPECT_EQ(queue.acknowledge(1), Seqs{1});
    EXPECT_EQ(queue.take_due({}), Seqs{2});
}

TEST(DeliveryQueue, IgnoresAcknowledgementsOfWhatNobodyGot) {
    DeliveryQueue queue;
    add(queue, 1);
    EXPECT_EQ(queue.acknowledge(1), Seqs{});
    EXPECT_EQ(queue.acknowledge(99), Seqs{});
    EXPECT_EQ(queue.size(), 1u);
}

TEST(DeliveryQueue, ForwardsDoNotHoldUpTheDrain) {  // relay-connector.md#forwards
    DeliveryQueue queue;
    add(queue, 1, EntryKind::passthrough);
    add(queue, 2);
    add(queue, 3, EntryKind::passthrough);
    queue.connect();
    EXPECT_EQ(queue.take_due({}), (Seqs{1, 2, 3}));
    EXPECT_EQ(queue.acknowledge(2), (Seqs{2, 1}));
    EXPECT_TRUE(queue.take_drained());
    EXPECT_EQ(queue.settle(at_second(59)), Seqs{});
    EXPECT_EQ(queue.settle(at_second(60)), Seqs{3});
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_EQ(queue.bytes(), 0);
}

// relay-connector.md#going-idle
TEST(DeliveryQueue, AForwardIsSettledByAGatewayThatLeavesInGoodOrder) {
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1, EntryKind::passthrough);
    add(queue, 2);
    EXPECT_EQ(queue.take_due({}), (Seqs{1, 2}));
    add(queue, 3, EntryKind::passthrough);
    queue.go_idle(at_second(1));
    EXPECT_TRUE(queue.is_idle_answer_due(at_second(2)));
    EXPECT_TRUE(queue.has_forwards_out());
    queue.told_idle();
    const auto end = queue.disconnect({});
    EXPECT_EQ(end.settled, Seqs{1});
    EXPECT_EQ(seqs_of(end.tried), Seqs{2});
    EXPECT_EQ(queue.bytes(), 20);
    queue.connect();
    EXPECT_EQ(queue.take_due({}), (Seqs{2, 3}));
}

TEST(DeliveryQueue, AForwardWaitsForAGatewayThatWasCutOff) {  // relay-connector.md#going-idle
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1, EntryKind::passthrough);
    add(queue, 2);
    EXPECT_EQ(queue.take_due({}), (Seqs{1, 2}));
    queue.go_idle(at_second(1));
    EXPECT_TRUE(queue.is_idle_answer_due(at_second(2)));  // It is gone before it was told.
    const auto end = queue.disconnect({});
    EXPECT_EQ(end.settled, Seqs{});
    EXPECT_EQ(seqs_of(end.tried), (Seqs{1, 2}));
}

TEST(DeliveryQueue, NoMoreForwardsAreOutThanItsWindow) {
    DeliveryQueue queue({.passthrough_window = 2});
    for (std::int64_t seq = 1; seq < 5; ++seq) {
        add(queue, seq, EntryKind::passthrough);
    }
    queue.connect();
    EXPECT_EQ(queue.take_due({}), (Seqs{1, 2}));
    queue.settle(at_second(60));
    EXPECT_EQ(queue.take_due(at_second(60)), (Seqs{3, 4}));
}

TEST(DeliveryQueue, GoingIdleStopsWritingAndWaitsASecondForAcks) {  // relay-connector.md#going-idle
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1);
    queue.take_due({});
    queue.go_idle(at_second(10));
    add(queue, 2);
    EXPECT_EQ(queue.take_due(at_second(10)), Seqs{});
    EXPECT_FALSE(queue.is_idle_answer_due(at_second(10)));
    EXPECT_TRUE(queue.is_idle_answer_due(at_second(11)));
    EXPECT_FALSE(queue.has_forwards_out());
    queue.told_idle();
    EXPECT_FALSE(queue.is_idle_answer_due(at_second(12)));
    EXPECT_EQ(queue.acknowledge(1), Seqs{1});
    EXPECT_FALSE(queue.take_drained());
}

TEST(DeliveryQueue, GoingIdleIsAnsweredAtOnceWhenNothingIsOut) {
    DeliveryQueue queue;
    queue.connect();
    queue.go_idle(at_second(10));
    EXPECT_TRUE(queue.is_idle_answer_due(at_second(10)));
}

TEST(DeliveryQueue, IsFullByCountAndByBytes) {  // relay-connector.md#buffers
    DeliveryQueue queue({.entries_max = 2, .bytes_max = 25});
    EXPECT_TRUE(queue.fits(25));
    EXPECT_FALSE(queue.fits(26));
    add(queue, 1);
    EXPECT_TRUE(queue.fits(15));
    EXPECT_FALSE(queue.fits(16));
    add(queue, 2);
    EXPECT_FALSE(queue.fits(1));
}

TEST(DeliveryQueue, KnowsWhenAnAcknowledgementIsOverdueAndWhenEntriesAreTooOld) {
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1);
    add(queue, 2);
    queue.take_due(at_second(5));
    EXPECT_FALSE(queue.is_ack_overdue(at_second(304)));
    EXPECT_TRUE(queue.is_ack_overdue(at_second(305)));
    queue.disconnect({});
    EXPECT_FALSE(queue.is_ack_overdue(at_second(1000)));
    EXPECT_EQ(seqs_of(queue.expire(Timestamp{} + Duration::of_hours(167), 10)), Seqs{});
    EXPECT_EQ(seqs_of(queue.expire(Timestamp{} + Duration::of_days(7), 1)), Seqs{1});
    EXPECT_EQ(seqs_of(queue.expire(Timestamp{} + Duration::of_days(7), 10)), Seqs{2});
}

TEST(DeliveryQueue, DoesNotCountASocketThatTookNothing) {  // relay-connector.md#buffers
    DeliveryQueue queue;
    for (int socket = 0; socket < 4; ++socket) {
        queue.connect();
        if (socket == 0) {
            add(queue, 1);
            add(queue, 2, EntryKind::passthrough);
        }
        EXPECT_EQ(queue.take_due(at_second(socket)), (Seqs{1, 2}));
        queue.not_written(1);
        EXPECT_EQ(queue.outstanding(), 0u);
        EXPECT_EQ(queue.settle(at_second(1000)), Seqs{});
        const auto end = queue.disconnect({});
        EXPECT_TRUE(end.tried.empty());
        EXPECT_TRUE(end.dead.empty());
    }
    EXPECT_EQ(queue.size(), 2u);
}

TEST(DeliveryQueue, OwesAnIdleAnswerUntilItIsGiven) {  // relay-connector.md#going-idle
    DeliveryQueue queue;
    queue.connect();
    EXPECT_FALSE(queue.owes_idle_answer());
    queue.go_idle(at_second(1));
    EXPECT_TRUE(queue.owes_idle_answer());
    EXPECT_TRUE(queue.is_idle_answer_due(at_second(1)));
    queue.told_idle();
    EXPECT_FALSE(queue.owes_idle_answer());
    queue.disconnect({});
    queue.connect();
    queue.go_idle(at_second(2));
    queue.disconnect({});
    EXPECT_FALSE(queue.owes_idle_answer());
}

TEST(DeliveryQueue, NumbersGrowPastAClockThatStepsBack) {
    DeliveryQueue queue;
    EXPECT_EQ(queue.next_seq(Timestamp{1000}), 1000);
    add(queue, 1000);
    EXPECT_EQ(queue.next_seq(Timestamp{999}), 1001);
    queue.connect();
    queue.take_due({});
    queue.acknowledge(1000);
    EXPECT_EQ(queue.next_seq(Timestamp{5}), 1001);
}

// I8 on the machine: whatever happens, in whatever order, an entry is either waiting or has ended
// in exactly one way, and nothing ended is ever written again.
TEST(DeliveryQueue, LosesNothingAndRepeatsNothingAcknowledged) {
    const bool holds = rc::check([] {
        DeliveryQueue queue({.live_window = 3, .passthrough_window = 2});
        std::set<std::int64_t> waiting;
        std::set<std::int64_t> ended;
        Seqs out;
        std::int64_t last_on_socket = 0;
        Timestamp now{1};
        const auto end = [&](const Seqs& seqs) {
            for (const std::int64_t seq : seqs) {
                RC_ASSERT(waiting.erase(seq) == 1);
                RC_ASSERT(ended.insert(seq).second);
            }
        };
        const int steps = *rc::gen::inRange(1, 200);
        for (int step = 0; step < steps; ++step) {
            now = now + Duration::of_seconds(*rc::gen::inRange(0, 20));
            switch (*rc::gen::inRange(0, 8)) {
                case 0:
                case 1: {
                    const std::int64_t seq = queue.next_seq(now);
                    add(queue,
                        seq,
                        *rc::gen::inRange(0, 3) == 0 ? EntryKind::passthrough : EntryKind::inbound);
                    waiting.insert(seq);
                    break;
                }
                case 2:
                    if (!queue.is_connected()) {
                        queue.connect();
                        last_on_socket = 0;
                        out.clear();
                    }
                    break;
                case 3:
                    if (queue.is_connected()) {
                        const auto over = queue.disconnect(now);
                        end(seqs_of(over.dead));
                        end(over.settled);
                    }
                    break;
                case 4:
                    if (!out.empty()) {
                        end(queue.acknowledge(out[*rc::gen::inRange<std::size_t>(0, out.size())]));
                    }
                    break;
                case 5:
                    end(queue.settle(now));
                    break;
                case 6:
                    queue.go_idle(now);
                    if (queue.is_idle_answer_due(now)) {
                        queue.told_idle();
                    }
                    break;
                default:
                    for (const std::int64_t seq : queue.take_due(now)) {
                        RC_ASSERT(seq > last_on_socket);
                        RC_ASSERT(waiting.contains(seq));
                        last_on_socket = seq;
                        out.push_back(seq);
                    }
            }
            RC_ASSERT(queue.size() == waiting.size());
            RC_ASSERT(queue.bytes() == static_cast<std::int64_t>(10 * waiting.size()));
        }
    });
    EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace interlock
