#include "bots/wire/signup.h"

#include <gtest/gtest.h>

#include "bots/wire/bot_endpoints.h"

namespace interlock {
namespace {

template <class T>
std::vector<std::string> problem_paths(const Result<T>& result) {
    std::vector<std::string> paths;
    if (!result) {
        for (const FieldProblem& problem : result.error().problems) {
            paths.push_back(problem.path);
        }
    }
    return paths;
}

auto signup(std::string_view text) {
    return decode_signup(*parse_json(text));
}

std::string nested(std::size_t levels) {
    std::string text = "1";
    for (std::size_t i = 0; i < levels; ++i) {
        text = "{\"a\":" + text + "}";
    }
    return text;
}

TEST(Signup, ReadsTheDocumentsBody) {
    const auto request =
        signup(R"({"email":"Owner@Example.com","plan":"pro","agent_metadata":{"model":"m"}})");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->email, "owner@example.com");
    EXPECT_EQ(request->plan, PlanName::pro);
    EXPECT_EQ(to_text(request->agent_metadata), R"({"model":"m"})");
}

TEST(Signup, TakesNullOrNoMetadata) {
    EXPECT_TRUE(signup(R"({"email":"a@b.example","plan":"trial"})"));
    EXPECT_TRUE(signup(R"({"email":"a@b.example","plan":"trial","agent_metadata":null})"));
}

TEST(Signup, NamesEveryProblemAtOnce) {
    const auto request = signup(R"({"email":"nobody","plan":"gold","agent_metadata":[],"more":1})");
    EXPECT_EQ(
        problem_paths(request),
        (std::vector<std::string>{"email", "plan", "agent_metadata", "more"}));
}

TEST(Signup, AsksForAddressAndPlan) {
    EXPECT_EQ(problem_paths(signup("{}")), (std::vector<std::string>{"email", "plan"}));
    EXPECT_EQ(
        problem_paths(signup(R"({"email":null,"plan":null})")),
        (std::vector<std::string>{"email", "plan"}));
}

TEST(Signup, RefusesAddressesThatNoLetterReaches) {
    for (const std::string email :
         {"a@b@c.example",
          "a b@c.example",
          "@c.example",
          "a@",
          "a@-c.example",
          "a..b@c.example",
          "a@c.example\\r\\nBcc: x@y.example"}) {
        EXPECT_EQ(
            problem_paths(signup("{\"email\":\"" + email + "\",\"plan\":\"trial\"}")),
            (std::vector<std::string>{"email"}))
            << email;
    }
}

TEST(Signup, BoundsWhatAnAgentSaysOfItself) {
    const std::string head = R"({"email":"a@b.example","plan":"trial","agent_metadata":)";
    const std::size_t around = std::string(R"({"a":""})").size();
    const std::string full(kAgentMetadataBytesMax - around, 'x');
    EXPECT_TRUE(signup(head + "{\"a\":\"" + full + "\"}}"));
    EXPECT_FALSE(signup(head + "{\"a\":\"" + full + "x\"}}"));
    EXPECT_TRUE(signup(head + nested(kAgentMetadataDepthMax) + "}"));
    EXPECT_FALSE(signup(head + nested(kAgentMetadataDepthMax + 1) + "}"));
}

TEST(Signup, AnswersWhatTheDocumentAndTheSchemaSay) {
    NewAccount account;
    account.tenant_id = TenantId::trusted("tn_1");
    account.access_key = SecretString("ilk_1");
    account.key_id = KeyId::trusted("key_1");
    const Json json = encode(account);
    for (const BotField& field : find_bot_endpoint("signup")->response) {
        EXPECT_NE(json.find(field.name), nullptr) << field.name;
    }
    const Json schema = new_account_schema();
    EXPECT_EQ(json.members().size(), schema.find("properties")->members().size());
    for (const auto& [key, value] : json.members()) {
        EXPECT_NE(schema.find("properties")->find(key), nullptr) << key;
    }
}

TEST(SetPlan, TakesAPlanOrNullAndAsksForOneOfThem) {
    EXPECT_EQ(decode_set_plan(*parse_json(R"({"plan":"standard"})"))->plan, PlanName::standard);
    EXPECT_EQ(decode_set_plan(*parse_json(R"({"plan":null})"))->plan, std::nullopt);
    EXPECT_FALSE(decode_set_plan(*parse_json("{}")));
    EXPECT_FALSE(decode_set_plan(*parse_json(R"({"plan":"operator"})")));
}

TEST(GrantKeys, LastADayUnlessSaidOtherwise) {
    EXPECT_EQ(decode_grant_keys(*parse_json("{}"))->life, Duration::of_hours(24));
    EXPECT_EQ(
        decode_grant_keys(*parse_json(R"({"hours":168,"exchange":"kraken"})"))->life,
        Duration::of_hours(168));
    EXPECT_FALSE(decode_grant_keys(*parse_json(R"({"hours":169})")));
    EXPECT_FALSE(decode_grant_keys(*parse_json(R"({"hours":0})")));
    EXPECT_FALSE(decode_grant_keys(*parse_json(R"({"exchange":"No Such"})")));
}

TEST(SetAssetList, SortsMarketsAndDropsDoubles) {
    const auto request = decode_set_asset_list(
        *parse_json(R"({"key_id":"key_1","assets":["ethusdt","BTC/USDT","BTCUSDT"]})"));
    ASSERT_TRUE(request);
    EXPECT_EQ(
        *request->assets,
        (std::vector<Symbol>{*Symbol::parse("BTCUSDT"), *Symbol::parse("ETHUSDT")}));
}

TEST(SetAssetList, NamesEveryItemThatIsNoMarket) {
    const auto request = decode_set_asset_list(
        *parse_json(R"({"key_id":"key_1","assets":["BTCUSDT",1,"no market!"]})"));
    EXPECT_EQ(problem_paths(request), (std::vector<std::string>{"assets[1]", "assets[2]"}));
}

TEST(SetAssetList, IsBoundedAndMustBeGiven) {
    std::string items;
    for (std::size_t i = 0; i < kAssetListMax + 1; ++i) {
        items += (i == 0 ? "\"A" : ",\"A") + std::to_string(i) + "\"";
    }
    EXPECT_FALSE(
        decode_set_asset_list(*parse_json(R"({"key_id":"key_1","assets":[)" + items + "]}")));
    EXPECT_FALSE(decode_set_asset_list(*parse_json(R"({"key_id":"key_1"})")));
    EXPECT_FALSE(decode_set_asset_list(*parse_json("[]")));
}

}  // namespace
}  // namespace interlock
