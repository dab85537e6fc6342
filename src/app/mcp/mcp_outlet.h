// The transport's end of one running request: where its messages and its one answer go. The
// protocol logic writes to it; Streamable HTTP and the tests each bring their own.
#pragma once

#include <memory>
#include <optional>

#include "base/json.h"

namespace interlock {

// All from any thread. What comes after finish() is dropped.
class McpOutlet {
public:
    virtual ~McpOutlet() = default;
    // A notification or a question to the client, before the answer.
    virtual void send(const Json& message) = 0;
    // The answer; nothing when the client has cancelled and must not get one.
    virtual void finish(const std::optional<Json>& response) = 0;
    // Ends the connection but not the request: the client comes back for the rest.
    virtual void pause() = 0;
};
using McpOutletPtr = std::shared_ptr<McpOutlet>;

}  // namespace interlock
