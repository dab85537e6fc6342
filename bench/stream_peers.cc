#include "bench/stream_peers.h"

#include "base/errors.h"
#include "bench/latency.h"

namespace interlock {
namespace {

constexpr std::chrono::seconds kStartPatience{20};

}  // namespace

Result<PeerServer> start_peer(const MeasuredProcess::Options& child, std::uint16_t port) {
    TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(child));
    const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
    while (std::chrono::steady_clock::now() < deadline) {
        TRY_ASSIGN(SocketSwarm probe, SocketSwarm::create());
        if (probe.connect(port)) {
            return PeerServer{std::move(process), port};
        }
        const auto said = process.read_line(std::chrono::milliseconds(50));
        if (!said && said.error() == errors::unavailable) {
            return fail(
                errors::unavailable,
                child.command.front() + " ended at once; its log is " + child.log_path + ".");
        }
    }
    return fail(errors::timed_out, child.command.front() + " did not start in time.");
}

Result<PeerServer> start_redis(const std::string& program, const std::string& folder) {
    TRY_ASSIGN(const std::uint16_t port, find_free_port());
    MeasuredProcess::Options child;
    child.command = {
        program,
        "--port",
        std::to_string(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
        "--save",
        "",
        "--logfile",
        folder + "/redis.log",
        "--maxclients",
        "4096"};
    child.log_path = folder + "/redis.err";
    return start_peer(child, port);
}

ClosedLoop::ClosedLoop(const StreamLoad& load)
    : begun_(static_cast<std::size_t>(load.instances)),
      measured_from_(Time::now() + load.warm_up),
      until_(measured_from_ + load.seconds) {}

void ClosedLoop::begin(std::int64_t instance) {
    begun_[static_cast<std::size_t>(instance)].push_back(Time::now());
}

void ClosedLoop::end(std::int64_t instance) {
    std::deque<Time::time_point>& begun = begun_[static_cast<std::size_t>(instance)];
    if (begun.empty()) {
        return;
    }
    const Time::time_point now = Time::now();
    if (now >= measured_from_) {
        latencies_us_.push_back(
            std::chrono::duration_cast<std::chrono::microseconds>(now - begun.front()).count());
    }
    begun.pop_front();
    ++all_;
}

bool ClosedLoop::is_over() {
    return Time::now() >= until_;
}

StreamFigures ClosedLoop::figures() const {
    const LatencySummary summary = summarize(latencies_us_);
    const std::chrono::duration<double> measured = Time::now() - measured_from_;
    return {
        .messages = static_cast<std::int64_t>(latencies_us_.size()),
        .all = all_,
        .seconds = measured.count(),
        .p50_us = summary.p50_us,
        .p99_us = summary.p99_us};
}

}  // namespace interlock
