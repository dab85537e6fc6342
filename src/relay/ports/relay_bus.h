// Tells the parts of one connector what happened elsewhere in it. Only hints travel, never
// messages: what waits is in the store, and the lane looks at every instance with mail once a
// second.
#pragma once

#include <functional>
#include <string>

#include "engine/wire/ids.h"

namespace interlock {

struct RelayHint {
    enum class Kind {
        mail,       // The instance's buffer grew.
        fenced,     // A newer socket of the instance exists: close older ones.
        revoked,    // The instance's credential is gone: close its sockets.
        interrupt,  // Stop one session's turn.
    };
    Kind kind = Kind::mail;
    TenantId tenant_id;
    std::string instance_id;
    std::int64_t epoch = 0;   // With fenced.
    std::string session_key;  // With interrupt.
    std::string chat_id;      // Likewise.
};

class RelayBus {
public:
    virtual ~RelayBus() = default;
    // Any thread; may lose hints, and may call back before it returns.
    virtual void publish(const RelayHint& hint) = 0;
    // Once, before anything is published. Called from any thread; must not block.
    virtual void subscribe(std::function<void(const RelayHint&)> take) = 0;
};

}  // namespace interlock
