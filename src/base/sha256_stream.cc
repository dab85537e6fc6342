#include "base/sha256_stream.h"

#include <openssl/evp.h>

#include <array>

#include "base/bytes.h"
#include "base/check.h"

namespace interlock {

struct Sha256Stream::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
    CHECK(state_->context != nullptr);
    CHECK(EVP_DigestInit_ex2(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256Stream::~Sha256Stream() {
    EVP_MD_CTX_free(state_->context);
}

void Sha256Stream::add(std::string_view bytes) {
    CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256Stream::finish_hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    CHECK(EVP_DigestFinal_ex(state_->context, digest.data(), &length) == 1);
    return to_hex({reinterpret_cast<const char*>(digest.data()), length});
}

}  // namespace interlock
