// Makes the one call that tells a sleeping gateway that mail waits: a GET without a body, a
// credential or anything of the message. docs/contracts/relay-connector.md#wake
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace interlock {

struct WakeCall {
    std::string instance_id;
    std::string url;
    // An operator registered it: addresses inside our own network are meant.
    bool is_trusted = false;
};

struct WakeOutcome {
    bool is_reached = false;  // Somebody answered, whatever the status.
    std::string detail;       // "204", or why nobody was reached; without the URL.
};

class WakeCaller {
public:
    virtual ~WakeCaller() = default;
    // Any thread; returns at once. `done` comes later from any thread, once. False: too busy, and
    // `done` is not called.
    virtual bool poke(WakeCall call, std::function<void(WakeOutcome)> done) = 0;
    // Whether a URL that a tenant gives may be called and can be: `url_not_allowed` for good,
    // `unavailable` for now. Any thread; blocks while names are looked up.
    virtual Result<void> judge(const std::string& url) const = 0;
};

}  // namespace interlock
