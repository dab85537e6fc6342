#include "host/rules/device_policy.h"

#include <algorithm>

#include "base/bytes.h"

namespace interlock {
namespace {

auto find_device(auto& human, std::string_view token_hash) {
    return std::ranges::find_if(human.devices, [&](const KnownDevice& device) {
        return !token_hash.empty() && equal_in_constant_time(device.token_hash, token_hash);
    });
}

}  // namespace

bool is_known_device(const Human& human, std::string_view token_hash) {
    return find_device(human, token_hash) != human.devices.end();
}

const LoginCounter& login_counter(const Human& human, std::string_view token_hash) {
    const auto device = find_device(human, token_hash);
    return device == human.devices.end() ? human.logins : device->logins;
}

LoginCounter& login_counter(Human& human, std::string_view token_hash) {
    const auto device = find_device(human, token_hash);
    return device == human.devices.end() ? human.logins : device->logins;
}

Human remember_device(Human human, std::string_view token_hash, Timestamp at) {
    if (const auto known = find_device(human, token_hash); known != human.devices.end()) {
        human.devices.erase(known);
    } else if (human.devices.size() >= kDevicesMax) {
        human.devices.erase(human.devices.begin());
    }
    human.devices.push_back({.token_hash = std::string(token_hash), .used_at = at, .logins = {}});
    return human;
}

}  // namespace interlock
