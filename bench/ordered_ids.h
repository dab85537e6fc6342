// Ids in the order of their making, also across runs. Real keys are random; what that costs an
// index is seen beside these.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"

namespace interlock {

class OrderedIds final : public IdSource {
public:
    explicit OrderedIds(Clock& clock) : began_(clock.now().microseconds) {}

    std::string new_id(std::string_view prefix) override {
        const std::string number = std::to_string(++count_);
        return std::string(prefix) + "_" + std::to_string(began_) +
               std::string(10 - std::min<std::size_t>(10, number.size()), '0') + number;
    }
    SecretString new_secret(std::string_view prefix) override {
        return SecretString(new_id(prefix));
    }

private:
    const std::int64_t began_;
    std::atomic<std::int64_t> count_ = 0;
};

}  // namespace interlock
