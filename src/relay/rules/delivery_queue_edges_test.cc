// The delivery queue where one entry more, one moment later or the last of a list decides. Each
// case is one that a small change of the queue got past the other tests.
#include <gtest/gtest.h>

#include "relay/rules/delivery_queue.h"

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

TEST(DeliveryQueueEdges, WithoutASocketNothingIsWrittenDrainedOrIdle) {
    DeliveryQueue queue;
    add(queue, 1);
    const auto is_still = [&queue] {
        return queue.take_due({}).empty() && !queue.is_draining() && !queue.take_drained();
    };
    EXPECT_TRUE(is_still());
    queue.go_idle(at_second(1));
    EXPECT_FALSE(queue.owes_idle_answer());
    queue.connect();
    EXPECT_TRUE(queue.is_draining());
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    queue.disconnect({});
    EXPECT_TRUE(is_still());
}

// relay-connector.md#forwards
TEST(DeliveryQueueEdges, ABacklogIsDoneWhenItsLastForwardIsWritten) {
    DeliveryQueue queue({.passthrough_window = 1});
    add(queue, 1, EntryKind::passthrough);
    add(queue, 2, EntryKind::passthrough);
    queue.connect();
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    EXPECT_FALSE(queue.take_drained());
    queue.settle(at_second(60));
    EXPECT_EQ(queue.take_due({}), Seqs{2});
    EXPECT_FALSE(queue.is_draining());
    add(queue, 3);
    EXPECT_FALSE(queue.is_draining());
    EXPECT_TRUE(queue.take_drained());
}

TEST(DeliveryQueueEdges, TheBacklogIsWhatTheSocketFound) {
    DeliveryQueue queue;
    queue.connect();
    EXPECT_TRUE(queue.take_drained());
    add(queue, 1);
    EXPECT_FALSE(queue.is_draining());
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    reconnect(queue);
    EXPECT_TRUE(queue.is_draining());
    EXPECT_FALSE(queue.take_drained());
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    queue.acknowledge(1);
    EXPECT_TRUE(queue.take_drained());
}

TEST(DeliveryQueueEdges, CountsWhatIsOutOfBothKinds) {
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1);
    add(queue, 2, EntryKind::passthrough);
    EXPECT_EQ(queue.outstanding(), 0u);
    queue.take_due({});
    add(queue, 3);
    EXPECT_EQ(queue.outstanding(), 2u);
    EXPECT_TRUE(queue.has_forwards_out());
}

TEST(DeliveryQueueEdges, WhatASocketDidNotTakeComesNextOnIt) {
    DeliveryQueue queue;
    queue.connect();
    for (std::int64_t seq = 1; seq < 5; ++seq) {
        add(queue, seq);
    }
    queue.take_due({});
    queue.not_written(4);
    EXPECT_EQ(queue.outstanding(), 3u);
    EXPECT_FALSE(queue.find(4)->written_at.has_value());
    EXPECT_TRUE(queue.find(3)->written_at.has_value());
    EXPECT_EQ(queue.take_due({}), Seqs{4});
    add(queue, 5);
    queue.not_written(5);  // It never was.
    EXPECT_EQ(queue.outstanding(), 4u);
    EXPECT_EQ(queue.take_due({}), Seqs{5});
    queue.not_written(3);
    EXPECT_EQ(queue.acknowledge(5), Seqs{});
    EXPECT_EQ(queue.take_due({}), (Seqs{3, 4, 5}));
}

TEST(DeliveryQueueEdges, WhatIsGoneIsNotFoundAcknowledgedOrTriedAgain) {
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1);
    add(queue, 2);
    add(queue, 3);
    EXPECT_EQ(queue.take_due({}), (Seqs{1, 2, 3}));
    for (const std::int64_t seq : {2, 3}) {  // Before another, and as the last.
        EXPECT_EQ(queue.acknowledge(seq), Seqs{seq});
        EXPECT_EQ(queue.acknowledge(seq), Seqs{});
        EXPECT_EQ(queue.find(seq), nullptr);
    }
    EXPECT_EQ(queue.find(1)->seq, 1);
    EXPECT_EQ(queue.settle(at_second(1000)), Seqs{});
    queue.not_written(2);
    EXPECT_EQ(seqs_of(queue.disconnect({}).tried), Seqs{1});
    EXPECT_EQ(queue.bytes(), 10);
}

// relay-connector.md#forwards
TEST(DeliveryQueueEdges, AnAcknowledgementSettlesTheForwardsBeforeItOnly) {
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1, EntryKind::passthrough);
    add(queue, 2);
    add(queue, 3, EntryKind::passthrough);
    add(queue, 4);
    queue.take_due({});
    EXPECT_EQ(queue.acknowledge(4), (Seqs{4, 1, 3}));
    EXPECT_EQ(queue.size(), 1u);
    EXPECT_EQ(queue.bytes(), 10);
    EXPECT_EQ(queue.acknowledge(2), Seqs{2});
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_EQ(queue.bytes(), 0);
}

// relay-connector.md#forwards
TEST(DeliveryQueueEdges, TheLastForwardIsSettledByTheAcknowledgementBehindIt) {
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1, EntryKind::passthrough);
    add(queue, 2);
    queue.take_due({});
    EXPECT_EQ(queue.acknowledge(2), (Seqs{2, 1}));
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_EQ(queue.bytes(), 0);
}

TEST(DeliveryQueueEdges, SettlesForwardsThatWereWrittenLongAgoAndNothingElse) {
    DeliveryQueue queue({.live_window = 1});
    queue.connect();
    add(queue, 1);
    add(queue, 2, EntryKind::passthrough);
    add(queue, 3);
    add(queue, 4, EntryKind::passthrough);
    EXPECT_EQ(queue.take_due(at_second(10)), (Seqs{1, 2}));
    EXPECT_EQ(queue.settle(at_second(69)), Seqs{});
    EXPECT_EQ(queue.settle(at_second(70)), Seqs{2});
    EXPECT_EQ(queue.size(), 3u);
    EXPECT_EQ(queue.bytes(), 30);
}

TEST(DeliveryQueueEdges, OnlyAWrittenMessageIsEverOverdue) {
    DeliveryQueue queue({.live_window = 1});
    queue.connect();
    add(queue, 1, EntryKind::passthrough);
    queue.take_due({});
    EXPECT_FALSE(queue.is_ack_overdue(at_second(1000)));
    add(queue, 2);
    EXPECT_FALSE(queue.is_ack_overdue(at_second(1000)));
    queue.take_due(at_second(5));
    EXPECT_FALSE(queue.is_ack_overdue(at_second(304)));
    EXPECT_TRUE(queue.is_ack_overdue(at_second(305)));
    queue.not_written(2);
    EXPECT_FALSE(queue.is_ack_overdue(at_second(1000)));
}

TEST(DeliveryQueueEdges, NothingGrowsTooOldWhileItIsOnTheSocket) {
    DeliveryQueue queue({.drain_window = 8});
    queue.connect();
    add(queue, 1);
    add(queue, 2);
    queue.take_due({});
    const Timestamp late = Timestamp{} + Duration::of_days(8);
    EXPECT_EQ(seqs_of(queue.expire(late, 10)), Seqs{});
    queue.not_written(1);
    EXPECT_EQ(seqs_of(queue.expire(late, 10)), (Seqs{1, 2}));
    EXPECT_EQ(seqs_of(queue.expire(late, 10)), Seqs{});
    EXPECT_EQ(queue.bytes(), 0);
}

TEST(DeliveryQueueEdges, GoesIdleOnceOnASocketAndAnewOnTheNext) {  // relay-connector.md#going-idle
    DeliveryQueue queue;
    queue.connect();
    add(queue, 1);
    queue.take_due({});
    queue.go_idle(at_second(10));
    queue.go_idle(at_second(11));  // The wait does not begin again.
    EXPECT_TRUE(queue.is_idle_answer_due(at_second(11)));
    queue.told_idle();
    queue.go_idle(at_second(12));
    EXPECT_FALSE(queue.owes_idle_answer());
    reconnect(queue);
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    queue.go_idle(at_second(20));
    EXPECT_TRUE(queue.owes_idle_answer());
    EXPECT_FALSE(queue.is_idle_answer_due(at_second(20)));
    EXPECT_EQ(queue.disconnect({}).settled, Seqs{});
}

TEST(DeliveryQueueEdges, AFarewellCountsForItsOwnSocketOnly) {  // relay-connector.md#going-idle
    DeliveryQueue queue;
    queue.connect();
    queue.go_idle(at_second(1));
    queue.told_idle();
    reconnect(queue);
    add(queue, 1, EntryKind::passthrough);
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    const auto end = queue.disconnect({});
    EXPECT_EQ(end.settled, Seqs{});
    EXPECT_EQ(seqs_of(end.tried), Seqs{1});
}

TEST(DeliveryQueueEdges, AfterItIsClearedItIsAsNew) {
    DeliveryQueue queue({.entries_max = 2, .bytes_max = 20});
    add(queue, 1);
    add(queue, 2);
    queue.connect();
    queue.take_due({});
    EXPECT_EQ(queue.clear(), (Seqs{1, 2}));
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_EQ(queue.bytes(), 0);
    EXPECT_EQ(queue.front(), nullptr);
    EXPECT_EQ(queue.outstanding(), 0u);
    EXPECT_TRUE(queue.fits(20));
    EXPECT_EQ(queue.next_seq(Timestamp{1}), 3);
}

// relay-connector.md#going-idle
TEST(DeliveryQueueEdges, AGatewayThatLeavesSettlesWhatItGotAndTriesNothingElse) {
    DeliveryQueue queue({.live_window = 1, .passthrough_window = 1});
    queue.connect();
    add(queue, 1, EntryKind::passthrough);
    add(queue, 2, EntryKind::passthrough);
    EXPECT_EQ(queue.take_due({}), Seqs{1});
    queue.go_idle(at_second(1));
    queue.told_idle();
    const auto end = queue.disconnect({});
    EXPECT_EQ(end.settled, Seqs{1});
    EXPECT_EQ(seqs_of(end.tried), Seqs{});
    EXPECT_EQ(queue.find(2)->attempts, 0);
}

}  // namespace
}  // namespace interlock
