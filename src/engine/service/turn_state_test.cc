// States of turns: each turn sees what the ones before it saved, durable or not yet.
#include <gtest/gtest.h>

#include "testing/plain_turn.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

TEST(TurnState, TurnsOfOneBatchBuildOnEachOther) {
    PlaneWorld world;
    std::vector<TurnRequest> batch;
    for (int i = 0; i < 3; ++i) {
        batch.push_back(plain_turn([](Turn& turn) {
            const auto before = turn.load("m/count").value();
            const std::int64_t count = before ? before->as_int64().value() : 0;
            turn.save("m/count", Json(count + 1));
        }));
    }
    world.plane->runner.run_batch(std::move(batch));
    EXPECT_EQ(world.memory.load_state("m/count").value()->json, "3");
    EXPECT_EQ(world.memory.load_state("m/count").value()->version, 3);
}

struct Kept {
    std::int64_t value = 0;
};
Json encode(const Kept& kept) {
    return Json(kept.value);
}
Result<Kept> decode_kept(const Json& json) {
    return Kept{json.as_int64().value()};
}

TEST(TurnState, OneThatWasLookedForInVainIsAbsentUntilItIsSaved) {
    PlaneWorld world;
    const auto look = [](Turn& turn) {
        return turn.load_as<Kept>("m/rare", decode_kept, KeepState::in_store).value();
    };
    std::vector<TurnRequest> batch;
    batch.push_back(plain_turn([&](Turn& turn) { EXPECT_EQ(look(turn), nullptr); }));
    batch.push_back(plain_turn([&](Turn& turn) {
        EXPECT_EQ(look(turn), nullptr);
        turn.save_as<Kept>("m/rare", std::make_shared<const Kept>(Kept{5}));
        EXPECT_EQ(look(turn)->value, 5);
    }));
    batch.push_back(plain_turn([&](Turn& turn) { EXPECT_EQ(look(turn)->value, 5); }));
    world.plane->runner.run_batch(std::move(batch));
    EXPECT_EQ(world.memory.load_state("m/rare").value()->version, 1);
    world.submit(plain_turn([&](Turn& turn) { EXPECT_EQ(look(turn)->value, 5); }));
}

}  // namespace
}  // namespace interlock
