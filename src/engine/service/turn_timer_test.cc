// Timers of turns: each comes up once for each moment it was set to, and the last word counts.
#include <gtest/gtest.h>

#include "testing/plain_turn.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

TimerItem timer_at(Timestamp due_at) {
    return {
        .timer_id = TimerId::trusted("timer_1"),
        .tenant_id = TenantId::trusted("demo"),
        .kind = "test",
        .json = "{}",
        .due_at = due_at,
    };
}

// A world whose timers of kind "test" are counted; `also` is done when one comes up.
struct TimerWorld {
    explicit TimerWorld(std::function<void(Turn&)> also = nullptr) {
        world.plane->runner.on_timer("test", [this, also](Turn& turn, const TimerItem&) {
            ++fired;
            if (also) {
                also(turn);
            }
            return Result<void>();
        });
    }
    void run(std::function<void(Turn&)> act) { world.submit(plain_turn(std::move(act))); }
    void pass(Duration time) {
        world.clock.advance(time);
        world.plane->runner.fire_timers(10);
    }

    PlaneWorld world;
    int fired = 0;
};

TEST(TurnTimer, SetAgainForTheSameMomentComesUpOnce) {
    TimerWorld timers;
    const Timestamp due = timers.world.clock.now() + Duration::of_seconds(1);
    for (int i = 0; i < 3; ++i) {
        timers.run([&](Turn& turn) { turn.set_timer(timer_at(due)); });
    }
    timers.pass(Duration::of_seconds(2));
    EXPECT_EQ(timers.fired, 1);
}

TEST(TurnTimer, SetAnewByItsOwnTurnComesUpAgain) {
    TimerWorld timers(
        [](Turn& turn) { turn.set_timer(timer_at(turn.now() + Duration::of_seconds(1))); });
    const Timestamp due = timers.world.clock.now() + Duration::of_seconds(1);
    timers.run([&](Turn& turn) { turn.set_timer(timer_at(due)); });
    timers.pass(Duration::of_seconds(1));
    timers.pass(Duration::of_seconds(1));
    EXPECT_EQ(timers.fired, 2);
}

TEST(TurnTimer, ClearedAfterItWasSetInOneTurnNeverComesUp) {
    TimerWorld timers;
    const Timestamp due = timers.world.clock.now() + Duration::of_seconds(1);
    timers.run([&](Turn& turn) {
        turn.set_timer(timer_at(due));
        turn.clear_timer(TimerId::trusted("timer_1"));
    });
    timers.pass(Duration::of_seconds(2));
    EXPECT_EQ(timers.fired, 0);
}

}  // namespace
}  // namespace interlock
