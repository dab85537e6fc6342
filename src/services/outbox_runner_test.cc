// Tests of the age of effects: what waited too long is not sent, whatever the wall clock does.
#include "services/outbox_runner.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/fake_clock.h"

namespace interlock {
namespace {

class CountingSink final : public EffectSink {
public:
    Result<EffectReceipt> perform(const OutboxItem&) override {
        ++sent;
        return EffectReceipt{"done"};
    }
    Result<std::optional<EffectReceipt>> find(const EffectId&) override { return std::nullopt; }
    int sent = 0;
};

class LoweredFlag final : public KillFlag {
public:
    bool is_raised() override { return false; }
    std::string reason() override { return {}; }
    Result<void> raise(std::string_view) override { return {}; }
    Result<void> lower() override { return {}; }
};

class EffectAge : public testing::Test {
protected:
    OutboxItem effect(std::string kind) {
        OutboxItem item;
        item.effect_id = EffectId::trusted("eff_1");
        item.tenant_id = TenantId::trusted("demo");
        item.kind = std::move(kind);
        item.not_after = clock_.now() + Duration::of_seconds(2);
        return item;
    }
    void run() { threads_.run_round(std::chrono::milliseconds(0)); }

    FakeClock clock_;
    CountingSink sink_;
    KillLatch latch_;
    LoweredFlag flag_;
    OutboxRunner runner_{{sink_, latch_, flag_, clock_}};
    std::vector<EffectOutcome> outcomes_;
    OutboxThreads threads_{
        runner_, clock_, [this](EffectOutcome outcome) { outcomes_.push_back(outcome); }};
};

TEST_F(EffectAge, AnEffectInTimeIsSent) {
    threads_.enqueue({effect("order")});
    clock_.advance(Duration::of_seconds(1));
    run();
    EXPECT_EQ(sink_.sent, 1);
}

TEST_F(EffectAge, AnOldEffectIsNotMadeYoungByAClockThatStepsBack) {
    threads_.enqueue({effect("order")});
    clock_.advance(Duration::of_seconds(60));
    clock_.step_to(FakeClock::kNoon);
    run();
    EXPECT_EQ(sink_.sent, 0);
    ASSERT_EQ(outcomes_.size(), 1u);
    EXPECT_EQ(outcomes_[0].error_code, "effect_expired");
    EXPECT_EQ(outcomes_[0].fate, EffectFate::refused);
}

TEST_F(EffectAge, ACancelNeverGrowsTooOld) {
    threads_.enqueue({effect("cancel")});
    clock_.advance(Duration::of_seconds(60));
    run();
    EXPECT_EQ(sink_.sent, 1);
}

}  // namespace
}  // namespace interlock
