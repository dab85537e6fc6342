// Somebody outside the data folder who is told each seal of `_system`, so that a folder that was
// put back as a whole, or written anew with its own key, can be told from the true one (ADR 0024).
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "engine/rules/witnessed_head.h"

namespace interlock {

// Used by one thread, which may wait: a call ends within half a minute.
class Witness {
public:
    virtual ~Witness() = default;
    // As people know it: "file /mnt/witness/heads.log". Holds no secret.
    virtual std::string name() const = 0;
    // The newest line that it is known to have; nothing when it has none or cannot say.
    virtual Result<std::optional<WitnessedHead>> newest() = 0;
    // Gives it one more. Once this succeeded the line is there for good; repeating one is harmless.
    virtual Result<void> push(const WitnessedHead& head) = 0;
    // Any thread: what is under way ends within a second, and nothing is called any more.
    virtual void cancel() {}
};

}  // namespace interlock
