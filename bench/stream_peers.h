// The peers of `bench relay --only inbound`: Redis Streams and NATS JetStream, each told to sync
// every write, doing store, deliver, acknowledge with the same bytes. Their protocols are spoken
// here, as plainly as a load needs, so that no client library is measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/measured_process.h"
#include "bench/socket_swarm.h"

namespace interlock {

// A server of a peer, on a free port and a folder of its own; killed when it goes.
struct PeerServer {
    MeasuredProcess process;
    std::uint16_t port = 0;
};
// Returns when it takes connections.
Result<PeerServer> start_peer(const MeasuredProcess::Options& child, std::uint16_t port);
Result<PeerServer> start_redis(const std::string& program, const std::string& folder);
Result<PeerServer> start_nats(const std::string& program, const std::string& folder);

struct StreamLoad {
    std::int64_t instances = 1;
    std::int64_t in_flight = 1;  // Messages of each instance on their way.
    std::int64_t event_bytes = 600;
    std::chrono::milliseconds warm_up{500};
    std::chrono::seconds seconds{3};
};
struct StreamFigures {
    std::int64_t messages = 0;  // Measured ...
    std::int64_t all = 0;       // ... and with those of the warm-up.
    double seconds = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
};
// A stream and a consumer connection for each instance; one connection adds, all adds of a turn
// with one write. A message is done when its acknowledgement (XACK and XDEL) was answered.
Result<StreamFigures> load_redis(std::uint16_t port, const StreamLoad& load);
// One stream with a subject and a durable push consumer for each instance; a message is done when
// its acknowledgement was answered.
Result<StreamFigures> load_nats(std::uint16_t port, const StreamLoad& load);

// Who waits for what, and for how long it did.
class ClosedLoop {
public:
    explicit ClosedLoop(const StreamLoad& load);

    void begin(std::int64_t instance);
    // The oldest message of the instance is done.
    void end(std::int64_t instance);
    bool is_over();  // Also notices that the warm-up is.
    std::int64_t done() const { return all_; }
    StreamFigures figures() const;

private:
    using Time = std::chrono::steady_clock;
    std::vector<std::deque<Time::time_point>> begun_;
    Time::time_point measured_from_;
    Time::time_point until_;
    std::vector<std::int64_t> latencies_us_;
    std::int64_t all_ = 0;
};

// One reply of Redis at the front of `bytes`: where it ends (0: not all of it is there), and the
// ids of the entries when it is what XREADGROUP answers.
struct RedisReply {
    std::size_t end = 0;
    bool is_error = false;
    std::vector<std::string_view> entry_ids;
};
RedisReply read_redis_reply(std::string_view bytes);

// One protocol message of NATS; `end` as above. Subject, reply and payload only with MSG.
struct NatsMessage {
    std::size_t end = 0;
    std::string_view verb;
    std::string_view subject;
    std::string_view reply;
    std::string_view payload;
};
NatsMessage read_nats_message(std::string_view bytes);

}  // namespace interlock
