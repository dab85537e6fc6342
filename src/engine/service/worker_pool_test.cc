#include "engine/service/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace interlock {
namespace {

// Keeps the pool's only worker busy until it is let go.
class BusyWorker {
public:
    explicit BusyWorker(WorkerPool& pool) {
        auto let_go = let_go_.get_future().share();
        auto taken = std::make_shared<std::promise<void>>();
        auto is_taken = taken->get_future();
        EXPECT_TRUE(pool.try_run([let_go, taken] {
            taken->set_value();
            let_go.wait();
        }));
        is_taken.wait();
    }
    void let_go() { let_go_.set_value(); }

private:
    std::promise<void> let_go_;
};

TEST(WorkerPool, RunsAJobOnAnotherThread) {
    WorkerPool pool({.threads = 1, .waiting_max = 1});
    std::promise<std::thread::id> ran;

    ASSERT_TRUE(pool.try_run([&] { ran.set_value(std::this_thread::get_id()); }));

    EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST(WorkerPool, RefusesAJobWhenItsQueueIsFull) {
    WorkerPool pool({.threads = 1, .waiting_max = 2});
    BusyWorker busy(pool);

    EXPECT_TRUE(pool.try_run([] {}));
    EXPECT_TRUE(pool.try_run([] {}));
    EXPECT_FALSE(pool.try_run([] {}));
    EXPECT_EQ(pool.waiting(), 2u);
    busy.let_go();
}

TEST(WorkerPool, TakesAJobAgainOnceOneWasDone) {
    WorkerPool pool({.threads = 1, .waiting_max = 1});
    BusyWorker busy(pool);
    std::promise<void> done;
    ASSERT_TRUE(pool.try_run([&] { done.set_value(); }));
    ASSERT_FALSE(pool.try_run([] {}));

    busy.let_go();
    done.get_future().wait();

    EXPECT_TRUE(pool.try_run([] {}));
}

TEST(WorkerPool, RunsWhatItAcceptedBeforeItStops) {
    std::atomic<int> ran = 0;
    WorkerPool pool({.threads = 1, .waiting_max = 16});
    BusyWorker busy(pool);
    for (int i = 0; i < 16; ++i) {
        ASSERT_TRUE(pool.try_run([&] { ++ran; }));
    }

    busy.let_go();
    pool.stop();

    EXPECT_EQ(ran, 16);
}

TEST(WorkerPool, RefusesJobsAfterItStopped) {
    WorkerPool threaded({.threads = 1, .waiting_max = 4});
    WorkerPool inline_pool({.threads = 0, .waiting_max = 4});
    threaded.stop();
    inline_pool.stop();

    EXPECT_FALSE(threaded.try_run([] {}));
    EXPECT_FALSE(inline_pool.try_run([] {}));
}

TEST(WorkerPool, RunsJobsAtOnceWithoutThreads) {
    WorkerPool pool({.threads = 0, .waiting_max = 0});
    std::thread::id ran_on;

    ASSERT_TRUE(pool.try_run([&] { ran_on = std::this_thread::get_id(); }));

    EXPECT_EQ(ran_on, std::this_thread::get_id());
}

}  // namespace
}  // namespace interlock
