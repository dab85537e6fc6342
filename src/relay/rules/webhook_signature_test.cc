#include "relay/rules/webhook_signature.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "base/crypto.h"
#include "relay/rules/flat_xml.h"
#include "relay/rules/wecom_crypt.h"

namespace interlock {
namespace {

constexpr std::int64_t kNow = 1794700000;

struct SignedByDiscord {
    std::string public_key_hex;
    WebhookRequest request;
};

SignedByDiscord discord_request(const std::string& body) {
    const auto key = ed25519_from_seed(std::string(32, 'd'));
    SignedByDiscord made{.public_key_hex = to_hex(key->public_key), .request = {}};
    const std::string timestamp = std::to_string(kNow);
    made.request.body = body;
    made.request.headers = {
        {"X-Signature-Ed25519", to_hex(ed25519_sign(*key, timestamp + body))},
        {"X-Signature-Timestamp", timestamp}};
    return made;
}

TEST(DiscordSignature, IsGoodOverAnyBytes) {
    EXPECT_TRUE(rc::check([](const std::string& body) {
        const SignedByDiscord made = discord_request(body);
        RC_ASSERT(verify_discord(made.request, made.public_key_hex).accepted);
        SignedByDiscord changed = made;
        changed.request.body += ' ';
        RC_ASSERT(!verify_discord(changed.request, made.public_key_hex).accepted);
    }));
}

TEST(DiscordSignature, IsStaleBeyondFiveMinutesEitherWay) {
    SignedByDiscord made = discord_request("{}");
    for (const std::int64_t distance : {-300, 0, 300}) {
        made.request.now_seconds = kNow + distance;
        EXPECT_TRUE(verify_discord(made.request, made.public_key_hex).accepted) << distance;
    }
    for (const std::int64_t distance : {-301, 301}) {
        made.request.now_seconds = kNow + distance;
        EXPECT_EQ(verify_discord(made.request, made.public_key_hex).code, "stale") << distance;
    }
}

TEST(DiscordSignature, IsRefusedWhenAHeaderIsThereTwice) {
    SignedByDiscord made = discord_request("{}");
    made.request.headers.push_back(made.request.headers.front());
    EXPECT_EQ(verify_discord(made.request, made.public_key_hex).code, "missing_header");
}

TEST(DiscordSignature, IsRefusedWithoutAUsableKey) {
    const SignedByDiscord made = discord_request("{}");
    for (const std::string key : {"", "zz", "00"}) {
        EXPECT_EQ(verify_discord(made.request, key).code, "bad_key");
    }
    EXPECT_EQ(verify_discord(made.request, std::string(64, '0')).code, "bad_signature");
}

TEST(TelegramSecret, MustBeConfiguredAndOfItsAlphabet) {
    WebhookRequest request;
    request.body = "{}";
    request.headers = {{"X-Telegram-Bot-Api-Secret-Token", ""}};
    EXPECT_EQ(verify_telegram(request, "").code, "no_secret");
    request.headers.front().second = "a b";
    EXPECT_EQ(verify_telegram(request, "a b").code, "no_secret");
    request.headers.front().second = std::string(257, 'a');
    EXPECT_EQ(verify_telegram(request, std::string(257, 'a')).code, "no_secret");
    request.headers.front().second = std::string(256, 'a');
    EXPECT_TRUE(verify_telegram(request, std::string(256, 'a')).accepted);
}

WebhookRequest twilio_request(const std::string& url, const std::string& body) {
    WebhookRequest request;
    request.url = url;
    request.body = body;
    request.headers = {
        {"Content-Type", "application/x-www-form-urlencoded"},
        {"X-Twilio-Signature", to_base64(hmac_sha1("token", url + "a1a2b"))}};
    return request;
}

TEST(TwilioSignature, CountsEachValueOnceInByteOrder) {
    const auto request = twilio_request("https://h.example/x", "a=2&b=&a=1&a=2");
    EXPECT_TRUE(verify_twilio(request, "token").accepted);
    EXPECT_EQ(verify_twilio(request, "other").code, "bad_signature");
    EXPECT_EQ(verify_twilio(request, "").code, "no_secret");
}

TEST(TwilioSignature, IsGoodWithAndWithoutThePort) {
    auto request = twilio_request("https://h.example:443/x", "a=2&b=&a=1");
    request.url = "https://h.example/x";
    EXPECT_TRUE(verify_twilio(request, "token").accepted);
    request = twilio_request("https://h.example/x", "a=2&b=&a=1");
    request.url = "https://h.example:8443/x";
    EXPECT_TRUE(verify_twilio(request, "token").accepted);
}

TEST(TwilioSignature, RefusesMoreFieldsThanItsBound) {
    std::string body = "a=1";
    for (std::size_t i = 0; i < kFormFieldsMax; ++i) {
        body += "&a=1";
    }
    EXPECT_EQ(verify_twilio(twilio_request("https://h.example/x", body), "token").code, "bad_body");
}

TEST(Form, KeepsMalformedEscapesAsTheyAre) {
    const auto fields = read_form("a=%zz&b=%4&c=%41+%2b&&d");
    const FormFields expected = {{"a", "%zz"}, {"b", "%4"}, {"c", "A +"}, {"d", ""}};
    EXPECT_EQ(*fields, expected);
}

const WecomSecrets kWecom{
    .token = "QDG6eK",
    .encoding_aes_key = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2D",  // Ends in spare bits.
    .receive_id = "ww1"};

WecomCallback wecom_callback(const std::string& text) {
    WecomCallback callback;
    callback.timestamp = std::to_string(kNow);
    callback.nonce = "n";
    callback.encrypt = *seal_wecom(kWecom, std::string(16, 'r'), text);
    callback.msg_signature = sign_wecom(kWecom.token, callback);
    return callback;
}

TEST(Wecom, OpensWhatItSealed) {
    EXPECT_TRUE(rc::check([](const std::string& text) {
        const WecomMessage message = open_wecom(kWecom, wecom_callback(text));
        RC_ASSERT((message.code == WecomCode::ok));
        RC_ASSERT(message.text == text);
    }));
}

TEST(Wecom, IsStaleBeyondFiveMinutes) {
    WecomCallback callback = wecom_callback("x");
    callback.now_seconds = kNow + 300;
    EXPECT_EQ(open_wecom(kWecom, callback).code, WecomCode::ok);
    callback.now_seconds = kNow + 301;
    EXPECT_EQ(open_wecom(kWecom, callback).code, WecomCode::stale);
}

TEST(Wecom, RefusesEverythingWithoutAToken) {
    WecomSecrets open = kWecom;
    open.token.clear();
    WecomCallback callback = wecom_callback("x");
    callback.msg_signature = sign_wecom("", callback);
    EXPECT_EQ(open_wecom(open, callback).code, WecomCode::bad_signature);
}

TEST(Wecom, NeverFailsOnAnyCiphertext) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        WecomCallback callback = wecom_callback("x");
        callback.encrypt = to_base64(bytes);
        callback.msg_signature = sign_wecom(kWecom.token, callback);
        (void)open_wecom(kWecom, callback);
        (void)wecom_encrypted(bytes);
    }));
}

TEST(FlatXml, ReadsTextAndCdataOfTheChildren) {
    const auto fields = read_flat_xml(
        "<?xml version=\"1.0\"?>\n<xml><A><![CDATA[x<y&]]></A> <B>1 &lt; 2 &amp; 3</B><C/>"
        "<D><E>deep</E></D></xml>\n");
    ASSERT_TRUE(fields.has_value());
    const std::map<std::string, std::string> expected = {
        {"A", "x<y&"}, {"B", "1 < 2 & 3"}, {"C", ""}, {"D", ""}};
    EXPECT_EQ(*fields, expected);
}

TEST(FlatXml, RefusesDocumentTypesEntitiesAndDoubles) {
    for (const std::string_view text :
         {"",
          "<xml>",
          "<xml></lmx>",
          "<xml><A>1</A><A>2</A></xml>",
          "<xml><A>&evil;</A></xml>",
          "<!DOCTYPE xml [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><xml><A>&e;</A></xml>",
          "<xml><A b=\"c\">1</A></xml>",
          "<xml><A><![CDATA[x</A></xml>",
          "<xml/>tail"}) {
        EXPECT_FALSE(read_flat_xml(text).has_value()) << text;
    }
}

TEST(FlatXml, RefusesMoreElementsAndDeeperNestingThanItsBounds) {
    std::string many = "<xml>";
    for (std::size_t i = 0; i < kXmlElementsMax; ++i) {
        many += "<a" + std::to_string(i) + "/>";
    }
    EXPECT_FALSE(read_flat_xml(many + "</xml>").has_value());
    std::string deep;
    for (std::size_t i = 0; i < 100'000; ++i) {
        deep += "<a>";
    }
    EXPECT_FALSE(read_flat_xml(deep).has_value());
}

}  // namespace
}  // namespace interlock
