// Tests of the JSON value, its parser and its text.
#include "base/json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"

namespace interlock {
namespace {

std::string problem_with(std::string_view text) {
    const auto json = parse_json(text);
    EXPECT_FALSE(json.has_value()) << text;
    if (json) {
        return "accepted";
    }
    EXPECT_EQ(json.error(), errors::invalid_json);
    return json.error().message;
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Json, ReadsEachKindOfValue) {
    const auto json = parse_json(R"( {"a":null,"b":[true,false],"c":-1.50,"d":"x","e":{}} )");
    ASSERT_TRUE(json.has_value());
    EXPECT_TRUE(json->find("a")->is_null());
    EXPECT_TRUE(json->find("b")->items()[0].as_bool());
    EXPECT_FALSE(json->find("b")->items()[1].as_bool());
    EXPECT_EQ(json->find("c")->number_text(), "-1.50");
    EXPECT_EQ(json->find("d")->as_string(), "x");
    EXPECT_TRUE(json->find("e")->members().empty());
}

TEST(Json, AnyValueMayBeTheDocument) {
    for (const char* text : {"null", "true", "0", "\"\"", "[]", "{}"}) {
        const auto json = parse_json(text);
        ASSERT_TRUE(json.has_value()) << text;
        EXPECT_EQ(to_text(*json), text);
    }
}

TEST(Json, KeepsTheTextOfNumbers) {
    for (const char* text :
         {"0",
          "-0",
          "1.0",
          "1.10",
          "1e5",
          "1E+05",
          "0.1e-7",
          "12345678901234567890123456789",
          "0.123456789012345678901234567890",
          "-0.0",
          "1e-400"}) {
        const auto json = parse_json(text);
        ASSERT_TRUE(json.has_value()) << text;
        EXPECT_EQ(json->number_text(), text);
    }
}

TEST(Json, RefusesNumbersBeyondAnyDouble) {
    EXPECT_NE(problem_with("[1e400]").find("too large"), std::string::npos);
    EXPECT_NE(problem_with(std::string(400, '9')).find("too large"), std::string::npos);
}

TEST(Json, KeepsTheOrderOfMembers) {
    const auto json = parse_json(R"({"b":1,"a":2,"":3})");
    ASSERT_TRUE(json.has_value());
    EXPECT_EQ(to_text(*json), R"({"b":1,"a":2,"":3})");
}

TEST(Json, RefusesDuplicateKeysAndNamesThem) {
    EXPECT_NE(problem_with(R"({"a":1,"b":2,"a":3})").find("'a'"), std::string::npos);
    EXPECT_NE(problem_with(R"([{"x":{"":1,"":1}}])").find("duplicate"), std::string::npos);
}

TEST(Json, SeesADuplicateKeyThroughItsEscapes) {
    EXPECT_NE(problem_with(R"({"a":1,"\u0061":2})").find("duplicate"), std::string::npos);
    EXPECT_TRUE(parse_json(R"({"a":1,"a\u0000":2})").has_value());
}

TEST(Json, RefusesDuplicateKeysAmongVeryMany) {
    std::string text = "{";
    for (int i = 0; i < 50'000; ++i) {
        text += "\"k" + std::to_string(i) + "\":0,";
    }
    EXPECT_TRUE(parse_json(text + "\"x\":0}").has_value());
    EXPECT_NE(problem_with(text + "\"k7\":0}").find("'k7'"), std::string::npos);
}

TEST(Json, DoesNotRepeatALongKeyInItsMessage) {
    const std::string key(1000, 'k');
    const std::string problem = problem_with("{\"" + key + "\":1,\"" + key + "\":2}");
    EXPECT_LT(problem.size(), 200u);
}

TEST(Json, AcceptsNestingToTheBoundAndRefusesOneMore) {
    EXPECT_TRUE(parse_json(nested(kJsonDepthMax)).has_value());
    EXPECT_NE(problem_with(nested(kJsonDepthMax + 1)).find("deeper than 32"), std::string::npos);
}

TEST(Json, ObjectsCountTowardsTheNesting) {
    std::string inside = "0";
    for (std::size_t i = 0; i < kJsonDepthMax; ++i) {
        inside = "{\"a\":" + inside + "}";
    }
    EXPECT_TRUE(parse_json(inside).has_value());
    EXPECT_FALSE(parse_json("[" + inside + "]").has_value());
}

TEST(Json, SurvivesTwentyThousandOpenBrackets) {
    EXPECT_NE(problem_with(std::string(20'000, '[')).find("at byte 33"), std::string::npos);
    std::string objects;
    for (int i = 0; i < 20'000; ++i) {
        objects += "{\"a\":";
    }
    EXPECT_NE(problem_with(objects).find("deeper than 32"), std::string::npos);
}

TEST(Json, RefusesDocumentsOverTheSizeBoundUnread) {
    EXPECT_NE(
        problem_with(std::string(kJsonBytesMax + 1, ' ')).find("more than 67108864 bytes"),
        std::string::npos);
}

TEST(Json, TakesNulAsAnEscapeOnly) {
    const auto json = parse_json(R"(["a\u0000b"])");
    ASSERT_TRUE(json.has_value());
    EXPECT_EQ(json->items()[0].as_string(), std::string("a\0b", 3));
    EXPECT_EQ(to_text(*json), R"(["a\u0000b"])");
    EXPECT_FALSE(parse_json(std::string_view("[\"a\0b\"]", 7)).has_value());
}

TEST(Json, ANulByteDoesNotPassForTheEnd) {
    EXPECT_NE(
        problem_with(std::string_view("{}\0", 3)).find("NUL byte at byte 2"), std::string::npos);
    EXPECT_FALSE(parse_json(std::string_view("{}\0{}", 5)).has_value());
    EXPECT_FALSE(parse_json(std::string_view("\0", 1)).has_value());
}

TEST(Json, RefusesLoneSurrogatesAndJoinsPairs) {
    const auto pair = parse_json(R"("\ud83d\ude00")");
    ASSERT_TRUE(pair.has_value());
    EXPECT_EQ(pair->as_string(), "\xF0\x9F\x98\x80");
    for (const char* text :
         {R"("\ud83d")",
          R"("\ude00")",
          R"("\ud83dx")",
          R"("\ude00\ud83d")",
          R"("\ud83d\ud83d")",
          R"({"\udc00":1})",
          R"("\ud83d\u0041")"}) {
        EXPECT_NE(problem_with(text).find("surrogate"), std::string::npos) << text;
    }
}

TEST(Json, RefusesBytesThatAreNotUtf8) {
    for (const char* bytes :
         {"\x80",
          "\xBF",
          "\xC0\x80",
          "\xC1\xBF",
          "\xC3",
          "\xC3(",
          "\xE0\x9F\xBF",
          "\xE2\x82",
          "\xED\xA0\x80",
          "\xED\xBF\xBF",
          "\xEF\xBF",
          "\xF0\x8F\xBF\xBF",
          "\xF4\x90\x80\x80",
          "\xF5\x80\x80\x80",
          "\xFE",
          "\xFF"}) {
        EXPECT_FALSE(parse_json("\"" + std::string(bytes) + "\"").has_value());
        EXPECT_FALSE(is_valid_utf8(bytes));
    }
}

TEST(Json, AcceptsTheEdgesOfUtf8) {
    for (const char* bytes :
         {"\x7F",
          "\xC2\x80",
          "\xDF\xBF",
          "\xE0\xA0\x80",
          "\xED\x9F\xBF",
          "\xEE\x80\x80",
          "\xEF\xBF\xBF",
          "\xF0\x90\x80\x80",
          "\xF4\x8F\xBF\xBF"}) {
        const auto json = parse_json("\"" + std::string(bytes) + "\"");
        ASSERT_TRUE(json.has_value());
        EXPECT_EQ(json->as_string(), bytes);
        EXPECT_TRUE(is_valid_utf8(bytes));
    }
}

TEST(Json, RefusesAByteOrderMark) {
    EXPECT_NE(problem_with("\xEF\xBB\xBF{}").find("byte order mark"), std::string::npos);
}

TEST(Json, RefusesEverythingTheGrammarDoes) {
    for (const char* text :
         {"",
          " ",
          "{",
          "}",
          "[1,]",
          "[,1]",
          "[1 2]",
          "{\"a\"}",
          "{\"a\":}",
          "{\"a\":1,}",
          "{a:1}",
          "{'a':1}",
          "{1:1}",
          "nul",
          "True",
          "NaN",
          "Infinity",
          "-Infinity",
          "-",
          "+1",
          "01",
          "-01",
          "1.",
          ".5",
          "1.e5",
          "1e",
          "1e+",
          "0x10",
          "1_000",
          "\"",
          "\"\\\"",
          "\"\\x\"",
          "\"\\u12\"",
          "\"\\u12g4\"",
          "\"\n\"",
          "\"\t\"",
          "[1]]",
          "{} {}",
          "1 1",
          "// c\n1",
          "/* c */ 1",
          "[1]x",
          "\v1",
          "\xC2\xA0"
          "1"}) {
        EXPECT_FALSE(parse_json(text).has_value()) << text;
    }
}

TEST(Json, TheErrorNamesTheByte) {
    EXPECT_NE(problem_with("[1, 2, x]").find("at byte 7"), std::string::npos);
    EXPECT_NE(problem_with("{} x").find("after the document at byte 3"), std::string::npos);
}

TEST(Json, NumbersHaveExactlyTheGrammarOfTheStandard) {
    for (const char* text : {"0", "-0", "10", "1.5", "0.5e1", "1E+2", "1e-2", "9e99999"}) {
        EXPECT_TRUE(is_json_number(text)) << text;
    }
    for (const char* text :
         {"",
          "-",
          "+1",
          "00",
          "01",
          "1.",
          ".1",
          "1e",
          "1e+",
          "1 ",
          " 1",
          "a",
          "1a",
          "0x1",
          "1.2.3",
          "--1",
          "1e1.5"}) {
        EXPECT_FALSE(is_json_number(text)) << text;
    }
}

TEST(JsonDeathTest, ANumberMadeFromAnythingElseIsABug) {
    EXPECT_DEATH(Json::number("1,5"), "is_json_number");
}

TEST(JsonDeathTest, ReadingAsAnotherKindIsABug) {
    EXPECT_DEATH((void)Json("x").as_bool(), "CHECK failed");
    EXPECT_DEATH((void)Json(1).as_string(), "CHECK failed");
    EXPECT_DEATH((void)Json().members(), "CHECK failed");
}

TEST(JsonDeathTest, AnObjectMadeWithAKeyTwiceIsABug) {
    EXPECT_DEATH(Json::object({{"a", 1}, {"a", 2}}), "duplicate_key");
}

TEST(Json, IntegersAreTakenExactlyOrNotAtAll) {
    EXPECT_EQ(Json(7).as_int64(), 7);
    EXPECT_EQ(Json::number("9223372036854775807").as_int64(), INT64_MAX);
    EXPECT_EQ(Json::number("-9223372036854775808").as_int64(), INT64_MIN);
    EXPECT_EQ(Json::number("-0").as_int64(), 0);
    for (const char* text : {"9223372036854775808", "-9223372036854775809", "1.0", "1e3"}) {
        EXPECT_EQ(Json::number(text).as_int64(), std::nullopt) << text;
    }
    EXPECT_EQ(Json("7").as_int64(), std::nullopt);
}

TEST(Json, IsMadeFromEveryIntegerTypeAndFromNoPointer) {
    EXPECT_EQ(
        to_text(Json::array({1, 2u, 3L, 4UL, 5LL, 6ULL, short{7}, std::uint8_t{8}})),
        "[1,2,3,4,5,6,7,8]");
    static_assert(!std::is_constructible_v<Json, int*>);
    static_assert(!std::is_constructible_v<Json, double>);
    static_assert(!std::is_constructible_v<Json, char>);
}

TEST(Json, BuildsNestedValues) {
    const std::string text = "copied";
    const Json json = Json::object({
        {"text", text},
        {"list", Json::array({nullptr, true, "x", Json::array()})},
        {"deep", Json::object({{"n", std::int64_t{-5}}})},
    });
    EXPECT_EQ(to_text(json), R"({"text":"copied","list":[null,true,"x",[]],"deep":{"n":-5}})");
    EXPECT_EQ(text, "copied");
}

TEST(Json, SetReplacesAMemberInItsPlaceOrAppendsIt) {
    Json json = Json::object({{"a", 1}, {"b", 2}});
    json.set("a", "x").set("c", Json());
    EXPECT_EQ(to_text(json), R"({"a":"x","b":2,"c":null})");
}

TEST(Json, FindOnOtherKindsFindsNothing) {
    EXPECT_EQ(Json::array({1}).find("a"), nullptr);
    EXPECT_EQ(Json::object({{"a", 1}}).find("b"), nullptr);
}

TEST(Json, MovesWithoutCopyingItsContents) {
    Json json = Json::array({1, 2, 3});
    const Json* const first = json.items().data();
    const Json moved = std::move(json);
    EXPECT_EQ(moved.items().data(), first);
    static_assert(std::is_nothrow_move_constructible_v<Json>);
    static_assert(std::is_nothrow_move_assignable_v<Json>);
}

TEST(Json, EscapesOnlyWhatMustBeEscaped) {
    EXPECT_EQ(
        to_text(Json("\"\\/\b\f\n\r\t\x01\x1f\x7f\xE2\x82\xAC")),
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xE2\x82\xAC\"");
}

TEST(Json, TextThatIsNotUtf8IsReplacedSoThatTheResultParses) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        const auto json = parse_json(to_text(Json(bytes)));
        RC_ASSERT(json.has_value());
        RC_ASSERT(!is_valid_utf8(bytes) || json->as_string() == bytes);
    }));
    EXPECT_EQ(to_text(Json("a\xFFz\xE2\x82")), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Json, PrettyTextIndentsByTwo) {
    const Json json = Json::object({{"a", Json::array({1, Json::object()})}, {"b", Json::array()}});
    EXPECT_EQ(to_pretty_text(json), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

// Texts are looked at eight bytes at a time; no byte hides between plain ones.
TEST(JsonText, EveryByteIsEscapedAtEveryPlace) {
    for (int byte = 0; byte < 0x80; ++byte) {
        const std::string one(1, static_cast<char>(byte));
        const std::string quoted = to_text(Json(one));
        const std::string escaped = quoted.substr(1, quoted.size() - 2);
        for (std::size_t at = 0; at < 25; ++at) {
            const std::string before(at, '~');
            const std::string after(24 - at, ' ');
            const std::string text = to_text(Json(before + one + after));
            ASSERT_EQ(text, '"' + before + escaped + after + '"') << byte << " at " << at;
        }
    }
}

}  // namespace
}  // namespace interlock
