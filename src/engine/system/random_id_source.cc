#include "engine/system/random_id_source.h"

#include "base/crypto.h"

namespace interlock {

namespace {

constexpr std::size_t kIdCharacters = 26;
constexpr std::size_t kSecretCharacters = 52;
constexpr std::size_t kBufferBytes = 4096;
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";

// One character per byte, of which five bits are used: simpler than packing, and bytes are cheap.
std::string spell(std::string_view prefix, std::string_view bytes) {
    std::string text;
    text.reserve(prefix.size() + 1 + bytes.size());
    text += prefix;
    text += '_';
    for (const char byte : bytes) {
        text += kAlphabet[static_cast<unsigned char>(byte) % kAlphabet.size()];
    }
    return text;
}

}  // namespace

std::string RandomIdSource::new_id(std::string_view prefix) {
    thread_local std::string buffer;
    thread_local std::size_t used = 0;
    if (buffer.size() - used < kIdCharacters) {
        buffer = random_bytes(kBufferBytes);
        used = 0;
    }
    const std::string_view bytes = std::string_view(buffer).substr(used, kIdCharacters);
    used += kIdCharacters;
    return spell(prefix, bytes);
}

SecretString RandomIdSource::new_secret(std::string_view prefix) {
    std::string bytes = random_bytes(kSecretCharacters);
    SecretString secret(spell(prefix, bytes));
    wipe(bytes);
    return secret;
}

}  // namespace interlock
