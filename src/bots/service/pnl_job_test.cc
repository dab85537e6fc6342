#include "bots/service/pnl_job.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "bots/service/test_pnl_job.h"
#include "engine/service/worker_pool.h"

namespace interlock {
namespace {

TEST_F(PnlJob, RunsInTheBackgroundAndWritesALineForEachSymbolAndATotal) {
    buy_and_sell();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(start(), "running: The PnL calculation has started.");
    EXPECT_EQ(word(), "running");
    EXPECT_TRUE(lines().empty());
    run_all();
    EXPECT_EQ(word(), "idle");
    ASSERT_EQ(lines().size(), 2U);
    EXPECT_EQ(text_at(lines()[0], "symbol"), "ABCUSDT");
    EXPECT_EQ(text_at(lines()[1], "kind"), "total");
    EXPECT_EQ(text_at(lines()[1], "fills"), "2");
    EXPECT_EQ(text_at(lines()[1], "incomplete"), "false");
    EXPECT_EQ(status().last_outcome, "completed");
    EXPECT_EQ(world.count("PNL_STARTED"), 1);
    EXPECT_EQ(world.count("PNL_COMPLETED"), 1);
}

// The venue keeps its own list of trades; here nothing of ours is asked.
TEST_F(PnlJob, EqualsARecomputationFromTheVenuesOwnTrades) {
    for (int i = 0; i < 5; ++i) {
        buy_and_sell();
    }
    const std::vector<VenueFill> fills = world.paper->report(world.venue_account(), 0)->fills;
    ASSERT_GE(fills.size(), 10U);
    const Decimal unit = dec("0.0001");
    std::vector<Decimal> unit_costs;  // Of every unit ever kept, in the order they came.
    std::size_t units_sold = 0;
    Decimal realised;
    Decimal fees;
    for (const VenueFill& fill : fills) {
        const bool is_buy = fill.side == Side::buy;
        ASSERT_EQ(fill.fee_asset, asset_of(is_buy ? "ABC" : "USDT"));
        const Decimal worth = multiply_half_even(fill.price, fill.qty).value();
        const Decimal moved = is_buy ? subtract(fill.qty, fill.fee).value() : fill.qty;
        const Decimal count = divide_half_even(moved, unit).value();
        ASSERT_EQ(floor_to_step(count, Decimal(1)).value(), count) << "a smaller unit is needed";
        fees =
            add(fees, is_buy ? multiply_half_even(fill.fee, fill.price).value() : fill.fee).value();
        if (!is_buy) {
            realised = add(realised, subtract(worth, fill.fee).value()).value();
        }
        for (Decimal i = Decimal(1); i <= count; i = add(i, Decimal(1)).value()) {
            if (is_buy) {
                unit_costs.push_back(divide_half_even(worth, count).value());
            } else {
                ASSERT_LT(units_sold, unit_costs.size());
                realised = subtract(realised, unit_costs[units_sold++]).value();
            }
        }
    }
    start();
    run_all();
    const Json total = last_line();
    const Decimal distance = subtract(dec(text_at(total, "realized_net")), realised).value();
    EXPECT_LT(distance, dec("0.000000000001"));
    EXPECT_GT(distance, dec("-0.000000000001"));
    EXPECT_EQ(text_at(total, "fees"), to_text(fees));
    EXPECT_EQ(text_at(total, "fills"), std::to_string(fills.size()));
}

// What the books say, with fees moved from the day they were paid to the lots they were paid for.
TEST_F(PnlJob, AgreesWithTheBooksOfTheAccountToTheLastDigit) {
    for (int i = 0; i < 3; ++i) {
        buy_and_sell();
    }
    start();
    run_all();
    ASSERT_EQ(lines().size(), 2U);
    const Json line = lines()[0];
    const Json books =
        parse_json(world.memory.load_state(books_key(world.venue_account())).value()->json).value();
    const SymbolBook book = decode_account_books(books).value().books.front();
    EXPECT_EQ(text_at(line, "position"), to_text(book.position));
    const Decimal net = subtract(book.realized, dec(text_at(line, "fees"))).value();
    EXPECT_EQ(
        subtract(dec(text_at(line, "realized_net")), dec(text_at(line, "position_cost"))).value(),
        subtract(net, book.cost).value());
}

TEST_F(PnlJob, KeepsTheUnixTimeOfTheLastCompletedRunOnly) {
    open_account();
    EXPECT_EQ(to_text(pnl_last_update_json(status())), R"({"timestamp":null})");
    start();
    world.clock.advance(Duration::of_milliseconds(1500));
    run_all();
    EXPECT_EQ(status().last_update, world.clock.now());
    EXPECT_EQ(to_text(pnl_last_update_json(status())), R"({"timestamp":1794744001.5})");
}

TEST_F(PnlJob, SaysThatOneIsAlreadyRunning) {
    buy_and_sell();
    start();
    EXPECT_EQ(start(), "running: A PnL calculation is already running.");
    EXPECT_EQ(world.count("PNL_STARTED"), 1);
    run_all();
    EXPECT_EQ(start(), "running: The PnL calculation has started.");
}

TEST_F(PnlJob, StartsOneJobOfTwoCallsInOneCommit) {
    open_account();
    world.engine->hold();
    world.submit(start_turn());
    world.submit(start_turn());
    world.engine->release();
    EXPECT_EQ(slices.size(), 1U);
    EXPECT_EQ(answers.back(), "running: A PnL calculation is already running.");
}

TEST_F(PnlJob, TakesWindowsOfOneDayToAYear) {
    open_account();
    EXPECT_EQ(start(0), "invalid_request");
    EXPECT_EQ(start(366), "invalid_request");
    EXPECT_TRUE(start(1).starts_with("running"));
    run_all();
    EXPECT_TRUE(start(365).starts_with("running"));
}

TEST_F(PnlJob, RefusesAnAccountThatDoesNotExist) {
    EXPECT_EQ(start(), "not_found");
    EXPECT_EQ(word(), "idle");
}

TEST_F(PnlJob, TellsItsProgress) {
    open_account();
    forge("AAA", world.venue_account());
    forge("BBB", world.venue_account());
    open({.page_records = 2});
    start();
    const std::int64_t records = status().records_total;
    ASSERT_GT(records, 4);
    run_slice();
    EXPECT_EQ(status().records_read, 2);
    run_to_first_symbol();
    EXPECT_EQ(status().records_read, records);
    EXPECT_EQ(status().symbols_total, 2);
    const std::string text = to_text(encode(status()));
    EXPECT_NE(text.find(R"("status":"running")"), std::string::npos) << text;
    EXPECT_NE(text.find(R"("symbols_done":1,"symbols_total":2)"), std::string::npos) << text;
}

TEST_F(PnlJob, StopsBetweenTwoSymbolsAndDoesNotCountAsAnUpdate) {
    open_account();
    forge("AAA", world.venue_account());
    forge("BBB", world.venue_account());
    start();
    run_all();
    const auto before = status().last_update;
    ASSERT_TRUE(before);
    world.clock.advance(Duration::of_hours(1));
    start();
    run_to_first_symbol();
    EXPECT_EQ(stop(), "running: The PnL calculation stops after the current symbol.");
    EXPECT_TRUE(status().is_stopping);
    run_all();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_outcome, "stopped");
    EXPECT_EQ(status().last_update, before);
    ASSERT_EQ(lines().size(), 5U);  // Two symbols and a total; one symbol and the end.
    EXPECT_EQ(text_at(last_line(), "outcome"), "stopped");
    EXPECT_EQ(world.count("PNL_STOPPED"), 1);
}

TEST_F(PnlJob, HasNothingToStopWhenIdle) {
    open_account();
    EXPECT_EQ(stop(), "not running: No PnL calculation is running.");
    EXPECT_EQ(world.count("PNL_STOP_REQUESTED"), 0);
}

TEST_F(PnlJob, IsUnknownAfterARestartAndThenIdle) {
    buy_and_sell();
    start();
    run_all();
    const auto before = status().last_update;
    start();
    restart();
    EXPECT_EQ(word(), "unknown");
    EXPECT_EQ(status().last_update, before);
    jobs->settle();
    EXPECT_EQ(word(), "unknown");
    run_all();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_outcome, "interrupted");
    EXPECT_EQ(status().last_update, before);
    EXPECT_EQ(text_at(last_line(), "outcome"), "interrupted");
    EXPECT_EQ(world.count("PNL_INTERRUPTED"), 1);
    restart();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_update, before);
}

TEST_F(PnlJob, StartsAnewWhileTheLastOneIsUnknown) {
    buy_and_sell();
    start();
    restart();
    EXPECT_EQ(stop(), "not running: No PnL calculation is running.");
    jobs->settle();
    EXPECT_TRUE(start().starts_with("running: The PnL calculation has started."));
    EXPECT_EQ(word(), "running");
    run_all();  // What settle() began comes too late and changes nothing.
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_outcome, "completed");
    EXPECT_EQ(world.count("PNL_INTERRUPTED"), 0);
}

TEST_F(PnlJob, LeavesAJobForTheNextStartWhenThePlaneShutsDown) {
    open_account();
    forge("AAA", world.venue_account());
    start();
    jobs->shut_down();
    run_all();
    EXPECT_EQ(word(), "running");
    EXPECT_TRUE(lines().empty());
    restart();
    EXPECT_EQ(word(), "unknown");
}

TEST_F(PnlJob, EndsAtOnceWhenThePoolIsFull) {
    open_account();
    queue_max = 0;
    start();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_outcome, "overloaded");
    EXPECT_FALSE(status().last_update);
}

TEST_F(PnlJob, GoesOnWhereItIsWhenThePoolFillsUpUnderWay) {
    open_account();
    forge("AAA", world.venue_account());
    start();
    queue_max = 0;
    run_slice();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_outcome, "completed");
}

TEST_F(PnlJob, RunsOnAPoolWithoutThreads) {
    open_account();
    forge("AAA", world.venue_account());
    WorkerPool pool({.threads = 0, .waiting_max = 1});
    PnlJobs::Parts wired = parts();
    wired.run = [&](std::function<void()> slice) { return pool.try_run(std::move(slice)); };
    jobs = std::make_unique<PnlJobs>(std::move(wired), PnlJobs::Bounds{.page_records = 1});
    start();
    EXPECT_EQ(status().last_outcome, "completed");
    EXPECT_EQ(text_at(last_line(), "realized_net"), "2");
}

TEST_F(PnlJob, RunsOnThreads) {
    open_account();
    forge("AAA", world.venue_account());
    std::mutex mutex;
    std::condition_variable has_ended;
    std::vector<TurnRequest> ended;
    WorkerPool pool({.threads = 2, .waiting_max = 4});
    PnlJobs::Parts wired = parts();
    wired.run = [&](std::function<void()> slice) { return pool.try_run(std::move(slice)); };
    wired.submit = [&](TurnRequest request) {  // The engine is this test's own thread.
        const std::lock_guard lock(mutex);
        ended.push_back(std::move(request));
        has_ended.notify_one();
    };
    jobs = std::make_unique<PnlJobs>(std::move(wired), PnlJobs::Bounds{.page_records = 1});
    start();
    {
        std::unique_lock lock(mutex);
        ASSERT_TRUE(
            has_ended.wait_for(lock, std::chrono::seconds(60), [&] { return !ended.empty(); }));
    }
    pool.stop();
    ASSERT_EQ(ended.size(), 1U);
    world.submit(std::move(ended.front()));
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(text_at(last_line(), "realized_net"), "2");
}

TEST_F(PnlJob, RefusesMoreJobsAtOnceThanItsBound) {
    open_account();
    open({.jobs_max = 1});
    start();
    TurnRequest other = turn_of([this](Turn& turn) {
        VenueAccount account = world.venue_account();
        account.tenant_id = turn.tenant_id();
        return jobs->start(turn, {account, 30});
    });
    other.tenant_id = TenantId::trusted("other");
    world.submit(std::move(other));
    EXPECT_EQ(answers.back(), "overloaded");
}

TEST_F(PnlJob, HoldsAsManyTradesAsItsBoundAndFailsAtOneMore) {
    open_account();
    forge("AAA", world.venue_account());
    open({.fills_max = 2});
    start();
    run_all();
    EXPECT_EQ(status().last_outcome, "completed");
    open({.fills_max = 1});
    start();
    run_all();
    EXPECT_EQ(status().last_outcome, "overloaded");
    EXPECT_EQ(world.count("PNL_FAILED"), 1);
}

TEST_F(PnlJob, CountsTradesOfItsOwnAccountOnly) {
    open_account();
    forge("AAA", world.venue_account());
    VenueAccount second = world.venue_account();
    second.account_id = AccountId::trusted("second");
    forge("AAA", second);
    VenueAccount shadow = world.venue_account();
    shadow.mode = TradeMode::shadow;
    forge("BBB", shadow);
    start();
    run_all();
    EXPECT_EQ(text_at(last_line(), "fills"), "2");
    EXPECT_EQ(text_at(last_line(), "symbols"), "1");
    EXPECT_EQ(text_at(lines()[0], "repeated_fills"), "0");
}

TEST_F(PnlJob, IsIncompleteWhenATradeOnRecordCannotBeRead) {
    open_account();
    forge("AAA", world.venue_account());
    forge_details(
        "BBB", [](const BookedFill& booked) { return encode(booked.fill); }, world.venue_account());
    start();
    run_all();
    EXPECT_EQ(text_at(last_line(), "unusable_fills"), "2");
    EXPECT_EQ(text_at(last_line(), "incomplete"), "true");
}

TEST_F(PnlJob, LeavesTradesOutThatWereBookedAfterItBegan) {
    open_account();
    forge("AAA", world.venue_account());
    start();
    forge("BBB", world.venue_account());
    run_all();
    EXPECT_EQ(text_at(last_line(), "symbols"), "1");
}

TEST_F(PnlJob, CountsATradeThatTheLedgerHoldsTwiceOnce) {
    open_account();
    forge("AAA", world.venue_account());
    forge("AAA", world.venue_account());
    start();
    run_all();
    EXPECT_EQ(text_at(last_line(), "fills"), "2");
    EXPECT_EQ(text_at(last_line(), "realized_net"), "2");
}

TEST_F(PnlJob, FailsWhenItsLogCannotBeWritten) {
    open_account();
    forge("AAA", world.venue_account());
    log.is_broken = true;
    start();
    run_all();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_outcome, "io_failed");
    EXPECT_FALSE(status().last_update);
}

TEST_F(PnlJob, IsUnknownWhenItsEndCannotBeRecordedUntilItIsSettled) {
    open_account();
    start();
    world.engine->refuse_after = 0;
    run_all();
    EXPECT_EQ(word(), "unknown");
    jobs->settle();
    run_all();
    EXPECT_EQ(word(), "unknown");
    world.engine->refuse_after.reset();
    jobs->settle();
    run_all();
    EXPECT_EQ(word(), "idle");
    EXPECT_EQ(status().last_outcome, "interrupted");
}

TEST_F(PnlJob, ServesTheNewestLinesOfItsLog) {
    open_account();
    forge("AAA", world.venue_account());
    start();
    run_all();
    const std::string tail = jobs->snapshot(world.tenant, 1).value();
    EXPECT_EQ(tail, log.lines[world.tenant].back() + "\n");
}

TEST_F(PnlJob, KeepsNothingOfATenantThatNeverRan) {
    EXPECT_EQ(
        to_text(encode(jobs->status(TenantId::trusted("other")))),
        R"({"status":"idle","last_outcome":null})");
}

}  // namespace
}  // namespace interlock
