#include "trader/rules/replay/json_difference.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

std::string difference(const char* recorded, const char* replayed) {
    return first_difference(*parse_json(recorded), *parse_json(replayed));
}

TEST(JsonDifference, EqualDocumentsHaveNone) {
    EXPECT_EQ(difference(R"({"a":[1,{"b":null}]})", R"({"a":[1,{"b":null}]})"), "");
}

TEST(JsonDifference, TheOrderOfMembersMeansNothing) {
    EXPECT_EQ(difference(R"({"a":1,"b":2})", R"({"b":2,"a":1})"), "");
}

TEST(JsonDifference, NamesThePathAndBothValues) {
    EXPECT_EQ(
        difference(R"({"checks":[{"pass":true}]})", R"({"checks":[{"pass":false}]})"),
        "checks[0].pass: recorded true, replayed false");
}

TEST(JsonDifference, NamesWhatIsMissingOnEitherSide) {
    EXPECT_EQ(difference(R"({"a":1})", "{}"), "a: recorded 1, replayed nothing");
    EXPECT_EQ(difference("[]", "[1]"), "[0]: recorded nothing, replayed 1");
}

TEST(JsonDifference, CutsLongValues) {
    const std::string text = first_difference(Json(std::string(10'000, 'x')), Json(1));
    EXPECT_LT(text.size(), 300u);
}

}  // namespace
}  // namespace interlock
