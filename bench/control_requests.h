// The decisions that one supervisor after the other sends in a load: a switch, two changes of the
// risk mode, a pause and a resume of a concern of its own, each of which must be applied.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/ports/id_source.h"
#include "engine/wire/ids.h"

namespace interlock {

struct SupervisedConcern {
    TenantId tenant_id;
    std::string symbol;
    std::array<std::string, 2> strategies;  // Ids, active by turns.
    std::int64_t sent = 0;
};

// The next body as JSON text.
std::string next_decision(SupervisedConcern& concern, IdSource& ids);
bool is_applied(std::string_view answer);

}  // namespace interlock
