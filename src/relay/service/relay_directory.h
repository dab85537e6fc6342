// Who may dial, as committed: network threads ask it without a turn of the lane, which changes it
// after each commit and before the reply. Each gateway's facts never change; new ones take their
// place.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret_string.h"
#include "base/time.h"
#include "relay/service/relay_socket.h"

namespace interlock {

struct GatewayFacts {
    struct Secret {
        SecretString text;
        std::optional<Timestamp> retires_at;
    };
    RelayCaller caller;
    std::vector<Secret> secrets;
    bool is_revoked = false;
};
using GatewayFactsPtr = std::shared_ptr<const GatewayFacts>;

// Any thread. Map steps under the lock, nothing else (ADR 0007).
class RelayDirectory {
public:
    void put(GatewayFactsPtr facts);
    void remove(const std::string& gateway_id);
    // Null: none.
    GatewayFactsPtr find(std::string_view gateway_id) const;
    // A gateway of the instance that is not revoked; null: none.
    GatewayFactsPtr find_of_instance(std::string_view instance_id) const;

    void set_loaded();
    bool is_loaded() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, GatewayFactsPtr, std::less<>> gateways_;
    std::map<std::string, std::set<std::string>, std::less<>> by_instance_;
    bool is_loaded_ = false;
};

}  // namespace interlock
