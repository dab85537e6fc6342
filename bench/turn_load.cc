#include "bench/turn_load.h"

#include <time.h>

#include <vector>

#include "base/bounded_queue.h"
#include "base/canonical_json.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/json.h"

namespace interlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{30'000};

struct Completion {
    std::size_t caller = 0;
    bool ok = false;
};

std::int64_t microseconds_between(SteadyClock::time_point from, SteadyClock::time_point to) {
    return std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
}

Duration cpu_of_this_thread() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return {used.tv_sec * 1'000'000 + used.tv_nsec / 1000};
}

class Driver {
public:
    Driver(BenchPlane& bench, const TurnLoadOptions& options)
        : bench_(bench),
          options_(options),
          keys_(options.keys != nullptr ? *options.keys : static_cast<IdSource&>(bench.ids())),
          requests_(options.kind, keys_),
          tenant_(TenantId::trusted(options.tenant_id)),
          done_(options.callers, 0),
          sent_at_(options.callers) {
        answered_.reserve(options.callers);
        agent_.kind = PrincipalKind::agent;
        agent_.id = "key_bench";
        agent_.tenants = {tenant_};
        agent_.scopes = {Scope::probe, Scope::planner};
    }

    TurnLoadReport run() {
        bench_.start([this] { hand_over(); });
        const Duration cpu = cpu_of_this_thread();
        const SteadyClock::time_point begin = SteadyClock::now();
        const SteadyClock::time_point end = begin + options_.duration;
        std::size_t under_way = 0;
        for (std::size_t caller = 0; caller < options_.callers && may_submit(); ++caller) {
            submit(caller);
            ++under_way;
        }
        SteadyClock::time_point now = begin;
        while (under_way > 0) {
            const auto batches = done_.pop(options_.callers, kPatience);
            CHECK(!batches.empty());  // The engine answers every turn it took.
            now = SteadyClock::now();
            for (const std::vector<Completion>& batch : batches) {
                for (const Completion& completion : batch) {
                    take(completion, now);
                    --under_way;
                    if (now < end && may_submit()) {
                        submit(completion.caller);
                        ++under_way;
                    }
                }
            }
        }
        bench_.stop();
        report_.turns = std::ssize(latencies_us_);
        report_.elapsed = {microseconds_between(begin, now)};
        report_.driver_cpu = {cpu_of_this_thread().microseconds - cpu.microseconds};
        report_.latency = summarize(std::move(latencies_us_));
        return report_;
    }

private:
    bool may_submit() const { return submitted_ < options_.turns_max; }

    void submit(std::size_t caller) {
        ++submitted_;
        if (options_.source != nullptr) {
            sent_at_[caller] = SteadyClock::now();
            options_.source->send(caller, reply_to(caller));
            return;
        }
        options_.kind == TurnKind::probe ? submit_probe(caller) : submit_decision(caller);
    }

    void submit_probe(std::size_t caller) {
        ProbeRequest request;
        request.decision_id = DecisionId::trusted(keys_.new_id("dec"));
        request.tick_id = TickId::trusted("tick_" + std::to_string(submitted_));
        request.idempotency_key = IdempotencyKey::trusted(keys_.new_id("idem"));
        // As the HTTP face does it: the hash stands for the request under its key.
        std::string canonical;
        canonical.reserve(256);
        canonical += "{\"decision_id\":";
        append_json_string(canonical, request.decision_id.text());
        canonical += ",\"idempotency_key\":";
        append_json_string(canonical, request.idempotency_key.text());
        canonical += ",\"tick_id\":";
        append_json_string(canonical, request.tick_id.text());
        canonical += '}';
        sent_at_[caller] = SteadyClock::now();
        bench_.plane().probes.run(
            {agent_, tenant_, sha256_hex(canonical)}, std::move(request), reply_to(caller));
    }

    // From the text of the call on, as it comes in over HTTP.
    void submit_decision(std::size_t caller) {
        const std::string text = requests_.next();
        sent_at_[caller] = SteadyClock::now();
        const auto body = parse_json(text);
        CHECK(body.has_value());
        const auto canonical = canonical_json(*body);
        auto request = decode_validate_plan_request(*body);
        CHECK(canonical.has_value() && request.has_value());
        LoopService& loop = *bench_.plane().loop;
        loop.submit(loop.validate_turn(
            {agent_, tenant_, sha256_hex(*canonical)}, *std::move(request), reply_to(caller)));
    }

    std::function<void(const Result<Answer>&)> reply_to(std::size_t caller) {
        return [this, caller](const Result<Answer>& answer) {
            answered_.push_back({caller, answer.has_value() && is_as_meant(answer->body)});
        };
    }

    bool is_as_meant(std::string_view answer) const {
        return options_.source != nullptr ? options_.source->is_as_meant(answer)
                                          : interlock::is_as_meant(options_.kind, answer);
    }

    // On the engine thread: one wake-up of the driver for a whole batch.
    void hand_over() {
        if (!answered_.empty()) {
            CHECK(done_.push(std::move(answered_)));
            answered_.clear();
        }
    }

    void take(const Completion& completion, SteadyClock::time_point now) {
        if (!completion.ok) {
            ++report_.refused;
            return;
        }
        latencies_us_.push_back(microseconds_between(sent_at_[completion.caller], now));
    }

    BenchPlane& bench_;
    const TurnLoadOptions& options_;
    IdSource& keys_;
    BenchRequests requests_;
    const TenantId tenant_;
    Principal agent_;
    BoundedQueue<std::vector<Completion>> done_;
    // Belongs to the engine thread: there are fewer callers than its queue takes, so none is ever
    // refused on ours.
    std::vector<Completion> answered_;
    std::vector<SteadyClock::time_point> sent_at_;
    std::vector<std::int64_t> latencies_us_;
    std::int64_t submitted_ = 0;
    TurnLoadReport report_;
};

}  // namespace

TurnLoadReport run_turn_load(BenchPlane& bench, const TurnLoadOptions& options) {
    return Driver(bench, options).run();
}

}  // namespace interlock
