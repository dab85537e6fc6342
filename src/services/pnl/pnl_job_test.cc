#include "services/pnl/pnl_job.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>

#include "contracts/venue/booked_fill.h"
#include "services/worker_pool.h"
#include "testing/account_builders.h"
#include "testing/loop_world.h"

namespace interlock {
namespace {

class HeldPnlLog final : public PnlLog {
public:
    Result<void> append(const TenantId& tenant_id, std::string_view line) override {
        if (is_broken) {
            return fail(errors::io_failed, "The disk is gone.");
        }
        lines[tenant_id].emplace_back(line);
        return {};
    }
    Result<std::string> tail(const TenantId& tenant_id, std::size_t lines_max) override {
        std::string text;
        const auto& all = lines[tenant_id];
        for (std::size_t i = all.size() - std::min(all.size(), lines_max); i < all.size(); ++i) {
            text += all[i] + "\n";
        }
        return text;
    }
    std::map<TenantId, std::vector<std::string>> lines;
    bool is_broken = false;
};

class PnlJob : public ::testing::Test {
protected:
    PnlJob() { open(); }

    void open(PnlJobs::Bounds bounds = {}) {
        jobs = std::make_unique<PnlJobs>(parts(), bounds);
        ASSERT_TRUE(jobs->open());
    }
    PnlJobs::Parts parts() {
        return {
            .runner = world.plane->runner,
            .store = world.store,
            .feed = *world.paper,
            .log = log,
            .clock = world.clock,
            .submit = [this](TurnRequest request) { world.submit(std::move(request)); },
            .run =
                [this](std::function<void()> slice) {
                    if (slices.size() >= queue_max) {
                        return false;
                    }
                    slices.push_back(std::move(slice));
                    return true;
                }};
    }
    void restart() {
        slices.clear();
        jobs.reset();
        world.rebuild();
        open();
    }

    TurnRequest turn_of(std::function<Result<PnlJobs::Answered>(Turn&)> call) {
        TurnRequest request;
        request.tenant_id = world.tenant;
        request.principal = PlaneWorld::agent();
        request.function = "run_pnl";
        request.decide = [call = std::move(call)](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(const PnlJobs::Answered answered, call(turn));
            return Answer{
                200, (answered.running ? "running: " : "not running: ") + answered.message};
        };
        request.reply = [this](Result<Answer> answer) {
            answers.push_back(answer ? answer->body : std::string(answer.error().code()));
        };
        return request;
    }
    TurnRequest start_turn(std::int64_t lookback_days = 30) {
        return turn_of([this, lookback_days](Turn& turn) {
            return jobs->start(turn, {world.venue_account(), lookback_days});
        });
    }
    std::string start(std::int64_t lookback_days = 30) {
        world.submit(start_turn(lookback_days));
        return answers.back();
    }
    std::string stop() {
        world.submit(turn_of([this](Turn& turn) { return jobs->stop(turn); }));
        return answers.back();
    }
    void run_slice() {
        ASSERT_FALSE(slices.empty());
        std::function<void()> slice = std::move(slices.front());
        slices.pop_front();
        slice();
    }
    void run_all() {
        while (!slices.empty()) {
            run_slice();
        }
    }
    // Until a symbol has been reckoned.
    void run_to_first_symbol() {
        while (status().symbols_done == 0) {
            run_slice();
        }
    }

    // A round trip of 1 ABC through the whole loop.
    void buy_and_sell() {
        const std::string number = std::to_string(++trades);
        world.trade("buy" + number, Json::array({LoopWorld::intent("buy", "1", nullptr)}));
        world.pass(Duration::of_seconds(61));
        world.trade("sell" + number, Json::array({LoopWorld::intent("sell", "0.5", nullptr)}));
        world.pass(Duration::of_seconds(61));
    }
    // Puts trades on record without trading them: 1 bought at 10, sold at 12.
    void forge(const std::string& base, VenueAccount account) {
        forge_details(
            base, [&](const BookedFill& booked) { return encode(booked); }, std::move(account));
    }
    void forge_details(
        const std::string& base,
        const std::function<Json(const BookedFill&)>& detail_of,
        VenueAccount account) {
        TurnRequest request = turn_of(nullptr);
        request.decide = [this, base, detail_of, account](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(const AccountView view, load_account(turn, world.venue_account()));
            AccountBooks books = *view.books;
            if (find_book(books.books, a_book(base).symbol) == nullptr) {
                books.books.push_back(a_book(base));
                std::sort(books.books.begin(), books.books.end(), [](const auto& a, const auto& b) {
                    return a.symbol < b.symbol;
                });
                save_books(turn, world.venue_account(), books);
            }
            for (const Side side : {Side::buy, Side::sell}) {
                OrderRecord order = an_order({.side = side, .base = base});
                VenueFill fill = a_trade(
                    order,
                    {.id = side == Side::buy ? 1 : 2,
                     .price = side == Side::buy ? "10" : "12",
                     .at = turn.now()});
                AuditDraft draft = turn.draft(std::string(kFillBookedEvent));
                draft.detail = detail_of({account, fill, std::nullopt});
                TRY(turn.audit(std::move(draft)));
            }
            return Answer{};
        };
        world.submit(std::move(request));
    }
    void open_account() {
        TurnRequest request = turn_of(nullptr);
        request.decide = [this](Turn& turn) -> Result<TurnReply> {
            TRY(world.plane->loop->open_or_load(turn, world.venue_account()));
            return Answer{};
        };
        world.submit(std::move(request));
    }

    PnlStatus status() { return jobs->status(world.tenant); }
    std::string word() { return std::string(to_word(status().state)); }
    std::vector<Json> lines() {
        std::vector<Json> parsed;
        for (const std::string& line : log.lines[world.tenant]) {
            parsed.push_back(parse_json(line).value());
        }
        return parsed;
    }
    Json last_line() {
        const auto all = lines();
        return all.empty() ? Json() : all.back();
    }
    static std::string text_at(const Json& line, std::string_view key) {
        const Json* value = line.find(key);
        return value == nullptr     ? "(absent)"
               : value->is_string() ? value->as_string()
                                    : to_text(*value);
    }

    LoopWorld world;
    HeldPnlLog log;
    std::deque<std::function<void()>> slices;
    std::size_t queue_max = 100;
    std::unique_ptr<PnlJobs> jobs;
    std::vector<std::string> answers;
    int trades = 0;
};

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
    const Decimal distance = subtract(dec(text_at(total, "realised")), realised).value();
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
        subtract(dec(text_at(line, "realised")), dec(text_at(line, "position_cost"))).value(),
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
    EXPECT_EQ(text_at(last_line(), "realised"), "2");
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
    EXPECT_EQ(text_at(last_line(), "realised"), "2");
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
    EXPECT_EQ(text_at(last_line(), "realised"), "2");
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
