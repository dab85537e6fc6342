// Many gateways on one thread, as the relay's clients speak (relay-wire): each dials with its
// token, says hello, and acknowledges every message that it gets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/socket_swarm.h"

namespace interlock {

// The names and the secret that the benchmark's gateways have.
std::string bench_gateway_id(std::int64_t number);
std::string bench_instance_id(std::int64_t number);
inline constexpr std::string_view kBenchGatewaySecret = "a secret of the benchmark, 32 by";

class GatewaySwarm {
public:
    static Result<GatewaySwarm> create();

    // `count` gateways, so many handshakes at a time; returns when all have their descriptor.
    struct Dial {
        std::uint16_t port = 0;
        std::int64_t count = 0;
        std::string platform = "local";
        std::string bot_id = "console";
        std::size_t at_once = 128;
    };
    Result<void> dial(const Dial& dial);

    // Acknowledges what comes while an HTTP request on a connection of its own is being answered;
    // the answer's body.
    Result<std::string> serve_while_asking(
        std::uint16_t port, const std::string& path, std::chrono::seconds patience);
    // The same without a request, for as long as this.
    Result<void> serve_for(std::chrono::milliseconds time);

    std::int64_t acknowledged() const { return acknowledged_; }

private:
    enum class Stage : std::uint8_t { upgrading, greeting, open };

    explicit GatewaySwarm(SocketSwarm swarm) : swarm_(std::move(swarm)) {}
    Result<void> begin(const Dial& dial, std::int64_t number);
    Result<std::size_t> take(std::size_t number, std::string_view bytes);
    Result<void> take_message(std::size_t number, std::string_view payload);

    SocketSwarm swarm_;
    std::vector<Stage> stages_;
    std::string hello_;
    std::int64_t ready_ = 0;
    std::int64_t acknowledged_ = 0;
    std::size_t asking_ = SIZE_MAX;  // The connection with the HTTP request.
    std::string answer_;
    bool has_answer_ = false;
};

// One unmasked frame at the front of `bytes`: where its payload is and where it ends. `end` 0: not
// all of it is there.
struct FrameSpan {
    std::uint8_t opcode = 0;
    std::size_t payload = 0;
    std::size_t end = 0;
};
FrameSpan find_frame(std::string_view bytes);

// The value of the last "bufferId" of a line; empty when it has none.
std::string_view buffer_id_in(std::string_view line);

}  // namespace interlock
