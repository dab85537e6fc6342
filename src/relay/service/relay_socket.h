// A gateway's connection as the relay's services see it: lines go down, and somebody closes it. The
// face implements it over a WebSocket, tests and the simulator over whatever they like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/wire/ids.h"

namespace interlock {

// Why a socket is closed; the words are the close frame's reason.
inline constexpr std::uint16_t kCloseFenced = 1012;        // A newer socket of the instance.
inline constexpr std::uint16_t kCloseTryLater = 1013;      // No ack in time, slow, store lost.
inline constexpr std::uint16_t kCloseProtocol = 1008;      // No hello, a line beyond its bound.
inline constexpr std::uint16_t kCloseUnauthorised = 4401;  // Wrong, absent or revoked credential.

// Messages that are due together leave as lines of one socket message of at most so many bytes:
// clients take no more than 1 MiB at once, and something urgent waits for what is being sent. A
// line that is longer goes alone.
inline constexpr std::size_t kJoinedBytesMax = std::size_t{32} * 1024;

class RelaySocket {
public:
    virtual ~RelaySocket() = default;
    // One line or several, each with its newline; they leave as one message. Any thread; they only
    // queue. False when the peer is gone or too slow: nothing of them was queued, and the socket is
    // then closed. `send_urgent` overtakes lines that wait unsent.
    virtual bool send(std::string lines) = 0;
    virtual bool send_urgent(std::string lines) = 0;
    virtual void close(std::uint16_t code, std::string_view reason) = 0;
};

// Who dialled, from the stored record of the credential.
struct RelayCaller {
    TenantId tenant_id;
    std::string instance_id;
    std::string gateway_id;
};

}  // namespace interlock
