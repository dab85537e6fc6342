// Forwards, which no gateway has to acknowledge, and gateways that go idle with some of them out.
#include <gtest/gtest.h>

#include "relay/service/relay_delivery.h"
#include "testing/relay_world.h"

namespace interlock {
namespace {

PlatformArrival command(const std::string& id) {
    PlatformArrival arrival = RelayWorld::message("ann", id);
    arrival.forward = PassthroughForward{"local", "bot", "POST", "/", {}, "body", {}};
    return arrival;
}

struct DeliveryIdleTest : testing::Test {
    DeliveryIdleTest() {
        world.add_instance("i1");
        world.bind("ann", "i1");
    }
    RelayWorld world;
};

TEST_F(DeliveryIdleTest, AForwardThatWasLaidAsideIsStillAForward) {  // relay-connector.md#forwards
    world.submit(command("m1"));
    world.pass(Duration::of_days(7));
    const auto dead = world.store.read_dead_letters("i1", {"i1", 0}, 1);
    ASSERT_EQ(dead->size(), 1u);
    EXPECT_EQ(dead->front().entry.kind, EntryKind::passthrough);
    EXPECT_EQ(dead->front().entry.at, FakeClock::kNoon);
    world.change([&](RelayTurn& turn) {
        EXPECT_EQ(world.delivery.requeue_dead(turn, {.instance_id = "i1"})->done, 1);
    });
    auto gateway = world.connect("i1");
    const auto frames = gateway.socket->take_frames();
    ASSERT_EQ(frames.size(), 2u);
    ASSERT_TRUE(std::holds_alternative<PassthroughForwardFrame>(frames[1]));
    EXPECT_EQ(std::get<PassthroughForwardFrame>(frames[1]).forward.body, "body");
}

// Seen with the real client: it acknowledges no forward, and "/restart" came again and again.
// relay-connector.md#going-idle
TEST_F(DeliveryIdleTest, ACommandDoesNotComeAgainToAGatewayThatWentIdle) {
    auto gateway = world.connect("i1");
    world.submit(command("m1"));
    ASSERT_EQ(gateway.socket->take_frames().size(), 2u);
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    EXPECT_TRUE(world.store.load_buffer_heads()->empty());
    EXPECT_EQ(world.delivery.counters().settled, 1);
    auto again = world.connect("i1");
    EXPECT_EQ(again.socket->take_frames().size(), 1u);  // The descriptor.
}

// relay-connector.md#going-idle
TEST_F(DeliveryIdleTest, ACommandComesAgainToAGatewayThatWasCutOffWhileItWentIdle) {
    auto gateway = world.connect("i1");
    world.submit(command("m1"));
    gateway.socket->is_broken = true;  // It asked, and no answer reaches it any more.
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    EXPECT_EQ(world.delivery.counters().settled, 0);
    auto again = world.connect("i1");
    const auto frames = again.socket->take_frames();
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<PassthroughForwardFrame>(frames[1]));
}

// A gateway leaves when it reads the answer, and what is behind that is lost.
// relay-connector.md#going-idle
TEST_F(DeliveryIdleTest, NoGatewayIsLetGoBeforeACommandThatWaitsUnsent) {
    auto gateway = world.connect("i1");
    gateway.socket->take_frames();
    gateway.socket->is_slow = true;
    world.submit(command("m1"));
    world.say(gateway, GoingIdleFrame{});
    auto frames = gateway.socket->take_frames();
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<PassthroughForwardFrame>(frames[0]));
    EXPECT_TRUE(std::holds_alternative<GoingIdleAckFrame>(frames[1]));
}

// relay-connector.md#sockets
TEST_F(DeliveryIdleTest, AGatewayIsLetGoBeforeMessagesThatWaitUnsent) {
    auto gateway = world.connect("i1");
    gateway.socket->take_frames();
    gateway.socket->is_slow = true;
    world.submit(RelayWorld::message("ann", "m1"));
    world.say(gateway, GoingIdleFrame{});
    world.pass(Duration::of_seconds(1));
    auto frames = gateway.socket->take_frames();
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<GoingIdleAckFrame>(frames[0]));
    world.hang_up(gateway);
    auto again = world.connect("i1");
    const auto came = again.socket->take_inbound();
    ASSERT_EQ(came.size(), 1u);
    EXPECT_EQ(came[0].first, "text m1");
}

}  // namespace
}  // namespace interlock
