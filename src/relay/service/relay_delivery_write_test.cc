// What is due together goes to the socket together: several lines in one message.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "testing/relay_world.h"

namespace interlock {
namespace {

using Texts = std::vector<std::string>;

struct DeliveryWriteTest : testing::Test {
    DeliveryWriteTest() {
        world.add_instance("i1");
        world.bind("ann", "i1");
    }
    // All of them in one batch of the lane.
    void send(int count, std::size_t text_bytes = 20) {
        for (int i = 0; i < count; ++i) {
            PlatformArrival arrival = RelayWorld::message("ann", "m" + std::to_string(++sent));
            arrival.event.event.text.resize(text_bytes, 'x');
            world.inbound.submit(std::move(arrival), [](const InboxAnswer&) {});
        }
        world.settle();
    }
    // With nothing remembered of its hello.
    RelayWorld::Gateway connect() {
        RelayWorld::Gateway gateway = world.connect("i1");
        gateway.socket->take_frames();
        gateway.socket->message_bytes.clear();
        return gateway;
    }
    // Acknowledges whole windows as they come, and says which messages came.
    Texts drain(const RelayWorld::Gateway& gateway) {
        Texts ids;
        for (auto came = gateway.socket->take_inbound(); !came.empty();
             came = gateway.socket->take_inbound()) {
            for (const auto& [text, buffer_id] : came) {
                ids.push_back(text.substr(5, text.find('x', 5) - 5));
                CHECK(world.desk.take(gateway.session, InboundAckFrame{buffer_id}, [] {}));
            }
            world.settle();
        }
        return ids;
    }
    static std::size_t bytes_in(const std::vector<std::string>& lines) {
        return std::accumulate(
            lines.begin(), lines.end(), std::size_t{0}, [](std::size_t sum, const auto& line) {
                return sum + line.size();
            });
    }

    RelayWorld world;
    int sent = 0;
};

// relay-connector.md#sockets
TEST_F(DeliveryWriteTest, AWindowOfMessagesLeavesInOneMessageOfTheSocket) {
    const auto gateway = connect();
    send(10);
    EXPECT_EQ(gateway.socket->message_bytes.size(), 1u);
    EXPECT_EQ(gateway.socket->take_inbound().size(), 8u);
    EXPECT_EQ(world.delivery.counters().written, 8);
}

TEST_F(DeliveryWriteTest, EachLineKeepsItsOwnBufferIdAndItsPlace) {  // relay-connector.md#buffers
    const auto gateway = connect();
    send(3);
    const auto came = gateway.socket->take_inbound();
    ASSERT_EQ(came.size(), 3u);
    EXPECT_TRUE(came[0].first.starts_with("text m1x"));
    EXPECT_TRUE(came[1].first.starts_with("text m2x"));
    EXPECT_TRUE(came[2].first.starts_with("text m3x"));
    world.ack(gateway, came[1].second);
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).waiting, 2u);
}

TEST_F(DeliveryWriteTest, AJoinedMessageStaysWithinItsBound) {
    const auto gateway = connect();
    send(8, 12'000);
    const std::vector<std::size_t> bytes = gateway.socket->message_bytes;
    EXPECT_EQ(bytes.size(), 4u);  // Two lines of twelve thousand each.
    EXPECT_LE(std::ranges::max(bytes), kJoinedBytesMax);
    EXPECT_EQ(gateway.socket->lines.size(), 8u);
    EXPECT_EQ(bytes_in(gateway.socket->lines), std::accumulate(bytes.begin(), bytes.end(), 0ul));
}

TEST_F(DeliveryWriteTest, ALineBeyondTheBoundGoesAlone) {
    const auto gateway = connect();
    send(1);
    send(1, kJoinedBytesMax);
    send(1);
    EXPECT_EQ(gateway.socket->message_bytes.size(), 3u);
    EXPECT_EQ(gateway.socket->take_inbound().size(), 3u);
}

// relay-connector.md#buffers
TEST_F(DeliveryWriteTest, AMessageThatTheSocketRefusesCountsForNoneOfItsLines) {
    const auto broken = connect();
    broken.socket->is_broken = true;
    send(3);
    world.hang_up(broken);
    EXPECT_EQ(world.delivery.counters().written, 0);
    EXPECT_EQ(drain(world.connect("i1")), (Texts{"m1", "m2", "m3"}));
    EXPECT_EQ(world.delivery.counters().written_again, 0);
}

TEST_F(DeliveryWriteTest, WhatIsBeforeAnUnreadableEntryIsWrittenAndNothingBehindIt) {
    const auto gateway = connect();
    // Eight are out and the texts of the next 32 are in memory; the last eight are read.
    const int in_memory = 8 + static_cast<int>(kHotTextsMax);
    send(in_memory + 8);
    const auto waiting = world.store.load_buffer_heads();
    ASSERT_TRUE(waiting);
    RelayCommit loss;
    loss.acknowledged.push_back({"i1", waiting->at(static_cast<std::size_t>(in_memory) + 2).seq});
    ASSERT_TRUE(world.store.commit(loss));
    EXPECT_EQ(drain(gateway).size(), static_cast<std::size_t>(in_memory) + 2);
    EXPECT_EQ(gateway.socket->close_code, kCloseTryLater);
}

}  // namespace
}  // namespace interlock
