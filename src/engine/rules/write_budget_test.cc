#include "engine/rules/write_budget.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

constexpr Timestamp kNoon{1'794'744'000'000'000};
constexpr WriteBudget kBudget{.bytes_per_hour = 1000};

TEST(WriteBudget, IsSpentAtItsBoundAndFullWithTheNextHour) {
    BudgetRow row{.window = budget_window_of(kNoon)};
    spend(row, "a", 499);
    spend(row, "b", 499);
    spend(row, "c", 1);
    EXPECT_FALSE(is_spent(row, kBudget, "c"));
    spend(row, "c", 1);
    EXPECT_TRUE(is_spent(row, kBudget, "c"));
    EXPECT_EQ(roll_budget(row, kNoon + Duration::of_minutes(59)), std::nullopt);
    EXPECT_TRUE(is_spent(row, kBudget, "c"));
    EXPECT_EQ(refill_of(kNoon + Duration::of_minutes(59)), kNoon + kBudgetWindow);
    EXPECT_EQ(roll_budget(row, kNoon + kBudgetWindow), std::nullopt) << "nothing was left out";
    EXPECT_FALSE(is_spent(row, kBudget, "c"));
}

TEST(WriteBudget, OneCallerTakesHalfOfItAtMost) {
    BudgetRow row{.window = budget_window_of(kNoon)};
    spend(row, "agent:wild", 500);
    EXPECT_TRUE(is_spent(row, kBudget, "agent:wild"));
    EXPECT_FALSE(is_spent(row, kBudget, "agent:calm"));
    EXPECT_EQ(decode_budget_row(encode(row)).value(), row);
}

TEST(WriteBudget, CallersBeyondTheBoundShareOneCount) {
    BudgetRow row{.window = budget_window_of(kNoon)};
    const WriteBudget large{.bytes_per_hour = 1'000'000};
    for (std::size_t i = 0; i < kBudgetCallersMax; ++i) {
        spend(row, "agent:" + std::to_string(i), 1);
    }
    spend(row, "late", 500'000);
    EXPECT_TRUE(is_spent(row, large, "later")) << "whoever comes late shares";
    EXPECT_FALSE(is_spent(row, large, "agent:0"));
    EXPECT_EQ(row.spent_by.size(), kBudgetCallersMax + 1);
}

TEST(WriteBudget, TellsWhatWasLeftOutWhenItsHourIsOver) {
    BudgetRow row{.window = budget_window_of(kNoon)};
    count_unrecorded(row, kNoon + Duration::of_seconds(5), "py_validate_plan agent:key_1");
    count_unrecorded(row, kNoon + Duration::of_seconds(9), "py_validate_plan agent:key_1");
    const auto over = roll_budget(row, kNoon + Duration::of_hours(3));
    ASSERT_TRUE(over);
    EXPECT_EQ(row, (BudgetRow{.window = kNoon + Duration::of_hours(3)}));
    const AuditDraft draft = budget_refilled_draft(TenantId::trusted("demo"), *over);
    EXPECT_EQ(*draft.detail.find("count"), Json(2));
    EXPECT_EQ(*draft.detail.find("first"), Json("2026-11-15T12:00:05.000Z"));
    EXPECT_EQ(*draft.detail.find("last"), Json("2026-11-15T12:00:09.000Z"));
    EXPECT_EQ(draft.detail.find("digest")->as_string().size(), 64U);
}

TEST(WriteBudget, ARowIsReadBackAsItWasWritten) {
    BudgetRow row{.window = budget_window_of(kNoon)};
    row.spent_bytes = 7;
    count_unrecorded(row, kNoon, "x");
    EXPECT_EQ(decode_budget_row(encode(row)).value(), row);
    EXPECT_FALSE(decode_budget_row(Json::object()));
}

}  // namespace
}  // namespace interlock
