// Ids and secrets in a fixed order, with the shape of real ones. Two sources with different seeds
// never give the same one, as for a server before and after a restart.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/crypto.h"
#include "engine/ports/id_source.h"

namespace interlock {

class FakeIdSource final : public IdSource {
public:
    explicit FakeIdSource(std::string seed = "one") : seed_(std::move(seed)) {}

    std::string new_id(std::string_view prefix) override { return next(prefix, 26); }
    SecretString new_secret(std::string_view prefix) override {
        return SecretString(next(prefix, 52));
    }

private:
    std::string next(std::string_view prefix, std::size_t length) {
        const std::string digest = sha256(seed_ + "/" + std::to_string(++count_));
        return std::string(prefix) + "_" + to_base32_lower(digest).substr(0, length);
    }

    const std::string seed_;
    std::atomic<std::int64_t> count_{0};
};

}  // namespace interlock
