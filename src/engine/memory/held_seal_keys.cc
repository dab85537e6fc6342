#include "engine/memory/held_seal_keys.h"

#include "base/bytes.h"

namespace interlock {

Ed25519KeyPair HeldSealKeys::pair_of(const std::string& seed) {
    return *ed25519_from_seed(seed);
}

HeldSealKeys::HeldSealKeys(std::string seed) {
    begin_with(std::move(seed));
}

void HeldSealKeys::begin_with(std::string seed) {
    seed_ = std::move(seed);
    epoch_ = 0;
    key_ = pair_of(seed_);
    first_ = key_.public_key;
    is_from_before_ = false;
}

SealKeys::Key HeldSealKeys::current() const {
    return {epoch_, to_hex(key_.public_key)};
}

std::string HeldSealKeys::sign(std::string_view text) const {
    return ed25519_sign(key_, text);
}

std::optional<std::string> HeldSealKeys::next_public_key() const {
    return to_hex(pair_of(sha256(seed_)).public_key);
}

void HeldSealKeys::advance() {
    seed_ = sha256(seed_);
    key_ = pair_of(seed_);
    ++epoch_;
    is_from_before_ = false;
}

Result<bool> HeldSealKeys::settle(const Key& expected) {
    // The store may have kept a record whose advance() a crash took away.
    if (expected.epoch == epoch_ + 1 && next_public_key() == expected.public_key) {
        advance();
    }
    return expected.epoch == epoch_ && expected.public_key == to_hex(key_.public_key);
}

void HeldSealKeys::lose() {
    seed_ = sha256("lost" + seed_);
    key_ = pair_of(seed_);
}

Result<void> HeldSealKeys::begin_anew(std::int64_t epoch) {
    seed_ = sha256("anew" + seed_);
    key_ = pair_of(seed_);
    epoch_ = epoch;
    return {};
}

}  // namespace interlock
