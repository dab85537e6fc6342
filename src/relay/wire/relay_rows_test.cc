#include "relay/wire/relay_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"

namespace interlock {
namespace {

TEST(RelayRows, KeepWhatTheyHold) {
    InstanceRow row;
    row.instance_id = "i/1";
    row.tenant_id = TenantId::trusted("t1");
    row.is_flipped = true;
    row.epoch = 7;
    row.seen_at = Timestamp{5};
    row.principals = {
        {.platform = "discord", .audience = PrincipalAudience::allow_list, .allow = {"a", "b"}}};
    row.relevance = {
        {.platform = "discord",
         .require_address = true,
         .free_response_scopes = {"c"},
         .allow_other_bots = true}};
    row.identities = {{"discord", "100"}};
    const auto read = decode_row<InstanceRow>(encode_row(row));
    ASSERT_TRUE(read);
    EXPECT_EQ(encode_row(*read), encode_row(row));
    EXPECT_EQ(read->principals, row.principals);
    EXPECT_EQ(read->relevance, row.relevance);
    EXPECT_TRUE(read->is_flipped);
    EXPECT_EQ(read->seen_at->microseconds, 5);
}

TEST(RelayRows, KeepNestedSecretsAndTheirTimes) {
    GatewayRow row;
    row.gateway_id = "g";
    row.secrets = {{"s2", Timestamp{9}, std::nullopt}, {"s1", Timestamp{3}, Timestamp{11}}};
    const auto read = decode_row<GatewayRow>(encode_row(row));
    ASSERT_TRUE(read);
    ASSERT_EQ(read->secrets.size(), 2u);
    EXPECT_EQ(read->secrets[1].sealed, "s1");
    EXPECT_EQ(read->secrets[1].retires_at->microseconds, 11);
    EXPECT_FALSE(read->secrets[0].retires_at);
    EXPECT_FALSE(read->revoked_at);
}

TEST(RelayRows, AMalformedRowIsCorruptData) {
    for (const char* text :
         {"[]", R"({"epoch":"x"})", R"({"is_flipped":1})", R"({"principals":1})"}) {
        const auto read = decode_row<InstanceRow>(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error(), errors::corrupt_data);
    }
}

TEST(RelayRows, NoPartOfAKeyCanImitateAnother) {
    EXPECT_TRUE(rc::check([](const std::string& a, const std::string& b, const std::string& c) {
        const std::string key = row_key({a, b, c});
        RC_ASSERT(std::count(key.begin(), key.end(), '/') == 2);
        RC_ASSERT(((key == row_key({c, b, a})) == (a == c)));
    }));
    EXPECT_NE(row_key({"a/b", "c"}), row_key({"a", "b/c"}));
    EXPECT_NE(row_key({"a~1b"}), row_key({"a/b"}));
}

}  // namespace
}  // namespace interlock
