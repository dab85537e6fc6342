// Tests of canonical JSON with the values that RFC 8785 gives as examples, and its general laws.
#include "base/canonical_json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>

#include "base/bytes.h"
#include "base/errors.h"

namespace interlock {
namespace {

std::string canonical(std::string_view text) {
    const auto json = parse_json(text);
    EXPECT_TRUE(json.has_value()) << text;
    const auto out = canonical_json(json.value_or(Json()));
    EXPECT_TRUE(out.has_value()) << text;
    return out.value_or("refused");
}

Json number_from(double value) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(
        buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    return Json::number(std::string(buffer.data(), end.ptr));
}

struct NumberExample {
    std::uint64_t bits;
    const char* text;
};

// RFC 8785, appendix B.
constexpr NumberExample kNumbers[] = {
    {0x0000000000000000, "0"},
    {0x8000000000000000, "0"},
    {0x0000000000000001, "5e-324"},
    {0x8000000000000001, "-5e-324"},
    {0x7fefffffffffffff, "1.7976931348623157e+308"},
    {0xffefffffffffffff, "-1.7976931348623157e+308"},
    {0x4340000000000000, "9007199254740992"},
    {0xc340000000000000, "-9007199254740992"},
    {0x4430000000000000, "295147905179352830000"},
    {0x44b52d02c7e14af5, "9.999999999999997e+22"},
    {0x44b52d02c7e14af6, "1e+23"},
    {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
    {0x444b1ae4d6e2ef4e, "999999999999999700000"},
    {0x444b1ae4d6e2ef4f, "999999999999999900000"},
    {0x444b1ae4d6e2ef50, "1e+21"},
    {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
    {0x3eb0c6f7a0b5ed8d, "0.000001"},
    {0x41b3de4355555553, "333333333.3333332"},
    {0x41b3de4355555554, "333333333.33333325"},
    {0x41b3de4355555555, "333333333.3333333"},
    {0x41b3de4355555556, "333333333.3333334"},
    {0x41b3de4355555557, "333333333.33333343"},
    {0xbecbf647612f3696, "-0.0000033333333333333333"},
    {0x43143ff3c1cb0959, "1424953923781206.2"},
};

TEST(CanonicalJson, NumbersPrintAsInTheStandardsTable) {
    for (const NumberExample& example : kNumbers) {
        const double value = std::bit_cast<double>(example.bits);
        EXPECT_EQ(canonical_json(number_from(value)), std::string(example.text));
    }
}

TEST(CanonicalJson, NumbersOfOneValueHaveOneText) {
    EXPECT_EQ(
        canonical("[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]"),
        "[333333333.3333333,1e+30,4.5,0.002,1e-27]");
    EXPECT_EQ(
        canonical("[-0, 0.0, -0e5, 10, 1e1, 100e-1, 123456789012345, 1234567890123456]"),
        "[0,0,0,10,10,10,123456789012345,1234567890123456]");
}

TEST(CanonicalJson, RefusesIntegersThatWouldLoseDigits) {
    for (const char* text :
         {"9007199254740993",
          "-9007199254740993",
          "9007199254740993e0",
          "90071992547409930e-1",
          "9007199254740993.0",
          "123456789012345678901234567890"}) {
        const auto out = canonical_json(Json::number(text));
        ASSERT_FALSE(out.has_value()) << text;
        EXPECT_EQ(out.error(), errors::out_of_range);
    }
    EXPECT_EQ(canonical_json(Json::number("9007199254740994")), "9007199254740994");
}

TEST(CanonicalJson, RefusesNumbersNoDoubleCanHold) {
    for (const char* text :
         {"1e400",
          "-1e400",
          "1e-400",
          "1.8e308",
          "1e99999999999999999999",
          "1e-99999999999999999999"}) {
        const auto out = canonical_json(Json::number(text));
        ASSERT_FALSE(out.has_value()) << text;
        EXPECT_EQ(out.error(), errors::out_of_range);
    }
    EXPECT_EQ(canonical_json(Json::number("0e999")), "0");
}

TEST(CanonicalJson, EveryDoublePrintsToATextThatReadsBackAsItself) {
    EXPECT_TRUE(rc::check([](std::uint64_t bits) {
        const double value = std::bit_cast<double>(bits * 0x9E3779B97F4A7C15ull);
        if (!std::isfinite(value)) {
            return;
        }
        const std::string text = canonical_json(number_from(value)).value();
        RC_ASSERT(std::strtod(text.c_str(), nullptr) == value);
        RC_ASSERT(canonical_json(Json::number(text)).value() == text);
    }));
}

TEST(CanonicalJson, KeysAreSortedByUtf16CodeUnits) {
    // RFC 8785, section 3.2.3: the emoji's surrogates stand before U+FB33.
    EXPECT_EQ(
        canonical(R"({"\u20ac":5,"\r":1,"\ufb33":7,"1":2,"\ud83d\ude00":6,"\u0080":3,"\u00f6":4})"),
        "{\"\\r\":1,\"1\":2,\"\xC2\x80\":3,\"\xC3\xB6\":4,\"\xE2\x82\xAC\":5,"
        "\"\xF0\x9F\x98\x80\":6,\"\xEF\xAC\xB3\":7}");
    EXPECT_EQ(
        canonical(R"({"sin":4,"p\u00eache":3,"peach":1,"p\u00e9ch\u00e9":2})"),
        "{\"peach\":1,\"p\xC3\xA9"
        "ch\xC3\xA9\":2,\"p\xC3\xAA"
        "che\":3,\"sin\":4}");
    EXPECT_EQ(canonical(R"({"ab":1,"a":2,"":3,"b":4})"), R"({"":3,"a":2,"ab":1,"b":4})");
}

std::u16string utf16_of(const std::u32string& characters) {
    std::u16string out;
    for (const char32_t c : characters) {
        if (c < 0x10000) {
            out += static_cast<char16_t>(c);
        } else {
            out += static_cast<char16_t>(0xD7C0 + (c >> 10));
            out += static_cast<char16_t>(0xDC00 + (c & 0x3FF));
        }
    }
    return out;
}

std::string utf8_of(const std::u32string& characters) {
    std::string out;
    const auto put = [&](char32_t bits) { out += static_cast<char>(bits); };
    for (const char32_t c : characters) {
        if (c < 0x80) {
            put(c);
        } else if (c < 0x800) {
            put(0xC0 | c >> 6), put(0x80 | (c & 63));
        } else if (c < 0x10000) {
            put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
        } else {
            put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63));
            put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
        }
    }
    return out;
}

TEST(CanonicalJson, AnyTwoKeysStandInUtf16Order) {
    static const std::u32string kCharacters =
        U"aA\u0080\u07FF\u0800\uD7FF\uE000\uEFFF\uF000\uFFFF\U00010000\U0003FFFF\U00040000"
        U"\U0010FFFF";
    EXPECT_TRUE(rc::check([] {
        const auto text = rc::gen::container<std::u32string>(rc::gen::elementOf(kCharacters));
        const std::u32string a = *text;
        const std::u32string b = *text;
        if (a == b) {
            return;
        }
        Json json = Json::object();
        json.set(utf8_of(a), 1).set(utf8_of(b), 1);
        const std::string& first = utf16_of(a) < utf16_of(b) ? utf8_of(a) : utf8_of(b);
        std::string start = "{";
        append_json_string(start, first);
        RC_ASSERT(canonical_json(json).value().starts_with(start + ":"));
    }));
}

TEST(CanonicalJson, EscapesAreMinimalAndThereIsNoWhiteSpace) {
    EXPECT_EQ(
        canonical("{ \"a\" : [ null , true , false , \"\\u20ac$\\u000F\\u000aA'\\u0042"
                  "\\u0022\\u005c\\\\\\\"\\/\" ] }"),
        "{\"a\":[null,true,false,\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"]}");
}

TEST(CanonicalJson, DoesNotDependOnTheOrderOfMembersAndIsItsOwnCanonicalForm) {
    EXPECT_TRUE(rc::check([](const std::map<std::string, int>& members) {
        Json forward = Json::object();
        Json backward = Json::object();
        for (auto it = members.begin(); it != members.end(); ++it) {
            forward.set(to_base64(it->first), it->second);
        }
        for (auto it = members.rbegin(); it != members.rend(); ++it) {
            backward.set(to_base64(it->first), it->second);
        }
        const std::string text = canonical_json(forward).value();
        RC_ASSERT(canonical_json(backward).value() == text);
        RC_ASSERT(canonical_json(parse_json(text).value()).value() == text);
    }));
}

TEST(CanonicalJson, RefusesTextThatIsNotUtf8) {
    for (const Json& json : {Json("\xFF"), Json::object({{"\xC3", 1}})}) {
        const auto out = canonical_json(json);
        ASSERT_FALSE(out.has_value());
        EXPECT_EQ(out.error(), errors::invalid_json);
    }
}

TEST(CanonicalJson, RefusesAKeyHeldTwice) {
    Json json = Json::object({{"a", 1}, {"b", 2}});
    json.members()[1].first = "a";
    EXPECT_FALSE(canonical_json(json).has_value());
}

}  // namespace
}  // namespace interlock
