#include "host/rules/password_policy.h"

#include <gtest/gtest.h>

#include <string>

#include "base/crypto.h"

namespace interlock {
namespace {

TEST(PasswordPolicy, CountsCharactersNotBytes) {
    EXPECT_FALSE(check_new_password("elevenchars"));
    EXPECT_TRUE(check_new_password("twelve-chars"));
    EXPECT_FALSE(check_new_password("äöüßéè"));  // Twelve bytes, six characters.
    EXPECT_TRUE(check_new_password("äöüßéèñåøłžč"));
}

TEST(PasswordPolicy, RefusesAPasswordLongerThanTheBound) {
    std::string longest;
    while (longest.size() < kPasswordBytesMax) {
        longest += "kz7-pw9_rx2.";
    }
    longest.resize(kPasswordBytesMax);
    longest.back() = '#';  // Not a whole number of repetitions.
    EXPECT_TRUE(check_new_password(longest));
    EXPECT_FALSE(check_new_password(longest + "x"));
}

TEST(PasswordPolicy, RefusesWhatIsNoText) {
    EXPECT_FALSE(check_new_password("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
}

TEST(PasswordPolicy, RefusesWhatEveryGuesserTriesFirst) {
    for (const char* password :
         {"aaaaaaaaaaaa",
          "abababababab",
          "abc123abc123",
          "password1234",
          "P@ssw0rd1234",
          "Passw0rd2026!",
          "qwertyuiop12",
          "1qaz2wsx3edc",
          "123456789012",
          "abcdefghijkl",
          "iloveyou2026",
          "Summer2026!!",
          "Liverpool2024",
          "letmein12345",
          "AdminAdmin123",
          "welcomewelcome",
          "000000000000"}) {
        const auto checked = check_new_password(password);
        ASSERT_FALSE(checked) << password << ": " << password_pieces(password);
        EXPECT_NE(checked.error().message.find("too easily guessed"), std::string::npos);
    }
}

TEST(PasswordPolicy, RefusesTheOwnAddress) {
    EXPECT_TRUE(check_new_password("zbigniewk-zbigniewk-7"));
    EXPECT_FALSE(check_new_password("zbigniewk-zbigniewk", "zbigniewk@example.org"));
    EXPECT_FALSE(check_new_password("Zbigniewk123!", "zbigniewk@example.org"));
}

TEST(PasswordPolicy, TakesWhatAPersonOrAManagerMakesUp) {
    for (const char* password :
         {"correct horse battery staple",
          "an entirely private phrase",
          "kX9-vv2Lq_w7",
          "tangerine lamp over seven bridges",
          "der blaue Esel trinkt heute Tee"}) {
        EXPECT_TRUE(check_new_password(password, "anna@example.org")) << password;
    }
}

TEST(PasswordPolicy, NeverRepeatsAPasswordInItsRefusal) {
    for (const char* password : {"hunter2", "hunter2hunter2hunter2"}) {
        const auto checked = check_new_password(password);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().message.find("hunter"), std::string::npos);
    }
}

TEST(PasswordPolicy, KnowsMoreThanAThousandWords) {
    EXPECT_GT(common_password_words(), 1000u);
    EXPECT_TRUE(is_common_password_word("password"));
    EXPECT_FALSE(is_common_password_word("zwieselhuber"));
}

}  // namespace
}  // namespace interlock
