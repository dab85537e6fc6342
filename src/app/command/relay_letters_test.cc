#include "app/command/relay_letters.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(RelayLetters, ASpanIsANumberWithItsUnit) {
    EXPECT_EQ(read_span("90s"), 90);
    EXPECT_EQ(read_span("45m"), 45 * 60);
    EXPECT_EQ(read_span("12h"), 12 * 60 * 60);
    EXPECT_EQ(read_span("3d"), 3 * 24 * 60 * 60);
    EXPECT_EQ(read_span("0s"), 0);
    for (const char* text :
         {"", "3", "d", "3w", "-3d", "3 d", "3dd", "99999999999999999999d", "400d"}) {
        EXPECT_EQ(read_span(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace interlock
