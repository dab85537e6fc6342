#include "services/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace interlock {
namespace {

TEST(WorkerPool, RunsAJobOnAnotherThread) {
    WorkerPool pool({.threads = 1, .waiting_max = 1});
    pool.start();
    std::promise<std::thread::id> ran;

    ASSERT_TRUE(pool.try_run([&] { ran.set_value(std::this_thread::get_id()); }));

    EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST(WorkerPool, RefusesAJobWhenItsQueueIsFull) {
    WorkerPool pool({.threads = 1, .waiting_max = 2});  // Not started: nothing is taken out.

    EXPECT_TRUE(pool.try_run([] {}));
    EXPECT_TRUE(pool.try_run([] {}));
    EXPECT_FALSE(pool.try_run([] {}));
    EXPECT_EQ(pool.waiting(), 2u);
}

TEST(WorkerPool, TakesAJobAgainOnceOneWasTakenOut) {
    WorkerPool pool({.threads = 1, .waiting_max = 1});
    std::promise<void> first_done;
    ASSERT_TRUE(pool.try_run([&] { first_done.set_value(); }));
    ASSERT_FALSE(pool.try_run([] {}));

    pool.start();
    first_done.get_future().wait();

    EXPECT_TRUE(pool.try_run([] {}));
}

TEST(WorkerPool, RunsWhatItAcceptedBeforeItStops) {
    std::atomic<int> ran = 0;
    WorkerPool pool({.threads = 2, .waiting_max = 16});
    for (int i = 0; i < 16; ++i) {
        ASSERT_TRUE(pool.try_run([&] { ++ran; }));
    }

    pool.start();
    pool.stop();

    EXPECT_EQ(ran, 16);
}

TEST(WorkerPool, RefusesJobsAfterItStopped) {
    WorkerPool pool({.threads = 1, .waiting_max = 4});
    pool.start();
    pool.stop();

    EXPECT_FALSE(pool.try_run([] {}));
}

}  // namespace
}  // namespace interlock
