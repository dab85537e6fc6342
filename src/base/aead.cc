// AES-256-GCM through OpenSSL. An opened text that fails its tag is never returned, and nothing
// tells apart a wrong key, other bound data and changed bytes.
#include <openssl/evp.h>

#include <limits>
#include <memory>

#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
// OpenSSL counts in int; nothing we seal comes near.
constexpr std::size_t kTextBytesMax = std::numeric_limits<int>::max() / 2;

struct ContextDeleter {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, ContextDeleter>;

const unsigned char* raw(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Encrypts or decrypts `text` into `out` (the same number of bytes), after the bound data.
bool run(EVP_CIPHER_CTX* context, std::string_view bound_data, std::string_view text, char* out) {
    int length = 0;
    if (!bound_data.empty() &&
        EVP_CipherUpdate(
            context, nullptr, &length, raw(bound_data), static_cast<int>(bound_data.size())) != 1) {
        return false;
    }
    return text.empty() || EVP_CipherUpdate(
                               context,
                               reinterpret_cast<unsigned char*>(out),
                               &length,
                               raw(text),
                               static_cast<int>(text.size())) == 1;
}

bool finish(EVP_CIPHER_CTX* context) {
    unsigned char none[kTagBytes];
    int length = 0;
    return EVP_CipherFinal_ex(context, none, &length) == 1;
}

}  // namespace

Result<std::string> aes_256_gcm_seal(const AeadInput& input, std::string_view plaintext) {
    if (input.key.size() != kKeyBytes || input.nonce.size() != kNonceBytes) {
        return fail(errors::crypto_failed, "sealing needs a key of 32 bytes and a nonce of 12");
    }
    if (plaintext.size() > kTextBytesMax || input.bound_data.size() > kTextBytesMax) {
        return fail(errors::crypto_failed, "the text is too long to seal");
    }
    const Context context(EVP_CIPHER_CTX_new());
    CHECK(context != nullptr);
    std::string sealed(kNonceBytes + plaintext.size() + kTagBytes, '\0');
    input.nonce.copy(sealed.data(), kNonceBytes);
    char* const ciphertext = sealed.data() + kNonceBytes;
    CHECK(
        EVP_CipherInit_ex(
            context.get(), EVP_aes_256_gcm(), nullptr, raw(input.key), raw(input.nonce), 1) == 1);
    CHECK(run(context.get(), input.bound_data, plaintext, ciphertext));
    CHECK(finish(context.get()));
    CHECK(
        EVP_CIPHER_CTX_ctrl(
            context.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, ciphertext + plaintext.size()) == 1);
    return sealed;
}

Result<SecretString> aes_256_gcm_open(
    std::string_view key, std::string_view bound_data, std::string_view sealed) {
    if (key.size() != kKeyBytes || sealed.size() < kNonceBytes + kTagBytes ||
        sealed.size() > kTextBytesMax || bound_data.size() > kTextBytesMax) {
        return fail(errors::crypto_failed, "a sealed text or its key has an impossible length");
    }
    const std::string_view nonce = sealed.substr(0, kNonceBytes);
    const std::string_view ciphertext =
        sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
    std::string tag(sealed.substr(sealed.size() - kTagBytes));
    std::string plaintext(ciphertext.size(), '\0');
    const Context context(EVP_CIPHER_CTX_new());
    CHECK(context != nullptr);
    CHECK(
        EVP_CipherInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, raw(key), raw(nonce), 0) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1);
    if (!run(context.get(), bound_data, ciphertext, plaintext.data()) || !finish(context.get())) {
        wipe(plaintext);
        return fail(errors::crypto_failed, "a sealed text does not open with this key");
    }
    return SecretString(std::move(plaintext));
}

}  // namespace interlock
