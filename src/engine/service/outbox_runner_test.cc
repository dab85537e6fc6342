// Tests of the outbox: what is sent and what is not, what its answer means, and what is asked about
// afterwards instead of being sent again (I4, I6).
#include "engine/service/outbox_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <vector>

#include "base/errors.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

// Remembers what it was told and answers as a test wants.
class CountingSink final : public EffectSink {
public:
    Result<EffectReceipt> perform(const OutboxItem& effect) override {
        ++sent;
        order.push_back("send " + effect.effect_id.text());
        return on_perform ? on_perform(effect) : Result<EffectReceipt>(EffectReceipt{"done"});
    }
    Result<std::optional<EffectReceipt>> find(const EffectId& id) override {
        order.push_back("ask " + id.text());
        return found;
    }
    int sent = 0;
    std::vector<std::string> order;
    std::function<Result<EffectReceipt>(const OutboxItem&)> on_perform;
    Result<std::optional<EffectReceipt>> found = std::nullopt;
};

class LoweredFlag final : public KillFlag {
public:
    bool is_raised() override { return raised; }
    bool raised = false;
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
    OutboxItem named(const std::string& id, std::string kind = "order") {
        OutboxItem item = effect(std::move(kind));
        item.effect_id = EffectId::trusted(id);
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

TEST_F(EffectAge, TheLastMicrosecondStillCounts) {
    OutboxItem item = effect("order");
    clock_.advance(Duration::of_seconds(2));
    EXPECT_EQ(runner_.run_one(item).fate, EffectFate::done);
    clock_.advance(Duration{1});
    const EffectOutcome late = runner_.run_one(item);
    EXPECT_EQ(late.fate, EffectFate::refused);
    EXPECT_EQ(late.error_code, "effect_expired");
    EXPECT_EQ(late.error_message, "The effect was too old to be sent safely.");
    EXPECT_EQ(late.effect.effect_id, item.effect_id);
    EXPECT_EQ(sink_.sent, 1);
}

TEST_F(EffectAge, TheLastMicrosecondStillCountsOnTheClockThatNeverStepsBack) {
    threads_.enqueue({named("e1"), named("e2")});
    clock_.advance(Duration::of_seconds(2));
    clock_.step_to(FakeClock::kNoon);
    run();
    EXPECT_EQ(sink_.sent, 1);
    clock_.advance(Duration{1});
    clock_.step_to(FakeClock::kNoon);
    run();
    EXPECT_EQ(sink_.sent, 1);
    ASSERT_EQ(outcomes_.size(), 2u);
    EXPECT_EQ(outcomes_[1].error_code, "effect_expired");
    EXPECT_EQ(outcomes_[1].error_message, "The effect was too old to be sent safely.");
}

TEST_F(EffectAge, AStoppedTenantSendsNothingButCancelsAndQuestions) {
    latch_.raise(TenantId::trusted("demo"));
    const EffectOutcome stopped = runner_.run_one(effect("order"));
    EXPECT_EQ(stopped.fate, EffectFate::refused);
    EXPECT_EQ(stopped.error_code, "effect_refused");
    EXPECT_EQ(stopped.error_message, "The kill switch is on; the effect was not sent.");
    EXPECT_EQ(sink_.sent, 0);
    for (const std::string_view kind : {kCancelKind, kCancelAllKind, kReportKind}) {
        EXPECT_EQ(runner_.run_one(effect(std::string(kind))).fate, EffectFate::done) << kind;
    }
}

TEST_F(EffectAge, TheKillFileStopsWhatTheLatchLetsThrough) {
    flag_.raised = true;
    EXPECT_EQ(runner_.run_one(effect("order")).error_code, "effect_refused");
    EXPECT_EQ(runner_.run_one(effect("cancel")).fate, EffectFate::done);
    EXPECT_EQ(sink_.sent, 1);
}

TEST_F(EffectAge, OnlyARefusalSaysThatNothingHappened) {
    struct Case {
        ErrorKind kind;
        EffectFate fate;
    };
    for (const Case& given :
         {Case{errors::effect_refused, EffectFate::refused},
          Case{errors::no_effect_sink, EffectFate::refused},
          Case{errors::timed_out, EffectFate::unknown},
          Case{errors::unavailable, EffectFate::unknown}}) {
        sink_.on_perform = [&](const OutboxItem&) { return fail(given.kind, "it said so"); };
        const EffectOutcome outcome = runner_.run_one(effect("order"));
        EXPECT_EQ(outcome.fate, given.fate) << given.kind.code;
        EXPECT_EQ(outcome.error_code, given.kind.code);
        EXPECT_EQ(outcome.error_message, "it said so");
        EXPECT_EQ(outcome.effect.effect_id.text(), "eff_1");
    }
    sink_.on_perform = nullptr;
    const EffectOutcome done = runner_.run_one(effect("order"));
    EXPECT_EQ(done.receipt, "done");
    EXPECT_EQ(done.error_code, "");
}

TEST_F(EffectAge, WhatTheSinkKnowsSettlesAnEffect) {
    sink_.found = EffectReceipt{"it is here"};
    const EffectOutcome done = runner_.settle(effect("order"));
    EXPECT_EQ(done.fate, EffectFate::done);
    EXPECT_EQ(done.receipt, "it is here");
    sink_.found = std::nullopt;
    const EffectOutcome never = runner_.settle(effect("order"));
    EXPECT_EQ(never.fate, EffectFate::never_arrived);
    EXPECT_EQ(never.error_code, "never_arrived");
    sink_.found = fail(errors::unavailable, "ask later");
    const EffectOutcome open = runner_.settle(effect("order"));
    EXPECT_EQ(open.fate, EffectFate::unknown);
    EXPECT_EQ(open.error_code, "unavailable");
    EXPECT_EQ(open.error_message, "ask later");
    EXPECT_EQ(sink_.sent, 0);
}

TEST_F(EffectAge, AnUnknownEffectIsAskedAboutEverySecondAndNeverSentAgain) {
    sink_.on_perform = [](const OutboxItem&) { return fail(errors::timed_out, "lost"); };
    sink_.found = fail(errors::unavailable, "ask later");
    threads_.enqueue({named("e1")});
    run();  // Sent, and asked about at once: nothing was asked before.
    ASSERT_EQ(outcomes_.size(), 1u);
    EXPECT_EQ(outcomes_[0].fate, EffectFate::unknown);
    EXPECT_EQ(sink_.order, (std::vector<std::string>{"send e1", "ask e1"}));
    clock_.advance(Duration{OutboxThreads::kSettleEvery.microseconds - 1});
    run();
    EXPECT_EQ(sink_.order.size(), 2u);
    clock_.advance(Duration{1});
    run();
    EXPECT_EQ(sink_.order.size(), 3u);
    EXPECT_EQ(outcomes_.size(), 1u);  // Still open: nothing new is told.
    sink_.found = EffectReceipt{"it is here"};
    clock_.advance(OutboxThreads::kSettleEvery);
    run();
    ASSERT_EQ(outcomes_.size(), 2u);
    EXPECT_EQ(outcomes_[1].fate, EffectFate::done);
    clock_.advance(OutboxThreads::kSettleEvery);
    run();
    EXPECT_EQ(sink_.order.size(), 4u);
    EXPECT_EQ(sink_.sent, 1);
}

TEST_F(EffectAge, CancelsAreSettledFirstAndWhatMayBeRepeatedIsSentAgain) {
    OutboxItem cancel = named("c1", "cancel");
    cancel.delivery = Delivery::repeatable;
    OutboxItem all = named("c2", "cancel_all");
    all.delivery = Delivery::repeatable;
    threads_.enqueue_unsettled({named("e1"), named("e2"), cancel, all});
    for (int i = 0; i < 3; ++i) {
        run();
        clock_.step_to(clock_.now());
    }
    // The first round settles what it has; the others come in behind it.
    clock_.advance(OutboxThreads::kSettleEvery);
    run();
    clock_.advance(OutboxThreads::kSettleEvery);
    run();
    EXPECT_EQ(sink_.order, (std::vector<std::string>{"ask e1", "send c1", "send c2", "ask e2"}));
    EXPECT_EQ(outcomes_.size(), 4u);
}

TEST_F(EffectAge, BetweenTwoQuestionsSixteenWaitingOnesAreSent) {
    sink_.found = fail(errors::unavailable, "ask later");
    threads_.enqueue_unsettled({named("u1")});
    run();
    threads_.enqueue_unsettled({named("u2")});
    run();
    sink_.order.clear();
    std::vector<OutboxItem> many;
    for (int i = 0; i < 40; ++i) {
        many.push_back(named("w" + std::to_string(i), "cancel"));
    }
    threads_.enqueue(many);
    clock_.advance(OutboxThreads::kSettleEvery);
    run();  // One of its own, then a question, sixteen, a question, sixteen.
    std::vector<std::size_t> questions;
    for (std::size_t i = 0; i < sink_.order.size(); ++i) {
        if (sink_.order[i].starts_with("ask")) {
            questions.push_back(i);
        }
    }
    EXPECT_EQ(questions, (std::vector<std::size_t>{1, 18}));
    EXPECT_EQ(sink_.order.size(), 35u);
    EXPECT_EQ(threads_.waiting(), 7u);
}

TEST_F(EffectAge, AFullOutboxSaysSoAndCostsNobodyItsCancels) {
    std::vector<OutboxItem> many;
    for (std::size_t i = 0; i < OutboxThreads::kQueueMax; ++i) {
        many.push_back(named("w" + std::to_string(i)));
    }
    threads_.enqueue(std::move(many));
    EXPECT_TRUE(outcomes_.empty());
    OutboxItem cancel = named("c1", "cancel");
    cancel.delivery = Delivery::repeatable;
    threads_.enqueue({named("one more"), cancel});
    ASSERT_EQ(outcomes_.size(), 1u);
    EXPECT_EQ(outcomes_[0].fate, EffectFate::refused);
    EXPECT_EQ(outcomes_[0].error_code, "overloaded");
    EXPECT_EQ(outcomes_[0].error_message, "More effects were waiting than the outbox accepts.");
    run();
    EXPECT_EQ(sink_.order.front(), "send c1");
}

TEST_F(EffectAge, AStopAllGoesBeforeEverythingAndHasSixteenPlaces) {
    threads_.enqueue({named("e1")});
    for (int i = 0; i < 17; ++i) {
        threads_.enqueue({named("c" + std::to_string(i), "cancel_all")});
    }
    ASSERT_EQ(outcomes_.size(), 1u);
    EXPECT_EQ(outcomes_[0].effect.effect_id.text(), "c16");
    run();
    EXPECT_EQ(sink_.order, (std::vector<std::string>{"send c0"}));
}

TEST_F(EffectAge, WhatIsSentBetweenTwoQuestionsBeginsNoSecondPass) {
    sink_.on_perform = [](const OutboxItem&) { return fail(errors::timed_out, "lost"); };
    sink_.found = fail(errors::unavailable, "ask later");
    threads_.enqueue_unsettled({named("u1")});
    run();
    threads_.enqueue_unsettled({named("u2")});
    run();
    sink_.order.clear();
    threads_.enqueue({named("w1"), named("w2")});
    clock_.advance(OutboxThreads::kSettleEvery);
    run();
    EXPECT_EQ(
        sink_.order,
        (std::vector<std::string>{"send w1", "ask u1", "send w2", "ask u2", "ask w1"}));
    EXPECT_EQ(threads_.waiting(), 0u);
}

TEST_F(EffectAge, ARoundWithNothingToAskPutsNoQuestionOff) {
    sink_.on_perform = [](const OutboxItem&) { return fail(errors::timed_out, "lost"); };
    run();
    threads_.enqueue({named("e1")});
    run();
    EXPECT_EQ(sink_.order, (std::vector<std::string>{"send e1", "ask e1"}));
}

TEST_F(EffectAge, WhatMayBeRepeatedIsSentOnceWhenThereIsRoom) {
    OutboxItem cancel = named("c1", "cancel");
    cancel.delivery = Delivery::repeatable;
    threads_.enqueue({cancel});
    EXPECT_EQ(threads_.waiting(), 1u);
    run();
    run();
    EXPECT_EQ(sink_.order, std::vector<std::string>{"send c1"});
}

TEST_F(EffectAge, ACancelThatFoundNoRoomIsRepeatedUntilItIsDone) {
    for (std::size_t i = 0; i < OutboxThreads::kQueueMax; ++i) {
        threads_.enqueue({named("w" + std::to_string(i))});
    }
    OutboxItem cancel = named("c1", "cancel");
    cancel.delivery = Delivery::repeatable;
    threads_.enqueue({cancel});
    sink_.on_perform = [](const OutboxItem& effect) -> Result<EffectReceipt> {
        if (effect.effect_id.text() == "c1") {
            return fail(errors::timed_out, "lost");
        }
        return EffectReceipt{"done"};
    };
    const auto told_of_cancel = [this] {
        return std::ranges::count_if(outcomes_, [](const EffectOutcome& outcome) {
            return outcome.effect.effect_id.text() == "c1";
        });
    };
    run();
    EXPECT_EQ(sink_.order.front(), "send c1");
    EXPECT_EQ(told_of_cancel(), 0);
    sink_.on_perform = nullptr;
    clock_.advance(OutboxThreads::kSettleEvery);
    run();
    EXPECT_EQ(std::ranges::count(sink_.order, std::string("send c1")), 2);
    EXPECT_EQ(told_of_cancel(), 1);
}

class OutboxThread : public testing::Test {
protected:
    OutboxItem effect(const std::string& id) {
        OutboxItem item;
        item.effect_id = EffectId::trusted(id);
        item.tenant_id = TenantId::trusted("demo");
        item.kind = "order";
        item.not_after = clock_.now() + Duration::of_seconds(2);
        return item;
    }

    FakeClock clock_;
    CountingSink sink_;
    KillLatch latch_;
    LoweredFlag flag_;
    OutboxRunner runner_{{sink_, latch_, flag_, clock_}};
    std::array<std::promise<std::string>, 2> told_;
    std::size_t told_count_ = 0;
};

TEST_F(OutboxThread, SendsByItselfAndEndsWithItsOwner) {
    {
        OutboxThreads threads(runner_, clock_, [this](const EffectOutcome& outcome) {
            told_[told_count_++].set_value(outcome.effect.effect_id.text());
        });
        threads.start();
        threads.enqueue({effect("e1")});
        EXPECT_EQ(told_[0].get_future().get(), "e1");
        threads.enqueue({effect("e2")});
        EXPECT_EQ(told_[1].get_future().get(), "e2");
    }
    EXPECT_EQ(sink_.sent, 2);
}

TEST_F(OutboxThread, AfterStopNothingIsSentAnyMore) {
    std::vector<std::string> refused;
    OutboxThreads threads(runner_, clock_, [&](const EffectOutcome& outcome) {
        refused.push_back(outcome.error_code);
    });
    threads.start();
    threads.stop();
    threads.enqueue({effect("e1")});
    EXPECT_EQ(refused, std::vector<std::string>{"overloaded"});
    EXPECT_EQ(sink_.sent, 0);
}

TEST_F(EffectAge, AfterTheEndNothingIsSentOrAsked) {
    threads_.enqueue({named("e1")});
    threads_.enqueue_unsettled({named("u1")});
    threads_.stop();
    for (int round = 0; round < 3; ++round) {
        EXPECT_FALSE(threads_.run_round(std::chrono::milliseconds(0)));
    }
    EXPECT_TRUE(sink_.order.empty());
}

TEST_F(EffectAge, AnEndInTheMiddleOfTheQuestionsLeavesTheRestOpen) {
    sink_.found = fail(errors::unavailable, "ask later");
    threads_.enqueue_unsettled({named("u1")});
    run();
    threads_.enqueue_unsettled({named("u2")});
    run();
    sink_.order.clear();
    sink_.on_perform = [this](const OutboxItem&) {
        threads_.stop();
        return EffectReceipt{"done"};
    };
    clock_.advance(OutboxThreads::kSettleEvery);
    threads_.enqueue_unsettled({named("u3")});
    threads_.enqueue({named("e1")});
    EXPECT_FALSE(threads_.run_round(std::chrono::milliseconds(0)));
    EXPECT_EQ(sink_.order, (std::vector<std::string>{"ask u1", "send e1"}));
}

}  // namespace
}  // namespace interlock
