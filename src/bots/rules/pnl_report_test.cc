#include "bots/rules/pnl_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>

#include "bots/rules/test_pnl_fills.h"

namespace interlock {
namespace {

using Rational = boost::multiprecision::cpp_rational;

PnlWindow days(std::int64_t lookback, Timestamp to = noon()) {
    return {.to = to, .lookback_days = lookback};
}

SymbolPnl report_of(std::vector<PnlFill> fills, std::string_view mid = "100") {
    return symbol_pnl(abc_market(mid), days(30), std::move(fills)).value();
}

Timestamp days_ago(std::int64_t count) {
    return noon() - Duration::of_days(count);
}

TEST(PnlReport, KnowsTheCostOfWhatWasBoughtBeforeTheWindow) {
    const SymbolPnl pnl = report_of(
        {bought({.id = 1, .qty = "2", .price = "50", .at = days_ago(200)}),
         sold({.id = 2, .qty = "1", .price = "80", .fee = "1", .at = days_ago(1)})});
    EXPECT_EQ(pnl.figures.realised, dec("29"));
    EXPECT_EQ(pnl.figures.fills, 1);
    EXPECT_EQ(pnl.figures.volume, dec("80"));
    EXPECT_EQ(pnl.figures.fees, dec("1"));
    EXPECT_EQ(pnl.figures.unrealised, dec("50"));
    EXPECT_EQ(pnl.position, dec("1"));
    EXPECT_FALSE(pnl.figures.is_incomplete());
}

TEST(PnlReport, CountsBothEndsOfTheWindowAndNothingOutside) {
    const Duration instant{1};
    std::vector<PnlFill> fills{bought({.id = 1, .qty = "10", .price = "1", .at = days_ago(99)})};
    const std::vector<Timestamp> times{
        days_ago(30) - instant, days_ago(30), noon(), noon() + instant};
    for (std::size_t i = 0; i < times.size(); ++i) {
        fills.push_back(
            sold({.id = static_cast<std::int64_t>(i) + 2, .price = "2", .at = times[i]}));
    }
    const SymbolPnl pnl = report_of(fills);
    EXPECT_EQ(pnl.figures.fills, 2);
    EXPECT_EQ(pnl.figures.realised, dec("2"));
    EXPECT_EQ(pnl.position, dec("6"));
}

TEST(PnlReport, CountsATradeOnceHoweverOftenItIsTold) {
    const PnlFill buy = bought({.id = 1, .price = "90"});
    const PnlFill sell = sold({.id = 2, .price = "100"});
    const SymbolPnl pnl = report_of({sell, buy, sell, buy, buy});
    EXPECT_EQ(pnl.figures.realised, dec("10"));
    EXPECT_EQ(pnl.figures.fills, 2);
    EXPECT_EQ(pnl.figures.repeated_fills, 3);
    EXPECT_FALSE(pnl.figures.is_incomplete());
}

TEST(PnlReport, IsIncompleteWhenTwoTellingsOfATradeDisagree) {
    const SymbolPnl pnl =
        report_of({bought({.id = 1, .price = "90"}), bought({.id = 1, .price = "91"})});
    EXPECT_EQ(pnl.figures.fills, 1);
    EXPECT_EQ(pnl.figures.unusable_fills, 1);
    EXPECT_TRUE(pnl.figures.is_incomplete());
}

TEST(PnlReport, TakesThePriceOfAFeeFromWhicheverTellingHasIt) {
    const FillTerms terms{.id = 1, .price = "90", .fee = "1", .fee_asset = "FEE"};
    FillTerms priced = terms;
    priced.fee_price = "2";
    EXPECT_EQ(report_of({bought(terms), bought(priced)}).position_cost, dec("92"));
    EXPECT_EQ(report_of({bought(priced), bought(terms)}).position_cost, dec("92"));
}

TEST(PnlReport, OrdersTradesOfOneMomentByTheirId) {
    const SymbolPnl pnl = report_of(
        {sold({.id = 3, .price = "100"}),
         bought({.id = 2, .price = "50"}),
         bought({.id = 1, .price = "90"})});
    EXPECT_EQ(pnl.figures.realised, dec("10"));
}

TEST(PnlReport, ListsFeesWithoutAPriceAndIsIncomplete) {
    const SymbolPnl pnl = report_of(
        {bought({.id = 1, .fee = "0.25", .fee_asset = "FEE", .at = days_ago(100)}),
         sold({.id = 2, .fee = "0.5", .fee_asset = "FEE"})});
    ASSERT_EQ(pnl.figures.unconverted_fees.size(), 1U);
    EXPECT_EQ(pnl.figures.unconverted_fees.at(asset_of("FEE")), dec("0.75"));
    EXPECT_TRUE(pnl.figures.is_incomplete());
}

TEST(PnlReport, ReportsWhatWasSoldWithoutHavingBeenBought) {
    const SymbolPnl pnl = report_of({sold({.id = 1, .qty = "5"})});
    EXPECT_EQ(pnl.figures.unmatched_qty, dec("5"));
    EXPECT_EQ(pnl.figures.realised, Decimal());
    EXPECT_EQ(pnl.figures.sells, 0);
    EXPECT_FALSE(pnl.figures.win_rate().has_value());
}

TEST(PnlReport, CountsAWinOnlyAboveZero) {
    const SymbolPnl pnl = report_of(
        {bought({.id = 1, .qty = "4", .price = "100"}),
         sold({.id = 2, .price = "100"}),
         sold({.id = 3, .price = "99"}),
         sold({.id = 4, .price = "101"}),
         sold({.id = 5, .price = "102"})});
    EXPECT_EQ(pnl.figures.sells, 4);
    EXPECT_EQ(pnl.figures.wins, 2);
    EXPECT_EQ(pnl.figures.win_rate(), dec("0.5"));
}

TEST(PnlReport, PutsNoValueOnAPositionWithoutAPrice) {
    const SymbolPnl held = report_of({bought({.id = 1})}, "");
    EXPECT_FALSE(held.figures.unrealised.has_value());
    EXPECT_TRUE(held.figures.is_incomplete());
    const SymbolPnl flat = report_of({bought({.id = 1}), sold({.id = 2})}, "");
    EXPECT_EQ(flat.figures.unrealised, Decimal());
    EXPECT_FALSE(flat.figures.is_incomplete());
}

TEST(PnlReport, SkipsATradeThatCannotHaveHappenedAndSaysSo) {
    const SymbolPnl pnl = report_of({bought({.id = 1, .qty = "0"}), bought({.id = 2})});
    EXPECT_EQ(pnl.figures.unusable_fills, 1);
    EXPECT_EQ(pnl.position, dec("1"));
    EXPECT_TRUE(pnl.figures.is_incomplete());
}

TEST(PnlReport, AddsUpMarketsOfOneCurrencyAndNamesTheOthers) {
    const SymbolPnl first =
        report_of({bought({.id = 1, .price = "90"}), sold({.id = 2, .price = "100"})});
    SymbolPnl second = report_of({sold({.id = 1, .qty = "2"}), bought({.id = 2, .price = "98"})});
    second.market.symbol = symbol_of("DEFUSDT");
    SymbolPnl foreign = first;
    foreign.market.symbol = symbol_of("ABCEUR");
    foreign.market.quote = asset_of("EUR");
    const std::vector<SymbolPnl> all{first, second, foreign};
    const TotalPnl total = total_pnl(asset_of("USDT"), all).value();
    EXPECT_EQ(total.figures.realised, dec("10"));
    EXPECT_EQ(total.figures.unrealised, dec("2"));
    EXPECT_EQ(total.figures.volume, dec("488"));
    EXPECT_EQ(total.figures.fills, 4);
    EXPECT_EQ(total.unmatched, std::vector{symbol_of("DEFUSDT")});
    EXPECT_EQ(total.other_quote, std::vector{symbol_of("ABCEUR")});
    EXPECT_TRUE(total.is_incomplete());
}

TEST(PnlReport, WritesOneJsonLineForAMarketAndOneForTheTotal) {
    const SymbolPnl pnl =
        report_of({bought({.id = 1, .qty = "2", .price = "90"}), sold({.id = 2, .price = "100"})});
    const PnlRunName run{"pnl_1", days(30)};
    EXPECT_EQ(
        pnl_line(run, pnl),
        R"({"kind":"symbol","run_id":"pnl_1","from":"2026-02-08T12:00:00.000Z",)"
        R"("to":"2026-03-10T12:00:00.000Z","lookback_days":30,"symbol":"ABCUSDT","quote":"USDT",)"
        R"("realized_net":"10","unrealized_net":"10","fees":"0","volume":"280","fills":2,)"
        R"("sells":1,"wins":1,"win_rate":"1","unconverted_fees":{},"unusable_fills":0,)"
        R"("repeated_fills":0,)"
        R"("unmatched_qty":"0","position":"1","position_cost":"90","mid":"100",)"
        R"("incomplete":false})");
    const TotalPnl total = total_pnl(asset_of("USDT"), {&pnl, 1}).value();
    EXPECT_EQ(
        pnl_line(run, total),
        R"({"kind":"total","run_id":"pnl_1","from":"2026-02-08T12:00:00.000Z",)"
        R"("to":"2026-03-10T12:00:00.000Z","lookback_days":30,"quote":"USDT","symbols":1,)"
        R"("realized_net":"10","unrealized_net":"10","fees":"0","volume":"280","fills":2,)"
        R"("sells":1,"wins":1,"win_rate":"1","unconverted_fees":{},"unusable_fills":0,)"
        R"("repeated_fills":0,)"
        R"("unmatched_symbols":[],"other_quote_symbols":[],"incomplete":false})");
}

// The whole report again in exact fractions, and not with a queue: every sell owns a stretch of all
// that was ever bought, laid end to end, and its cost is where the stretch overlaps the buys.
struct Recomputed {
    Rational realised, fees, volume, unmatched, unrealised;
    std::int64_t fills = 0, sells = 0, wins = 0;
    std::int64_t draws = 0;  // So near zero that rounding decides.
};

Rational fraction(Decimal value) {
    const __int128 units = value.units();
    const bool negative = units < 0;
    const auto size = static_cast<unsigned __int128>(negative ? -units : units);
    boost::multiprecision::cpp_int whole = static_cast<std::uint64_t>(size >> 64);
    whole = (whole << 64) + static_cast<std::uint64_t>(size);
    const Rational result(whole, boost::multiprecision::cpp_int("1000000000000000000"));
    return negative ? Rational(-result) : result;
}

// 18 decimals, rounded a few times a trade.
const Rational kRounding(1, boost::multiprecision::cpp_int("1000000000000000"));

struct Stretch {
    Rational from, to, cost;
};

Rational cost_between(const std::vector<Stretch>& buys, const Rational& from, const Rational& to) {
    Rational cost = 0;
    for (const Stretch& buy : buys) {
        const Rational overlap =
            std::min<Rational>(to, buy.to) - std::max<Rational>(from, buy.from);
        if (overlap > 0) {
            cost += buy.cost * overlap / (buy.to - buy.from);
        }
    }
    return cost;
}

Recomputed recompute(
    const std::vector<PnlFill>& fills, const PnlWindow& window, const Rational& mid) {
    Recomputed sum;
    std::vector<Stretch> buys;
    Rational bought_until = 0;
    Rational sold_until = 0;
    for (const PnlFill& fill : fills) {
        const bool in_base = fill.fee_asset == asset_of("ABC");
        const bool in_quote = fill.fee_asset == asset_of("USDT");
        const Rational qty = fraction(fill.qty);
        const Rational notional = qty * fraction(fill.price);
        const Rational fee = fraction(fill.fee);
        const Rational third = fill.fee_price ? fee * fraction(*fill.fee_price) : Rational(0);
        const Rational charged = in_quote ? fee : in_base ? Rational(0) : third;
        Rational realised = 0;
        Rational matched = 0;
        Rational unmatched = 0;
        if (fill.side == Side::buy) {
            const Rational kept = in_base ? Rational(qty - fee) : qty;
            buys.push_back({bought_until, bought_until + kept, notional + charged});
            bought_until += kept;
        } else {
            const Rational wanted = in_base ? Rational(qty + fee) : qty;
            matched = std::min<Rational>(wanted, bought_until - sold_until);
            unmatched = wanted - matched;
            realised = (notional - charged) * matched / wanted -
                       cost_between(buys, sold_until, sold_until + matched);
            sold_until += matched;
        }
        if (fill.at < window.to - Duration::of_days(window.lookback_days) || fill.at > window.to) {
            continue;
        }
        sum.realised += realised;
        sum.unmatched += unmatched;
        sum.fees += in_base ? Rational(fee * fraction(fill.price)) : charged;
        sum.volume += notional;
        ++sum.fills;
        sum.sells += matched > 0 ? 1 : 0;
        const bool is_draw = realised < kRounding && -realised < kRounding;
        sum.draws += matched > 0 && is_draw ? 1 : 0;
        sum.wins += matched > 0 && !is_draw && realised > 0 ? 1 : 0;
    }
    sum.unrealised =
        (bought_until - sold_until) * mid - cost_between(buys, sold_until, bought_until);
    return sum;
}

bool is_near(const Rational& exact, Decimal ours) {
    const Rational distance = exact - fraction(ours);
    return distance < kRounding && -distance < kRounding;
}

TEST(PnlReport, EqualsARecomputationInFractions) {
    std::int64_t sells = 0;
    std::int64_t unmatched = 0;
    EXPECT_TRUE(rc::check([&] {
        const std::vector<PnlFill> fills = drawn_fills(true);
        std::vector<PnlFill> told = fills;
        for (const PnlFill& fill : fills) {
            if (*rc::gen::inRange(0, 4) == 0) {
                told.push_back(fill);
            }
        }
        std::sort(told.begin(), told.end(), [](const PnlFill& a, const PnlFill& b) {
            return a.qty < b.qty;  // Any order but that of time.
        });
        const PnlWindow window{
            .to = noon() + Duration::of_days(*rc::gen::inRange<std::int64_t>(0, 40)),
            .lookback_days = *rc::gen::inRange<std::int64_t>(1, 40)};
        const PnlMarket market = abc_market("123.45");
        const SymbolPnl ours = symbol_pnl(market, window, told).value();
        const Recomputed exact = recompute(fills, window, fraction(*market.mid));
        const PnlFigures& figures = ours.figures;
        RC_ASSERT(is_near(exact.realised, figures.realised));
        RC_ASSERT(is_near(exact.fees, figures.fees));
        RC_ASSERT(is_near(exact.volume, figures.volume));
        RC_ASSERT(is_near(exact.unmatched, figures.unmatched_qty));
        RC_ASSERT(is_near(exact.unrealised, *figures.unrealised));
        RC_ASSERT(exact.fills == figures.fills);
        RC_ASSERT(exact.sells == figures.sells);
        RC_ASSERT(figures.wins >= exact.wins);
        RC_ASSERT(figures.wins <= exact.wins + exact.draws);
        sells += figures.sells;
        unmatched += figures.unmatched_qty.is_positive() ? 1 : 0;
    }));
    EXPECT_GT(sells, 100);
    EXPECT_GT(unmatched, 5);
}

TEST(PnlReport, AddsUpOverWindowsThatMeet) {
    EXPECT_TRUE(rc::check([] {
        const std::vector<PnlFill> fills = drawn_fills(true);
        const Timestamp to = noon() + Duration::of_days(60);
        const Timestamp middle = to - Duration::of_days(30) - Duration{1};
        const auto realised = [&](const PnlWindow& window) {
            return symbol_pnl(abc_market(), window, fills).value().figures.realised;
        };
        RC_ASSERT(
            realised(days(60, to)) ==
            add(realised(days(30, to)), realised(days(30, middle))).value());
    }));
}

}  // namespace
}  // namespace interlock
