#include "base/platform_crypto.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace interlock {
namespace {

// A throw-away key made for this test; its private half is gone.
constexpr std::string_view kModulus =
    "sPmK_ItuYgFDzmNgcJThzOaYANSC1-PPdBv4cwZsJaKzdLPaK5LtTfXiZX26prq2rlyQcOw-ySmMMfkwtpFu1gUE"
    "rVAvP-3GpBjTLSMY6MijgdjVSzRHy-Jo0TJ6DJn32rzXfwMxuOf90yom6Q2vAjJuC-B-sIgloJY_D4PQLV7Zhb8B"
    "m2CXQZenfHhKM0a8htWkCqPMIZ3NtCzwRQztCf5zhGO3A7i16MZjCi15e41urYG10QEXi_wkFRBiy6yq1JJEPptn"
    "iJOqJ1f4CVSGyklUdSDM2ENfkE_ZZaXXErsJAxnd_rgH8YU826BqQNaVXuQRGAd-kEIi6sTX5kZRUw";
constexpr std::string_view kSignature =
    "DrRc6mEHEem0rtmOiZAAcUTOA-00WQ8jqYo9ZvGojBoiGVXpoGXGkChf0nGcWsXVr5AQZLumfSk5wTx4ztZYl7Rx"
    "PJCIbgYAKzBm0NA8W0j5VZAUX6PdI6yMzWqTmuYp6ahMoVC3clrEKuSCiU9o-i9UM8r8xWy9Kbkp-nswzqSaagVZ"
    "3qAScPWQ7Qce1RiJpytM4zZXCS5vTaPtVJI99tcx6BxU9dt-cNXJcckB7DcEBPv94ib-Ugz757AtLPyqqRvdO4PA"
    "ahR0sR2jRGD1HgmauT7qSsg20fFB2qCm6huRFHHxtocUGlzV3SB8FiBwfn8ouR8VfCIJxJs4zzc3uw";
constexpr std::string_view kMessage = "header.payload";

RsaPublicKey test_key() {
    return {*from_base64url(kModulus), *from_base64url("AQAB")};
}

TEST(PlatformCrypto, GivesTheSha1OfFips180) {
    EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

// NIST SP 800-38A, F.2.5, first block.
TEST(PlatformCrypto, EncryptsCbcAsNistDoes) {
    const std::string key =
        *from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
    const std::string iv = *from_hex("000102030405060708090a0b0c0d0e0f");
    const std::string plain = *from_hex("6bc1bee22e409f96e93d7e117393172a");
    const auto sealed = aes_256_cbc_encrypt({key, iv}, plain);
    ASSERT_TRUE(sealed.has_value());
    EXPECT_EQ(to_hex(*sealed), "f58c4c04d6e5f1ba779eabfb5f7bfbd6");
    EXPECT_EQ(aes_256_cbc_decrypt({key, iv}, *sealed).value(), plain);
}

TEST(PlatformCrypto, RefusesPartialBlocksAndOtherKeySizes) {
    const std::string key(32, 'k');
    const std::string iv(16, 'i');
    EXPECT_FALSE(aes_256_cbc_decrypt({key, iv}, "short").has_value());
    EXPECT_FALSE(aes_256_cbc_decrypt({"small", iv}, std::string(16, 'x')).has_value());
    EXPECT_FALSE(aes_256_cbc_decrypt({key, "small"}, std::string(16, 'x')).has_value());
    EXPECT_EQ(aes_256_cbc_decrypt({key, iv}, "").value(), "");
}

TEST(PlatformCrypto, VerifiesAnRsaSignature) {
    EXPECT_TRUE(rs256_verify(test_key(), kMessage, *from_base64url(kSignature)));
}

TEST(PlatformCrypto, RefusesAnRsaSignatureOverOtherBytes) {
    EXPECT_FALSE(rs256_verify(test_key(), "header.payloae", *from_base64url(kSignature)));
    std::string changed = *from_base64url(kSignature);
    changed[0] = static_cast<char>(changed[0] ^ 1);
    EXPECT_FALSE(rs256_verify(test_key(), kMessage, changed));
    EXPECT_FALSE(rs256_verify(test_key(), kMessage, changed.substr(1)));
    EXPECT_FALSE(rs256_verify(test_key(), kMessage, ""));
}

TEST(PlatformCrypto, RefusesRsaKeysThatAreSmallOrNotThere) {
    RsaPublicKey small = test_key();
    small.modulus.resize(128);
    EXPECT_FALSE(rs256_verify(small, kMessage, std::string(128, 'x')));
    EXPECT_FALSE(rs256_verify({}, kMessage, *from_base64url(kSignature)));
    EXPECT_FALSE(rs256_verify(
        {std::string(256, '\xff'), std::string(8, '\0')}, kMessage, std::string(256, 'x')));
}

}  // namespace
}  // namespace interlock
