// Through the engine: turns that fail by our own mistake, and what becomes of their tenant.
#include "host/service/internal_errors.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/errors.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");

struct InternalErrorsTest : testing::Test {
    // A turn of that function, which fails with `kind` unless it is null.
    void run(const std::string& function, const ErrorKind* kind, const TenantId& tenant = kDemo) {
        TurnRequest turn;
        turn.tenant_id = tenant;
        turn.principal = PlaneWorld::agent();
        turn.function = function;
        turn.decide = [kind](Turn& t) -> Result<TurnReply> {
            if (kind != nullptr) {
                return fail(*kind, "a row is gone");
            }
            TRY(t.audit(t.draft("X")));
            return Answer{200, "{}"};
        };
        turn.reply = [](const Result<Answer>&) {};
        world.submit(std::move(turn));
    }
    void fails(const std::string& function = "py_execute_plan") {
        run(function, &errors::internal);
    }
    bool is_stopped(const TenantId& tenant = kDemo) { return world.plane->latch.is_raised(tenant); }
    std::int64_t count(const std::string& event) {
        const auto events = world.events();
        return std::count(events.begin(), events.end(), event);
    }

    PlaneWorld world;
};

TEST_F(InternalErrorsTest, ThreeInARowStopTheTenantAndSayWhy) {
    fails();
    fails("py_validate_plan");
    EXPECT_FALSE(is_stopped());
    fails();
    ASSERT_TRUE(is_stopped());
    EXPECT_FALSE(is_stopped(TenantId::trusted("other")));
    EXPECT_EQ(count("ERROR_EVENT"), 2) << "the equal one is folded";
    const auto why = world.plane->kill.why_stopped(kDemo);
    ASSERT_TRUE(why.has_value());
    EXPECT_TRUE(why->reason.contains("3 internal errors in a row")) << why->reason;
    EXPECT_TRUE(why->reason.contains("py_execute_plan: internal: a row is gone")) << why->reason;
    EXPECT_EQ(count("KILL_SWITCH_ACTIVATED"), 1);
}

TEST_F(InternalErrorsTest, TheStopOutlivesARestartLikeEveryOther) {
    fails();
    fails();
    fails();
    world.rebuild();
    EXPECT_TRUE(is_stopped());
}

TEST_F(InternalErrorsTest, TheRowEndsWhenWhatFailedWorksAgain) {
    fails();
    fails();
    run("py_execute_plan", nullptr);
    fails();
    fails();
    EXPECT_FALSE(is_stopped());
    run("get_account", nullptr);
    fails();
    EXPECT_TRUE(is_stopped()) << "what others do ends no row";
}

TEST_F(InternalErrorsTest, RefusalsAndAFailingWorldAreNoMistakesOfOurs) {
    for (int i = 0; i < 5; ++i) {
        run("py_execute_plan", &errors::invalid_request);
        run("py_execute_plan", &errors::overloaded);
        run("py_execute_plan", &errors::io_failed);
    }
    EXPECT_FALSE(is_stopped());
    EXPECT_EQ(count("ERROR_EVENT"), 0);
    for (int i = 0; i < 3; ++i) {
        run("py_execute_plan", &errors::corrupt_data);
    }
    EXPECT_TRUE(is_stopped());
}

TEST_F(InternalErrorsTest, EachTenantHasARowOfItsOwnAndTheSystemHasNone) {
    const TenantId other = TenantId::trusted("other");
    fails();
    fails();
    run("py_execute_plan", &errors::internal, other);
    run("py_execute_plan", &errors::internal, other);
    EXPECT_FALSE(is_stopped());
    EXPECT_FALSE(is_stopped(other));
    for (int i = 0; i < 5; ++i) {
        run("create_tenant", &errors::internal, system_tenant());
    }
    EXPECT_FALSE(is_stopped());
    EXPECT_FALSE(is_stopped(system_tenant()));
}

}  // namespace
}  // namespace interlock
