// `interlock mcp`: lets an MCP client that speaks stdio reach a running server. Each line of the
// input is a message that goes to /mcp; each message of the server becomes a line of the output.
//
// Requests run side by side on a few threads, so that a slow call holds up no other; notifications
// and the client's own answers have a thread of their own, since a running call may wait for them.
#pragma once

#include <chrono>
#include <iosfwd>

#include "base/secret_string.h"
#include "net/http_client.h"

namespace interlock {

inline constexpr std::size_t kBridgeLineBytesMax = 1024 * 1024;  // Longer input lines are refused.
inline constexpr int kBridgeCallsMax = 8;                        // Requests running side by side.
inline constexpr std::size_t kBridgeWaitingMax = 256;            // Messages waiting for a thread.
// After the end of input, how long running calls may still take before the session is ended.
inline constexpr std::chrono::milliseconds kBridgeDrainTime{10'000};

// Returns when the input has ended: 0. A server that cannot be reached is no failure of the bridge;
// each request is then answered with a JSON-RPC error. Nothing but messages goes to `out`.
int run_mcp_stdio_bridge(
    std::istream& in, std::ostream& out, HttpTarget target, SecretString access_key);

}  // namespace interlock
