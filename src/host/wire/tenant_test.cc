#include "host/wire/tenant.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Json parsed(std::string_view text) {
    auto json = parse_json(text);
    EXPECT_TRUE(json) << text;
    return json ? *std::move(json) : Json();
}

Tenant sample() {
    Tenant tenant;
    tenant.tenant_id = TenantId::trusted("demo");
    tenant.name = "Demo \"desk\"";
    tenant.created_at = {1'794'744'000'123'000};
    tenant.human_ids = {HumanId::trusted("hum_1"), HumanId::trusted("hum_2")};
    AccessKey key;
    key.key_id = KeyId::trusted("key_1");
    key.label = "planner";
    key.scopes = {Scope::planner, Scope::read};
    key.key_hash = std::string(64, 'a');
    key.hint = "wxyz";
    key.created_at = tenant.created_at;
    tenant.access_keys.push_back(key);
    key.key_id = KeyId::trusted("key_2");
    key.revoked_at = tenant.created_at + Duration::of_hours(1);
    tenant.access_keys.push_back(key);
    return tenant;
}

TEST(TenantState, ComesBackAsItWasStored) {
    const Json stored = encode_state(sample());

    const auto read = decode_tenant_state(stored);

    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(encode_state(*read), stored);
    EXPECT_EQ(read->access_keys[1].revoked_at, sample().access_keys[1].revoked_at);
}

TEST(TenantState, RefusesAnUnknownField) {
    Json stored = encode_state(sample());
    stored.set("colour", "red");

    EXPECT_FALSE(decode_tenant_state(stored));
}

TEST(Tenant, ShowsCountsAndNoKeys) {
    const Json shown = encode(sample());

    EXPECT_EQ(shown.find("humans")->as_int64(), 2);
    EXPECT_EQ(shown.find("active_keys")->as_int64(), 1);
    EXPECT_EQ(to_text(shown).find("key_1"), std::string::npos);
}

TEST(AccessKey, NeverShowsItsHash) {
    EXPECT_EQ(to_text(encode(sample().access_keys[0])).find("aaaa"), std::string::npos);
}

TEST(NewAccessKey, ShowsTheKeyOnlyWhenItIsGiven) {
    const SecretString secret("ilk_secret");
    const NewAccessKey made{sample().access_keys[0], "1:0123"};

    EXPECT_EQ(encode(made, &secret).find("access_key")->as_string(), "ilk_secret");
    EXPECT_TRUE(encode(made, nullptr).find("access_key")->is_null());
}

TEST(CreateTenant, RefusesTheNameUnderWhichTheOperatorsRelayIsReached) {
    const auto refused = decode_create_tenant(*parse_json(R"({"tenant_id":"relay","name":"n"})"));
    ASSERT_FALSE(refused.has_value());
    ASSERT_EQ(refused.error().problems.size(), 1U);
    EXPECT_EQ(refused.error().problems[0].path, "tenant_id");
    EXPECT_TRUE(decode_create_tenant(*parse_json(R"({"tenant_id":"relay-1","name":"n"})")));
}

TEST(CreateTenant, RefusesIdsThatAreNoTenants) {
    for (const char* id : {"_system", "Demo", "a b", "", "über"}) {
        EXPECT_FALSE(decode_create_tenant(Json::object({{"tenant_id", id}, {"name", "x"}}))) << id;
    }
    EXPECT_TRUE(decode_create_tenant(Json::object({{"tenant_id", "demo-2_x"}, {"name", "x"}})));
}

TEST(CreateAccessKey, NamesEveryProblemAtOnce) {
    const auto read =
        decode_create_access_key(parsed(R"({"label":"","scopes":["planner","admin"],"x":1})"));

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().problems.size(), 3u);
}

TEST(CreateAccessKey, RefusesNoScopeAndTheSameScopeTwice) {
    EXPECT_FALSE(decode_create_access_key(parsed(R"({"label":"a","scopes":[]})")));
    EXPECT_FALSE(decode_create_access_key(parsed(R"({"label":"a","scopes":["read","read"]})")));
}

TEST(CreateAccessKey, HashesTheSameRequestAlike) {
    const auto one = decode_create_access_key(
        parsed(R"({"label":"a","scopes":["read","planner"],"idempotency_key":"k1"})"));
    const auto two = decode_create_access_key(
        parsed(R"({"scopes":["planner","read"],"label":"a","idempotency_key":"k2"})"));
    const auto three = decode_create_access_key(parsed(R"({"scopes":["read"],"label":"a"})"));
    ASSERT_TRUE(one && two && three);

    EXPECT_EQ(*request_hash_of(*one), *request_hash_of(*two));
    EXPECT_NE(*request_hash_of(*one), *request_hash_of(*three));
}

TEST(TenantSchemas, AreObjects) {
    for (const Json& schema :
         {tenant_schema(),
          tenant_page_schema(),
          access_key_schema(),
          access_keys_schema(),
          new_access_key_schema(),
          create_tenant_schema(),
          create_access_key_schema()}) {
        EXPECT_EQ(schema.find("type")->as_string(), "object");
    }
}

}  // namespace
}  // namespace interlock
