// Argon2id through libsodium. The cost stands inside the stored text, so raising it later keeps old
// passwords valid.
#include <sodium/crypto_pwhash.h>

#include "base/crypto.h"
#include "base/errors.h"
#include "base/sodium_ready.h"

namespace interlock {

Result<std::string> hash_password(const SecretString& password, PasswordCost cost) {
    const std::string_view text = password.reveal();
    if (text.size() > kPasswordBytesMax) {
        return fail(
            errors::invalid_request,
            "a password may have at most " + std::to_string(kPasswordBytesMax) + " bytes");
    }
    if (cost.passes < crypto_pwhash_OPSLIMIT_MIN || cost.passes > crypto_pwhash_OPSLIMIT_MAX ||
        cost.memory_bytes < crypto_pwhash_MEMLIMIT_MIN ||
        cost.memory_bytes > crypto_pwhash_MEMLIMIT_MAX) {
        return fail(errors::out_of_range, "the password cost lies outside what Argon2id allows");
    }
    ensure_sodium_ready();
    std::string stored(crypto_pwhash_STRBYTES, '\0');
    const int status = crypto_pwhash_str_alg(
        stored.data(),
        text.data(),
        text.size(),
        cost.passes,
        cost.memory_bytes,
        crypto_pwhash_ALG_ARGON2ID13);
    if (status != 0) {
        return fail(errors::unavailable, "there is not enough memory to hash a password");
    }
    stored.resize(stored.find('\0'));
    return stored;
}

bool verify_password(const SecretString& password, const std::string& stored) {
    const std::string_view text = password.reveal();
    if (text.size() > kPasswordBytesMax || stored.size() >= crypto_pwhash_STRBYTES ||
        stored.find('\0') != std::string::npos) {
        return false;
    }
    ensure_sodium_ready();
    return crypto_pwhash_str_verify(stored.c_str(), text.data(), text.size()) == 0;
}

}  // namespace interlock
