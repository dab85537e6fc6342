// The rules of the delivery buffer (docs/contracts/relay-connector.md, section 9), one by one, on a
// bot that two tenants share: what 003 §3.2 promises an instance, and what R2 and R16 add where the
// buffer ends.
#include <gtest/gtest.h>

#include "testing/relay_world.h"

namespace interlock {
namespace {

using Texts = std::vector<std::string>;

class RelayBuffer : public testing::Test {
protected:
    RelayBuffer() {
        world.add_instance("away", "t1");
        world.add_instance("here", "t2");
        world.bind("ann", "away");
        world.bind("bob", "here");
    }
    // Whether the platform was told that we have it.
    bool write(const std::string& user, int number) {
        const auto answer = world.submit(RelayWorld::message(user, user + std::to_string(number)));
        return *answer && (*answer)->is_stored;
    }
    Texts drain(const RelayWorld::Gateway& gateway) {
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

    RelayWorld world{{}, {.entries_max = 3, .dead_entries_max = 2}};
};

TEST_F(RelayBuffer, HoldsWhatCameWhileNobodyListenedAndGivesItInOrder) {  // 003 §3.2
    for (int i = 1; i <= 3; ++i) {
        EXPECT_TRUE(write("ann", i));
    }
    EXPECT_EQ(drain(world.connect("away")), (Texts{"text ann1", "text ann2", "text ann3"}));
}

TEST_F(RelayBuffer, RedeliversExactlyTheUnacknowledgedTail) {  // 003 §3.2
    auto first = world.connect("away");
    EXPECT_TRUE(write("ann", 1));
    EXPECT_TRUE(write("ann", 2));
    world.ack(first, first.socket->take_inbound().at(0).second);
    world.hang_up(first);
    EXPECT_EQ(drain(world.connect("away")), Texts{"text ann2"});
}

// On the commit before ADR 0017 the twentieth message or so was refused, and with it, on a platform
// that keeps an order, everything behind it.
TEST_F(RelayBuffer, AtItsEndTakesFromThePlatformAllTheSame) {  // 003 §3.2, R16
    const auto here = world.connect("here");
    for (int i = 1; i <= 30; ++i) {
        EXPECT_TRUE(write("ann", i)) << i;
        EXPECT_TRUE(write("bob", i)) << i;
        EXPECT_EQ(drain(here), Texts{"text bob" + std::to_string(i)});
    }
}

TEST_F(RelayBuffer, AtItsEndLaysTheNewestAsideAndDropsTheOldestOfThose) {  // R16
    for (int i = 1; i <= 9; ++i) {
        EXPECT_TRUE(write("ann", i));
    }
    const auto away = world.connect("away");
    EXPECT_EQ(drain(away), (Texts{"text ann1", "text ann2", "text ann3"}));
    world.change([this](RelayTurn& turn) {
        EXPECT_EQ(world.delivery.requeue_dead(turn, {.instance_id = "away"})->done, 2);
    });
    EXPECT_EQ(drain(away), (Texts{"text ann8", "text ann9"}));
}

TEST_F(RelayBuffer, TakesMailAgainOnceItIsEmpty) {  // 003 §3.2, R16
    for (int i = 1; i <= 9; ++i) {
        EXPECT_TRUE(write("ann", i));
    }
    const auto away = world.connect("away");
    drain(away);
    EXPECT_TRUE(write("ann", 10));
    EXPECT_EQ(drain(away), Texts{"text ann10"});
}

TEST_F(RelayBuffer, ANetworkThatFlapsMakesNoDeadLetter) {  // R2
    EXPECT_TRUE(write("ann", 1));
    for (int i = 0; i < 4; ++i) {
        world.hang_up(world.connect("away"));
        world.pass(Duration::of_milliseconds(430));
    }
    EXPECT_EQ(drain(world.connect("away")), Texts{"text ann1"});
}

TEST_F(RelayBuffer, AMessageThatThreeSocketsInMinutesDoNotAcknowledgeIsADeadLetter) {  // R2
    EXPECT_TRUE(write("ann", 1));
    EXPECT_TRUE(write("ann", 2));
    for (int i = 0; i < 3; ++i) {
        world.hang_up(world.connect("away"));
        world.pass(Duration::of_minutes(1));
    }
    EXPECT_EQ(drain(world.connect("away")), Texts{"text ann2"});
    EXPECT_EQ(world.store.load_dead_letters()->size(), 1u);
}

TEST_F(RelayBuffer, DeadLettersEndAfterAWeek) {  // R16
    for (int i = 1; i <= 5; ++i) {
        EXPECT_TRUE(write("ann", i));
    }
    drain(world.connect("away"));
    EXPECT_EQ(world.store.load_dead_letters()->size(), 2u);
    world.pass(Duration::of_days(7));
    EXPECT_TRUE(world.store.load_dead_letters()->empty());
}

}  // namespace
}  // namespace interlock
