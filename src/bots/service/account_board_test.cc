#include "bots/service/account_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace interlock {
namespace {

const TenantId kTenant = TenantId::trusted("tn_1");

OnboardingRow row_until(Timestamp trial_expires) {
    OnboardingRow row;
    row.signup.emplace();
    row.signup->email = "a@b.example";
    row.signup->trial_expires = trial_expires;
    return row;
}

TEST(AccountBoard, TellsTheSameAsTheViewAtEveryMoment) {
    AccountBoard board;
    OnboardingRow row = row_until({300});
    row.key_grant = KeyGrant{std::nullopt, "human:hum_1", {0}, {200}};
    board.publish(kTenant, row, {100});
    for (const std::int64_t at : {0, 99, 100, 199, 200, 299, 300, 10'000}) {
        EXPECT_EQ(board.status_text(kTenant, {at}), to_text(encode(view_of(kTenant, row, {at}))))
            << at;
    }
}

TEST(AccountBoard, KnowsTenantsWithoutARowAsTheOperators) {
    const AccountBoard board;
    EXPECT_EQ(board.view(kTenant, {0}).plan_word(), "operator");
    EXPECT_EQ(
        board.status_text(kTenant, {0}), to_text(encode(view_of(kTenant, OnboardingRow{}, {0}))));
}

TEST(AccountBoard, ShowsTheLatestThatWasPublished) {
    AccountBoard board;
    board.publish(kTenant, row_until({300}), {100});
    board.publish(kTenant, row_until({500}), {100});
    EXPECT_EQ(board.view(kTenant, {400}).trial_expires, Timestamp{500});
    EXPECT_TRUE(board.view(kTenant, {400}).active);
}

// For the thread sanitizer: network threads read while the engine publishes.
TEST(AccountBoard, IsReadWhileItChanges) {
    AccountBoard board;
    board.publish(kTenant, row_until({1}), {0});
    std::atomic<int> whole{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            for (int round = 0; round < 500; ++round) {
                const auto json = parse_json(board.status_text(kTenant, {round}));
                whole += json && json->find("tenant_id")->as_string() == "tn_1" ? 1 : 0;
            }
        });
    }
    for (int round = 0; round < 500; ++round) {
        board.publish(kTenant, row_until({round * 2}), {round});
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(whole, 1500);
}

}  // namespace
}  // namespace interlock
