// Every key of the configuration: its name, what it means, and how its text becomes a value.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/wiring/config.h"

namespace interlock {

struct ConfigKey {
    std::string name;
    std::string help;
    std::function<std::string(const Config&)> show;
    std::function<std::string(Config&, const std::string&)> set;  // The problem, or "".
};
// Those of the relay that are not a bot's.
std::vector<ConfigKey> relay_config_keys();
// All, in the order in which they are shown.
std::vector<ConfigKey> all_config_keys();

}  // namespace interlock
