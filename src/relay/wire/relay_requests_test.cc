#include "relay/wire/relay_requests.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "relay/wire/descriptor.h"
#include "relay/wire/test_relay.h"

namespace interlock {
namespace {

Json parsed(std::string_view text) {
    return parse_json(text).value();
}

TEST(RelayRequests, ReadsThePolicyThatTheClientsSend) {
    const auto policy = decode_relevance_policy(
        parsed(R"({"platform":"discord","requireAddress":true,"freeResponseScopes":["9","1","9"],)"
               R"("allowOtherBots":false})"));
    ASSERT_TRUE(policy.has_value());
    EXPECT_TRUE(policy->require_address);
    EXPECT_EQ(policy->free_response_scopes, (std::vector<std::string>{"1", "9"}));
    EXPECT_EQ(decode_relevance_policy(encode(*policy)).value(), *policy);
}

TEST(RelayRequests, RefusesAPolicyForNoPlatformOrWithTooManyScopes) {
    EXPECT_FALSE(decode_relevance_policy(parsed(R"({"requireAddress":true})")).has_value());
    Json scopes = Json::array();
    for (std::size_t i = 0; i < kFreeResponseScopesMax; ++i) {
        scopes.push(std::to_string(i));
    }
    Json json = Json::object({{"platform", "discord"}, {"freeResponseScopes", scopes}});
    EXPECT_TRUE(decode_relevance_policy(json).has_value());
    json.find("freeResponseScopes")->push("one more");
    EXPECT_FALSE(decode_relevance_policy(json).has_value());
}

TEST(RelayRequests, RefusesAFlagThatIsNoFlag) {
    const auto policy =
        decode_relevance_policy(parsed(R"({"platform":"discord","requireAddress":"false"})"));
    EXPECT_FALSE(policy.has_value());
}

TEST(RelayRequests, ReadsEachKindOfPrincipalPolicy) {
    for (const std::string_view text :
         {R"({"policy":"owner-only"})",
          R"({"platform":"discord","policy":"any"})",
          R"({"policy":"allow-list","allow":["7"]})"}) {
        const auto policy = decode_principal_policy(parsed(text));
        ASSERT_TRUE(policy.has_value()) << text;
        EXPECT_EQ(to_text(encode(*policy)), text);
    }
}

TEST(RelayRequests, RefusesAnAllowListThatIsEmptyOrMisplaced) {
    EXPECT_FALSE(decode_principal_policy(parsed(R"({"policy":"allow-list"})")).has_value());
    EXPECT_FALSE(decode_principal_policy(parsed(R"({"policy":"any","allow":["7"]})")).has_value());
    EXPECT_FALSE(decode_principal_policy(parsed(R"({"policy":"everyone"})")).has_value());
}

TEST(RelayRequests, AsksForEveryPartOfAScope) {
    EXPECT_TRUE(
        decode_scope_request(
            parsed(R"({"platform":"discord","guildId":"g","channelId":"c","instanceId":"x"})"))
            .has_value());
    EXPECT_FALSE(
        decode_scope_request(parsed(R"({"platform":"discord","guildId":"g"})")).has_value());
}

TEST(RelayRequests, ReadsEnrolmentAndProvisioning) {
    const auto enroll =
        decode_enroll_request(parsed(R"({"enrollmentToken":"t","gatewayId":"gw"})"));
    EXPECT_EQ(enroll.value().gateway_id, "gw");
    const auto provision = decode_provision_request(
        parsed(R"({"gatewayId":"gw","platform":"discord","botId":"b","gatewayEndpoint":"",)"
               R"("routeKeys":["2","1"],"wakeUrl":"https://w.example/"})"));
    ASSERT_TRUE(provision.has_value());
    EXPECT_EQ(provision->route_keys, (std::vector<std::string>{"1", "2"}));
    EXPECT_TRUE(provision->instance_id.empty());
    EXPECT_TRUE(decode_link_request(parsed(R"({"platform":"sms"})")).has_value());
    EXPECT_FALSE(decode_link_request(parsed("{}")).has_value());
    EXPECT_TRUE(
        decode_dm_default_request(parsed(R"({"platform":"sms","userId":"+1"})")).has_value());
    EXPECT_FALSE(decode_dm_default_request(parsed(R"({"platform":"sms"})")).has_value());
}

TEST(CapabilityDescriptor, AlwaysSaysAPositiveLength) {
    CapabilityDescriptor descriptor;
    descriptor.max_message_length = 0;
    EXPECT_EQ(encode(descriptor).find("max_message_length")->as_int64(), kMessageLengthDefault);
}

TEST(CapabilityDescriptor, SurvivesItsOwnText) {
    EXPECT_TRUE(rc::check([] {
        CapabilityDescriptor descriptor;
        descriptor.platform = "discord" + draw_text();
        descriptor.label = draw_text();
        descriptor.max_message_length = *rc::gen::inRange<std::int64_t>(1, 5000);
        descriptor.supports_edit = *rc::gen::arbitrary<bool>();
        descriptor.pii_safe = *rc::gen::arbitrary<bool>();
        descriptor.len_unit = *rc::gen::element(LengthUnit::code_points, LengthUnit::utf16);
        descriptor.supported_ops = {"send", "prompt"};
        const auto again = decode_descriptor(encode(descriptor));
        RC_ASSERT(again.has_value());
        RC_ASSERT(*again == descriptor);
    }));
}

}  // namespace
}  // namespace interlock
