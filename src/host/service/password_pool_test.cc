#include "host/service/password_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace interlock {
namespace {

const PasswordPool::Owner kKnown{.is_known = true, .name = "hum_1"};

PasswordPool::Owner stranger(const std::string& peer) {
    return {.is_known = false, .name = peer};
}

// Keeps one worker busy until it is let go.
class BusyWorker {
public:
    BusyWorker(PasswordPool& pool, const PasswordPool::Owner& owner) {
        auto let_go = let_go_.get_future().share();
        auto taken = std::make_shared<std::promise<void>>();
        auto is_taken = taken->get_future();
        EXPECT_TRUE(pool.submit(
            owner,
            {.run =
                 [let_go, taken] {
                     taken->set_value();
                     let_go.wait();
                 },
             .refuse = {}}));
        is_taken.wait();
    }
    void let_go() { let_go_.set_value(); }

private:
    std::promise<void> let_go_;
};

bool submit(
    PasswordPool& pool, const PasswordPool::Owner& owner, std::function<void()> run = [] {}) {
    return pool.submit(owner, {.run = std::move(run), .refuse = {}});
}

TEST(PasswordPool, KeepsAWorkerForThoseWhoAreKnownHoweverManyStrangersKnock) {
    PasswordPool pool({.threads = 2, .waiting_max = 64, .waiting_per_owner_max = 64});
    BusyWorker busy(pool, stranger("192.0.2.1"));
    for (int i = 0; i < 64; ++i) {
        EXPECT_TRUE(submit(pool, stranger("192.0.2.1")));
    }
    std::promise<void> done;

    EXPECT_TRUE(submit(pool, kKnown, [&] { done.set_value(); }));

    done.get_future().wait();  // While the stranger's job still runs.
    EXPECT_EQ(pool.waiting(), 64u);
    busy.let_go();
}

TEST(PasswordPool, LetsOwnersTakeTurns) {
    PasswordPool pool({.threads = 2});
    BusyWorker busy(pool, stranger("192.0.2.1"));
    std::vector<std::string> order;  // Strangers run one at a time.
    const auto job = [&](const std::string& name) { return [&, name] { order.push_back(name); }; };
    EXPECT_TRUE(submit(pool, stranger("192.0.2.1"), job("1a")));
    EXPECT_TRUE(submit(pool, stranger("192.0.2.1"), job("1b")));
    EXPECT_TRUE(submit(pool, stranger("192.0.2.2"), job("2a")));

    busy.let_go();
    pool.stop();

    EXPECT_EQ(order, (std::vector<std::string>{"1a", "2a", "1b"}));
}

TEST(PasswordPool, RefusesAnOwnerWhoHasEnoughWaiting) {
    PasswordPool pool({.threads = 2, .waiting_max = 64, .waiting_per_owner_max = 2});
    BusyWorker busy(pool, stranger("192.0.2.9"));
    EXPECT_TRUE(submit(pool, stranger("192.0.2.1")));
    EXPECT_TRUE(submit(pool, stranger("192.0.2.1")));
    EXPECT_FALSE(submit(pool, stranger("192.0.2.1")));
    EXPECT_TRUE(submit(pool, stranger("192.0.2.2")));
    busy.let_go();
}

TEST(PasswordPool, TakesAPlaceFromWhoeverWaitsWithMostWhenAllAreTaken) {
    PasswordPool pool({.threads = 2, .waiting_max = 3, .waiting_per_owner_max = 4});
    BusyWorker busy(pool, stranger("192.0.2.9"));
    std::atomic<int> refused = 0;
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(
            pool.submit(stranger("192.0.2.1"), {.run = [] {}, .refuse = [&] { ++refused; }}));
    }
    EXPECT_TRUE(submit(pool, stranger("192.0.2.2")));
    EXPECT_EQ(refused, 1);
    EXPECT_FALSE(submit(pool, stranger("192.0.2.1")));
    EXPECT_TRUE(submit(pool, stranger("192.0.2.3")));
    EXPECT_EQ(refused, 2);
    EXPECT_FALSE(submit(pool, stranger("192.0.2.4")));  // Everybody has one.
    EXPECT_EQ(pool.waiting(), 3u);
    busy.let_go();
}

TEST(PasswordPool, RunsWhatItTookAndTakesNothingAfterStop) {
    PasswordPool pool({.threads = 2});
    std::atomic<int> ran = 0;
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(submit(pool, stranger("192.0.2.1"), [&] { ++ran; }));
    }
    pool.stop();
    EXPECT_EQ(ran, 4);
    EXPECT_FALSE(submit(pool, kKnown));
}

TEST(PasswordPool, RunsAtOnceWithoutThreads) {
    PasswordPool pool({.threads = 0});
    bool ran = false;
    EXPECT_TRUE(submit(pool, kKnown, [&] { ran = true; }));
    EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace interlock
