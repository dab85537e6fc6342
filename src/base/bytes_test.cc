// Tests of hex, base64 and base32: RFC 4648's examples, round trips, and the refusal of every
// second spelling of the same bytes.
#include "base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"

namespace interlock {
namespace {

struct Example {
    std::string_view bytes;
    std::string_view base64;
    std::string_view base32;
};

// RFC 4648, section 10 (base32 without its padding).
constexpr Example kExamples[] = {
    {"", "", ""},
    {"f", "Zg==", "MY"},
    {"fo", "Zm8=", "MZXQ"},
    {"foo", "Zm9v", "MZXW6"},
    {"foob", "Zm9vYg==", "MZXW6YQ"},
    {"fooba", "Zm9vYmE=", "MZXW6YTB"},
    {"foobar", "Zm9vYmFy", "MZXW6YTBOI"},
};

TEST(Bytes, Base64AgreesWithTheStandard) {
    for (const Example& example : kExamples) {
        EXPECT_EQ(to_base64(example.bytes), example.base64);
        EXPECT_EQ(from_base64(example.base64), std::string(example.bytes));
    }
}

TEST(Bytes, Base32AgreesWithTheStandard) {
    for (const Example& example : kExamples) {
        EXPECT_EQ(to_base32(example.bytes), example.base32);
        EXPECT_EQ(from_base32(example.base32), std::string(example.bytes));
    }
}

TEST(Bytes, HexIsLowerCaseAndTakesNothingElse) {
    EXPECT_EQ(to_hex(std::string_view("\x00\xff\x1a", 3)), "00ff1a");
    EXPECT_EQ(from_hex("00ff1a"), std::string("\x00\xff\x1a", 3));
    for (const char* text : {"0", "0F", "gg", "0 ", "0x"}) {
        EXPECT_FALSE(from_hex(text).has_value()) << text;
    }
}

TEST(Bytes, EveryCodecRoundTrips) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        RC_ASSERT(from_hex(to_hex(bytes)).value() == bytes);
        RC_ASSERT(from_base64(to_base64(bytes)).value() == bytes);
        RC_ASSERT(from_base64url(to_base64url(bytes)).value() == bytes);
        RC_ASSERT(from_base32(to_base32(bytes)).value() == bytes);
        RC_ASSERT(from_base32(to_base32_lower(bytes)).value() == bytes);
    }));
}

TEST(Bytes, WhatADecoderTakesIsWhatItsEncoderWrites) {
    EXPECT_TRUE(rc::check([] {
        const auto text = *rc::gen::container<std::string>(
            rc::gen::elementOf(std::string("ABQRgwxyz0189+/-_==")));
        if (const auto bytes = from_base64(text)) {
            RC_ASSERT(to_base64(*bytes) == text);
        }
        if (const auto bytes = from_base64url(text)) {
            RC_ASSERT(to_base64url(*bytes) == text);
        }
        if (const auto bytes = from_hex(text)) {
            RC_ASSERT(to_hex(*bytes) == text);
        }
    }));
}

TEST(Bytes, Base64RefusesWrongPaddingAndLeftOverBits) {
    for (const char* text :
         {"Zg",
          "Zg=",
          "Zg===",
          "Zg====",
          "=",
          "====",
          "Zh==",
          "Zm9=",
          "Z===",
          "Zm8=Zm8=",
          "Zm9v\n",
          "Zm-v",
          "Z g="}) {
        EXPECT_FALSE(from_base64(text).has_value()) << text;
    }
}

TEST(Bytes, UrlSafeBase64UsesItsOwnLettersAndNoPadding) {
    EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
    for (const char* text : {"+/8", "-_8=", "-_9", "A"}) {
        EXPECT_FALSE(from_base64url(text).has_value()) << text;
    }
}

TEST(Bytes, Base32TakesEitherCaseAndFittingPaddingOnly) {
    EXPECT_EQ(from_base32("mzxw6ytboi"), "foobar");
    EXPECT_EQ(from_base32("MZXW6YTBOI======"), "foobar");
    for (const char* text : {"MZXW6YTBOI=", "MZXW6YTBOI=======", "M", "MZ", "M1", "========"}) {
        EXPECT_FALSE(from_base32(text).has_value()) << text;
    }
}

TEST(Bytes, ConstantTimeComparisonIsEquality) {
    EXPECT_TRUE(equal_in_constant_time("", ""));
    EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
    EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
    EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
    EXPECT_TRUE(equal_in_constant_time(std::string("a\0b", 3), std::string("a\0b", 3)));
    EXPECT_FALSE(equal_in_constant_time(std::string("a\0b", 3), std::string("a\0c", 3)));
}

}  // namespace
}  // namespace interlock
