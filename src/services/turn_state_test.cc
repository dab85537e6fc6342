// States of turns: each turn sees what the ones before it saved, durable or not yet.
#include <gtest/gtest.h>

#include "testing/plane_world.h"

namespace interlock {
namespace {

TurnRequest turn_of(std::function<void(Turn&)> act) {
    TurnRequest turn;
    turn.tenant_id = TenantId::trusted("demo");
    turn.principal = internal_principal("test");
    turn.function = "test";
    turn.decide = [act](Turn& t) -> Result<TurnReply> {
        act(t);
        return Answer{200, "{}"};
    };
    turn.reply = [](const Result<Answer>& answer) { EXPECT_TRUE(answer.has_value()); };
    return turn;
}

TEST(TurnState, TurnsOfOneBatchBuildOnEachOther) {
    PlaneWorld world;
    std::vector<TurnRequest> batch;
    for (int i = 0; i < 3; ++i) {
        batch.push_back(turn_of([](Turn& turn) {
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
    batch.push_back(turn_of([&](Turn& turn) { EXPECT_EQ(look(turn), nullptr); }));
    batch.push_back(turn_of([&](Turn& turn) {
        EXPECT_EQ(look(turn), nullptr);
        turn.save_as<Kept>("m/rare", std::make_shared<const Kept>(Kept{5}));
        EXPECT_EQ(look(turn)->value, 5);
    }));
    batch.push_back(turn_of([&](Turn& turn) { EXPECT_EQ(look(turn)->value, 5); }));
    world.plane->runner.run_batch(std::move(batch));
    EXPECT_EQ(world.memory.load_state("m/rare").value()->version, 1);
    world.submit(turn_of([&](Turn& turn) { EXPECT_EQ(look(turn)->value, 5); }));
}

}  // namespace
}  // namespace interlock
