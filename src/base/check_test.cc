// Tests of CHECK.
#include "base/check.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(CheckDeathTest, AFalseConditionAbortsAndNamesItselfAndThePlace) {
    const int units = 1;
    EXPECT_DEATH(CHECK(units == 2), "CHECK failed: units == 2 at .*check_test.cc:[0-9]+");
}

TEST(Check, ATrueConditionIsEvaluatedOnceAndGoesOn) {
    int calls = 0;
    CHECK(++calls == 1);
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace interlock
