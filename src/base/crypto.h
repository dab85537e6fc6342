// The cryptography we use, all of it through OpenSSL and libsodium; nothing here is invented.
//
// Byte strings are std::string holding raw bytes. Functions that cannot fail on valid sizes return
// plain values; a library failure there is a bug and CHECKs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_string.h"

namespace interlock {

std::string sha256(std::string_view bytes);      // 32 raw bytes.
std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits.
std::string sha256_hex_of(
    std::string_view first, std::string_view second);  // Of the concatenation.
std::string hmac_sha256(std::string_view key, std::string_view bytes);
std::string hmac_sha1(std::string_view key, std::string_view bytes);  // TOTP (RFC 6238), Twilio.

struct Ed25519KeyPair {
    std::string public_key;   // 32 bytes.
    SecretString secret_key;  // 64 bytes (seed and public key), libsodium's form.
};

// From a 32-byte seed, so that randomness stays the caller's input.
Result<Ed25519KeyPair> ed25519_from_seed(std::string_view seed);
std::string ed25519_sign(const Ed25519KeyPair& key, std::string_view message);  // 64 bytes.
bool ed25519_verify(
    std::string_view public_key, std::string_view message, std::string_view signature);

// Returns nonce(12) || ciphertext || tag(16). `nonce` must be unique per key.
struct AeadInput {
    std::string_view key;         // 32 bytes.
    std::string_view nonce;       // 12 bytes.
    std::string_view bound_data;  // Authenticated, not encrypted: what the secret belongs to.
};
Result<std::string> aes_256_gcm_seal(const AeadInput& input, std::string_view plaintext);
Result<SecretString> aes_256_gcm_open(
    std::string_view key, std::string_view bound_data, std::string_view sealed);

struct PasswordCost {
    std::uint64_t passes = 2;
    std::uint64_t memory_bytes = 64ull * 1024 * 1024;
};

// Longer passwords are refused: hashing time grows with them.
inline constexpr std::size_t kPasswordBytesMax = 1024;

// Argon2id in libsodium's own text form ("$argon2id$v=19$m=..."). Slow and memory-hungry by design:
// call it on a worker, never on the engine or a network thread. The salt is drawn by libsodium.
Result<std::string> hash_password(const SecretString& password, PasswordCost cost);
bool verify_password(const SecretString& password, const std::string& stored);

// Random bytes from the operating system. Only engine/system may call this outside tests (tidy.py
// checks).
std::string random_bytes(std::size_t count);

// One-time codes: RFC 6238 with SHA-1, 6 digits, 30 seconds.
std::string totp_code(std::string_view key, std::int64_t unix_seconds);
// The step that matched (for replay protection: a step is used once), or `unauthenticated`; allows
// one step of clock drift either way.
Result<std::int64_t> totp_verify(
    std::string_view key, std::string_view code, std::int64_t unix_seconds);

}  // namespace interlock
