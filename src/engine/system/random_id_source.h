// Ids and secrets from the operating system's randomness.
//
// Ids are drawn from a buffer that each thread fills for itself, because every turn needs several
// and a system call for each would show. Secrets are drawn straight, so that no copy stays in a
// buffer.
#pragma once

#include "engine/ports/id_source.h"

namespace interlock {

class RandomIdSource final : public IdSource {
public:
    std::string new_id(std::string_view prefix) override;
    SecretString new_secret(std::string_view prefix) override;
};

}  // namespace interlock
