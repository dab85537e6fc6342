#include "relay/memory/local_relay_bus.h"

#include <gtest/gtest.h>

#include <vector>

namespace interlock {

TEST(LocalRelayBus, AHintIsTakenBeforePublishReturns) {
    LocalRelayBus bus;
    std::vector<RelayHint> taken;
    bus.subscribe([&](const RelayHint& hint) { taken.push_back(hint); });
    bus.publish(
        {.kind = RelayHint::Kind::fenced,
         .tenant_id = TenantId::trusted("alice"),
         .instance_id = "i1",
         .epoch = 7,
         .session_key = {},
         .chat_id = {}});
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].kind, RelayHint::Kind::fenced);
    EXPECT_EQ(taken[0].tenant_id.text(), "alice");
    EXPECT_EQ(taken[0].instance_id, "i1");
    EXPECT_EQ(taken[0].epoch, 7);
}

TEST(LocalRelayBus, ASubscriberMayPublishWhileItTakes) {
    LocalRelayBus bus;
    int taken = 0;
    bus.subscribe([&](const RelayHint& hint) {
        ++taken;
        if (hint.kind == RelayHint::Kind::mail) {
            bus.publish(
                {.kind = RelayHint::Kind::revoked,
                 .tenant_id = {},
                 .instance_id = {},
                 .epoch = 0,
                 .session_key = {},
                 .chat_id = {}});
        }
    });
    bus.publish({});
    EXPECT_EQ(taken, 2);
}

TEST(LocalRelayBus, AHintThatNobodyAwaitsIsLost) {
    LocalRelayBus bus;
    bus.publish({});
    int taken = 0;
    bus.subscribe([&](const RelayHint&) { ++taken; });
    EXPECT_EQ(taken, 0);
    bus.publish({});
    EXPECT_EQ(taken, 1);
}

}  // namespace interlock
