#include "relay/platforms/common/file_answer.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(FileAnswer, FindsAHeaderInAnyCase) {
    const PlatformHttpAnswer answer{200, {{"CONTENT-type", "a/b"}, {"content-type", "c/d"}}, ""};
    EXPECT_EQ(header_of(answer, "Content-Type"), "a/b");
    EXPECT_EQ(header_of(answer, "Location"), "");
}

TEST(FileAnswer, ReadsTheNameOfAFile) {
    EXPECT_EQ(disposition_name("attachment; filename=\"cat.png\""), "cat.png");
    EXPECT_EQ(disposition_name("inline;FileName= cat.png ; size=1"), "cat.png");
    EXPECT_EQ(disposition_name("attachment"), "");
    EXPECT_EQ(disposition_name(""), "");
    EXPECT_EQ(disposition_name("attachment; filename=\"\xFF\""), "");
    EXPECT_EQ(disposition_name("attachment; filename*=UTF-8''x.png"), "");
}

}  // namespace
}  // namespace interlock
