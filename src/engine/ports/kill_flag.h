// The file `KILL` in the data folder: the stop that works even when the engine does not. The effect
// path asks it before every send.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

class KillFlag {
public:
    virtual ~KillFlag() = default;
    // True when the flag is up or when that cannot be told (I5). Cheap; any thread.
    virtual bool is_raised() = 0;
    // The first line of the file, at most 500 bytes, for the audit; any thread.
    virtual std::string reason() = 0;
    virtual Result<void> raise(std::string_view reason) = 0;
    virtual Result<void> lower() = 0;
};

}  // namespace interlock
