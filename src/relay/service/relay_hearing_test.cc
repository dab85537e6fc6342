// A bot that hears nothing is told when that begins and when it ends, and once each.
#include "relay/service/relay_hearing.h"

#include <gtest/gtest.h>

#include "testing/relay_world.h"
#include "testing/silent_platform.h"

namespace interlock {
namespace {

class EarPlatform final : public SilentPlatform {
public:
    using SilentPlatform::SilentPlatform;
    PlatformHealth health() const override {
        return {.is_connected = is_connected, .is_broken = false, .detail = "as the test says"};
    }
    bool is_connected = true;
};

struct HearingTest : testing::Test {
    HearingTest() {
        world.lane.add_duty([this](RelayTurn& turn) { hearing.sweep(turn); });
    }
    void pass(int seconds) {
        for (int i = 0; i < seconds; ++i) {
            world.pass(Duration::of_seconds(1));
        }
    }
    std::vector<std::string> told() {
        std::vector<std::string> events;
        const auto entries = world.store.ledger().read_ledger(system_tenant(), 0, 1000);
        for (const LedgerEntry& entry : *entries) {
            const auto record = decode_audit_record(parse_json(entry.canonical_json).value());
            EXPECT_EQ(record->draft.severity, AuditSeverity::critical);
            events.push_back(
                record->draft.event + " " + record->draft.detail.find("platform")->as_string());
        }
        return events;
    }

    RelayWorld world;
    EarPlatform discord{{"discord", "1"}};
    EarPlatform telegram{{"telegram", "2"}};
    RelayHearing hearing{
        {.clock = world.clock, .inbound = world.inbound, .bots = {&discord, &telegram}}};
};

TEST_F(HearingTest, ADeafBotIsToldOnceAndSoIsItsRecovery) {
    pass(100);
    EXPECT_TRUE(told().empty());
    discord.is_connected = false;
    pass(59);
    EXPECT_TRUE(told().empty());
    pass(100);
    EXPECT_EQ(told(), std::vector<std::string>{"RELAY_PLATFORM_DEAF discord"});
    EXPECT_TRUE(hearing.views()[0].deaf_since);
    EXPECT_FALSE(hearing.views()[1].deaf_since);
    discord.is_connected = true;
    pass(12);
    EXPECT_EQ(told().size(), 2u);
    EXPECT_EQ(told().back(), "RELAY_PLATFORM_HEARD discord");
    EXPECT_FALSE(hearing.views()[0].deaf_since);
    pass(100);
    EXPECT_EQ(told().size(), 2u);
}

}  // namespace
}  // namespace interlock
