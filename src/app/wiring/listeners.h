// The server's sockets: HTTP on TCP and on the operator's socket, and the numbers on one of their
// own. Knows how the server can be reached, and renews its certificate.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "app/wiring/config.h"
#include "app/wiring/exposure.h"
#include "base/result.h"
#include "engine/service/turn.h"
#include "host/service/metrics.h"
#include "net/http_server.h"

namespace interlock {

class Listeners {
public:
    struct Parts {
        const Config& config;         // Outlives us, as do the numbers.
        std::string operator_socket;  // Its path.
        Metrics& metrics;
        HeadJudge judge;
        HttpHandler handler;
    };
    // Listens, so that the port is known; nothing is taken before start().
    static Result<std::unique_ptr<Listeners>> open(Parts parts);

    void start();
    void stop(std::chrono::milliseconds grace);

    std::uint16_t port() const { return http_->port(); }
    std::string address() const;  // "http://127.0.0.1:8420"
    HttpServer::Counters counters() const { return http_->counters(); }

    // Any thread: as things are now.
    Exposure exposure() const;
    // Takes certificate and key anew, or keeps the old ones and remembers why. One call at a time.
    Result<void> reload();

private:
    explicit Listeners(const Config& config) : config_(config) {}
    Result<void> open_http(Parts parts);
    Result<void> open_numbers(Metrics& metrics);
    void note_certificate();

    const Config& config_;
    std::unique_ptr<HttpServer> http_;
    std::unique_ptr<HttpServer> numbers_;             // Null: none.
    std::atomic<std::int64_t> certificate_until_{0};  // Of the one that is served; 0: none.
    std::atomic<std::shared_ptr<const std::string>> reload_problem_;
};

// What records that a reload failed: critical, so that it is in the feed of alerts.
TurnRequest reload_failure_turn(const std::string& message);

}  // namespace interlock
