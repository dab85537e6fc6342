// All of it through OpenSSL's EVP interface.
#include "base/platform_crypto.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <array>
#include <limits>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kAesKeyBytes = 32;
constexpr std::size_t kAesBlockBytes = 16;
constexpr std::size_t kCipherBytesMax = std::numeric_limits<int>::max() / 2;
constexpr std::size_t kModulusBytesMin = 256;
constexpr std::size_t kModulusBytesMax = 1024;
constexpr std::size_t kExponentBytesMax = 8;

template <auto release>
struct Deleter {
    template <class T>
    void operator()(T* object) const {
        release(object);
    }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Deleter<EVP_CIPHER_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Deleter<EVP_PKEY_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, Deleter<BN_free>>;
using ParamBuild = std::unique_ptr<OSSL_PARAM_BLD, Deleter<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Deleter<OSSL_PARAM_free>>;

const unsigned char* raw(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

Result<std::string> run_cbc(const CbcKey& key, std::string_view blocks, bool encrypt) {
    if (key.key.size() != kAesKeyBytes || key.iv.size() != kAesBlockBytes) {
        return fail(errors::crypto_failed, "AES-256-CBC needs a key of 32 bytes and an iv of 16");
    }
    if (blocks.size() % kAesBlockBytes != 0 || blocks.size() > kCipherBytesMax) {
        return fail(errors::crypto_failed, "the text is not made of whole blocks of 16 bytes");
    }
    const Cipher context(EVP_CIPHER_CTX_new());
    CHECK(context != nullptr);
    CHECK(
        EVP_CipherInit_ex2(
            context.get(),
            EVP_aes_256_cbc(),
            raw(key.key),
            raw(key.iv),
            encrypt ? 1 : 0,
            nullptr) == 1);
    CHECK(EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1);
    std::string out(blocks.size() + kAesBlockBytes, '\0');
    auto* const written = reinterpret_cast<unsigned char*>(out.data());
    int length = 0;
    int rest = 0;
    CHECK(
        EVP_CipherUpdate(
            context.get(), written, &length, raw(blocks), static_cast<int>(blocks.size())) == 1);
    CHECK(EVP_CipherFinal_ex(context.get(), written + length, &rest) == 1);
    out.resize(static_cast<std::size_t>(length + rest));
    return out;
}

Number number_of(std::string_view bytes) {
    return Number(BN_bin2bn(raw(bytes), static_cast<int>(bytes.size()), nullptr));
}

// Null when the numbers are no RSA key.
Key make_key(const RsaPublicKey& from) {
    const Number modulus = number_of(from.modulus);
    const Number exponent = number_of(from.exponent);
    const ParamBuild build(OSSL_PARAM_BLD_new());
    CHECK(modulus != nullptr && exponent != nullptr && build != nullptr);
    CHECK(OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) == 1);
    CHECK(OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) == 1);
    const Params params(OSSL_PARAM_BLD_to_param(build.get()));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
    CHECK(params != nullptr && context != nullptr);
    EVP_PKEY* made = nullptr;
    if (EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) {
        return nullptr;
    }
    return Key(made);
}

}  // namespace

std::string sha1_hex(std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha1(), nullptr) == 1);
    return to_hex({reinterpret_cast<const char*>(digest.data()), length});
}

Result<std::string> aes_256_cbc_decrypt(const CbcKey& key, std::string_view blocks) {
    return run_cbc(key, blocks, false);
}

Result<std::string> aes_256_cbc_encrypt(const CbcKey& key, std::string_view blocks) {
    return run_cbc(key, blocks, true);
}

bool rs256_verify(const RsaPublicKey& key, std::string_view message, std::string_view signature) {
    std::string_view modulus = key.modulus;
    while (modulus.starts_with('\0')) {
        modulus.remove_prefix(1);
    }
    if (modulus.size() < kModulusBytesMin || modulus.size() > kModulusBytesMax ||
        key.exponent.empty() || key.exponent.size() > kExponentBytesMax ||
        signature.size() != modulus.size()) {
        return false;
    }
    const Key public_key = make_key({std::string(modulus), key.exponent});
    const Digest context(EVP_MD_CTX_new());
    CHECK(context != nullptr);
    return public_key != nullptr &&
           EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, public_key.get()) ==
               1 &&
           EVP_DigestVerify(
               context.get(), raw(signature), signature.size(), raw(message), message.size()) == 1;
}

}  // namespace interlock
