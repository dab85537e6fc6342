#include "app/demo/demo_books.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace interlock {
namespace {

constexpr const char* kOpened =
    R"({"type":"account_opened","account":{"tenant_id":"a","account_id":"main","mode":"paper"},)"
    R"("balances":[{"asset":"USDT","free":"1000","locked":"0"}],"last":true})";
constexpr const char* kAccepted =
    R"({"type":"order_accepted","account":{"tenant_id":"a","account_id":"main","mode":"paper"},)"
    R"("order":{"exchange_order_id":"1","order_client_id":"h1","symbol":"BTCUSDT","side":"buy",)"
    R"("order_type":"market","time_in_force":"IOC","post_only":false,"qty":"0.1",)"
    R"("limit_price":null,"state":"resting","filled_qty":"0","filled_quote":"0",)"
    R"("cancel_reason":"","updated_at":"2026-11-15T12:00:00.000Z"}})";
constexpr const char* kFilled =
    R"({"type":"order_filled","account":{"tenant_id":"a","account_id":"main","mode":"paper"},)"
    R"("fill":{"trade_id":1,"order_client_id":"h1","exchange_order_id":"1","symbol":"BTCUSDT",)"
    R"("side":"buy","qty":"0.1","price":"500","fee":"0.001","fee_asset":"BTC","is_maker":false,)"
    R"("at":"2026-11-15T12:00:00.000Z"},"last":true})";

class DemoBooks : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    VenueBooks read(const std::vector<std::string>& lines) {
        std::ofstream out(folder_ + "/paper.journal");
        for (const std::string& line : lines) {
            out << line << "\n";
        }
        out.close();
        return *read_venue_books(folder_, "a");
    }

    const std::string folder_ = testing::TempDir() + "/demo_books_" +
                                testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(DemoBooks, AddsUpDepositFillAndFee) {
    const VenueBooks books = read({kOpened, kAccepted, kFilled});
    EXPECT_EQ(describe_holdings(books.holdings), "0.099 BTC, 950 USDT");
}

TEST_F(DemoBooks, LeavesOutABatchWithoutItsLastLine) {
    EXPECT_EQ(read({kOpened, kAccepted}).orders(), 0);
}

TEST_F(DemoBooks, TellsAnOrderThatWasAcceptedTwice) {
    EXPECT_FALSE(read({kOpened, kAccepted, kFilled}).has_duplicate());
    EXPECT_TRUE(read({kOpened, kAccepted, kFilled, kAccepted, kFilled}).has_duplicate());
}

TEST(DemoHoldings, CountFreeAndLockedTogether) {
    const auto account = parse_json(R"({"balances":[{"asset":"BTC","free":"0","locked":"0"},)"
                                    R"({"asset":"USDT","free":"1.5","locked":"2"}]})");
    EXPECT_EQ(describe_holdings(*holdings_of(*account)), "3.5 USDT");
}

}  // namespace
}  // namespace interlock
