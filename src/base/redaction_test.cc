// Tests of the judge of secrets: every shape of the corpus and its near misses, what a mask may
// change, and what a document keeps.
#include "base/redaction.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "base/check.h"
#include "base/log.h"

namespace interlock {
namespace {

// Draws the characters that a text of the corpus leaves open.
class Filler {
public:
    explicit Filler(std::uint32_t seed) : state_(seed) {}

    std::string fill(const std::string& text) {
        std::string out;
        std::size_t at = 0;
        while (at < text.size()) {
            const std::size_t open = text.find('{', at);
            const std::size_t colon = text.find(':', open);
            const std::size_t close = text.find('}', open);
            const bool is_blank = open != std::string::npos && colon < close &&
                                  alphabets().contains(text.substr(open + 1, colon - open - 1));
            const std::size_t plain_to = open == std::string::npos ? text.size()
                                         : is_blank                ? open
                                                                   : open + 1;
            out += text.substr(at, plain_to - at);
            at = plain_to;
            if (is_blank) {
                drawn.push_back(draw(
                    alphabets().at(text.substr(open + 1, colon - open - 1)),
                    std::stoul(text.substr(colon + 1, close - colon - 1))));
                out += drawn.back();
                at = close + 1;
            }
        }
        return out;
    }

    std::vector<std::string> drawn;

private:
    static const std::map<std::string, std::string>& alphabets() {
        static const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        static const std::string lower = "abcdefghijklmnopqrstuvwxyz";
        static const std::string digits = "0123456789";
        static const std::map<std::string, std::string> known = {
            {"b62", upper + lower + digits},
            {"b64", upper + lower + digits + "+/"},
            {"b32", lower + "234567"},
            {"b58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"},
            {"hex", digits + "abcdef"},
            {"upper", upper},
            {"digit", digits},
            {"word", lower},
        };
        return known;
    }

    std::string draw(const std::string& alphabet, std::size_t count) {
        std::string out;
        for (std::size_t i = 0; i < count; ++i) {
            state_ = (state_ * 1'103'515'245U + 12'345U) & 0x7fffffffU;
            out += alphabet[(state_ >> 16U) % alphabet.size()];
        }
        return out;
    }

    std::uint32_t state_;
};

const Json& corpus() {
    static const Json read = [] {
        std::ifstream file(std::string(INTERLOCK_SOURCE_DIR) + "/conformance/secrets/shapes.json");
        std::stringstream text;
        text << file.rdbuf();
        auto json = parse_json(text.str());
        CHECK(json.has_value());
        return *json->find("shapes");
    }();
    return read;
}

class SecretShape : public testing::TestWithParam<std::string> {
protected:
    const Json& shape() const {
        for (const Json& one : corpus().items()) {
            if (one.find("kind")->as_string() == GetParam()) {
                return one;
            }
        }
        CHECK(false);
        return corpus();
    }
};

// The rule must hold for many keys of a shape, not for one that was found to fit.
constexpr std::uint32_t kDraws = 200;

TEST_P(SecretShape, IsMaskedWhereverItStands) {
    const bool known = shape().find("known")->as_bool();
    int missed = 0;
    int asked = 0;
    for (const Json& text : shape().find("secret")->items()) {
        for (std::uint32_t seed = 1; seed <= kDraws; ++seed) {
            Filler filler(seed * 7919);
            const std::string secret = filler.fill(text.as_string());
            const std::string said = "please use " + secret + " for it";
            const auto shown = masked(said, SecretDepth::full);
            ++asked;
            if (!shown) {
                EXPECT_FALSE(known) << secret;
                ++missed;
                continue;
            }
            EXPECT_NE(shown->find("[masked:"), std::string::npos) << *shown;
            if (known) {
                // What is known by its shape has its own name in the mask and is found in ids.
                EXPECT_NE(shown->find("[masked:" + GetParam() + "]"), std::string::npos) << said;
                EXPECT_EQ(known_secret(secret), GetParam()) << secret;
            }
            for (const std::string& part : filler.drawn) {
                if (part.size() >= 12) {
                    EXPECT_EQ(shown->find(part), std::string::npos) << *shown;
                }
            }
            EXPECT_FALSE(masked(*shown, SecretDepth::full)) << "masked again: " << *shown;
        }
    }
    // What is random by chance alone is found nearly always; the rest by its shape or name, always.
    const int allowed = GetParam() == "token" ? asked / 20 : GetParam() == "bearer" ? 2 : 0;
    EXPECT_LE(missed, allowed) << "of " << asked;
}

TEST_P(SecretShape, LeavesItsNearMissesAlone) {
    for (const Json& text : shape().find("like")->items()) {
        for (std::uint32_t seed = 1; seed <= kDraws; ++seed) {
            const std::string like = Filler(seed * 104'729).fill(text.as_string());
            const std::string said = "please use " + like + " for it";
            EXPECT_EQ(masked(said, SecretDepth::full), std::nullopt) << said;
            EXPECT_EQ(known_secret(like), std::nullopt) << like;
        }
    }
}

std::vector<std::string> kinds() {
    std::vector<std::string> names;
    for (const Json& one : corpus().items()) {
        names.push_back(one.find("kind")->as_string());
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Corpus, SecretShape, testing::ValuesIn(kinds()), [](const auto& kind) {
    return kind.param;
});

TEST(Redaction, MaskingIsDoneAfterOnce) {
    EXPECT_TRUE(rc::check([](const std::string& before, const std::string& after) {
        const std::string secret = Filler(5).fill("ghp_{b62:36}");
        const std::string once = redact(before + " " + secret + " " + after);
        RC_ASSERT(once.find(secret.substr(4)) == std::string::npos);
        RC_ASSERT(redact(once) == once);
    }));
}

TEST(Redaction, OrdinaryWordsOfTradersAreLeftAlone) {
    for (const char* text :
         {"",
          "Inventory is 62 % long, so the ask moves one tick down.",
          "spread 12.5 bps > floor 8 bps; funding 0.0100%; risk_mode=degraded",
          "rollback of sw_20261116 because orders_not_confirmed after 10 s",
          "unexpected_order:hbbj2cxd25g66eo5ppc4zk4vt26q2dtu",
          "unknown_order: No order htpj6mvi7do4h4obhgzjzbd7hxa7baon is open here.",
          "BTCUSDT 0.0042 @ 64,251.30 (post-only), client id il-4b1c9d2e-7",
          "see https://example.org/runbook/kill-switch#release and ask Anna",
          "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
          "confidence: 0.71, horizon: 4h, model: planner-v12-2026-11",
          "le mot de passe est faux; das Kennwort stimmt nicht",
          "my password is not in here, and the passphrase is stored elsewhere",
          "the private key ed25519 was made, its password argon2id-hashed",
          "api key rotation-2026 is due; access key v2 is not",
          "the secret is patience, the secret sauce is BTCUSDT on 4h candles",
          "api key 123e4567-e89b-12d3-a456-426614174000 is the one to revoke",
          "access key key_abcdefghijklmnopqrstuvwxyz is revoked",
          "otp 1234 and pin 100000 to the book; mfa: enabled; login code 12",
          "the password is required, is 12 characters and is sha256:hashed",
          "btc eth sol xrp ada dot link uni aave comp snx crv mkr yfi",
          "sell when the price and the trend agree, else wait for a better spread",
          "Ｂｕｙ　ＢＴＣ，　ｔｈｅｎ　ｗａｉｔ"}) {
        EXPECT_EQ(masked(text, SecretDepth::full), std::nullopt) << text;
    }
}

// What is masked is the text as it was written, from the first to the last of its characters.
TEST(Redaction, MasksWhatIsWrittenInLookAlikesWhereItStands) {
    EXPECT_EQ(
        redact("é pass\u200bword: hun\u200bter2xyz, é"), "é pass\u200bword: [masked:secret], é");
    EXPECT_EQ(
        redact("ｐａｓｓｗｏｒｄ： ｈｕｎｔｅｒ２ ok"), "ｐａｓｓｗｏｒｄ： [masked:secret] ok");
    const std::string key = Filler(4).fill("ghp_{b62:36}");
    EXPECT_EQ(known_secret(key.substr(0, 10) + "\u2060" + key.substr(10)), "github_token");
    EXPECT_EQ(redact("\xff\xc3 \xe2\x80"), "\xff\xc3 \xe2\x80") << "no UTF-8";
}

// A phrase is looked for once, however many other secrets stand before it.
TEST(Redaction, MasksEachOfManySecretsAndThePhraseBehindThem) {
    std::string text;
    std::string shown;
    for (int i = 0; i < 2'000; ++i) {
        text += "otp 483920 ";
        shown += "otp [masked:secret] ";
    }
    EXPECT_EQ(
        redact(
            text + "legal winner thank year wave sausage worth useful legal winner thank yellow"),
        shown + "[masked:seed_phrase]");
}

TEST(Redaction, ADocumentKeepsItsIdsAndItsCodes) {
    const std::string random = Filler(9).fill("{b62:40}");
    Json document = Json::object(
        {{"tick_id", random},
         {"code", "rate_limited"},
         {"note", random},
         {"nested", Json::object({{"password", "hunter2"}, {"code", "123456"}, {"tokens", true}})},
         {"rpc", Json::object({{"code", -32602}})}});
    EXPECT_TRUE(mask_secrets(document, SecretDepth::full));
    EXPECT_EQ(
        to_text(document),
        R"({"tick_id":")" + random +
            R"(","code":"rate_limited","note":"[masked:token]","nested":{"password":)"
            R"("[masked:secret]","code":"[masked:secret]","tokens":true},"rpc":{"code":-32602}})");
    EXPECT_FALSE(mask_secrets(document, SecretDepth::full)) << "the second time changed something";
}

TEST(Redaction, KnownShapesAloneLeaveEverythingElse) {
    Json document = Json::object({{"note", "password: hunter2xyz"}, {"password", "hunter2"}});
    EXPECT_FALSE(mask_secrets(document, SecretDepth::known_shapes));
    document.set("error", "got " + Filler(3).fill("ghp_{b62:36}"));
    EXPECT_TRUE(mask_secrets(document, SecretDepth::known_shapes));
    EXPECT_EQ(document.find("error")->as_string(), "got [masked:github_token]");
}

TEST(Redaction, KnowsTheNamesOfIdentifiers) {
    for (const char* name :
         {"id",
          "tick_id",
          "order_client_ids",
          "gatewayId",
          "idempotency_key",
          "subject_hash",
          "wake_url",
          "email",
          "market_symbol"}) {
        EXPECT_TRUE(is_identifier_name(name)) << name;
    }
    for (const char* name : {"", "reason", "paid", "void", "grid", "key", "note", "curl"}) {
        EXPECT_FALSE(is_identifier_name(name)) << name;
    }
}

}  // namespace
}  // namespace interlock
