// Pokes sleeping gateways by HTTP (R13): resolves the host, judges every address, connects to
// exactly one that was allowed, follows no redirect and sends nothing but the request line.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "core/relay/outbound_url.h"
#include "net/web_client.h"
#include "ports/wake_caller.h"

namespace interlock {

inline constexpr std::chrono::milliseconds kWakeTimeout{5'000};
inline constexpr std::size_t kWakeWaitingMax = 1024;
inline constexpr std::size_t kWakeAnswerBytesMax = 64 * 1024;

class HttpWakeCaller final : public WakeCaller {
public:
    using Resolve = std::function<Result<std::vector<std::string>>(
        const std::string& host, std::uint16_t port)>;
    // `allowed` are private ranges that a URL of a tenant may point into all the same.
    explicit HttpWakeCaller(std::vector<Cidr> allowed, Resolve resolve = resolve_host);
    ~HttpWakeCaller() override;

    bool poke(WakeCall call, std::function<void(WakeOutcome)> done) override;
    void stop();  // What waits is dropped; a call under way ends within a second.

    // The address to connect to, or why there is none. Blocks while names are looked up.
    Result<std::string> address_for(const WakeCall& call) const;

private:
    using Job = std::pair<WakeCall, std::function<void(WakeOutcome)>>;
    void run();
    WakeOutcome call_now(WebClient& client, const WakeCall& call) const;

    const std::vector<Cidr> allowed_;
    const Resolve resolve_;
    BoundedQueue<Job> queue_{kWakeWaitingMax, 0};
    std::atomic<bool> is_stopping_{false};
    std::thread thread_;
};

}  // namespace interlock
