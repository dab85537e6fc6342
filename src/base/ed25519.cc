// Ed25519 signatures through libsodium, whose verification also refuses the malleable and
// small-order forms that RFC 8032 leaves to the implementation.
#include <sodium/crypto_sign_ed25519.h>

#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/sodium_ready.h"

namespace interlock {
namespace {

const unsigned char* raw(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* raw(std::string& bytes) {
    return reinterpret_cast<unsigned char*>(bytes.data());
}

}  // namespace

Result<Ed25519KeyPair> ed25519_from_seed(std::string_view seed) {
    if (seed.size() != crypto_sign_ed25519_SEEDBYTES) {
        return fail(
            errors::crypto_failed,
            "an Ed25519 seed must have 32 bytes, found " + std::to_string(seed.size()));
    }
    ensure_sodium_ready();
    std::string public_key(crypto_sign_ed25519_PUBLICKEYBYTES, '\0');
    std::string secret_key(crypto_sign_ed25519_SECRETKEYBYTES, '\0');
    CHECK(crypto_sign_ed25519_seed_keypair(raw(public_key), raw(secret_key), raw(seed)) == 0);
    return Ed25519KeyPair{std::move(public_key), SecretString(std::move(secret_key))};
}

std::string ed25519_sign(const Ed25519KeyPair& key, std::string_view message) {
    const std::string_view secret = key.secret_key.reveal();
    CHECK(secret.size() == crypto_sign_ed25519_SECRETKEYBYTES);
    ensure_sodium_ready();
    std::string signature(crypto_sign_ed25519_BYTES, '\0');
    CHECK(
        crypto_sign_ed25519_detached(
            raw(signature), nullptr, raw(message), message.size(), raw(secret)) == 0);
    return signature;
}

bool ed25519_verify(
    std::string_view public_key, std::string_view message, std::string_view signature) {
    if (public_key.size() != crypto_sign_ed25519_PUBLICKEYBYTES ||
        signature.size() != crypto_sign_ed25519_BYTES) {
        return false;
    }
    ensure_sodium_ready();
    return crypto_sign_ed25519_verify_detached(
               raw(signature), raw(message), message.size(), raw(public_key)) == 0;
}

}  // namespace interlock
