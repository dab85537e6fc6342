#include "host/wire/exchange_keys.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"
#include "codec/error_json.h"

namespace interlock {
namespace {

Json body() {
    return Json::object({
        {"exchange", "paper"},
        {"api_key", "key-text-0123456789"},
        {"api_secret", "secret-text-0123456789"},
    });
}

// Whether the one problem of the decode is this field's.
bool refuses_only(const Json& json, const std::string& path) {
    const auto keys = decode_exchange_keys(json);
    return !keys && keys.error() == errors::invalid_request && keys.error().problems.size() == 1 &&
           keys.error().problems.front().path == path;
}

TEST(ExchangeKeys, ReadsTheBodyOfTheDocument) {
    Json json = body();
    json.set("api_password", "a pass phrase");
    const auto keys = decode_exchange_keys(json);
    ASSERT_TRUE(keys);
    EXPECT_EQ(keys->exchange, "paper");
    EXPECT_EQ(keys->api_key.reveal(), "key-text-0123456789");
    EXPECT_EQ(keys->api_secret.reveal(), "secret-text-0123456789");
    ASSERT_TRUE(keys->api_password);
    EXPECT_EQ(keys->api_password->reveal(), "a pass phrase");
}

TEST(ExchangeKeys, PasswordMayBeNullOrAbsent) {
    Json json = body();
    EXPECT_FALSE(decode_exchange_keys(json)->api_password);
    json.set("api_password", Json());
    EXPECT_FALSE(decode_exchange_keys(json)->api_password);
}

TEST(ExchangeKeys, SecretMayBeAPrivateKeyInLines) {
    Json json = body();
    json.set("api_secret", "-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----\n");
    EXPECT_TRUE(decode_exchange_keys(json));
}

TEST(ExchangeKeys, RefusesAnUnknownField) {
    Json json = body();
    json.set("api_pasword", "misspelt");
    EXPECT_TRUE(refuses_only(json, "api_pasword"));
}

TEST(ExchangeKeys, RefusesAnExchangeThatIsNoWord) {
    Json json = body();
    json.set("exchange", "Paper/../x");
    EXPECT_TRUE(refuses_only(json, "exchange"));
}

TEST(ExchangeKeys, RefusesAnEmptySecret) {
    Json json = body();
    json.set("api_secret", "");
    EXPECT_TRUE(refuses_only(json, "api_secret"));
}

TEST(ExchangeKeys, RefusesControlCharacters) {
    Json json = body();
    json.set("api_key", "key\nInjected: header");
    EXPECT_TRUE(refuses_only(json, "api_key"));
}

TEST(ExchangeKeys, TakesTextsUpToTheirBoundsAndNotBeyond) {
    const std::pair<const char*, std::size_t> bounds[] = {
        {"exchange", kExchangeLengthMax},
        {"api_key", kApiKeyLengthMax},
        {"api_secret", kApiSecretLengthMax},
        {"api_password", kApiPasswordLengthMax}};
    for (const auto& [field, length_max] : bounds) {
        Json json = body();
        json.set(field, std::string(length_max, 'a'));
        EXPECT_TRUE(decode_exchange_keys(json)) << field;
        json.set(field, std::string(length_max + 1, 'a'));
        EXPECT_TRUE(refuses_only(json, field)) << field;
    }
}

// Whatever is wrong with the body, the refusal does not repeat what stood in it.
TEST(ExchangeKeys, RefusalHoldsNoValue) {
    const std::string mark = "CANARYMARK";
    const Json values[] = {
        Json(mark + "\x01"),
        Json(mark + std::string(5000, 'x')),
        Json::array({mark}),
        Json::object({{"x", mark}})};
    int refused = 0;
    for (const char* field : {"api_key", "api_secret", "api_password"}) {
        for (const Json& value : values) {
            Json json = body();
            json.set(field, value);
            const auto keys = decode_exchange_keys(json);
            ASSERT_FALSE(keys) << field;
            EXPECT_EQ(to_text(encode(keys.error())).find(mark), std::string::npos) << field;
            ++refused;
        }
    }
    EXPECT_EQ(refused, 12);
}

TEST(KeyPermissions, SurviveBeingWrittenAndRead) {
    EXPECT_TRUE(rc::check("permissions round trip", [] {
        KeyPermissions permissions;
        bool* const flags[] = {
            &permissions.can_read,
            &permissions.can_trade_spot,
            &permissions.can_withdraw,
            &permissions.can_transfer_internal,
            &permissions.can_transfer_universal,
            &permissions.can_margin,
            &permissions.can_futures,
            &permissions.can_options,
            &permissions.can_portfolio_margin,
            &permissions.is_ip_restricted};
        for (bool* flag : flags) {
            *flag = *rc::gen::arbitrary<bool>();
        }
        if (*rc::gen::arbitrary<bool>()) {
            permissions.expires_at =
                Timestamp{*rc::gen::inRange<std::int64_t>(0, 4'000'000'000) * 1'000'000};
        }
        const auto again = decode_key_permissions(encode(permissions));
        RC_ASSERT(again.has_value());
        RC_ASSERT((*again == permissions));
    }));
}

// I5: a permission that nobody stated is not a permission that is off.
TEST(KeyPermissions, RefuseToBeReadWithoutEachPermission) {
    const Json whole = encode(good_spot_permissions());
    ASSERT_EQ(whole.members().size(), 11u);
    for (const auto& [name, value] : whole.members()) {
        Json less = Json::object();
        for (const auto& [key, kept] : whole.members()) {
            if (key != name) {
                less.set(key, kept);
            }
        }
        EXPECT_FALSE(decode_key_permissions(less)) << name;
    }
}

}  // namespace
}  // namespace interlock
