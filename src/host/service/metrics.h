// Numbers for /metrics in Prometheus' text form: queue depths, commit batch sizes and latencies,
// refusals by code, effects.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/service/turn_runner.h"

namespace interlock {

class Metrics : public TurnObserver {
public:
    Metrics();
    ~Metrics() override;

    void on_commit(std::size_t turns, Duration took) override;
    void on_refusal(std::string_view code) override;
    void on_commit_failure(const Error& error) override;
    // By faces, from any thread.
    void on_request(std::string_view operation, int status);

    // A number read when /metrics is asked for. Before the first request.
    void add_gauge(std::string name, std::string help, std::function<double()> read);

    // Whole families in the text form, put behind the others. Before the first request.
    void add_text(std::function<std::string()> read);

    // Any thread.
    std::string render();

private:
    struct Registry;
    std::unique_ptr<Registry> registry_;
};

}  // namespace interlock
