// Cryptography that chat platforms and token issuers chose and we have to speak: SHA-1, AES-256-CBC
// without an authenticator, RSA signatures. Nothing of our own is built on it; base/crypto.h is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

// 40 lower-case digits. WeCom signs its callbacks with it.
std::string sha1_hex(std::string_view bytes);

struct CbcKey {
    std::string_view key;  // 32 bytes.
    std::string_view iv;   // 16 bytes.
};
// Raw blocks: the caller adds and checks padding, because WeCom pads to 32 bytes. Text that is not
// whole blocks of 16 bytes is refused, and so is a key of another size.
Result<std::string> aes_256_cbc_decrypt(const CbcKey& key, std::string_view blocks);
Result<std::string> aes_256_cbc_encrypt(const CbcKey& key, std::string_view blocks);

// An RSA key as a JWK holds it: big-endian numbers without their base64url.
struct RsaPublicKey {
    std::string modulus;  // 2048 to 8192 bits; others are refused.
    std::string exponent;
};
// RSASSA-PKCS1-v1_5 with SHA-256 ("RS256"). False on anything that is not a good signature.
bool rs256_verify(const RsaPublicKey& key, std::string_view message, std::string_view signature);

}  // namespace interlock
