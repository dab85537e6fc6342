// When chains are sealed, and what becomes of chains from before seals were records (ADR 0015).
#include <gtest/gtest.h>

#include "engine/service/ledger_check.h"
#include "host/service/test_forgery.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");

// Chains of before seals were records keep their promise and get the new one.
TEST(LedgerAdoption, AChainOfBeforeIsAdoptedOnceAndOnlyWithItsKey) {
    PlaneWorld world;
    world.probe("k1");
    world.probe("k2");
    // As an older version left it: no names of rows, no seals.
    world.memory.tamper(
        [](StoreContents& all) { all.states["vault/demo"] = {1, R"({"sealed":"x"})"}; });
    world.keys.set_from_before(true);
    world.clock.advance(Duration::of_hours(30));
    const auto verify = [&](bool is_from_before) {
        KeyLineage keys(world.keys.first_public_key());
        return *check_ledger(
            {.store = world.memory,
             .mirror = {},
             .keys = keys,
             .head_log = world.head_log.lines,
             .is_from_before = is_from_before});
    };
    EXPECT_TRUE(verify(true).front().ok());
    world.rebuild();
    EXPECT_FALSE(world.keys.is_from_before());
    const auto reports = verify(false);
    for (const ChainReport& report : reports) {
        EXPECT_TRUE(report.ok()) << report.fault->detail;
    }
    const auto demo = std::ranges::find(reports, kDemo, &ChainReport::tenant_id);
    EXPECT_EQ(demo->adopted, 2);
    // From now on its rows hang on the chain.
    world.memory.tamper([](StoreContents& all) { all.states.at("vault/demo").json = "{}"; });
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

TEST(LedgerSeals, AChainIsSealedInTimeAndTheSystemOverAllHeads) {
    PlaneWorld world;
    world.probe("k1");
    EXPECT_EQ(world.head_log.lines.size(), 0u);
    world.clock.advance(kSealPeriod);
    world.probe("k2");  // Before it, what is due is sealed.
    EXPECT_EQ(world.events()[1], "CHECKPOINT_SEALED");
    ASSERT_EQ(world.head_log.lines.size(), 1u);
    EXPECT_TRUE(world.head_log.lines[0].contains("\"heads\":{\"count\":1"));
    world.clock.advance(kSealPeriod);
    world.plane->ledger.duty();  // Nobody came: the duty seals.
    EXPECT_EQ(world.head_log.lines.size(), 2u);
}

}  // namespace
}  // namespace interlock
