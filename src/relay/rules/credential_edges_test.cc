// Credentials of the relay where they are malformed, of the wrong kind or one character too long.
// Each case is one that a small change of a reader got past the other tests.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"
#include "relay/rules/agent_jwt.h"
#include "relay/rules/upgrade_token.h"
#include "relay/rules/webhook_signature.h"
#include "relay/rules/wecom_crypt.h"

namespace interlock {
namespace {

constexpr std::int64_t kNow = 1794700000;
const std::string kDigits64(64, 'a');

std::optional<UpgradeToken> read_plain(const std::string& plain) {
    return read_upgrade_token(to_base64url(plain));
}

TEST(UpgradeTokenEdges, NeedsAllThreeParts) {
    EXPECT_TRUE(read_plain("gw:5:" + kDigits64).has_value());
    EXPECT_FALSE(read_plain("5:" + kDigits64).has_value());
    EXPECT_FALSE(read_plain(":" + kDigits64).has_value());
    EXPECT_FALSE(read_plain(kDigits64).has_value());
    EXPECT_FALSE(read_plain("gw::" + kDigits64).has_value());
    EXPECT_FALSE(read_plain("gw:5:" + kDigits64.substr(2)).has_value());
    EXPECT_FALSE(read_plain("gw:5:" + std::string(64, 'g')).has_value());
    EXPECT_FALSE(read_plain("\xff:5:" + kDigits64).has_value());
}

TEST(UpgradeTokenEdges, AnExpiryHasEighteenDigitsAtMost) {
    const std::string longest(18, '9');
    EXPECT_EQ(read_plain("gw:" + longest + ":" + kDigits64)->expires_at, 999'999'999'999'999'999);
    EXPECT_FALSE(read_plain("gw:" + longest + "9:" + kDigits64).has_value());
}

TEST(UpgradeTokenEdges, IsReadToItsBoundAndNoFurther) {
    const std::string rest = ":5:" + kDigits64;
    const std::size_t plain_max = kUpgradeTokenBytesMax / 4 * 3;
    const std::string longest = std::string(plain_max - rest.size(), 'g');
    EXPECT_EQ(to_base64url(longest + rest).size(), kUpgradeTokenBytesMax);
    EXPECT_TRUE(read_plain(longest + rest).has_value());
    EXPECT_FALSE(read_plain("g" + longest + rest).has_value());
}

JwtProblem problem_of(const std::string& token) {
    const JwtRules rules{
        .issuer = "https://issuer.example",
        .audience = agent_audience("inst-1"),
        .keys = {{"k1", {std::string(256, '\x01'), *from_base64url("AQAB")}}},
        .now_seconds = kNow};
    return verify_jwt(token, rules).error();
}

TEST(AgentJwtEdges, EachPartMustBeReadable) {
    const std::string header = to_base64url(R"({"alg":"RS256","kid":"k1"})");
    EXPECT_EQ(problem_of(header + ".e30.AAAA"), JwtProblem::bad_signature);
    for (const std::string& token :
         {"!." + header + ".AAAA",
          header + ".!.AAAA",
          header + ".e30.!",
          to_base64url("[]") + ".e30.AAAA",
          header + "." + to_base64url("[]") + ".AAAA",
          header + "." + to_base64url("{") + ".AAAA",
          header + ".e30",
          header + ".e30.AAAA.AAAA"}) {
        EXPECT_EQ(problem_of(token), JwtProblem::malformed) << token;
    }
}

TEST(AgentJwtEdges, ATokenMayFillItsBound) {
    std::string longest = to_base64url(R"({"alg":"RS256","kid":"k1"})") + ".e30.";
    longest.resize(kJwtBytesMax, 'A');
    EXPECT_EQ(problem_of(longest), JwtProblem::bad_signature);
    EXPECT_EQ(problem_of(longest + "AAAA"), JwtProblem::malformed);
}

TEST(AgentJwtEdges, AKeyOfAnotherKindOrShapeIsLeftOut) {
    const auto count = [](const std::string& key) {
        return decode_jwks(*parse_json(R"({"keys":[)" + key + "]}"))->size();
    };
    EXPECT_EQ(count(R"({"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"})"), 1u);
    for (const std::string key :
         {R"({"kty":7,"kid":"a","n":"AQAB","e":"AQAB"})",
          R"({"kid":"a","n":"AQAB","e":"AQAB","use":"sig"})",
          R"({"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB","use":"enc"})",
          R"({"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB","use":7})",
          R"({"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB","alg":"RS512"})",
          R"({"kty":"RSA","kid":7,"n":"AQAB","e":"AQAB"})",
          R"({"kty":"RSA","n":"AQAB","e":"AQAB"})",
          R"({"kty":"RSA","kid":"a","n":7,"e":"AQAB"})",
          R"({"kty":"RSA","kid":"a","e":"AQAB"})",
          R"({"kty":"RSA","kid":"a","n":"!","e":"AQAB"})",
          R"({"kty":"RSA","kid":"a","n":"AQAB"})"}) {
        EXPECT_EQ(count(key), 0u) << key;
    }
    EXPECT_FALSE(decode_jwks(*parse_json(R"({"keys":{}})")).has_value());
}

TEST(AgentJwtEdges, AKeySetMayFillItsBound) {
    Json list = Json::array();
    for (std::size_t i = 0; i < kJwksKeysMax; ++i) {
        list.push(Json::object({{"kty", "EC"}}));
    }
    EXPECT_TRUE(decode_jwks(Json::object({{"keys", list}})).has_value());
    list.push(Json::object({{"kty", "EC"}}));
    EXPECT_FALSE(decode_jwks(Json::object({{"keys", list}})).has_value());
}

WebhookRequest slack_request(const std::string& timestamp) {
    WebhookRequest request;
    request.body = "{}";
    request.headers = {
        {"X-Slack-Signature", "v0=" + to_hex(hmac_sha256("secret", "v0:" + timestamp + ":{}"))},
        {"X-Slack-Request-Timestamp", timestamp}};
    return request;
}

TEST(SlackSignatureEdges, BothHeadersAndASecretAreNeeded) {
    WebhookRequest request = slack_request("1794700000");
    EXPECT_TRUE(verify_slack(request, "secret").accepted);
    EXPECT_EQ(verify_slack(request, "").code, "no_secret");
    request.headers.pop_back();
    EXPECT_EQ(verify_slack(request, "secret").code, "missing_header");
    request = slack_request("1794700000");
    request.headers.erase(request.headers.begin());
    EXPECT_EQ(verify_slack(request, "secret").code, "missing_header");
}

TEST(SlackSignatureEdges, ATimestampIsOneToTwelveDigits) {
    EXPECT_TRUE(verify_slack(slack_request("179470000000"), "secret").accepted);
    for (const std::string timestamp : {"", "1794700000000", "17947000x0", "-1"}) {
        EXPECT_EQ(verify_slack(slack_request(timestamp), "secret").code, "bad_timestamp")
            << timestamp;
    }
}

TEST(SlackSignatureEdges, ASignatureIsStaleBeyondFiveMinutesEitherWay) {
    WebhookRequest request = slack_request(std::to_string(kNow));
    for (const std::int64_t distance : {-301, -300, 300, 301}) {
        request.now_seconds = kNow + distance;
        const bool is_fresh = distance == -300 || distance == 300;
        EXPECT_EQ(verify_slack(request, "secret").accepted, is_fresh) << distance;
    }
}

TEST(DiscordSignatureEdges, ATimestampKeyAndSignatureAreOfTheirAlphabets) {
    const auto key = ed25519_from_seed(std::string(32, 'd'));
    const std::string public_key = to_hex(key->public_key);
    const auto request = [&](const std::string& timestamp) {
        WebhookRequest made;
        made.headers = {
            {"X-Signature-Ed25519", to_hex(ed25519_sign(*key, timestamp))},
            {"X-Signature-Timestamp", timestamp}};
        return made;
    };
    EXPECT_TRUE(verify_discord(request("1794700000"), public_key).accepted);
    EXPECT_EQ(verify_discord(request("179470000x"), public_key).code, "bad_timestamp");
    EXPECT_EQ(verify_discord(request("17947000000"), public_key).code, "bad_timestamp");
    EXPECT_EQ(verify_discord(request("1794700000"), std::string(64, 'x')).code, "bad_key");
    WebhookRequest changed = request("1794700000");
    changed.headers[0].second = std::string(128, 'x');
    EXPECT_EQ(verify_discord(changed, public_key).code, "bad_signature");
}

TEST(TelegramSecretEdges, ABodyIsAnObject) {
    WebhookRequest request;
    request.headers = {{"X-Telegram-Bot-Api-Secret-Token", "secret"}};
    request.body = "[]";
    EXPECT_EQ(verify_telegram(request, "secret").code, "bad_body");
    request.body = "{}";
    EXPECT_TRUE(verify_telegram(request, "secret").accepted);
}

WebhookRequest twilio_signed(const std::string& url, const std::string& fields = {}) {
    WebhookRequest request;
    request.url = url;
    request.headers = {{"X-Twilio-Signature", to_base64(hmac_sha1("token", url + fields))}};
    return request;
}

TEST(TwilioSignatureEdges, ABodyIsSignedByItsFieldsOrItsHash) {
    EXPECT_TRUE(verify_twilio(twilio_signed("https://h.example/x"), "token").accepted);
    EXPECT_EQ(verify_twilio(WebhookRequest{}, "token").code, "missing_header");
    WebhookRequest request = twilio_signed("https://h.example/x", "a1");
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    request.body = "a=1&a=1";
    EXPECT_TRUE(verify_twilio(request, "token").accepted);
    for (const std::string url : {"https://h.example/x", "https://h.example/x?y=1"}) {
        request = twilio_signed(url);
        request.body = "{}";
        EXPECT_EQ(verify_twilio(request, "token").code, "unsigned_body");
    }
    request = twilio_signed("https://h.example/x?y=1&bodySHA256=" + sha256_hex("{}") + "#z");
    request.body = "{}";
    EXPECT_TRUE(verify_twilio(request, "token").accepted);
    request.body = "{ }";
    EXPECT_EQ(verify_twilio(request, "token").code, "bad_body_hash");
}

TEST(TwilioSignatureEdges, ThePortMayStandBehindAnAddressInBrackets) {
    WebhookRequest request = twilio_signed("https://u:p@[::1]/x");
    request.url = "https://u:p@[::1]:8443/x";
    EXPECT_TRUE(verify_twilio(request, "token").accepted);
    request = twilio_signed("http://h.example:80/x");
    request.url = "http://h.example/x";
    EXPECT_TRUE(verify_twilio(request, "token").accepted);
    EXPECT_TRUE(verify_twilio(twilio_signed("no address"), "token").accepted);
}

TEST(FormEdges, EscapesAreTwoHexadecimalDigits) {
    const auto fields = read_form("a=%4z&b=xx%4&c=%@0&d=%`0&e=%:0&f=%00&g=%aF%Fa%09&h=%/0%0/");
    const FormFields expected = {
        {"a", "%4z"},
        {"b", "xx%4"},
        {"c", "%@0"},
        {"d", "%`0"},
        {"e", "%:0"},
        {"f", std::string(1, '\0')},
        {"g", "\xaf\xfa\x09"},
        {"h", "%/0%0/"}};
    EXPECT_EQ(*fields, expected);
}

const WecomSecrets kWecomSecrets{
    .token = "QDG6eK",
    .encoding_aes_key = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2D",
    .receive_id = "ww1"};

TEST(WecomEdges, ATimestampThatIsNoNumberIsStale) {
    const auto code_at = [](const std::string& timestamp, std::int64_t now) {
        WecomCallback callback;
        callback.timestamp = timestamp;
        callback.nonce = "n";
        callback.encrypt = *seal_wecom(kWecomSecrets, std::string(16, 'r'), "x");
        callback.msg_signature = sign_wecom(kWecomSecrets.token, callback);
        callback.now_seconds = now;
        return open_wecom(kWecomSecrets, callback).code;
    };
    EXPECT_EQ(code_at(std::to_string(kNow), kNow - 300), WecomCode::ok);
    EXPECT_EQ(code_at(std::to_string(kNow), kNow - 301), WecomCode::stale);
    for (const std::string timestamp : {"", "x", "5x", "00000000000000000000000005"}) {
        EXPECT_EQ(code_at(timestamp, 5), WecomCode::stale) << timestamp;
    }
}

TEST(WecomEdges, AKeyIsOfItsAlphabetAndASealNeedsSixteenBytes) {
    WecomSecrets other = kWecomSecrets;
    other.encoding_aes_key.back() = '!';
    EXPECT_FALSE(seal_wecom(other, std::string(16, 'r'), "x").has_value());
    EXPECT_FALSE(seal_wecom(kWecomSecrets, std::string(15, 'r'), "x").has_value());
    EXPECT_FALSE(seal_wecom(kWecomSecrets, std::string(17, 'r'), "x").has_value());
}

}  // namespace
}  // namespace interlock
