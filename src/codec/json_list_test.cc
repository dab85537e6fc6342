#include "codec/json_list.h"

#include <gtest/gtest.h>

#include <array>

namespace interlock {
namespace {

TEST(JsonList, HoldsTheItemsInTheirOrder) {
    EXPECT_EQ(json_list(std::vector<std::string>{"b", "a", "b"}), Json::array({"b", "a", "b"}));
    EXPECT_EQ(
        json_list(std::array<std::string_view, 2>{"one", "two"}), Json::array({"one", "two"}));
}

TEST(JsonList, IsAnEmptyArrayWithoutItems) {
    EXPECT_EQ(to_text(json_list(std::vector<std::string>{})), "[]");
}

}  // namespace
}  // namespace interlock
