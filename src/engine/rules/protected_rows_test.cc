#include "engine/rules/protected_rows.h"

#include <gtest/gtest.h>

#include "engine/rules/row_set.h"

namespace interlock {
namespace {

TEST(ProtectedRows, WhoExistsHangsOnTheSystemAndTheRestOnItsTenant) {
    EXPECT_EQ(protected_row("tenant/alpha", "{}")->chain, system_tenant());
    EXPECT_EQ(protected_row("human/hum_1", "{}")->chain, system_tenant());
    EXPECT_EQ(protected_row("email/00", "{}")->chain, system_tenant());
    EXPECT_EQ(protected_row("kill/alpha", "{}")->chain.text(), "alpha");
    EXPECT_EQ(protected_row("approval/alpha/apr_1", "{}")->chain.text(), "alpha");
    EXPECT_EQ(protected_row("notify/alpha", "{}")->chain.text(), "alpha");
    EXPECT_FALSE(protected_row("notices/alpha", "{}"));
    EXPECT_FALSE(protected_row("order/alpha/paper/main/1", "{}"));
    EXPECT_FALSE(protected_row("books/alpha/paper/main", "{}"));
}

TEST(ProtectedRows, OfAnAccountOnlyItsRightsCount) {
    const std::string text =
        R"({"tenant_id":"a","version":7,"trading_enabled":true,"limits":{"x":"1"},"money":{}})";
    EXPECT_EQ(
        protected_row("account/a/paper/main", text)->text,
        R"("trading_enabled":true,"limits":{"x":"1"})");
}

// Bytes that only look like the limits, put in front of the real ones, protect nothing: the hash
// of nothing is not what the chain expects.
TEST(ProtectedRows, LimitsThatWerePutInFrontAreNotTaken) {
    const std::string text = R"({"z":{"trading_enabled":true,"limits":{"x":"1"}},)"
                             R"("trading_enabled":true,"limits":{"x":"9"}})";
    EXPECT_EQ(protected_row("account/a/paper/main", text)->text, "");
}

TEST(ProtectedRows, AStopCountsButForTheReferenceToItsRecord) {
    EXPECT_EQ(
        protected_row("kill/a", R"({"active":true,"audit_ref":"7:00"})")->text,
        R"({"active":true)");
    const std::string more = R"({"active":true,"audit_ref":"7:00","active":false})";
    EXPECT_EQ(protected_row("kill/a", more)->text, more);
}

TEST(RowSet, RootDependsOnEveryRowAndNotOnTheirOrder) {
    RowSet one;
    RowSet other;
    for (int i = 0; i < 500; ++i) {
        one.set("kill/t" + std::to_string(i), std::string(64, 'a'));
        other.set("kill/t" + std::to_string(499 - i), std::string(64, 'a'));
    }
    EXPECT_EQ(one.root(), other.root());
    EXPECT_EQ(one.size(), 500U);
    other.set("kill/t7", std::string(64, 'b'));
    EXPECT_NE(one.root(), other.root());
    other.set("kill/t7", std::string(64, 'a'));
    EXPECT_EQ(one.root(), other.root());
    other.set("kill/t7", "");
    EXPECT_EQ(other.size(), 499U);
    EXPECT_NE(one.root(), other.root());
    EXPECT_EQ(other.hash_of("kill/t7"), "");
}

}  // namespace
}  // namespace interlock
