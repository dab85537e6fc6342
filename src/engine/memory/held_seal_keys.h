// Sealing keys that live and die with the process: for tests, simulations and benchmarks. Each key
// follows from the one before by hashing, so that a run is repeatable.
#pragma once

#include "base/crypto.h"
#include "engine/ports/seal_keys.h"

namespace interlock {

class HeldSealKeys final : public SealKeys {
public:
    explicit HeldSealKeys(std::string seed);  // 32 bytes.

    std::string first_public_key() const override { return first_; }
    Key current() const override;
    std::string sign(std::string_view text) const override;
    std::optional<std::string> next_public_key() const override;
    void advance() override;
    Result<bool> settle(const Key& expected) override;
    Result<void> begin_anew(std::int64_t epoch) override;
    bool is_from_before() const override { return is_from_before_; }

    void set_from_before(bool is_from_before) { is_from_before_ = is_from_before; }
    const Ed25519KeyPair& pair() const { return key_; }
    // All keys as they were on the first day of another folder.
    void begin_with(std::string seed);
    // As if the key's file were gone and another in its place.
    void lose();

private:
    static Ed25519KeyPair pair_of(const std::string& seed);

    std::string seed_;
    std::int64_t epoch_ = 0;
    Ed25519KeyPair key_;
    std::string first_;
    bool is_from_before_ = false;
};

}  // namespace interlock
