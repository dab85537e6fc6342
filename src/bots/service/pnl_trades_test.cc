// A run goes on from the trades that the last one left (pnl.md): it reads only what is new, and
// comes to the same figures as one over the whole ledger.
#include <gtest/gtest.h>

#include "bots/service/test_pnl_job.h"

namespace interlock {
namespace {

// Each run once read the ledger from its first record.
TEST_F(PnlJob, ASecondRunReadsOnlyWhatIsNew) {
    buy_and_sell();
    const std::int64_t before = world.plane->ledger.head(world.tenant)->seq;
    start();
    run_all();
    buy_and_sell();
    start();
    const std::int64_t given = world.store.records_given;
    run_all();
    const std::int64_t read = world.store.records_given - given;
    EXPECT_LE(read, world.plane->ledger.head(world.tenant)->seq - before);
    EXPECT_GT(read, 0);
    const Json went_on = last_line();
    EXPECT_EQ(text_at(went_on, "fills"), "4");

    // The same as a run over everything.
    log.trades.clear();
    start();
    run_all();
    for (const char* figure :
         {"realized_net", "fees", "volume", "fills", "sells", "wins", "unrealized_net"}) {
        EXPECT_EQ(text_at(went_on, figure), text_at(last_line(), figure)) << figure;
    }
}

TEST_F(PnlJob, GoesOnAfterARestartAndInPiecesOfAnyLength) {
    buy_and_sell();
    start();
    run_all();
    const std::string first = text_at(last_line(), "realized_net");
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
        slices.clear();
        jobs.reset();
        world.rebuild();
        open({.kept_bytes = bytes});
        queue_max = 100'000;
        const std::int64_t given = world.store.records_given;
        start();
        run_all();
        EXPECT_LT(world.store.records_given - given, 20) << bytes;
        EXPECT_EQ(text_at(last_line(), "realized_net"), first);
        EXPECT_EQ(text_at(last_line(), "fills"), "2");
    }
}

TEST_F(PnlJob, ReadsTheLedgerAnewWhenItsTradesAreNotWhatItLeft) {
    buy_and_sell();
    start();
    run_all();
    const std::string first = text_at(last_line(), "realized_net");
    const std::string left = log.trades[world.tenant];
    ASSERT_FALSE(left.empty());
    std::string changed = left;
    changed[changed.find("\"price\"") + 10] = '7';
    for (const std::string& found :
         {changed,
          left.substr(0, left.size() - 5),
          left.substr(0, left.find('\n') + 1),
          std::string()}) {
        log.trades[world.tenant] = found;
        start();
        run_all();
        EXPECT_EQ(text_at(last_line(), "realized_net"), first);
        EXPECT_EQ(text_at(last_line(), "fills"), "2");
        EXPECT_EQ(log.trades[world.tenant], left) << "and keeps them again";
    }
}

TEST_F(PnlJob, AStoppedRunLeavesTheTradesOfTheLastCompletedOne) {
    buy_and_sell();
    start();
    run_all();
    buy_and_sell();
    start();
    run_to_first_symbol();
    stop();
    run_all();
    EXPECT_EQ(status().last_outcome, "stopped");
    start();
    run_all();
    EXPECT_EQ(text_at(last_line(), "fills"), "4");
}

}  // namespace
}  // namespace interlock
