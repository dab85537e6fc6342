// Tests of FieldReader: what it reads, what it calls a problem, and its bounds.
#include "codec/field_reader.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace interlock {
namespace {

struct ThingTag {
    static constexpr std::string_view name = "thing_id";
};
using ThingId = Id<ThingTag>;

constexpr std::string_view kWords[] = {"pause", "resume"};

Json parsed(std::string_view text) {
    auto json = parse_json(text);
    EXPECT_TRUE(json.has_value()) << text;
    return std::move(json).value_or(Json());
}

// "path: problem" of every problem.
std::vector<std::string> problems_of(FieldReader& in) {
    std::vector<std::string> out;
    const auto result = in.finish(0);
    if (!result) {
        EXPECT_EQ(result.error(), errors::invalid_request);
        for (const FieldProblem& problem : result.error().problems) {
            out.push_back(problem.path + ": " + problem.problem);
        }
    }
    return out;
}
using Problems = std::vector<std::string>;

TEST(FieldReader, ReadsEveryKindOfField) {
    const Json json = parsed(
        R"({"flag":true,"count":-7,"text":"x","price":"1.50","size":2.5,
            "at":"1970-01-01T00:00:01Z","id":"thing_1","any":[1]})");
    FieldReader in(json);
    EXPECT_TRUE(in.required<bool>("flag"));
    EXPECT_EQ(in.required<std::int64_t>("count"), -7);
    EXPECT_EQ(in.required<std::string>("text"), "x");
    EXPECT_EQ(to_text(in.required<Decimal>("price")), "1.5");
    EXPECT_EQ(to_text(in.required<Decimal>("size")), "2.5");
    EXPECT_EQ(in.required<Timestamp>("at"), Timestamp{1'000'000});
    EXPECT_EQ(in.required<ThingId>("id").text(), "thing_1");
    EXPECT_EQ(in.required<Json>("any"), Json::array({1}));
    in.reject_unknown();
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.finish(5).value(), 5);
}

TEST(FieldReader, CollectsEveryProblemWithItsPath) {
    const Json json = parsed(
        R"({"flag":1,"count":1.5,"text":null,"price":"abc","at":"noon","id":"a b","extra":0})");
    FieldReader in(json, "plan.intents[2]");
    in.required<bool>("flag");
    in.required<std::int64_t>("count");
    in.required<std::string>("text");
    in.required<Decimal>("price");
    in.required<Timestamp>("at");
    in.required<ThingId>("id");
    in.required<bool>("missing");
    in.reject_unknown();
    EXPECT_EQ(
        problems_of(in),
        (Problems{
            "plan.intents[2].flag: expected true or false, found number",
            "plan.intents[2].count: expected an integer of at most 64 bits",
            "plan.intents[2].text: expected a string, found null",
            "plan.intents[2].price: expected a decimal number such as 12.5",
            "plan.intents[2].at: expected an RFC 3339 time such as 2026-11-15T07:37:48.123Z",
            "plan.intents[2].id: thing_id may hold only visible ASCII characters except \" \\ / % "
            "? "
            "#, character 2 is another",
            "plan.intents[2].missing: is required",
            "plan.intents[2].extra: is not a known field",
        }));
}

TEST(FieldReader, TheErrorSummarisesItsProblems) {
    const Json json = parsed("{}");
    FieldReader in(json);
    in.required<bool>("a");
    in.required<bool>("b");
    const auto result = in.finish(0);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().message, "2 problems; the first: a: is required");
}

TEST(FieldReader, OptionalFieldsMayBeAbsentOrNullButNotOfAnotherKind) {
    const Json json = parsed(R"({"none":null,"wrong":1,"here":"x"})");
    FieldReader in(json);
    EXPECT_EQ(in.optional<std::string>("absent"), std::nullopt);
    EXPECT_EQ(in.optional<std::string>("none"), std::nullopt);
    EXPECT_EQ(in.optional<std::string>("here"), "x");
    EXPECT_EQ(in.optional_or<std::string>("absent", "y"), "y");
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.optional<std::string>("wrong"), std::nullopt);
    EXPECT_EQ(problems_of(in), Problems{"wrong: expected a string, found number"});
}

TEST(FieldReader, ANullableFieldMustBeThereAndMayBeNull) {
    const Json json = parsed(R"({"none":null,"here":"x","wrong":[]})");
    FieldReader in(json);
    EXPECT_EQ(in.required_nullable<std::string>("none"), std::nullopt);
    EXPECT_EQ(in.required_nullable<std::string>("here"), "x");
    EXPECT_TRUE(in.ok());
    in.required_nullable<std::string>("absent");
    in.required_nullable<std::string>("wrong");
    EXPECT_EQ(
        problems_of(in),
        (Problems{
            "absent: is required (null is allowed)", "wrong: expected a string, found array"}));
}

TEST(FieldReader, TextsObeyTheirBounds) {
    const Json json = parsed(R"({"empty":"","two":"ab","four":"abcd","null":null})");
    FieldReader in(json);
    EXPECT_EQ(in.required_text("two", {.length_min = 2, .length_max = 2}), "ab");
    EXPECT_EQ(in.required_text("empty", {.length_min = 0}), "");
    EXPECT_EQ(in.optional_text("absent"), std::nullopt);
    EXPECT_TRUE(in.ok());
    in.required_text("empty");
    in.required_text("four", {.length_max = 3});
    in.required_text("null");
    in.required_text("absent");
    in.optional_text("four", {.length_min = 5});
    EXPECT_EQ(
        problems_of(in),
        (Problems{
            "empty: must have 1 to 4096 bytes, found 0",
            "four: must have 1 to 3 bytes, found 4",
            "null: is required",
            "absent: is required",
            "four: must have 5 to 4096 bytes, found 4",
        }));
}

TEST(FieldReader, IntegersObeyTheirBounds) {
    const Json json = parsed(R"({"low":1,"high":9,"over":10,"under":0,"text":"5"})");
    FieldReader in(json);
    EXPECT_EQ(in.required_integer("low", 1, 9), 1);
    EXPECT_EQ(in.required_integer("high", 1, 9), 9);
    EXPECT_EQ(in.optional_integer_or("absent", 1, 9, 3), 3);
    EXPECT_TRUE(in.ok());
    in.required_integer("over", 1, 9);
    in.optional_integer_or("under", 1, 9, 3);
    in.required_integer("text", 1, 9);
    in.required_integer("absent", 1, 9);
    EXPECT_EQ(
        problems_of(in),
        (Problems{
            "over: must lie between 1 and 9",
            "under: must lie between 1 and 9",
            "text: expected an integer, found string",
            "absent: is required",
        }));
}

TEST(FieldReader, WordsComeFromTheirSet) {
    const Json json = parsed(R"({"action":"resume","wrong":"Resume","kind":1})");
    FieldReader in(json);
    EXPECT_EQ(in.required_word_index("action", kWords), 1u);
    EXPECT_EQ(in.optional_word_index("absent", kWords), std::nullopt);
    EXPECT_TRUE(in.ok());
    in.required_word_index("wrong", kWords);
    in.required_word_index("kind", kWords);
    in.required_word_index("absent", kWords);
    EXPECT_EQ(
        problems_of(in),
        (Problems{
            "wrong: must be one of pause, resume",
            "kind: expected a string, found number",
            "absent: is required",
        }));
}

TEST(FieldReader, ArraysObeyTheirBound) {
    const Json json = parsed(R"({"two":[1,2],"object":{}})");
    FieldReader in(json);
    EXPECT_EQ(in.required_array("two", 2).size(), 2u);
    EXPECT_EQ(in.optional_array("absent", 2), nullptr);
    EXPECT_TRUE(in.ok());
    EXPECT_TRUE(in.required_array("two", 1).empty());
    EXPECT_TRUE(in.required_array("object", 1).empty());
    EXPECT_TRUE(in.required_array("absent", 1).empty());
    EXPECT_EQ(
        problems_of(in),
        (Problems{
            "two: may hold at most 1 items, found 2",
            "object: expected an array, found object",
            "absent: is required",
        }));
}

TEST(FieldReader, ObjectsMustBeObjects) {
    const Json json = parsed(R"({"child":{"a":1},"list":[]})");
    FieldReader in(json);
    ASSERT_NE(in.required_object("child"), nullptr);
    EXPECT_EQ(in.optional_object("absent"), nullptr);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.optional_object("list"), nullptr);
    EXPECT_EQ(in.required_object("absent"), nullptr);
    EXPECT_EQ(
        problems_of(in),
        (Problems{"list: expected an object, found array", "absent: is required"}));
}

TEST(FieldReader, AValueThatIsNoObjectIsOneProblem) {
    const Json json = Json::array();
    FieldReader in(json);
    EXPECT_FALSE(in.required<bool>("a"));
    EXPECT_EQ(in.required_text("b"), "");
    EXPECT_TRUE(in.required_array("c", 1).empty());
    in.reject_unknown();
    EXPECT_EQ(problems_of(in), Problems{"document: expected an object, found array"});
}

TEST(FieldReader, TakesOverTheProblemsOfANestedDecode) {
    const Json json = parsed(R"({"child":{}})");
    FieldReader in(json);
    FieldReader child(*in.required_object("child"), in.path_of("child"));
    child.required<bool>("a");
    in.absorb(child.finish(0).error());
    in.absorb(fail(errors::conflict, "does not fit").error());
    EXPECT_EQ(problems_of(in), (Problems{"child.a: is required", ": does not fit"}));
}

TEST(FieldReader, AConditionCanMakeAFieldRequired) {
    const Json json = parsed("{}");
    FieldReader in(json);
    in.require_if(false, false, "a");
    in.require_if(true, true, "b");
    EXPECT_TRUE(in.ok());
    in.require_if(true, false, "c");
    EXPECT_EQ(problems_of(in), Problems{"c: is required here"});
}

TEST(FieldReader, StopsCollectingAtItsBound) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kFieldProblemsMax + 50; ++i) {
        json.set("k" + std::to_string(i), 0);
    }
    FieldReader in(json);
    in.reject_unknown();
    EXPECT_EQ(problems_of(in).size(), kFieldProblemsMax);
}

TEST(FieldReader, ProblemsNeverRepeatAValue) {
    const Json json = parsed(R"({"a":"hunter2","b":"hunter2","c":"hunter2 x"})");
    FieldReader in(json);
    in.required<Decimal>("a");
    in.required_word_index("b", kWords);
    in.required<ThingId>("c");
    for (const std::string& problem : problems_of(in)) {
        EXPECT_EQ(problem.find("hunter2"), std::string::npos);
    }
}

}  // namespace
}  // namespace interlock
