#include "loop/service/control_call.h"

#include <gtest/gtest.h>

#include "testing/strategy_world.h"

namespace interlock {
namespace {

class ControlCallTest : public ::testing::Test {
protected:
    AuditRecord last_record() { return world.plane->ledger.read(world.tenant, 0, 10'000)->back(); }

    Json enable_nobody() {
        EnableStrategyRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted("k");
        request.call.account_id = default_account_id();
        request.strategy_id = StrategyId::trusted("nobody");
        return world.answer_of([&](LoopService::Reply reply) {
            world.plane->control->call(
                world.caller(), "enable_strategy", request, std::move(reply));
        });
    }
    Json reconcile_nobody() {
        return world.answer_of([&](LoopService::Reply reply) {
            world.plane->strategies->reconcile(
                world.caller(),
                StrategyId::trusted("nobody"),
                {.idempotency_key = IdempotencyKey::trusted("k"), .reason = {}},
                std::move(reply));
        });
    }

    void expect_refused(const Json& answer, std::string_view operation, std::string_view code) {
        const AuditRecord record = last_record();
        const AuditDraft& draft = record.draft;
        EXPECT_EQ(draft.event, "CONTROL_REFUSED");
        EXPECT_EQ(draft.status, AuditStatus::failed);
        EXPECT_EQ(word(draft.detail, "operation"), operation);
        EXPECT_EQ(word(draft.detail, "code"), code);
        ASSERT_NE(answer.find("error"), nullptr) << to_text(answer);
        EXPECT_EQ(word(*answer.find("error"), "code"), code);
        EXPECT_EQ(word(*answer.find("error"), "message"), draft.reason);
        EXPECT_EQ(word(answer, "audit_ref"), audit_ref(record));
    }

    StrategyWorld world;
};

TEST_F(ControlCallTest, ARefusalOfTheLoopIsOnTheRecordUnderItsOperation) {
    expect_refused(enable_nobody(), "enable_strategy", "unknown_strategy");
}

TEST_F(ControlCallTest, ARefusalOfAStrategyHelperIsOnTheRecordUnderItsOperation) {
    expect_refused(reconcile_nobody(), "reconcile_instance", "unknown_instance");
}

// Else the repetition of a lost answer would carry out what was refused.
TEST_F(ControlCallTest, ARefusedCallStaysRefusedUnderItsKey) {
    const Json first = reconcile_nobody();
    EXPECT_EQ(reconcile_nobody(), first);
    EXPECT_EQ(world.times("CONTROL_REFUSED"), 1);
}

// A move that was rejected is answered once and for all: what its sender repeats is the question
// whose answer was lost, and it must not set a strategy going hours later, when nothing is in the
// way any more (turns.md 1).
TEST_F(ControlCallTest, ARejectedResumeIsAnsweredTheSameBytesUnderItsKeyAndNeverApplied) {
    const std::string grid = world.create("grid_trader", StrategyWorld::grid_config());
    world.decide(StrategyWorld::switch_to("d0", grid));
    const auto ask = [&](HelperAction action, const std::string& key) {
        std::string bytes;
        ControlStrategyRequest request{
            .call = {.idempotency_key = IdempotencyKey::trusted(key), .reason = {}},
            .action = action};
        LoopService::Caller human = world.caller();
        human.request_hash = key + " and the same body";
        world.plane->strategies->control(
            std::move(human),
            StrategyId::trusted(grid),
            std::move(request),
            [&bytes](const Result<Answer>& answer) {
                bytes = answer ? answer->body : std::string(answer.error().code());
            });
        world.run_effects();
        return bytes;
    };
    const auto is_paused = [&] { return *world.get(grid).find("paused") == Json(true); };
    EXPECT_EQ(word(*parse_json(ask(HelperAction::pause, "p")), "status"), "applied");
    ASSERT_TRUE(is_paused());
    world.set_concern(ConcernStatus::informational);
    const std::string rejected = ask(HelperAction::resume, "r");
    EXPECT_EQ(word(*parse_json(rejected), "status"), "rejected") << rejected;
    world.set_concern(ConcernStatus::active);
    EXPECT_EQ(ask(HelperAction::resume, "r"), rejected);
    EXPECT_TRUE(is_paused());
    EXPECT_EQ(word(*parse_json(ask(HelperAction::resume, "another")), "status"), "applied");
    EXPECT_FALSE(is_paused());
    EXPECT_EQ(ask(HelperAction::resume, "r"), rejected);
}

TEST_F(ControlCallTest, ARefusalThatMayBeRepeatedIsDecidedAgainUnderItsKey) {
    int decided = 0;
    for (int i = 0; i < 2; ++i) {
        world.submit(control_turn(
            world.caller(),
            {.name = "test", .key = IdempotencyKey::trusted("k")},
            [&](Turn&) -> Result<TurnReply> {
                ++decided;
                return fail(errors::conflict, "not now");
            },
            [](const Result<Answer>&) {}));
    }
    EXPECT_EQ(decided, 2);
}

TEST(ControlCallReason, IsTheCallersOwnWhenThereIsOne) {
    EXPECT_EQ(reason_or("", "stopped"), "stopped");
    EXPECT_EQ(reason_or("too wild", "stopped"), "too wild");
}

}  // namespace
}  // namespace interlock
