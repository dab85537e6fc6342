// The delivery leg against a store in memory: what sockets see, and what a restart finds.
#include "relay/service/relay_delivery.h"

#include <gtest/gtest.h>

#include "testing/relay_world.h"

namespace interlock {
namespace {

constexpr std::int64_t kDay = Duration::of_days(1).microseconds;

using Texts = std::vector<std::string>;

Texts texts_of(RecordingSocket& socket) {
    Texts texts;
    for (auto& [text, id] : socket.take_inbound()) {
        texts.push_back(text);
    }
    return texts;
}

// Acknowledges everything as it comes, and says what came.
Texts drain(RelayWorld& world, const RelayWorld::Gateway& gateway) {
    Texts texts;
    for (auto came = gateway.socket->take_inbound(); !came.empty();
         came = gateway.socket->take_inbound()) {
        for (auto& [text, id] : came) {
            texts.push_back(text);
            world.ack(gateway, id);
        }
    }
    return texts;
}

struct DeliveryTest : testing::Test {
    DeliveryTest() {
        world.add_instance("i1");
        world.bind("ann", "i1");
    }
    void send(const std::string& id) { world.submit(RelayWorld::message("ann", id)); }
    RelayWorld world;
};

TEST_F(DeliveryTest, MoreIdentitiesThanASocketMayHaveAreRefused) {  // relay-connector.md#buffers
    auto gateway = world.dial("i1");
    for (std::size_t i = 0; i < kSessionIdentitiesMax; ++i) {
        world.say(gateway, HelloFrame{"local", "bot" + std::to_string(i), {}});
    }
    world.say(gateway, HelloFrame{"local", "bot0", {}});  // A repeated one is no other.
    EXPECT_EQ(gateway.socket->take_frames().size(), kSessionIdentitiesMax + 1);
    EXPECT_EQ(gateway.socket->close_code, 0);
    world.say(gateway, HelloFrame{"local", "one more", {}});
    EXPECT_TRUE(gateway.socket->take_frames().empty());
    EXPECT_EQ(gateway.socket->close_code, kCloseProtocol);
}

TEST_F(DeliveryTest, AHelloIsAnsweredWithADescriptorForEachIdentity) {  // relay-connector.md#hello
    auto gateway = world.dial("i1");
    EXPECT_TRUE(gateway.socket->lines.empty());
    world.say(gateway, HelloFrame{"local", "bot", {}});
    world.say(gateway, HelloFrame{"telegram", "b2", {}});
    const auto frames = gateway.socket->take_frames();
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(std::get<DescriptorFrame>(frames[0]).descriptor.platform, "local");
    EXPECT_EQ(std::get<DescriptorFrame>(frames[1]).descriptor.platform, "telegram");
}

// relay-connector.md#buffers
TEST_F(DeliveryTest, ALiveInstanceGetsItsMessageAtOnceWithABufferId) {
    auto gateway = world.connect("i1");
    send("m1");
    const auto came = gateway.socket->take_inbound();
    ASSERT_EQ(came.size(), 1u);
    EXPECT_EQ(came[0].first, "text m1");
    EXPECT_FALSE(came[0].second.empty());
    world.ack(gateway, came[0].second);
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).waiting, 0u);
    EXPECT_EQ(world.delivery.counters().acknowledged, 1);
}

TEST_F(DeliveryTest, WhatCameWhileNobodyListenedIsDrainedInOrder) {  // relay-connector.md#buffers
    send("m1");
    send("m2");
    send("m3");
    auto gateway = world.connect("i1");
    EXPECT_EQ(drain(world, gateway), (Texts{"text m1", "text m2", "text m3"}));
}

TEST_F(DeliveryTest, AGatewayThatDiesWithoutGoingIdleLosesNothing) {  // I8
    auto first = world.connect("i1");
    send("m1");
    send("m2");
    auto came = first.socket->take_inbound();
    ASSERT_EQ(came.size(), 2u);
    world.ack(first, came[0].second);
    world.hang_up(first);
    send("m3");
    auto second = world.connect("i1");
    EXPECT_EQ(drain(world, second), (Texts{"text m2", "text m3"}));
    EXPECT_EQ(world.delivery.counters().written_again, 1);
}

TEST_F(DeliveryTest, ARestartFindsEveryMessageThatWasNotAcknowledged) {  // I8
    auto gateway = world.connect("i1");
    send("m1");
    send("m2");
    world.ack(gateway, gateway.socket->take_inbound()[0].second);
    RelayWorld after(world.store.take_contents());
    auto again = after.connect("i1");
    EXPECT_EQ(drain(after, again), Texts{"text m2"});
    EXPECT_EQ(after.delivery.view(*after.state.instances.get("i1")).epoch, 2);
}

TEST_F(DeliveryTest, TheNewestHelloFencesTheOlderSocket) {  // relay-connector.md#sockets
    auto older = world.connect("i1");
    send("m1");
    const std::string id = older.socket->take_inbound()[0].second;
    auto newer = world.connect("i1");
    EXPECT_EQ(older.socket->close_code, kCloseFenced);
    EXPECT_EQ(texts_of(*newer.socket), Texts{"text m1"});
    world.ack(older, id);  // A fenced socket is not believed.
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).waiting, 1u);
    world.hang_up(older);
    send("m2");
    world.ack(newer, id);
    EXPECT_EQ(texts_of(*newer.socket), Texts{"text m2"});
}

// relay-connector.md#going-idle
TEST_F(DeliveryTest, GoingIdleIsAnsweredAfterTheFlipAndBuffersFromThen) {
    auto gateway = world.connect("i1");
    gateway.socket->take_frames();
    world.say(gateway, GoingIdleFrame{});
    const auto frames = gateway.socket->take_frames();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<GoingIdleAckFrame>(frames[0]));
    send("m1");
    EXPECT_TRUE(gateway.socket->take_frames().empty());
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).health, "idle");
    world.hang_up(gateway);
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).health, "asleep");
    auto again = world.connect("i1");
    EXPECT_TRUE(world.state.instances.get("i1")->is_flipped);  // Until the backlog is acknowledged.
    EXPECT_EQ(drain(world, again), Texts{"text m1"});
    EXPECT_FALSE(world.state.instances.get("i1")->is_flipped);
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).health, "live");
}

TEST_F(DeliveryTest, GoingIdleWaitsASecondForWhatIsOut) {  // relay-connector.md#going-idle
    auto gateway = world.connect("i1");
    send("m1");
    gateway.socket->take_frames();
    world.say(gateway, GoingIdleFrame{});
    EXPECT_TRUE(gateway.socket->take_frames().empty());
    world.pass(Duration::of_seconds(1));
    ASSERT_EQ(gateway.socket->take_frames().size(), 1u);
}

TEST_F(DeliveryTest, TellsAsleepFromDead) {  // relay-connector.md#health
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).health, "new");
    auto gateway = world.connect("i1");
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).health, "live");
    world.hang_up(gateway);
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).health, "dead");
}

// relay-connector.md#buffers
TEST_F(DeliveryTest, AnEntryThatThreeSocketsDoNotAcknowledgeBecomesADeadLetter) {
    send("m1");
    send("m2");
    for (int socket = 0; socket < 3; ++socket) {
        auto gateway = world.connect("i1");
        EXPECT_EQ(texts_of(*gateway.socket), Texts{"text m1"});
        world.hang_up(gateway);
        world.pass(Duration::of_minutes(1));
    }
    auto gateway = world.connect("i1");
    EXPECT_EQ(texts_of(*gateway.socket), Texts{"text m2"});
    const auto dead = world.store.read_dead_letters("i1", {"i1", 0}, 10);
    ASSERT_TRUE(dead);
    ASSERT_EQ(dead->size(), 1u);
    EXPECT_EQ(dead->front().reason, "not_acknowledged");
    EXPECT_NE(dead->front().entry.text.find("text m1"), std::string::npos);
}

// Seen from outside: three drops within 1.3 seconds laid a message aside that nothing was wrong
// with.
TEST_F(DeliveryTest, ANetworkThatFlapsLaysNothingAside) {  // relay-connector.md#buffers
    send("m1");
    for (int socket = 0; socket < 30; ++socket) {
        world.hang_up(world.connect("i1"));
        world.pass(Duration::of_milliseconds(400));
    }
    EXPECT_TRUE(world.store.load_dead_letters()->empty());
    EXPECT_EQ(world.store.load_buffer_heads()->front().attempts, 1);
    auto gateway = world.connect("i1");
    EXPECT_EQ(drain(world, gateway), Texts{"text m1"});
}

TEST_F(DeliveryTest, ARestartDoesNotBringADeadLetterNearer) {  // relay-connector.md#buffers
    send("m1");
    for (int socket = 0; socket < 2; ++socket) {
        world.hang_up(world.connect("i1"));
        world.pass(Duration::of_minutes(1));
    }
    RelayWorld after(world.store.take_contents(), {}, world.clock.now());
    after.hang_up(after.connect("i1"));
    EXPECT_TRUE(after.store.load_dead_letters()->empty());
    after.pass(Duration::of_minutes(1));
    after.hang_up(after.connect("i1"));
    EXPECT_EQ(after.store.load_dead_letters()->size(), 1u);
}

TEST_F(DeliveryTest, ADeadLetterCanBeDeliveredAfterAll) {
    send("m1");
    for (int socket = 0; socket < 3; ++socket) {
        world.hang_up(world.connect("i1"));
        world.pass(Duration::of_minutes(1));
    }
    const std::int64_t seq = world.store.read_dead_letters("i1", {"i1", 0}, 1)->front().entry.seq;
    world.change([&](RelayTurn& turn) {
        const auto requeue = [&](std::int64_t which) {
            return world.delivery.requeue_dead(turn, {.instance_id = "i1", .seq = which})->done;
        };
        EXPECT_EQ(requeue(seq), 1);
        EXPECT_EQ(requeue(seq + 1), 0);
        EXPECT_EQ(requeue(seq), 0);  // Nor twice in one batch, whose store still has it.
    });
    auto gateway = world.connect("i1");
    EXPECT_EQ(drain(world, gateway), Texts{"text m1"});
    EXPECT_TRUE(world.store.read_dead_letters("i1", {"i1", 0}, 1)->empty());
}

// relay-connector.md#buffers
TEST_F(DeliveryTest, SocketsThatTakeNothingDoNotUseUpAMessagesChances) {
    send("m1");
    for (int socket = 0; socket < 4; ++socket) {
        auto broken = world.dial("i1");
        broken.socket->is_broken = true;
        world.say(broken, HelloFrame{"local", "bot", {}});
        world.hang_up(broken);
    }
    EXPECT_EQ(world.delivery.counters().written, 0);
    auto gateway = world.connect("i1");
    EXPECT_EQ(drain(world, gateway), Texts{"text m1"});
}

// relay-connector.md#bounds-of-an-instance
TEST(Delivery, OverflowGoesToTheDeadLettersUntilTheBufferIsEmpty) {
    RelayWorld world({}, {.entries_max = 2});
    world.add_instance("i1");
    world.bind("ann", "i1");
    for (const char* id : {"m1", "m2", "m3"}) {
        EXPECT_TRUE((*world.submit(RelayWorld::message("ann", id)))->is_stored);
    }
    auto gateway = world.connect("i1");
    const auto came = gateway.socket->take_inbound();
    ASSERT_EQ(came.size(), 1u);
    world.ack(gateway, came[0].second);
    world.submit(RelayWorld::message("ann", "m4"));  // There is room, but m3 is ahead of it.
    EXPECT_EQ(drain(world, gateway), Texts{"text m2"});
    world.submit(RelayWorld::message("ann", "m5"));
    EXPECT_EQ(drain(world, gateway), Texts{"text m5"});
    const auto dead = world.store.read_dead_letters("i1", {"i1", 0}, 10);
    ASSERT_EQ(dead->size(), 2u);
    EXPECT_NE((*dead)[0].entry.text.find("text m3"), std::string::npos);
    EXPECT_NE((*dead)[1].entry.text.find("text m4"), std::string::npos);
}

// relay-connector.md#buffers
TEST_F(DeliveryTest, ASocketThatAcknowledgesNothingIsClosedAfterFiveMinutes) {
    auto gateway = world.connect("i1");
    send("m1");
    world.pass(Duration::of_seconds(299));
    EXPECT_EQ(gateway.socket->close_code, 0);
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(gateway.socket->close_code, kCloseTryLater);
}

TEST_F(DeliveryTest, ASocketThatSaysNoHelloIsClosed) {
    auto gateway = world.dial("i1");
    world.pass(Duration::of_seconds(29));
    EXPECT_EQ(gateway.socket->close_code, 0);
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(gateway.socket->close_code, kCloseProtocol);
}

TEST_F(DeliveryTest, EntriesPastTheirLifeBecomeDeadLetters) {  // relay-connector.md#buffers
    send("m1");
    world.pass(Duration::of_days(7));
    const auto dead = world.store.read_dead_letters("i1", {"i1", 0}, 10);
    ASSERT_EQ(dead->size(), 1u);
    EXPECT_EQ(dead->front().reason, "expired");
    EXPECT_EQ(world.delivery.view(*world.state.instances.get("i1")).waiting, 0u);
}

// relay-connector.md#interrupts
TEST_F(DeliveryTest, AnInterruptReachesTheInstanceThatRunsTheSession) {
    world.add_instance("i2");
    auto runner = world.connect("i1");
    auto other = world.connect("i2");
    send("m1");
    runner.socket->take_frames();
    other.socket->take_frames();
    world.say(other, InterruptFrame{"agent:main:local:dm:dm:ann", "stop"});
    const auto frames = runner.socket->take_frames();
    ASSERT_EQ(frames.size(), 1u);
    const auto& interrupt = std::get<InterruptInboundFrame>(frames[0]);
    EXPECT_EQ(interrupt.session_key, "agent:main:local:dm:dm:ann");
    EXPECT_EQ(interrupt.chat_id, "dm:ann");
    const auto records = world.store.ledger().read_ledger(TenantId::trusted("t1"), 0, 100);
    EXPECT_NE(records->back().canonical_json.find("gateway:gw-i2"), std::string::npos);
    EXPECT_TRUE(other.socket->take_frames().empty());
}

TEST_F(DeliveryTest, AnInterruptOfAnotherTenantsSessionReachesNobody) {  // I7
    world.add_instance("x1", "t2");
    auto runner = world.connect("i1");
    auto stranger = world.connect("x1");
    send("m1");
    runner.socket->take_frames();
    world.say(stranger, InterruptFrame{"agent:main:local:dm:dm:ann", ""});
    EXPECT_TRUE(runner.socket->take_frames().empty());
}

// relay-connector.md#wake
TEST_F(DeliveryTest, ASleeperWithMailIsPokedOnceAMinuteAtMostAndLessAndLess) {
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    world.pass(Duration::of_seconds(5));
    EXPECT_TRUE(world.waker.calls.empty());  // No mail.
    send("m1");
    world.pass(Duration::of_seconds(1));
    ASSERT_EQ(world.waker.calls.size(), 1u);
    EXPECT_EQ(world.waker.calls[0].url, "http://wake.example/i1");
    send("m2");
    world.pass(Duration::of_seconds(59));
    EXPECT_EQ(world.waker.calls.size(), 1u);
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(world.waker.calls.size(), 2u);
    world.pass(Duration::of_seconds(119));
    EXPECT_EQ(world.waker.calls.size(), 2u);
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(world.waker.calls.size(), 3u);
}

// Whoever was awake for less than a second is poked as a new sleeper is.
TEST_F(DeliveryTest, AShortWhileAwakeEndsTheLongPauses) {  // relay-connector.md#wake
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m1");
    for (int minute = 0; minute < 9; ++minute) {
        world.pass(Duration::of_minutes(1));
    }
    EXPECT_EQ(world.waker.calls.size(), 4u);  // In minutes 1, 2, 4 and 8.
    gateway = world.connect("i1");
    EXPECT_EQ(drain(world, gateway), Texts{"text m1"});
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m2");
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(world.waker.calls.size(), 5u);
}

TEST_F(DeliveryTest, APokeIsGivenUpAfterADay) {  // relay-connector.md#wake
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m1");
    for (int hour = 0; hour < 30; ++hour) {
        world.pass(Duration::of_hours(1));
    }
    const std::size_t calls = world.waker.calls.size();
    EXPECT_GT(calls, 20u);
    EXPECT_EQ(world.wake.counters().given_up, 1);
    world.pass(Duration::of_hours(5));
    EXPECT_EQ(world.waker.calls.size(), calls);
}

TEST_F(DeliveryTest, ARestartPokesNobodyEarly) {  // relay-connector.md#wake
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m1");
    for (int minute = 0; minute < 9; ++minute) {
        world.pass(Duration::of_minutes(1));
    }
    ASSERT_EQ(world.waker.calls.size(), 4u);  // In minutes 1, 2, 4 and 8; the next in 16.
    RelayWorld after(world.store.take_contents(), {}, world.clock.now());
    after.pass(Duration::of_minutes(6));
    EXPECT_TRUE(after.waker.calls.empty());
    after.pass(Duration::of_minutes(1));
    EXPECT_EQ(after.waker.calls.size(), 1u);
}

TEST_F(DeliveryTest, ARestartDoesNotShortenThePauseBetweenTwoNaps) {  // relay-connector.md#wake
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m1");
    world.pass(Duration::of_seconds(1));
    ASSERT_EQ(world.waker.calls.size(), 1u);
    gateway = world.connect("i1");
    EXPECT_EQ(drain(world, gateway), Texts{"text m1"});
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m2");
    RelayWorld after(world.store.take_contents(), {}, world.clock.now());
    after.pass(Duration::of_seconds(59));
    EXPECT_TRUE(after.waker.calls.empty());
    after.pass(Duration::of_seconds(1));
    EXPECT_EQ(after.waker.calls.size(), 1u);
}

TEST_F(DeliveryTest, WhoWasGivenUpStaysSoAfterARestart) {  // relay-connector.md#wake
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m1");
    for (int hour = 0; hour < 30; ++hour) {
        world.pass(Duration::of_hours(1));
    }
    ASSERT_EQ(world.wake.counters().given_up, 1);
    RelayWorld after(world.store.take_contents(), {}, world.clock.now());
    after.pass(Duration::of_hours(5));
    EXPECT_TRUE(after.waker.calls.empty());
    EXPECT_EQ(after.wake.counters().given_up, 0);
}

TEST_F(DeliveryTest, NothingIsKeptOfAnInstanceThatWokeUp) {
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m1");
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(world.store.read_rows(NapRow::kKind, "", "", 10)->size(), 1u);
    gateway = world.connect("i1");
    EXPECT_EQ(drain(world, gateway), Texts{"text m1"});
    world.pass(kWakeCooldownMax);
    EXPECT_TRUE(world.store.read_rows(NapRow::kKind, "", "", 10)->empty());
}

TEST_F(DeliveryTest, AClockSetBackDoesNotMakeAPauseLong) {
    auto gateway = world.connect("i1");
    world.say(gateway, GoingIdleFrame{});
    world.hang_up(gateway);
    send("m1");
    world.pass(Duration::of_seconds(1));
    RelayWorld after(
        world.store.take_contents(), {}, Timestamp{world.clock.now().microseconds - kDay});
    after.pass(kWakeCooldownMax);
    EXPECT_EQ(after.waker.calls.size(), 1u);
}

// Every number an instance is given, with an empty buffer at each restart and a clock that jumps.
TEST_F(DeliveryTest, BufferNumbersNeverStepBack) {  // relay-connector.md#buffers
    std::int64_t last = 0;
    auto contents = world.store.take_contents();
    Timestamp start = world.clock.now();
    for (const std::int64_t step : {-kDay, -kDay, std::int64_t{0}, kDay / 24, -kDay, kDay * 3}) {
        RelayWorld life(std::move(contents), {}, start);
        const auto gateway = life.connect("i1");
        for (int i = 0; i < 3; ++i) {
            life.submit(
                RelayWorld::message("ann", std::to_string(start.microseconds) + std::to_string(i)));
            for (const auto& [text, id] : gateway.socket->take_inbound()) {
                const std::int64_t number = std::stoll(id);
                EXPECT_GT(number, last);
                last = number;
                life.ack(gateway, id);
            }
            life.pass(Duration::of_seconds(1));
        }
        EXPECT_TRUE(life.store.load_buffer_heads()->empty());
        contents = life.store.take_contents();
        start = Timestamp{start.microseconds + step};
    }
    EXPECT_GT(last, 0);
}

TEST_F(DeliveryTest, NumbersOfDeadLettersAreNotGivenAgainEither) {
    DeliveryBounds bounds;
    bounds.entries_max = 1;
    RelayWorld small(world.store.take_contents(), bounds);
    small.submit(RelayWorld::message("ann", "m1"));
    small.submit(RelayWorld::message("ann", "m2"));
    const auto letters = small.store.read_dead_letters("i1", {"i1", 0}, 10);
    ASSERT_EQ(letters->size(), 1u);
    RelayWorld after(
        small.store.take_contents(), bounds, Timestamp{FakeClock::kNoon.microseconds - kDay});
    const auto gateway = after.connect("i1");
    const auto first = gateway.socket->take_inbound();
    ASSERT_EQ(first.size(), 1u);
    after.ack(gateway, first[0].second);
    after.submit(RelayWorld::message("ann", "m3"));
    const auto second = gateway.socket->take_inbound();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_GT(std::stoll(second[0].second), letters->front().entry.seq);
}

TEST_F(DeliveryTest, NumbersAreReservedRarely) {
    const auto reserved = [this] {
        return decode_row<NumberRow>(
                   world.store.read_rows(NumberRow::kKind, "", "", 10)->front().json)
            ->reserved;
    };
    send("m1");
    const std::int64_t first = reserved();
    world.pass(Duration::of_seconds(59));
    send("m2");
    EXPECT_EQ(reserved(), first);
    world.pass(Duration::of_seconds(2));
    send("m3");
    EXPECT_EQ(reserved(), world.clock.now().microseconds + kNumbersAhead);
}

// Restarts in a row carry the numbers ahead of the clock by the reserve once, and not by one each.
TEST_F(DeliveryTest, ManyRestartsDoNotCarryTheNumbersAway) {
    auto contents = world.store.take_contents();
    std::int64_t last = 0;
    for (int life = 0; life < 50; ++life) {
        RelayWorld next(std::move(contents));
        const auto gateway = next.connect("i1");
        next.submit(RelayWorld::message("ann", "life " + std::to_string(life)));
        const auto got = gateway.socket->take_inbound();
        ASSERT_EQ(got.size(), 1u);
        last = std::stoll(got[0].second);
        next.ack(gateway, got[0].second);
        contents = next.store.take_contents();
    }
    EXPECT_LT(last, FakeClock::kNoon.microseconds + 3 * kNumbersAhead);
}

TEST_F(DeliveryTest, AnInstanceThatDiedIsNotPoked) {  // relay-connector.md#wake
    world.hang_up(world.connect("i1"));
    send("m1");
    world.pass(Duration::of_minutes(10));
    EXPECT_TRUE(world.waker.calls.empty());
}

TEST_F(DeliveryTest, ALostStoreTellsNobodyThatItHasAMessage) {  // ADR 0012
    auto gateway = world.connect("i1");
    gateway.socket->take_frames();
    world.store.fail_next_commit();
    const auto answer = world.submit(RelayWorld::message("ann", "m1"));
    ASSERT_TRUE(answer->has_value());
    EXPECT_FALSE((*answer)->is_stored);
    EXPECT_TRUE(gateway.socket->take_inbound().empty());
    EXPECT_EQ(gateway.socket->close_code, kCloseTryLater);
    EXPECT_TRUE(world.lane.is_lost());
    EXPECT_FALSE((*world.submit(RelayWorld::message("ann", "m2")))->is_stored);
}

TEST_F(DeliveryTest, ADroppedInstanceLosesItsBufferAndItsSockets) {  // relay-management.md#secrets
    auto gateway = world.connect("i1");
    send("m1");
    world.change([&](RelayTurn& turn) { world.delivery.drop_instance(turn, "i1"); });
    EXPECT_EQ(gateway.socket->close_code, kCloseUnauthorised);
    EXPECT_TRUE(world.store.load_buffer_heads()->empty());
}

}  // namespace
}  // namespace interlock
