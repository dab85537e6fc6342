// Reads that agents plan and report by: markets with their rules, candles, books, orders and fills.
#include <gtest/gtest.h>

#include <algorithm>

#include "bot_api.h"
#include "market/rules/synthetic_market.h"

namespace interlock {
namespace {

class MarketReads : public ::testing::Test {
protected:
    Json read(const std::string& path, int status = 200) {
        const HttpResponse response = world.send({.as = "reader", .path = "/api/demo" + path});
        EXPECT_EQ(response.status, status) << path << " " << response.body;
        return parse_json(response.body).value();
    }
    std::string ids(const std::string& key) const {
        return R"({"decision_id":")" + decision + R"(","tick_id":"t1","idempotency_key":")" +
               decision + key + "\",";
    }
    Json tool(const std::string& name, const std::string& fields) {
        return world.send_json(
            {.as = "planner",
             .method = "POST",
             .path = "/api/demo/tools/" + name,
             .body = ids(name) + fields + "}"});
    }
    // So much of ABCUSDT at the market, or resting at a price, through the whole loop.
    void buy(const std::string& qty = "1", const std::string& price = "null") {
        const std::string type = price == "null" ? "market" : "limit";
        const std::string force = price == "null" ? "IOC" : "GTC";
        const std::string intent = R"("symbol":"ABCUSDT","side":"buy","order_type":")" + type +
                                   R"(","qty":")" + qty + R"(","limit_price":)" + price +
                                   R"(,"time_in_force":")" + force + "\"";
        tool(
            "py_validate_plan",
            R"("plan":{"reason":"r","intents":[{)" + intent +
                R"(,"strategy_id":"external","expected_edge_bps":100}]})");
        const Json rehearsed = tool(
            "py_dry_run_plan",
            R"("plan":{"intents":[{)" + intent +
                R"(}]},"assumptions":{"slippage_bps":0,"fee_bps":0})");
        const Json& row = rehearsed.find("dry_run")->find("projected")->items().at(0);
        const auto sent = world.send_later(
            {.as = "planner",
             .method = "POST",
             .path = "/api/demo/tools/py_execute_plan",
             .body = ids("e") +
                     R"("execution_mode":"paper","approved_intents":[{"intent_id":"i0",)" + intent +
                     R"(,"order_client_id":")" + row.find("order_client_id")->as_string() +
                     "\"}]}"});
        world.plane_world().run_effects();
        ASSERT_TRUE(sent->has_value());
        EXPECT_NE((*sent)->body.find(submitted), std::string::npos) << (*sent)->body;
    }
    HttpResponse csv_of(const std::string& path) {
        HttpResponse csv = world.send(
            {.as = "reader", .path = "/api/demo" + path, .headers = {{"Accept", "text/csv"}}});
        EXPECT_EQ(csv.status, 200);
        EXPECT_EQ(csv.header("Content-Type"), "text/csv; charset=utf-8");
        return csv;
    }

    ApiWorld world;
    std::string decision = "d1";
    std::string submitted = "acked";
};

TEST_F(MarketReads, MarketsComeWithTheirRules) {
    const Json answer = read("/markets");
    ASSERT_EQ(answer.find("markets")->items().size(), 1u);
    const Json& market = answer.find("markets")->items()[0];
    EXPECT_EQ(*market.find("symbol"), Json("ABCUSDT"));
    EXPECT_EQ(*market.find("best_ask"), Json("100.01"));
    EXPECT_TRUE(market.find("rules")->find("tick_size")->is_string());
    EXPECT_TRUE(answer.find("next_after")->is_null());
    EXPECT_TRUE(read("/markets?after=ABCUSDT").find("markets")->items().empty());
}

TEST_F(MarketReads, ABookHasItsPricesBestFirst) {
    const Json book = read("/markets/ABCUSDT/book?levels=1");
    ASSERT_EQ(book.find("bids")->items().size(), 1u);
    EXPECT_EQ(*book.find("bids")->items()[0].find("price"), Json("99.99"));
    EXPECT_EQ(*book.find("asks")->items()[0].find("price"), Json("100.01"));
    read("/markets/ABCUSDT/book?levels=11", 422);
    const Json refused = read("/markets/NOPE/book", 404);
    EXPECT_EQ(*refused.find("error")->find("code"), Json("unknown_symbol"));
}

TEST_F(MarketReads, CandlesAreThoseOfTheirTimeframe) {
    ApiWorld synthetic(ApiWorld::default_config(), std::make_unique<SyntheticMarket>());
    const auto candles = [&](const std::string& query) {
        return synthetic.send_json(
            {.as = "reader", .path = "/api/demo/markets/BTCUSDT/candles?" + query});
    };
    const Json hours = candles("timeframe=1h&limit=3");
    ASSERT_EQ(hours.find("candles")->items().size(), 3u);
    EXPECT_LT(
        hours.find("candles")->items()[0].find("opened_at")->as_string(),
        hours.find("candles")->items()[1].find("opened_at")->as_string());
    // A page further back.
    const std::string first = hours.find("candles")->items()[0].find("opened_at")->as_string();
    const Json earlier = candles("timeframe=1h&limit=3&before=" + first);
    ASSERT_EQ(earlier.find("candles")->items().size(), 3u);
    EXPECT_LT(earlier.find("candles")->items()[2].find("opened_at")->as_string(), first);
    read("/markets/ABCUSDT/candles?timeframe=7m", 422);
    read("/markets/ABCUSDT/candles?limit=201", 422);
    read("/markets/ABCUSDT/candles?before=yesterday", 422);
}

TEST_F(MarketReads, OrdersAndFillsAreWhatWasTraded) {
    EXPECT_TRUE(read("/fills").find("fills")->items().empty());
    buy();
    const Json fills = read("/fills");
    ASSERT_EQ(fills.find("fills")->items().size(), 1u);
    const Json& fill = fills.find("fills")->items()[0];
    EXPECT_EQ(*fill.find("side"), Json("buy"));
    EXPECT_EQ(*fill.find("qty"), Json("1"));
    EXPECT_EQ(*fill.find("price"), Json("100.01"));
    EXPECT_EQ(*fill.find("decision_id"), Json("d1"));
    EXPECT_TRUE(fills.find("next_before")->is_null());
    const Json orders = read("/orders");
    ASSERT_EQ(orders.find("orders")->items().size(), 1u);
    const Json& order = orders.find("orders")->items()[0];
    EXPECT_EQ(*order.find("submit_status"), Json("acked"));
    EXPECT_EQ(*order.find("order_client_id"), *fill.find("order_client_id"));
    EXPECT_EQ(*order.find("qty"), Json("1"));
    EXPECT_EQ(*order.find("state"), Json("filled"));
    EXPECT_EQ(*order.find("filled_qty"), Json("1"));
    EXPECT_TRUE(read("/fills?symbol=XYZUSDT").find("fills")->items().empty());
    EXPECT_TRUE(read("/fills?before=1").find("fills")->items().empty());
    read("/fills?limit=501", 422);
}

TEST_F(MarketReads, FillsComeAsCsvWhenAskedFor) {
    buy();
    const HttpResponse csv = csv_of("/fills");
    EXPECT_TRUE(csv.body.starts_with(
        "seq,at,account_id,mode,symbol,side,qty,price,fee,fee_asset,is_maker,realized,fee_quote,"))
        << csv.body;
    EXPECT_NE(csv.body.find(",main,paper,ABCUSDT,buy,1,100.01,"), std::string::npos) << csv.body;
    EXPECT_EQ(std::count(csv.body.begin(), csv.body.end(), '\n'), 2);
}

// What became of an order is told as of now, not as of its submission.
TEST_F(MarketReads, AnOrderThatRestedIsToldAsItEnded) {
    buy("2", R"("99.50")");
    const auto order = [&] { return read("/orders").find("orders")->items().at(0); };
    EXPECT_EQ(*order().find("state"), Json("new"));
    EXPECT_EQ(*order().find("filled_qty"), Json("0"));
    MarketView lower;
    lower.bids.push_back({{9'939}, {2'000}});
    lower.asks.push_back({{9'940}, {2'000}});
    world.set_market(lower);
    world.pass(Duration::of_seconds(5));
    EXPECT_EQ(*order().find("submit_status"), Json("acked"));
    EXPECT_EQ(*order().find("state"), Json("filled"));
    EXPECT_EQ(*order().find("filled_qty"), Json("2"));
}

// First nobody knows what became of it, then the executor finds out: that is one order all the
// same, whoever adds up the rows, a page at a time or all at once.
TEST_F(MarketReads, AnOrderWhoseAnswerWasLostIsListedOnce) {
    buy();
    ASSERT_TRUE(world.paper().set_faults({{.kind = PaperFaultKind::lose_answer, .times_max = 1}}));
    decision = "d2";
    submitted = "timeout";
    buy("2");
    const Json before = read("/orders").find("orders")->items().at(0);
    EXPECT_EQ(*before.find("submit_status"), Json("timeout"));
    world.pass(Duration::of_seconds(30));
    const Json all = read("/orders");
    ASSERT_EQ(all.find("orders")->items().size(), 2u) << to_text(all);
    const Json& order = all.find("orders")->items()[0];
    EXPECT_EQ(*order.find("seq"), *before.find("seq"));
    EXPECT_EQ(*order.find("submit_status"), Json("acked"));
    EXPECT_FALSE(order.find("exchange_order_id")->is_null());
    EXPECT_EQ(*order.find("state"), Json("filled"));
    EXPECT_EQ(*order.find("filled_qty"), Json("2"));
    std::vector<std::string> listed;
    std::string before_seq;
    do {
        const Json page = read("/orders?limit=1" + before_seq);
        for (const Json& row : page.find("orders")->items()) {
            listed.push_back(row.find("decision_id")->as_string());
        }
        const Json next = *page.find("next_before");
        before_seq = next.is_null() ? "" : "&before=" + to_text(next);
    } while (!before_seq.empty());
    EXPECT_EQ(listed, (std::vector<std::string>{"d2", "d1"}));
}

TEST_F(MarketReads, OrdersComeAsCsvAPageAtATime) {
    buy();
    decision = "d2";
    buy("2");
    const HttpResponse newest = csv_of("/orders?limit=1");
    EXPECT_TRUE(newest.body.starts_with(
        "seq,at,account_id,mode,symbol,side,qty,limit_price,submit_status,reject_code,"
        "order_client_id,exchange_order_id,intent_id,decision_id,state,filled_qty\n"))
        << newest.body;
    EXPECT_NE(newest.body.find(",main,paper,ABCUSDT,buy,2,,acked,,"), std::string::npos)
        << newest.body;
    EXPECT_TRUE(newest.body.ends_with(",i0,d2,filled,2\n")) << newest.body;
    const auto next = newest.header("X-Next-Before");
    ASSERT_TRUE(next && !next->empty());
    const HttpResponse oldest = csv_of("/orders?limit=2&before=" + std::string(*next));
    EXPECT_TRUE(oldest.body.ends_with(",i0,d1,filled,1\n")) << oldest.body;
    EXPECT_EQ(oldest.header("X-Next-Before"), "");
}

// One line of /logs, without its time.
std::string line_with(const std::string& logs, const std::string& word) {
    const std::size_t at = logs.find(word);
    EXPECT_NE(at, std::string::npos) << word << " is not in " << logs;
    return at == std::string::npos ? "" : logs.substr(at, logs.find('\n', at) - at);
}

TEST_F(MarketReads, TheLogTellsAFillWithItsFeeAndARefusalWithItsReason) {
    buy();
    decision = "d2";
    submitted = "rejected";
    ASSERT_TRUE(world.paper().set_faults({{.kind = PaperFaultKind::reject}}));
    buy("2");
    const Json answer = world.send_json({.as = "agent", .path = "/api/demo/logs?lines=500"});
    const std::string& logs = answer.find("logs")->as_string();
    EXPECT_EQ(
        line_with(logs, "FILL_BOOKED"),
        "FILL_BOOKED passed t1 buy 1 ABCUSDT at 100.01 fee 0.001 ABC");
    EXPECT_EQ(
        line_with(logs, "ORDER_REJECTED"),
        "ORDER_REJECTED failed t1 buy 2 ABCUSDT at the market refused fault_injected: "
        "fault_injected: The venue was told to refuse.");
}

TEST_F(MarketReads, TheBotsLogTellsItsTrades) {
    BotApi api;
    const BotApi::Owner owner = api.sign_up_in("logs", "running");
    api.world.pass(Duration::of_seconds(30));
    const std::string logs = BotApi::word(api.at_tenant(owner, {"GET", "/logs?lines=500"}), "logs");
    const std::string line = line_with(logs, "ORDER_ACKED");
    EXPECT_NE(line.find(" buy "), std::string::npos) << line;
    EXPECT_NE(line.find("USDT at "), std::string::npos) << line;
}

}  // namespace
}  // namespace interlock
