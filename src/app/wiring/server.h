// The running server: every concrete class, built once and in order, with the threads around the
// plane. `serve`, `demo` and the benchmark use it; nothing else knows all of these types.
//
// Threads: the engine (core, services, commit), the outbox (effects), network threads (bytes only),
// password workers, and the watch (KILL file and the engine's heartbeat).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "app/plane/plane.h"
#include "app/wiring/config.h"
#include "base/result.h"
#include "host/service/principal_service.h"
#include "net/http_server.h"

namespace interlock {

class Server {
public:
    // Everything is loaded, verified and listening; nothing is answered before start().
    static Result<std::unique_ptr<Server>> open(const Config& config);
    ~Server();

    void start();
    // Takes no new connections, finishes accepted turns, signs the chains' heads.
    void stop();

    // Reads the TLS certificate and key again. A pair that is not good leaves the old one in
    // place and says so in the log, in `exposure` and in a critical record of `_system`.
    void reload();

    std::string address() const;       // "http://127.0.0.1:8420"
    std::string stop_address() const;  // Of the stop listener; empty: there is none.
    std::uint16_t port() const;
    Plane& plane();
    PrincipalService& principals();

    // The paper venue takes the next order of this tenant and its answer is lost on the way back.
    // For the demo, which shows what happens then; nothing on the network can ask for it.
    Result<void> lose_next_answer(const TenantId& tenant_id);

private:
    Server();
    struct Body;  // Holds the object graph; its order is the order of construction.
    Result<void> build(const Config& config);
    void watch();

    std::unique_ptr<Body> body_;
    std::atomic<bool> stopping_{false};
    std::thread watch_;
};

}  // namespace interlock
