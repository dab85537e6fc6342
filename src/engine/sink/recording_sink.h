// The plane's side of the recording sink: speaks sink_wire over the sink's Unix socket.
//
// Connects when needed and again after trouble. What goes wrong before the first byte has left is
// `effect_refused`; everything after it is an outcome we do not know (I4).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/ports/effect_sink.h"
#include "engine/sink/sink_wire.h"
#include "net/client_socket.h"

namespace interlock {

// For one request and its answer, connecting included.
inline constexpr std::chrono::milliseconds kSinkTimeout{10'000};

class RecordingSink final : public EffectSink {
public:
    explicit RecordingSink(
        std::string socket_path, std::chrono::milliseconds timeout = kSinkTimeout);

    Result<EffectReceipt> perform(const OutboxItem& effect) override;
    Result<std::optional<EffectReceipt>> find(const EffectId& effect_id) override;
    Result<SinkCounts> count();

private:
    // `sent` turns true with the first byte that leaves.
    Result<Json> exchange(const SinkRequest& request, bool& sent);
    Result<void> send_line(const std::string& line, SocketDeadline deadline, bool& sent);
    Result<std::string> read_line(SocketDeadline deadline);

    std::string socket_path_;
    std::chrono::milliseconds timeout_;
    std::optional<ClientSocket> socket_;
};

}  // namespace interlock
