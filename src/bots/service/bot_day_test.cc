// A day in the life of a maker bot of three symbols, in accelerated time: whole, with an exchange
// that goes away again and again, and with a server that does. What happened is reckoned here from
// the exchange's own list of trades, in exact fractions.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <deque>
#include <map>
#include <set>

#include "testing/bot_world.h"

namespace interlock {
namespace {

using Fraction = boost::multiprecision::cpp_rational;

Fraction fraction(Decimal value) {
    const __int128 units = value.units();
    const auto size = static_cast<unsigned __int128>(units < 0 ? -units : units);
    boost::multiprecision::cpp_int whole = static_cast<std::uint64_t>(size >> 64);
    whole = (whole << 64) + static_cast<std::uint64_t>(size);
    const Fraction result(whole, boost::multiprecision::cpp_int("1000000000000000000"));
    return units < 0 ? Fraction(-result) : result;
}

// Decimals have 18 digits, and every trade is rounded a few times.
bool is_near(const Fraction& exact, const Json& line, std::string_view key) {
    const Fraction apart = exact - fraction(Decimal::parse(line.find(key)->as_string()).value());
    return abs(apart) < Fraction(1, boost::multiprecision::cpp_int("1000000000000"));
}

// One market, as the list of trades tells it.
struct Market {
    struct Lot {
        Fraction qty;
        Fraction cost;
    };
    std::deque<Lot> lots;
    Fraction held, fees, volume, realised;
    std::int64_t buys = 0;
    std::int64_t sells = 0;
    std::int64_t takers = 0;

    void take(const VenueFill& fill, bool fee_in_base) {
        const Fraction qty = fraction(fill.qty);
        const Fraction price = fraction(fill.price);
        const Fraction fee = fraction(fill.fee);
        volume += qty * price;
        fees += fee_in_base ? Fraction(fee * price) : fee;
        takers += fill.is_maker ? 0 : 1;
        const Fraction moved = qty * price;
        const Fraction paid = fee_in_base ? Fraction(0) : fee;
        if (fill.side == Side::buy) {
            ++buys;
            const Fraction kept = fee_in_base ? Fraction(qty - fee) : qty;
            held += kept;
            lots.push_back({kept, moved + paid});
        } else {
            ++sells;
            const Fraction gone = fee_in_base ? Fraction(qty + fee) : qty;
            held -= gone;
            realised += moved - paid - cost_of(gone);
        }
    }
    Fraction cost_of(Fraction wanted) {
        Fraction cost = 0;
        while (wanted > 0 && !lots.empty()) {
            Lot& oldest = lots.front();
            const Fraction part = std::min(wanted, oldest.qty);
            const Fraction share = oldest.cost * part / oldest.qty;
            cost += share;
            wanted -= part;
            oldest.qty -= part;
            oldest.cost -= share;
            if (oldest.qty == 0) {
                lots.pop_front();
            }
        }
        return cost;
    }
    Fraction open_cost() const {
        Fraction cost = 0;
        for (const Lot& lot : lots) {
            cost += lot.cost;
        }
        return cost;
    }
};

class BotDay : public ::testing::Test {
protected:
    static constexpr Duration kStep = Duration::of_seconds(5);
    static constexpr std::int64_t kSteps = 24 * 3600 / 5;
    static constexpr std::int64_t kHour = 3600 / 5;

    BotDay() {
        world_.change(world_.human(), "update_pnl", UpdatePnl{Decimal::parse("0.25").value()});
        UpdateBotSettings settings;
        settings.volatility = Decimal();
        settings.levels = 2;
        world_.change(world_.human(), "update_bot_settings", settings);
        world_.run_bot();
    }

    // Every trade since the last look; the rails hold after each of them, and so they do if every
    // order that is open now is filled.
    void look() {
        const VenueAccount account = world_.venue_account();
        auto report = world_.paper->report(account, cursor_);
        ASSERT_TRUE(report.has_value());
        cursor_ = report->fills_cursor;
        for (const VenueFill& fill : report->fills) {
            Market& market = markets_[fill.symbol];
            ASSERT_TRUE(seen_.insert({fill.symbol, fill.trade_id}).second);
            market.take(fill, fill.symbol.text().starts_with(fill.fee_asset.text()));
            ASSERT_GE(market.held, 0) << fill.symbol.text();
            ASSERT_LE(market.held, rail(fill.symbol)) << fill.symbol.text();
        }
        std::map<Symbol, std::pair<Fraction, Fraction>> open;
        for (const VenueOrder& order : report->open_orders) {
            ASSERT_TRUE(order.post_only);
            ASSERT_EQ(order.order_type, OrderType::limit);
            const Fraction left = fraction(order.qty) - fraction(order.filled_qty);
            (order.side == Side::buy ? open[order.symbol].first : open[order.symbol].second) +=
                left;
        }
        for (const auto& [symbol, sides] : open) {
            const Market& market = markets_[symbol];
            ASSERT_LE(market.held + sides.first, rail(symbol)) << symbol.text();
            ASSERT_GE(market.held - sides.second, 0) << symbol.text();
        }
    }
    static Fraction rail(const Symbol& symbol) {
        return 2 * fraction(BotWorld::small_config().amounts.at(symbol));
    }

    void check_day() {
        world_.pass(Duration::of_seconds(30));  // The last trades are booked.
        look();
        ASSERT_EQ(markets_.size(), 3U);  // Orders stood in each.
        std::int64_t on_both_sides = 0;
        for (const auto& [symbol, market] : markets_) {
            EXPECT_EQ(market.takers, 0) << symbol.text();
            on_both_sides += market.buys > 10 && market.sells > 10 ? 1 : 0;
            traded_ += market.buys > 0 ? 1 : 0;
        }
        // One that only rises all day lets a maker without coins do nothing.
        EXPECT_GE(on_both_sides, 2);
        world_.call(BotCall::stop, true);
        world_.pass(Duration::of_seconds(10));
        look();
        check_pnl();
    }

    // The job's lines say what the list of trades does.
    void check_pnl() {
        const Json answer = world_.body(
            [&](BotService::Reply reply) { world_.bots->run_pnl(world_.agent(), 2, reply); });
        ASSERT_NE(answer.find("running"), nullptr) << to_text(answer);
        const auto& lines = world_.log.lines[world_.tenant];
        ASSERT_EQ(lines.size(), traded_ + 1);  // And the total.
        Fraction realised = 0;
        for (const std::string& text : lines) {
            const Json line = parse_json(text).value();
            EXPECT_EQ(*line.find("incomplete"), Json(false)) << text;
            if (*line.find("kind") == Json("total")) {
                EXPECT_TRUE(is_near(realised, line, "realized_net")) << text;
                continue;
            }
            const Market& market =
                markets_.at(Symbol::parse(line.find("symbol")->as_string()).value());
            const Fraction mid = fraction(Decimal::parse(line.find("mid")->as_string()).value());
            EXPECT_TRUE(is_near(market.realised, line, "realized_net")) << text;
            EXPECT_TRUE(is_near(market.fees, line, "fees")) << text;
            EXPECT_TRUE(is_near(market.volume, line, "volume")) << text;
            EXPECT_TRUE(is_near(market.held, line, "position")) << text;
            EXPECT_TRUE(is_near(market.open_cost(), line, "position_cost")) << text;
            const Fraction unrealised = market.held * mid - market.open_cost();
            EXPECT_TRUE(is_near(unrealised, line, "unrealized_net")) << text;
            EXPECT_EQ(*line.find("fills"), Json(market.buys + market.sells)) << text;
            EXPECT_EQ(*line.find("sells"), Json(market.sells)) << text;
            EXPECT_EQ(*line.find("unmatched_qty"), Json("0")) << text;
            realised += market.realised;
        }
    }
    std::int64_t ledger_count(const std::string& event) {
        std::int64_t found = 0;
        for (std::int64_t after = 0;;) {
            const auto page = world_.plane->ledger.read(world_.tenant, after, 1000).value();
            for (const AuditRecord& record : page) {
                found += record.draft.event == event ? 1 : 0;
                after = record.seq;
            }
            if (page.empty()) {
                return found;
            }
        }
    }

    BotWorld world_;
    std::map<Symbol, Market> markets_;
    std::set<std::pair<Symbol, std::int64_t>> seen_;
    std::int64_t cursor_ = 0;
    std::size_t traded_ = 0;
};

TEST_F(BotDay, StaysOnItsRailsAsAMakerAndItsPnlIsThatOfTheTrades) {
    for (std::int64_t i = 0; i < kSteps; ++i) {
        world_.pass(kStep, kStep);
        ASSERT_NO_FATAL_FAILURE(look());
    }
    // A pulse every ten seconds, all day.
    EXPECT_GT(world_.times("BOT_PULSE"), 8600);
    EXPECT_EQ(ledger_count("BOT_STALLED"), 0);
    ASSERT_NO_FATAL_FAILURE(check_day());
}

TEST_F(BotDay, StaysOnItsRailsWhenTheExchangeGoesAwayAgainAndAgain) {
    const PaperFault away{.kind = PaperFaultKind::disconnect, .chance_ppm = 1'000'000};
    std::int64_t outages = 0;
    for (std::int64_t i = 1; i < kSteps; ++i) {
        if (i % (2 * kHour) == 0) {
            ++outages;
            ASSERT_TRUE(world_.paper->set_faults({away}));
            world_.venue_answers = false;
            const std::int64_t orders = world_.orders_sent();
            world_.pass(Duration::of_minutes(outages * 3), kStep);
            // What was decided before the exchange fell silent was sent before it did.
            EXPECT_EQ(world_.orders_sent(), orders);
            ASSERT_TRUE(world_.paper->set_faults({}));
            world_.venue_answers = true;
        }
        world_.pass(kStep, kStep);
        ASSERT_NO_FATAL_FAILURE(look());
    }
    EXPECT_EQ(ledger_count("BOT_STALLED"), outages);
    EXPECT_EQ(ledger_count("BOT_RESUMED"), outages);
    EXPECT_EQ(ledger_count("BOT_FAILED"), 0);
    ASSERT_NO_FATAL_FAILURE(check_day());
}

TEST_F(BotDay, StaysOnItsRailsWhenTheServerDiesAgainAndAgain) {
    std::int64_t deaths = 0;
    for (std::int64_t i = 1; i <= kSteps; ++i) {
        if (i == deaths * 2 * kHour + 7 * (deaths % 11) + 1) {
            ++deaths;
            world_.restart();
        }
        world_.pass(kStep, kStep);
        ASSERT_NO_FATAL_FAILURE(look());
    }
    EXPECT_EQ(deaths, 12);
    EXPECT_EQ(ledger_count("BOT_RESUMED"), deaths);
    EXPECT_EQ(world_.state(), "running");
    ASSERT_NO_FATAL_FAILURE(check_day());
}

}  // namespace
}  // namespace interlock
