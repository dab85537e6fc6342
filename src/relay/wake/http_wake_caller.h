// Pokes sleeping gateways by HTTP through the guard of outbound URLs, with a GET that has no body
// and no credential.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/bounded_queue.h"
#include "net/egress_guard.h"
#include "relay/ports/wake_caller.h"

namespace interlock {

inline constexpr std::chrono::milliseconds kWakeTimeout{5'000};
inline constexpr std::size_t kWakeWaitingMax = 1024;
inline constexpr std::size_t kWakeAnswerBytesMax = 64 * 1024;

class HttpWakeCaller final : public WakeCaller {
public:
    explicit HttpWakeCaller(EgressGuard guard);
    ~HttpWakeCaller() override;

    bool poke(WakeCall call, std::function<void(WakeOutcome)> done) override;
    Result<void> judge(const std::string& url) const override;
    void stop();  // What waits is dropped; a call under way ends within a second.

private:
    using Job = std::pair<WakeCall, std::function<void(WakeOutcome)>>;
    void run();
    WakeOutcome call_now(WebClient& client, const WakeCall& call) const;

    const EgressGuard guard_;
    BoundedQueue<Job> queue_{kWakeWaitingMax, 0};
    std::atomic<bool> is_stopping_{false};
    std::thread thread_;
};

}  // namespace interlock
