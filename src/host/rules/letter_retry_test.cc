#include "host/rules/letter_retry.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(MailRetry, WaitsLongerEachTimeAndSixHoursAtMost) {
    EXPECT_EQ(mail_retry_delay(1), Duration::of_minutes(1));
    EXPECT_EQ(mail_retry_delay(2), Duration::of_minutes(5));
    EXPECT_EQ(mail_retry_delay(3), Duration::of_minutes(25));
    EXPECT_EQ(mail_retry_delay(4), Duration::of_minutes(125));
    EXPECT_EQ(mail_retry_delay(5), Duration::of_hours(6));
    EXPECT_EQ(mail_retry_delay(1'000'000), Duration::of_hours(6));
}

}  // namespace
}  // namespace interlock
