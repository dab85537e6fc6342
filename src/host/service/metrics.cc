#include "host/service/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace interlock {

namespace {

// Lets a counter be looked up by a view of the operation's id.
struct RequestOrder {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        const int order = std::string_view(a.first).compare(std::string_view(b.first));
        return order < 0 || (order == 0 && a.second < b.second);
    }
};

}  // namespace

// A refusal's code and an operation's id are both from closed sets, so labels stay bounded.
struct Metrics::Registry {
    prometheus::Registry registry;
    prometheus::Histogram& batch_turns;
    prometheus::Histogram& commit_seconds;
    prometheus::Counter& turns;
    prometheus::Counter& commit_failures;
    prometheus::Family<prometheus::Counter>& refusals;
    prometheus::Family<prometheus::Counter>& requests;
    struct Gauge {
        prometheus::Gauge& gauge;
        std::function<double()> read;
    };
    std::vector<Gauge> gauges;
    std::vector<std::function<std::string()>> texts;
    std::mutex render_mutex;
    // Counters of requests as they were first asked for: finding one in its family by labels costs
    // more than all else that is done for a read.
    std::map<std::pair<std::string, int>, prometheus::Counter*, RequestOrder> request_counters;
    std::mutex request_mutex;

    Registry()
        : batch_turns(
              prometheus::BuildHistogram()
                  .Name("interlock_commit_batch_turns")
                  .Help("Turns made durable by one commit.")
                  .Register(registry)
                  .Add(
                      {},
                      prometheus::Histogram::BucketBoundaries{1, 2, 4, 8, 16, 32, 64, 128, 256})),
          commit_seconds(
              prometheus::BuildHistogram()
                  .Name("interlock_commit_seconds")
                  .Help("Time one commit took, sync included.")
                  .Register(registry)
                  .Add(
                      {},
                      prometheus::Histogram::BucketBoundaries{
                          0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1})),
          turns(prometheus::BuildCounter()
                    .Name("interlock_turns_total")
                    .Help("Turns made durable.")
                    .Register(registry)
                    .Add({})),
          commit_failures(prometheus::BuildCounter()
                              .Name("interlock_commit_failures_total")
                              .Help("Commits that failed.")
                              .Register(registry)
                              .Add({})),
          refusals(prometheus::BuildCounter()
                       .Name("interlock_refusals_total")
                       .Help("Turns refused, by error code.")
                       .Register(registry)),
          requests(prometheus::BuildCounter()
                       .Name("interlock_requests_total")
                       .Help("Requests answered, by operation and status.")
                       .Register(registry)) {}
};

Metrics::Metrics() : registry_(std::make_unique<Registry>()) {}
Metrics::~Metrics() = default;

void Metrics::on_commit(std::size_t turns, Duration took) {
    registry_->batch_turns.Observe(static_cast<double>(turns));
    registry_->commit_seconds.Observe(static_cast<double>(took.microseconds) / 1e6);
    registry_->turns.Increment(static_cast<double>(turns));
}

void Metrics::on_refusal(std::string_view code) {
    registry_->refusals.Add({{"code", std::string(code)}}).Increment();
}

void Metrics::on_commit_failure(const Error&) {
    registry_->commit_failures.Increment();
}

void Metrics::on_request(std::string_view operation, int status) {
    prometheus::Counter* counter = nullptr;
    {
        const std::lock_guard lock(registry_->request_mutex);
        const auto found = registry_->request_counters.find(std::pair(operation, status));
        if (found != registry_->request_counters.end()) {
            counter = found->second;
        } else {
            counter = &registry_->requests.Add(
                {{"operation", std::string(operation)}, {"status", std::to_string(status)}});
            registry_->request_counters.emplace(std::pair(operation, status), counter);
        }
    }
    counter->Increment();
}

void Metrics::add_gauge(std::string name, std::string help, std::function<double()> read) {
    prometheus::Gauge& gauge = prometheus::BuildGauge()
                                   .Name(std::move(name))
                                   .Help(std::move(help))
                                   .Register(registry_->registry)
                                   .Add({});
    registry_->gauges.push_back({gauge, std::move(read)});
}

void Metrics::add_text(std::function<std::string()> read) {
    registry_->texts.push_back(std::move(read));
}

std::string Metrics::render() {
    const std::lock_guard lock(registry_->render_mutex);
    for (const Registry::Gauge& gauge : registry_->gauges) {
        gauge.gauge.Set(gauge.read());
    }
    std::string text = prometheus::TextSerializer().Serialize(registry_->registry.Collect());
    for (const auto& read : registry_->texts) {
        text += read();
    }
    return text;
}

}  // namespace interlock
