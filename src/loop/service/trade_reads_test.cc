#include "loop/service/trade_reads.h"

#include <gtest/gtest.h>

#include "engine/memory/memory_ledger_store.h"

namespace interlock {
namespace {

const TenantId kTenant = TenantId::trusted("demo");

class TradeReads : public ::testing::Test {
protected:
    // Records as the ledger keeps them, as far as these reads look at them.
    void add(std::int64_t count, const std::string& event, const std::string& detail = "{}") {
        TurnCommit commit;
        for (std::int64_t i = 0; i < count; ++i) {
            ++seq_;
            commit.audit.push_back(
                {.tenant_id = kTenant,
                 .seq = seq_,
                 .canonical_json = R"({"decision_id":"d","detail":)" + detail + R"(,"event":")" +
                                   event + R"(","timestamp":"2026-11-15T12:00:00Z"})",
                 .hash = std::string(64, 'a')});
        }
        ASSERT_TRUE(store_.commit(std::span(&commit, 1)));
    }
    void add_fill(const std::string& symbol) {
        add(1, "FILL_BOOKED", R"({"symbol":")" + symbol + R"(","side":"buy","qty":"1"})");
    }
    TradePage fills(TradeQuery query) {
        query.tenant_id = kTenant;
        auto page = read_fills(store_, query);
        EXPECT_TRUE(page);
        return page ? *std::move(page) : TradePage();
    }

    MemoryLedgerStore store_;
    std::int64_t seq_ = 0;
};

TEST_F(TradeReads, NewestFirstAPageAtATime) {
    for (const char* symbol : {"AAAUSDT", "BBBUSDT", "CCCUSDT"}) {
        add_fill(symbol);
    }
    const TradePage first = fills({.limit = 2});
    ASSERT_EQ(first.rows.items().size(), 2u);
    EXPECT_EQ(*first.rows.items()[0].find("symbol"), Json("CCCUSDT"));
    ASSERT_EQ(first.next_before, 2);
    const TradePage second = fills({.before = 2, .limit = 2});
    ASSERT_EQ(second.rows.items().size(), 1u);
    EXPECT_EQ(*second.rows.items()[0].find("symbol"), Json("AAAUSDT"));
    EXPECT_EQ(second.next_before, std::nullopt);
}

TEST_F(TradeReads, OfOneMarketOnly) {
    add_fill("AAAUSDT");
    add_fill("BBBUSDT");
    const TradePage page = fills({.symbol = "AAAUSDT"});
    ASSERT_EQ(page.rows.items().size(), 1u);
    EXPECT_EQ(*page.rows.items()[0].find("seq"), Json(1));
}

// A page ends where it has looked at enough, and says where to go on.
TEST_F(TradeReads, LookAtABoundedPartOfALongLedger) {
    add_fill("AAAUSDT");
    add(kTradeScanMax, "STATE_READ");
    const TradePage first = fills({});
    EXPECT_TRUE(first.rows.items().empty());
    EXPECT_EQ(first.records_read, kTradeScanMax);
    ASSERT_EQ(first.next_before, 2);
    const TradePage second = fills({.before = 2});
    EXPECT_EQ(second.rows.items().size(), 1u);
    EXPECT_EQ(second.records_read, 1);
    EXPECT_EQ(second.next_before, std::nullopt);
}

TEST_F(TradeReads, OfOneAccountOnly) {
    for (const char* account : {"main", "second"}) {
        add(1,
            "FILL_BOOKED",
            R"({"account":{"account_id":")" + std::string(account) +
                R"(","mode":"paper","tenant_id":"demo"},"symbol":"AAAUSDT"})");
    }
    const TradePage page = fills({.account_id = "second"});
    ASSERT_EQ(page.rows.items().size(), 1u);
    EXPECT_EQ(*page.rows.items()[0].find("account_id"), Json("second"));
    EXPECT_EQ(*page.rows.items()[0].find("mode"), Json("paper"));
    EXPECT_EQ(fills({}).rows.items().size(), 2u);
}

std::string outcome(const std::string& status, const std::string& more = "") {
    return R"({"order_client_id":"o1","submit_status":")" + status + "\"" + more + "}";
}

TEST_F(TradeReads, AnOrderStandsWhereItsLostAnswerWasNoted) {
    add(1, "ORDER_UNKNOWN", outcome("timeout"));
    add(1, "ORDER_ACKED", outcome("acked", R"(,"late_answer":true)"));
    const auto page = read_orders(store_, {.tenant_id = kTenant});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->rows.items().size(), 1u);
    EXPECT_EQ(*page->rows.items()[0].find("seq"), Json(1));
}

TEST_F(TradeReads, TwoAnswersThatAnOlderVersionRecordedAreOneOrder) {
    add(1, "ORDER_UNKNOWN", outcome("unknown"));
    add(1, "ORDER_ACKED", outcome("acked"));
    const auto page = read_orders(store_, {.tenant_id = kTenant});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->rows.items().size(), 1u);
    EXPECT_EQ(*page->rows.items()[0].find("submit_status"), Json("acked"));
}

TEST_F(TradeReads, WordsThatOnlyLookLikeAnEventAreNone) {
    add(1, "STATE_READ", R"({"note":"FILL_BOOKED"})");
    EXPECT_TRUE(fills({}).rows.items().empty());
}

TEST_F(TradeReads, CsvQuotesWhatWouldEndAField) {
    const Json rows = *parse_json(
        R"([{"seq":1,"at":"t","symbol":"AAAUSDT","fee":null,"is_maker":true,"id":"a,\"b"}])");
    const std::string text = fills_csv(rows);
    EXPECT_NE(text.find("\n1,t,AAAUSDT,,true,\"a,\"\"b\"\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace interlock
