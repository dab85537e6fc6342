// New ids and secrets. Random in production, seeded in the simulator.
#pragma once

#include <string>
#include <string_view>

#include "base/secret_string.h"

namespace interlock {

class IdSource {
public:
    virtual ~IdSource() = default;
    // "<prefix>_" and 26 characters a–z, 2–7 (130 bits). Safe to call from any thread.
    virtual std::string new_id(std::string_view prefix) = 0;
    // "<prefix>_" and 52 such characters (256 bits), for credentials. From any thread.
    virtual SecretString new_secret(std::string_view prefix) = 0;
};

}  // namespace interlock
