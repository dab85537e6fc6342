// Randomness from the operating system through libsodium, and libsodium's initialisation.
#include <sodium/core.h>
#include <sodium/randombytes.h>

#include "base/check.h"
#include "base/crypto.h"
#include "base/sodium_ready.h"

namespace interlock {

void ensure_sodium_ready() {
    static const bool ready = sodium_init() >= 0;
    CHECK(ready);
}

std::string random_bytes(std::size_t count) {
    ensure_sodium_ready();
    std::string bytes(count, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

}  // namespace interlock
