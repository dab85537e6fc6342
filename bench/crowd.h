// A crowd of callers that means no good, for the drill: many connections from many addresses, each
// doing the same thing over and over, on one thread of its own. What the server closes is opened
// again, at a bounded pace.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"

namespace interlock {

struct CrowdPlan {
    std::string name;
    std::uint16_t port = 0;
    std::size_t connections = 0;
    // Callers come from "127.0.<network>.1" to "127.0.<network>.<addresses>".
    int network = 1;
    std::size_t addresses = 50;
    std::size_t opened_per_second_max = 2'000;
    // What a caller sends, by its number and how often it has; empty: it never says a word.
    std::function<std::string(std::size_t caller, std::uint64_t sequence)> request = {};
    // Sends a request this many bytes at a time, ten times a second; 0: at once.
    std::size_t drip_bytes = 0;
};

struct CrowdReport {
    std::string name;
    std::uint64_t opened = 0;
    std::uint64_t connected_most = 0;  // At once.
    std::uint64_t closed_on = 0;       // By the server, answered or not.
    std::uint64_t served = 0;          // Answers below 400 ...
    std::uint64_t refused = 0;         // ... and the others.
};

class Crowd {
public:
    // Begins at once. Errors of single callers are part of the game; without an epoll there is
    // none.
    static Result<std::unique_ptr<Crowd>> start(CrowdPlan plan);
    ~Crowd();

    // How many are connected now.
    std::size_t connected() const { return connected_.load(); }
    CrowdReport finish();

private:
    struct Caller;
    struct Body;
    explicit Crowd(CrowdPlan plan);
    void run();

    const CrowdPlan plan_;
    std::unique_ptr<Body> body_;
    std::atomic<std::size_t> connected_{0};
    std::atomic<bool> is_over_{false};
    CrowdReport report_;
    std::thread thread_;
};

}  // namespace interlock
