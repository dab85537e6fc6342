// SHA-256 and the HMACs, through OpenSSL.
//
// Every ledger entry and every stored credential is hashed, so the algorithm is looked up once per
// process and the working context is kept per thread: looking both up per call costs more than
// hashing a short text.
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crypto.h"

namespace interlock {
namespace {

constexpr std::size_t kSha256Bytes = 32;
using Sha256Digest = std::array<char, kSha256Bytes>;

struct ContextDeleter {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

const EVP_MD* sha256_algorithm() {
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    CHECK(algorithm != nullptr);
    return algorithm;
}

Sha256Digest digest_of(std::string_view first, std::string_view second) {
    thread_local const std::unique_ptr<EVP_MD_CTX, ContextDeleter> context(EVP_MD_CTX_new());
    CHECK(context != nullptr);
    Sha256Digest digest{};
    unsigned length = 0;
    CHECK(EVP_DigestInit_ex2(context.get(), sha256_algorithm(), nullptr) == 1);
    CHECK(EVP_DigestUpdate(context.get(), first.data(), first.size()) == 1);
    CHECK(EVP_DigestUpdate(context.get(), second.data(), second.size()) == 1);
    CHECK(
        EVP_DigestFinal_ex(
            context.get(), reinterpret_cast<unsigned char*>(digest.data()), &length) == 1);
    CHECK(length == digest.size());
    return digest;
}

std::string_view view(const Sha256Digest& digest) {
    return {digest.data(), digest.size()};
}

std::string hmac(const EVP_MD* algorithm, std::string_view key, std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
    unsigned length = 0;
    const unsigned char* const made = HMAC(
        algorithm,
        key.data() == nullptr ? "" : key.data(),  // A null key would mean "the previous one".
        static_cast<int>(key.size()),
        reinterpret_cast<const unsigned char*>(bytes.data()),
        bytes.size(),
        code.data(),
        &length);
    CHECK(made != nullptr);
    return std::string(reinterpret_cast<const char*>(code.data()), length);
}

}  // namespace

std::string sha256(std::string_view bytes) {
    return std::string(view(digest_of(bytes, {})));
}

std::string sha256_hex(std::string_view bytes) {
    return to_hex(view(digest_of(bytes, {})));
}

std::string sha256_hex_of(std::string_view first, std::string_view second) {
    return to_hex(view(digest_of(first, second)));
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
    return hmac(EVP_sha256(), key, bytes);
}

std::string hmac_sha1(std::string_view key, std::string_view bytes) {
    return hmac(EVP_sha1(), key, bytes);
}

}  // namespace interlock
