#include "relay/service/relay_directory.h"

#include <utility>

namespace interlock {

void RelayDirectory::put(GatewayFactsPtr facts) {
    GatewayFactsPtr old;  // Its secrets are wiped outside the lock.
    const std::lock_guard lock(mutex_);
    by_instance_[facts->caller.instance_id].insert(facts->caller.gateway_id);
    GatewayFactsPtr& place = gateways_[facts->caller.gateway_id];
    old = std::exchange(place, std::move(facts));
}

void RelayDirectory::remove(const std::string& gateway_id) {
    GatewayFactsPtr old;
    const std::lock_guard lock(mutex_);
    const auto found = gateways_.find(gateway_id);
    if (found == gateways_.end()) {
        return;
    }
    old = std::move(found->second);
    gateways_.erase(found);
    const auto instance = by_instance_.find(old->caller.instance_id);
    instance->second.erase(gateway_id);
    if (instance->second.empty()) {
        by_instance_.erase(instance);
    }
}

GatewayFactsPtr RelayDirectory::find(std::string_view gateway_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = gateways_.find(gateway_id);
    return found == gateways_.end() ? nullptr : found->second;
}

GatewayFactsPtr RelayDirectory::find_of_instance(std::string_view instance_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_instance_.find(instance_id);
    if (found == by_instance_.end()) {
        return nullptr;
    }
    for (const std::string& gateway_id : found->second) {
        const GatewayFactsPtr& facts = gateways_.find(gateway_id)->second;
        if (!facts->is_revoked) {
            return facts;
        }
    }
    return nullptr;
}

void RelayDirectory::set_loaded() {
    const std::lock_guard lock(mutex_);
    is_loaded_ = true;
}

bool RelayDirectory::is_loaded() const {
    const std::lock_guard lock(mutex_);
    return is_loaded_;
}

}  // namespace interlock
