// The paper venue's lock, journal and faults; what any venue promises is in the conformance suite.
#include "venues/paper/paper_venue.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "market/rules/synthetic_market.h"
#include "testing/fake_clock.h"
#include "testing/scripted_market.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}

class PaperVenueTest : public ::testing::Test {
protected:
    PaperVenueTest() { open({}); }

    void open(const PaperVenueOptions& options) {
        venue_.reset();
        auto market = std::make_unique<ScriptedMarket>();
        market_ = market.get();
        auto opened = PaperVenue::open(std::move(market), clock_, options);
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        venue_ = *std::move(opened);
        const std::vector<VenueBalance> balances{
            {Asset::parse("USDT").value(), Decimal(10'000), Decimal(77)},
            {Asset::parse("ABC").value(), Decimal(50), {}}};
        ASSERT_TRUE(venue_->open_account(account_, balances).has_value());
    }
    PaperVenueOptions journaled() {
        return {.journal_path = folder_ / "paper.journal", .sync = false};
    }
    std::string journal_text() {
        std::ifstream in(folder_ / "paper.journal");
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void append_to_journal(const std::string& text) {
        std::ofstream(folder_ / "paper.journal", std::ios::app) << text;
    }
    VenueOrderRequest limit(
        const std::string& id, Side side, std::string_view qty, std::string_view price) {
        VenueOrderRequest request;
        request.account = account_;
        request.order_client_id = OrderClientId::trusted(id);
        request.symbol = scripted_rules().symbol;
        request.side = side;
        request.qty = dec(qty);
        request.limit_price = dec(price);
        return request;
    }
    std::string code(const VenueOrderRequest& request) {
        const auto ack = venue_->submit(request);
        return ack ? "accepted" : std::string(ack.error().code());
    }
    bool is_known(const std::string& id) {
        return venue_->find_order(account_, scripted_rules().symbol, OrderClientId::trusted(id))
            .value()
            .has_value();
    }
    void set(PaperFault fault) { ASSERT_TRUE(venue_->set_faults({std::move(fault)}).has_value()); }
    Result<VenueOrder> cancel(const std::string& id) {
        return venue_->cancel(account_, scripted_rules().symbol, OrderClientId::trusted(id));
    }

    VenueAccount account_{TenantId::trusted("alice"), AccountId::trusted("main"), TradeMode::paper};
    TempFolder folder_;
    FakeClock clock_;
    ScriptedMarket* market_ = nullptr;  // The venue owns it.
    std::unique_ptr<PaperVenue> venue_;
};

TEST_F(PaperVenueTest, OpeningAnAccountAgainChangesNothing) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "1", "99")).has_value());
    const std::vector<VenueBalance> more{{Asset::parse("USDT").value(), Decimal(1), {}}};
    ASSERT_TRUE(venue_->open_account(account_, more).has_value());
    const VenueReport report = venue_->report(account_, 0).value();
    ASSERT_EQ(report.balances.size(), 2u);
    EXPECT_EQ(report.balances[1].free, Decimal(9'901));
    EXPECT_EQ(report.balances[1].locked, Decimal(99));
}

TEST_F(PaperVenueTest, ARejectHappensNowhere) {
    set({.kind = PaperFaultKind::reject});
    const auto ack = venue_->submit(limit("a", Side::buy, "1", "99"));
    ASSERT_FALSE(ack.has_value());
    EXPECT_EQ(ack.error(), errors::venue_rejected);
    EXPECT_EQ(reject_code_of(ack.error()), "fault_injected");
    EXPECT_FALSE(is_known("a"));
}

TEST_F(PaperVenueTest, ATimeOutNeverArrives) {
    set({.kind = PaperFaultKind::time_out});
    EXPECT_EQ(code(limit("a", Side::buy, "1", "99")), "venue_timeout");
    clock_.advance(Duration::of_hours(1));
    EXPECT_FALSE(is_known("a"));
}

TEST_F(PaperVenueTest, ALostAnswerHidesAnOrderThatLives) {
    set({.kind = PaperFaultKind::lose_answer});
    EXPECT_EQ(code(limit("a", Side::buy, "1", "99")), "venue_timeout");
    EXPECT_TRUE(is_known("a"));
}

TEST_F(PaperVenueTest, ALateArrivalComesAfterItsDelay) {
    set({.kind = PaperFaultKind::late_arrival, .delay = Duration::of_seconds(20)});
    EXPECT_EQ(code(limit("a", Side::buy, "1", "99")), "venue_timeout");
    clock_.advance(Duration::of_seconds(19));
    EXPECT_FALSE(is_known("a"));
    clock_.advance(Duration::of_seconds(1));
    EXPECT_TRUE(is_known("a"));
}

TEST_F(PaperVenueTest, LateArrivalsAreBounded) {
    set({.kind = PaperFaultKind::late_arrival, .delay = Duration::of_seconds(1)});
    for (std::size_t i = 0; i <= kPaperLateArrivalsMax; ++i) {
        VenueOrderRequest request = limit("o" + std::to_string(i), Side::sell, "1", "99");
        request.time_in_force = TimeInForce::ioc;
        EXPECT_EQ(code(request), "venue_timeout");
    }
    ASSERT_TRUE(venue_->set_faults({}).has_value());
    clock_.advance(Duration::of_seconds(1));
    EXPECT_TRUE(is_known("o0"));
    EXPECT_FALSE(is_known("o" + std::to_string(kPaperLateArrivalsMax)));
}

TEST_F(PaperVenueTest, ALateFillIsToldAfterItsDelayAndTheOrderAtOnce) {
    set({.kind = PaperFaultKind::late_fill, .delay = Duration::of_seconds(2)});
    const VenueAck ack = venue_->submit(limit("a", Side::buy, "1", "100.01")).value();
    EXPECT_EQ(ack.order.state, OrderState::filled);
    EXPECT_TRUE(ack.fills.empty());
    EXPECT_TRUE(venue_->report(account_, 0).value().fills.empty());
    EXPECT_EQ(venue_->report(account_, 0).value().fills_cursor, 0);
    EXPECT_TRUE(venue_->fills_of(account_, scripted_rules().symbol, ack.order.order_client_id)
                    .value()
                    .empty());
    clock_.advance(Duration::of_seconds(2));
    EXPECT_EQ(venue_->report(account_, 0).value().fills.size(), 1u);
}

TEST_F(PaperVenueTest, ADuplicateReportTellsTheSameFillTwice) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "1", "100.01")).has_value());
    set({.kind = PaperFaultKind::duplicate_report});
    const VenueReport report = venue_->report(account_, 0).value();
    ASSERT_EQ(report.fills.size(), 2u);
    EXPECT_EQ(report.fills[0], report.fills[1]);
    EXPECT_EQ(report.fills_cursor, 1);
}

TEST_F(PaperVenueTest, OutOfOrderFillsComeNewestFirst) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "3", "100.02")).has_value());
    set({.kind = PaperFaultKind::out_of_order_fills});
    const VenueReport report = venue_->report(account_, 0).value();
    ASSERT_EQ(report.fills.size(), 2u);
    EXPECT_GT(report.fills[0].trade_id, report.fills[1].trade_id);
}

TEST_F(PaperVenueTest, ADisconnectedVenueAnswersNothingAndTakesNothing) {
    set({.kind = PaperFaultKind::disconnect});
    EXPECT_EQ(code(limit("a", Side::buy, "1", "99")), "venue_unreachable");
    EXPECT_EQ(venue_->report(account_, 0).error().code(), "venue_unreachable");
    EXPECT_EQ(cancel("a").error().code(), "venue_unreachable");
    EXPECT_EQ(venue_->clock_skew_ms().error().code(), "venue_unreachable");
    ASSERT_TRUE(venue_->set_faults({}).has_value());
    EXPECT_FALSE(is_known("a"));
}

TEST_F(PaperVenueTest, ASkewedClockShowsInFactsAndWhenAsked) {
    set({.kind = PaperFaultKind::clock_skew, .delay = Duration::of_milliseconds(-1'500)});
    EXPECT_EQ(venue_->clock_skew_ms().value(), -1'500);
    const MarketSet facts = venue_->facts(venue_->symbols());
    EXPECT_EQ(facts.markets[0].exchange_at, clock_.now() - Duration::of_milliseconds(1'500));
}

TEST_F(PaperVenueTest, ALostCancelLeavesTheOrderOpen) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "1", "99")).has_value());
    set({.kind = PaperFaultKind::cancel_lost, .times_max = 2});
    EXPECT_EQ(cancel("a").error().code(), "venue_timeout");
    EXPECT_EQ(venue_->cancel_all(account_).error().code(), "venue_timeout");
    EXPECT_EQ(venue_->report(account_, 0).value().open_orders.size(), 1u);
    EXPECT_TRUE(cancel("a").has_value());
}

TEST_F(PaperVenueTest, ALostAnswerToACancelHidesThatItIsDone) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "1", "99")).has_value());
    set({.kind = PaperFaultKind::cancel_answer_lost});
    EXPECT_EQ(cancel("a").error().code(), "venue_timeout");
    EXPECT_TRUE(venue_->report(account_, 0).value().open_orders.empty());
}

TEST_F(PaperVenueTest, AFaultStrikesOnlyWhomItNames) {
    PaperFault fault{.kind = PaperFaultKind::time_out};
    fault.account = account_;
    fault.account->tenant_id = TenantId::trusted("bob");
    set(fault);
    EXPECT_EQ(code(limit("a", Side::buy, "1", "99")), "accepted");
    fault.account = account_;
    fault.symbol = Symbol::parse("XYZUSDT").value();
    set(fault);
    EXPECT_EQ(code(limit("b", Side::buy, "1", "99")), "accepted");
    fault.symbol = scripted_rules().symbol;
    set(fault);
    EXPECT_EQ(code(limit("c", Side::buy, "1", "99")), "venue_timeout");
}

TEST_F(PaperVenueTest, ChanceAndCountBoundAFaultAndTheSeedRepeatsIt) {
    const auto strikes = [&](std::uint64_t seed) {
        open({.fault_seed = seed});
        set({.kind = PaperFaultKind::reject, .chance_ppm = 300'000, .times_max = 12});
        std::string struck;
        for (int i = 0; i < 100; ++i) {
            VenueOrderRequest request = limit("o" + std::to_string(i), Side::sell, "0.1", "99");
            request.time_in_force = TimeInForce::ioc;
            struck += code(request) == "accepted" ? '.' : 'x';
        }
        return struck;
    };
    const std::string first = strikes(1);
    EXPECT_EQ(std::count(first.begin(), first.end(), 'x'), 12);
    EXPECT_EQ(strikes(1), first);
    EXPECT_NE(strikes(2), first);
}

TEST_F(PaperVenueTest, MoreFaultsThanTheBoundAreRefused) {
    const std::vector<PaperFault> many(kPaperFaultsMax + 1);
    EXPECT_EQ(venue_->set_faults(many).error().code(), "out_of_range");
    EXPECT_TRUE(venue_->faults().empty());
}

TEST(PaperFaults, EveryWordIsReadBack) {
    for (int i = 0; i <= static_cast<int>(PaperFaultKind::cancel_answer_lost); ++i) {
        const auto kind = static_cast<PaperFaultKind>(i);
        EXPECT_EQ(parse_paper_fault(to_word(kind)), kind);
    }
    EXPECT_FALSE(parse_paper_fault("gremlin").has_value());
}

TEST_F(PaperVenueTest, ATornLastLineIsDroppedAndWrittenOver) {
    open(journaled());
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "1", "99")).has_value());
    venue_.reset();
    const std::string before = journal_text();
    append_to_journal(R"({"type":"order_accepted","account":{"tenant)");
    open(journaled());
    EXPECT_TRUE(is_known("a"));
    ASSERT_TRUE(venue_->submit(limit("b", Side::buy, "1", "99")).has_value());
    EXPECT_TRUE(journal_text().starts_with(before));
    open(journaled());
    EXPECT_TRUE(is_known("b"));
}

TEST_F(PaperVenueTest, ABatchWithoutItsLastLineNeverHappened) {
    open(journaled());
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "1", "100.01")).has_value());
    venue_.reset();
    // The order's own line stays, that of its fill is cut off.
    std::string text = journal_text();
    text.erase(text.rfind('\n', text.size() - 2) + 1);
    ASSERT_NE(text.find("order_accepted"), std::string::npos);
    std::ofstream(folder_ / "paper.journal", std::ios::trunc) << text;
    open(journaled());
    EXPECT_FALSE(is_known("a"));
    EXPECT_EQ(venue_->report(account_, 0).value().balances[1].free, Decimal(10'000));
}

TEST_F(PaperVenueTest, ABrokenLineInTheMiddleIsNamed) {
    open(journaled());
    venue_.reset();
    append_to_journal("{\"type\":\"order_accepted\",\"last\":true}\n");
    const auto opened = PaperVenue::open(std::make_unique<ScriptedMarket>(), clock_, journaled());
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), "corrupt_data");
    EXPECT_NE(opened.error().message.find("Line 3"), std::string::npos) << opened.error().message;
}

TEST_F(PaperVenueTest, ASecondVenueOnTheSameJournalIsRefused) {
    open(journaled());
    const auto second = PaperVenue::open(std::make_unique<ScriptedMarket>(), clock_, journaled());
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), "invalid_config");
}

TEST_F(PaperVenueTest, AJournalBeyondItsBoundIsCompactedToWhatIsKept) {
    PaperVenueOptions options = journaled();
    options.journal_bytes_max = 20'000;
    options.exchange.finished_orders_max = 5;
    options.exchange.fills_max = 5;
    open(options);
    ASSERT_TRUE(venue_->submit(limit("resting", Side::buy, "1", "99")).has_value());
    std::size_t largest = 0;
    for (int i = 0; i < 200; ++i) {
        VenueOrderRequest request = limit("o" + std::to_string(i), Side::sell, "0.1", "99");
        request.time_in_force = TimeInForce::ioc;
        ASSERT_TRUE(venue_->submit(request).has_value());
        clock_.advance(kMarketStep);
        largest = std::max(largest, journal_text().size());
    }
    EXPECT_LT(largest, 22'000u);
    const VenueReport before = venue_->report(account_, 195).value();
    open(options);
    const VenueReport after = venue_->report(account_, 195).value();
    EXPECT_EQ(after.balances, before.balances);
    EXPECT_EQ(after.fills, before.fills);
    EXPECT_EQ(after.fills_cursor, 200);
    EXPECT_EQ(after.open_orders, before.open_orders);
    EXPECT_FALSE(is_known("o0"));
    EXPECT_TRUE(is_known("o199"));
    EXPECT_EQ(
        venue_->submit(limit("next", Side::buy, "1", "99")).value().order.exchange_order_id, "202");
}

TEST_F(PaperVenueTest, RestingOrdersGoOnTradingAfterARestart) {
    open(journaled());
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "1", "99")).has_value());
    open(journaled());
    MarketView crash = calm_view();
    crash.bids = {{{9'800}, {1'000}}};
    crash.asks = {{{9'850}, {400}}};
    market_->set(step_of(clock_.now()) + 1, crash);
    clock_.advance(kMarketStep);
    const VenueReport report = venue_->report(account_, 0).value();
    ASSERT_EQ(report.fills.size(), 1u);
    EXPECT_EQ(report.fills[0].price, Decimal(99));
    EXPECT_EQ(report.fills[0].qty, dec("0.4"));
    open(journaled());
    EXPECT_EQ(venue_->report(account_, 0).value().fills, report.fills);
}

// A venue that cannot write must not go on telling what only memory knows.
TEST_F(PaperVenueTest, AVenueWhoseJournalFailsAnswersNothingMore) {
    PaperVenueOptions options = journaled();
    options.journal_bytes_max = 1;  // Every change compacts, and that needs the folder.
    open(options);
    std::filesystem::remove_all(folder_.path());
    EXPECT_EQ(code(limit("a", Side::buy, "1", "99")), "venue_timeout");
    EXPECT_EQ(code(limit("b", Side::buy, "1", "99")), "venue_unreachable");
    EXPECT_EQ(venue_->report(account_, 0).error().code(), "venue_unreachable");
}

TEST_F(PaperVenueTest, ManyThreadsMaySendAtOnce) {
    PaperVenueOptions options = journaled();
    options.sync = true;
    open(options);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5; ++i) {
                const std::string id = std::to_string(t) + "_" + std::to_string(i);
                EXPECT_EQ(code(limit(id, Side::buy, "0.1", "99")), "accepted");
                EXPECT_EQ(venue_->facts(venue_->symbols()).markets.size(), 1u);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(venue_->report(account_, 0).value().open_orders.size(), 20u);
    open(options);
    EXPECT_EQ(venue_->report(account_, 0).value().open_orders.size(), 20u);
}

// What was answered is there after the process died in the middle of its work.
TEST_F(PaperVenueTest, NothingThatWasAnsweredIsLostWhenTheProcessIsKilled) {
    venue_.reset();
    int pipe_ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        open(journaled());
        for (std::int32_t i = 0; i < 450; ++i) {
            VenueOrderRequest request = limit("o" + std::to_string(i), Side::sell, "0.1", "99");
            request.time_in_force = TimeInForce::ioc;
            clock_.advance(kMarketStep);
            if (!venue_->submit(request) ||
                ::write(pipe_ends[1], &i, sizeof(i)) != static_cast<ssize_t>(sizeof(i))) {
                ::_exit(1);
            }
        }
        ::pause();  // The parent kills.
    }
    ::close(pipe_ends[1]);
    std::int32_t answered = -1;
    while (answered < 100) {
        ASSERT_EQ(::read(pipe_ends[0], &answered, sizeof(answered)), sizeof(answered));
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    while (::read(pipe_ends[0], &answered, sizeof(answered)) > 0) {
    }
    ::close(pipe_ends[0]);
    clock_.advance(Duration::of_hours(1));
    open(journaled());
    for (std::int32_t i = 0; i <= answered; ++i) {
        ASSERT_TRUE(is_known("o" + std::to_string(i))) << i << " of " << answered;
    }
    std::int64_t fills = 0;
    for (VenueReport page = venue_->report(account_, 0).value(); page.fills_cursor > fills;
         page = venue_->report(account_, fills).value()) {
        EXPECT_TRUE(page.open_orders.empty());
        fills = page.fills_cursor;
    }
    // The last one may have been carried out without its answer getting out.
    EXPECT_GE(fills, answered + 1);
    EXPECT_LE(fills, answered + 2);
}

// The same seed, the same times, the same orders: the same bytes in the journal.
TEST_F(PaperVenueTest, ARunOnTheSyntheticMarketRepeatsByteForByte) {
    const auto run = [](const std::string& path) {
        FakeClock clock;
        auto venue = PaperVenue::open(
                         std::make_unique<SyntheticMarket>(SyntheticOptions{.seed = 5}),
                         clock,
                         {.journal_path = path, .sync = false})
                         .value();
        const VenueAccount account{
            TenantId::trusted("alice"), AccountId::trusted("main"), TradeMode::paper};
        const std::vector<VenueBalance> balances{
            {Asset::parse("USDT").value(), Decimal(100'000), {}}};
        EXPECT_TRUE(venue->open_account(account, balances).has_value());
        const Symbol symbol = Symbol::parse("BTCUSDT").value();
        for (int i = 0; i < 60; ++i) {
            const MarketSet facts = venue->facts({&symbol, 1});
            VenueOrderRequest request;
            request.account = account;
            request.order_client_id = OrderClientId::trusted("o" + std::to_string(i));
            request.symbol = symbol;
            request.qty = dec("0.01");
            request.limit_price = facts.markets[0].best_bid;
            EXPECT_TRUE(venue->submit(request).has_value());
            clock.advance(Duration::of_seconds(1));
        }
        const std::int64_t fills = venue->report(account, 0).value().fills_cursor;
        EXPECT_GT(fills, 5);
        std::ifstream in(path);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string first = run(folder_ / "first");
    EXPECT_EQ(run(folder_ / "second"), first);
}

}  // namespace
}  // namespace interlock
