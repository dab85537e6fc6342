// The bus of a connector that is one process: a hint reaches the subscriber at once, on the thread
// that publishes it.
#pragma once

#include <functional>
#include <utility>

#include "base/check.h"
#include "relay/ports/relay_bus.h"

namespace interlock {

class LocalRelayBus final : public RelayBus {
public:
    void publish(const RelayHint& hint) override {
        if (take_) {
            take_(hint);
        }
    }
    void subscribe(std::function<void(const RelayHint&)> take) override {
        CHECK(!take_);
        take_ = std::move(take);
    }

private:
    std::function<void(const RelayHint&)> take_;  // Set before anything is published.
};

}  // namespace interlock
