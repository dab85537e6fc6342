// Known answers for every primitive, from the documents that define them, and the refusals.
#include "base/crypto.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <thread>

#include "base/bytes.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr PasswordCost kCheap{.passes = 1, .memory_bytes = 8192};

std::string bytes(std::string_view hex) {
    const auto out = from_hex(hex);
    EXPECT_TRUE(out.has_value()) << hex;
    return out.value_or("");
}

TEST(Sha256, AgreesWithTheStandard) {  // FIPS 180-4 examples.
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(
        sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(
        sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(
        sha256_hex(std::string(1'000'000, 'a')),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, AllFormsAreOfTheSameHash) {
    EXPECT_TRUE(rc::check([](const std::string& first, const std::string& second) {
        RC_ASSERT(sha256_hex_of(first, second) == sha256_hex(first + second));
        RC_ASSERT(to_hex(sha256(first)) == sha256_hex(first));
    }));
}

TEST(Sha256, HashesOnSeveralThreadsDoNotDisturbEachOther) {
    const std::string expected = sha256_hex("abc");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&expected] {
            for (int n = 0; n < 500; ++n) {
                ASSERT_EQ(sha256_hex("abc"), expected);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST(HmacSha256, AgreesWithTheStandard) {  // RFC 4231, cases 1, 2, 3 and 6.
    EXPECT_EQ(
        to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(
        to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(
        to_hex(hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    EXPECT_EQ(
        to_hex(hmac_sha256(
            std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacSha256, AnEmptyKeyIsAKey) {
    EXPECT_EQ(hmac_sha256(std::string_view(), "x"), hmac_sha256("", "x"));
    EXPECT_EQ(
        to_hex(hmac_sha256("", "")),
        "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(HmacSha1, AgreesWithTheStandard) {  // RFC 2202, cases 1 and 2.
    EXPECT_EQ(
        to_hex(hmac_sha1(std::string(20, '\x0b'), "Hi There")),
        "b617318655057264e28bc0b6fb378c8ef146be00");
    EXPECT_EQ(
        to_hex(hmac_sha1("Jefe", "what do ya want for nothing?")),
        "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
}

struct SignatureExample {
    std::string_view seed;
    std::string_view public_key;
    std::string_view message;
    std::string_view signature;
};

// RFC 8032, section 7.1, the first three.
constexpr SignatureExample kSignatures[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
     "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9"
     "b46bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
     "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f1"
     "1d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
     "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984d"
     "c6594a7c15e9716ed28dc027beceea1ec40a"},
};

TEST(Ed25519, AgreesWithTheStandard) {
    for (const SignatureExample& example : kSignatures) {
        const auto key = ed25519_from_seed(bytes(example.seed));
        ASSERT_TRUE(key.has_value());
        EXPECT_EQ(to_hex(key->public_key), example.public_key);
        const std::string signature = ed25519_sign(*key, bytes(example.message));
        EXPECT_EQ(to_hex(signature), example.signature);
        EXPECT_TRUE(ed25519_verify(key->public_key, bytes(example.message), signature));
    }
}

TEST(Ed25519, AnyChangedBitIsRefused) {
    const auto key = ed25519_from_seed(std::string(32, 's'));
    ASSERT_TRUE(key.has_value());
    const std::string message = "checkpoint 17";
    const std::string signature = ed25519_sign(*key, message);
    for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
        std::string changed = signature;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        EXPECT_FALSE(ed25519_verify(key->public_key, message, changed)) << bit;
    }
    EXPECT_FALSE(ed25519_verify(key->public_key, "checkpoint 18", signature));
    EXPECT_FALSE(
        ed25519_verify(ed25519_from_seed(std::string(32, 't'))->public_key, message, signature));
}

TEST(Ed25519, WrongSizesAreRefused) {
    EXPECT_FALSE(ed25519_from_seed(std::string(31, 's')).has_value());
    EXPECT_FALSE(ed25519_from_seed(std::string(33, 's')).has_value());
    const auto key = ed25519_from_seed(std::string(32, 's'));
    const std::string signature = ed25519_sign(*key, "m");
    EXPECT_FALSE(ed25519_verify(key->public_key.substr(1), "m", signature));
    EXPECT_FALSE(ed25519_verify(key->public_key, "m", signature.substr(1)));
    EXPECT_FALSE(ed25519_verify("", "", ""));
}

struct SealExample {
    std::string_view key;
    std::string_view nonce;
    std::string_view bound_data;
    std::string_view plaintext;
    std::string_view ciphertext_and_tag;
};

// The GCM specification's cases 13, 14 and 16.
constexpr SealExample kSeals[] = {
    {"0000000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000000",
     "",
     "",
     "530f8afbc74536b9a963b4f1c4cb738b"},
    {"0000000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000000",
     "",
     "00000000000000000000000000000000",
     "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
    {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6"
     "b525b16aedf5aa0de657ba637b39",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b105682"
     "8838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"},
};

TEST(Aes256Gcm, AgreesWithTheSpecification) {
    for (const SealExample& example : kSeals) {
        const std::string key = bytes(example.key);
        const std::string nonce = bytes(example.nonce);
        const std::string bound = bytes(example.bound_data);
        const auto sealed = aes_256_gcm_seal(
            {.key = key, .nonce = nonce, .bound_data = bound}, bytes(example.plaintext));
        ASSERT_TRUE(sealed.has_value());
        EXPECT_EQ(
            to_hex(*sealed), std::string(example.nonce) + std::string(example.ciphertext_and_tag));
        const auto opened = aes_256_gcm_open(key, bound, *sealed);
        ASSERT_TRUE(opened.has_value());
        EXPECT_EQ(to_hex(opened->reveal()), example.plaintext);
    }
}

TEST(Aes256Gcm, AnyChangedBitKeyOrBindingIsRefused) {
    const std::string key(32, 'k');
    const std::string nonce(12, 'n');
    const auto sealed =
        aes_256_gcm_seal({.key = key, .nonce = nonce, .bound_data = "tenant"}, "text");
    ASSERT_TRUE(sealed.has_value());
    for (std::size_t bit = 0; bit < sealed->size() * 8; ++bit) {
        std::string changed = *sealed;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        const auto opened = aes_256_gcm_open(key, "tenant", changed);
        ASSERT_FALSE(opened.has_value()) << bit;
        EXPECT_EQ(opened.error(), errors::crypto_failed);
    }
    EXPECT_FALSE(aes_256_gcm_open(std::string(32, 'l'), "tenant", *sealed).has_value());
    EXPECT_FALSE(aes_256_gcm_open(key, "tenant2", *sealed).has_value());
    EXPECT_FALSE(aes_256_gcm_open(key, "", *sealed).has_value());
}

TEST(Aes256Gcm, WrongSizesAreRefused) {
    const std::string key(32, 'k');
    const std::string nonce(12, 'n');
    EXPECT_FALSE(
        aes_256_gcm_seal({.key = "short", .nonce = nonce, .bound_data = ""}, "").has_value());
    EXPECT_FALSE(
        aes_256_gcm_seal({.key = key, .nonce = "short", .bound_data = ""}, "").has_value());
    EXPECT_FALSE(aes_256_gcm_open("short", "", std::string(40, 'x')).has_value());
    EXPECT_FALSE(aes_256_gcm_open(key, "", std::string(27, 'x')).has_value());
    EXPECT_FALSE(aes_256_gcm_open(key, "", "").has_value());
}

TEST(Passwords, AStoredPasswordVerifiesAndNoOtherDoes) {
    const auto stored = hash_password(SecretString(std::string("correct horse")), kCheap);
    ASSERT_TRUE(stored.has_value());
    EXPECT_TRUE(stored->starts_with("$argon2id$v=19$m=8,t=1,p=1$")) << *stored;
    EXPECT_TRUE(verify_password(SecretString(std::string("correct horse")), *stored));
    EXPECT_FALSE(verify_password(SecretString(std::string("correct horsf")), *stored));
    EXPECT_FALSE(verify_password(SecretString(), *stored));
}

TEST(Passwords, TheSameTextIsStoredDifferentlyEachTime) {
    const SecretString password(std::string("correct horse"));
    EXPECT_NE(hash_password(password, kCheap).value(), hash_password(password, kCheap).value());
}

TEST(Passwords, TheDefaultCostIsTheOneDeclared) {
    const auto stored = hash_password(SecretString(std::string("x")), {});
    ASSERT_TRUE(stored.has_value());
    EXPECT_TRUE(stored->starts_with("$argon2id$v=19$m=65536,t=2,p=1$")) << *stored;
}

TEST(Passwords, LengthAndCostHaveBounds) {
    const SecretString longest(std::string(kPasswordBytesMax, 'p'));
    const SecretString longer(std::string(kPasswordBytesMax + 1, 'p'));
    const auto stored = hash_password(longest, kCheap);
    ASSERT_TRUE(stored.has_value());
    EXPECT_TRUE(verify_password(longest, *stored));
    EXPECT_FALSE(verify_password(longer, *stored));
    EXPECT_EQ(hash_password(longer, kCheap).error(), errors::invalid_request);
    EXPECT_EQ(hash_password(longest, {.passes = 0}).error(), errors::out_of_range);
    EXPECT_EQ(hash_password(longest, {.memory_bytes = 100}).error(), errors::out_of_range);
}

TEST(Passwords, WhatWasNeverStoredVerifiesNothing) {
    const SecretString password(std::string("x"));
    for (const std::string& stored :
         {std::string(), std::string("x"), std::string("$argon2id$v=19$"), std::string(500, '$')}) {
        EXPECT_FALSE(verify_password(password, stored)) << stored;
    }
}

TEST(RandomBytes, HaveTheAskedLengthAndDiffer) {
    EXPECT_EQ(random_bytes(0), "");
    EXPECT_EQ(random_bytes(33).size(), 33u);
    EXPECT_NE(random_bytes(32), random_bytes(32));
}

constexpr std::string_view kTotpKey = "12345678901234567890";

TEST(Totp, AgreesWithTheStandard) {  // RFC 6238, appendix B, SHA-1, the last six digits.
    EXPECT_EQ(totp_code(kTotpKey, 59), "287082");
    EXPECT_EQ(totp_code(kTotpKey, 1111111109), "081804");
    EXPECT_EQ(totp_code(kTotpKey, 1111111111), "050471");
    EXPECT_EQ(totp_code(kTotpKey, 1234567890), "005924");
    EXPECT_EQ(totp_code(kTotpKey, 2000000000), "279037");
    EXPECT_EQ(totp_code(kTotpKey, 20000000000), "353130");
}

TEST(Totp, OneStepOfDriftIsAllowedEitherWayAndNoMore) {
    constexpr std::int64_t kNow = 1111111111;
    constexpr std::int64_t kStep = kNow / 30;
    EXPECT_EQ(totp_verify(kTotpKey, totp_code(kTotpKey, kNow), kNow), kStep);
    EXPECT_EQ(totp_verify(kTotpKey, totp_code(kTotpKey, kNow - 30), kNow), kStep - 1);
    EXPECT_EQ(totp_verify(kTotpKey, totp_code(kTotpKey, kNow + 30), kNow), kStep + 1);
    for (const std::int64_t drift : {-60, 60}) {
        const auto step = totp_verify(kTotpKey, totp_code(kTotpKey, kNow + drift), kNow);
        ASSERT_FALSE(step.has_value());
        EXPECT_EQ(step.error(), errors::unauthenticated);
    }
}

TEST(Totp, OtherTextsAreRefused) {
    for (const char* code : {"", "28708", "2870820", "287083", "28708a", " 287082"}) {
        EXPECT_FALSE(totp_verify(kTotpKey, code, 59).has_value()) << code;
    }
    EXPECT_EQ(totp_verify(kTotpKey, totp_code(kTotpKey, 0), 0), 0);
}

}  // namespace
}  // namespace interlock
