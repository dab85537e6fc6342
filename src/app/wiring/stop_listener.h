// The stop listener: a socket, a thread and places of its own, on which the kill switch can be
// pulled and looked at, and nothing else. Whatever happens on the ordinary port, the way here is
// free: nothing on this thread waits for that one, keys and sessions are found by their hashes, and
// the latch goes up before anything else is touched.
//
// Keys, sessions, hosts, origins and TLS are those of the ordinary port, by the same code. Without
// TLS it listens on loopback only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/wiring/config.h"
#include "host/face/http_face.h"
#include "host/service/kill_switch_service.h"
#include "net/http_server.h"

namespace interlock {

inline constexpr std::size_t kStopConnectionsMax = 256;
inline constexpr std::size_t kStopConnectionsPerPeer = 16;
// New TLS handshakes of one address or /64: there is one thread, and each costs it up to a
// millisecond. Whoever stops needs one and keeps it.
inline constexpr std::int64_t kStopHandshakesPerSecond = 10;
inline constexpr std::int64_t kStopHandshakesAtOnce = 32;

// Nothing when it is turned off.
bool has_stop_listener(const Config& config);
// One above the ordinary port unless told; 0: any free one.
std::uint16_t stop_port_of(const Config& config);
// `invalid_config` for plain text beyond this machine.
Result<void> check_stop_listener(const Config& config);

class StopListener {
public:
    // All of these outlive it.
    struct Parts {
        const Config& config;
        KillSwitchService& kill;
        const PrincipalDirectory& directory;
        Clock& clock;
        Metrics& metrics;
        HttpFaceConfig face;  // As of the ordinary port.
    };
    // Binds; answers after start(). Null when the configuration wants none.
    static Result<std::unique_ptr<StopListener>> open(Parts parts);

    void start();
    void stop(std::chrono::milliseconds grace);
    // Takes certificate and key anew, as the ordinary port does.
    Result<void> reload();
    std::string address() const;  // "http://127.0.0.1:8421"

private:
    StopListener(Parts parts, const OperationTable& table);

    const Config& config_;
    OperationTable table_;
    HttpFace face_;
    std::unique_ptr<HttpServer> http_;
};

}  // namespace interlock
