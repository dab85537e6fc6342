// The engine's heartbeat, as the watch reads it.
#include "engine/service/turn_engine.h"

#include <gtest/gtest.h>

#include "testing/plane_world.h"

namespace interlock {
namespace {

constexpr Duration kLimit = Duration::of_seconds(60);

TEST(EngineHeartbeat, IsNotMissedBeforeTheFirstRoundOfAMachineThatIsUpForLong) {
    PlaneWorld world;
    world.clock.advance(Duration::of_seconds(24 * 3600));
    TurnEngine engine(world.plane->runner, {});
    engine.set_clock(world.clock);
    EXPECT_TRUE(engine.is_alive(world.clock.monotonic(), kLimit));
}

TEST(EngineHeartbeat, IsMissedWhenNoRoundCameWithinTheLimit) {
    PlaneWorld world;
    TurnEngine engine(world.plane->runner, {});
    engine.set_clock(world.clock);
    world.clock.advance(kLimit);
    EXPECT_TRUE(engine.is_alive(world.clock.monotonic(), kLimit));
    world.clock.advance(Duration{1});
    EXPECT_FALSE(engine.is_alive(world.clock.monotonic(), kLimit));
    engine.run_round(1, std::chrono::microseconds(0));
    EXPECT_TRUE(engine.is_alive(world.clock.monotonic(), kLimit));
}

}  // namespace
}  // namespace interlock
