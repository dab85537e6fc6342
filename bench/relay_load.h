// `interlock bench relay-load`, the server side of `bench relay --only inbound`: the relay's plane
// on its SQLite store behind the HTTP server, in a process of its own, with the console platform as
// the source of events. Whoever measures dials the gateways and asks for /bench/run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/ports/clock.h"
#include "relay/ports/relay_store.h"

namespace interlock {

inline constexpr std::int64_t kLoadInstancesMax = 1000;  // As many chats as the console keeps.

struct RelayLoadOptions {
    std::string folder;  // Exists.
    std::int64_t instances = 1;
    std::int64_t in_flight = 64;  // Messages of each instance on their way.
    std::int64_t event_bytes = 600;
    std::int64_t tenants = 1;
    int warm_up_ms = 500;
    int seconds = 3;
};

// Serves until its process is ended. Prints "ready http://127.0.0.1:PORT" when gateways may dial.
Result<void> serve_relay_load(const RelayLoadOptions& options);

// What one run gave.
struct LoadFigures {
    std::int64_t messages = 0;
    double seconds = 0;
    std::vector<std::int64_t> latencies_us;
};

// A store that looks at what becomes durable: an event's text begins with the time at which it was
// said, and its entry's acknowledgement is its end.
class TimedRelayStore final : public RelayStore {
public:
    TimedRelayStore(RelayStore& store, Clock& clock, std::int64_t instances);

    // Called on the lane for each acknowledgement that became durable, with its instance. Before
    // the first commit.
    void on_done(std::function<void(std::int64_t instance)> call) { on_done_ = std::move(call); }
    std::int64_t done() const { return done_.load(); }
    // From now on; what ends is measured by when it began, however early that was.
    void begin_measuring();
    LoadFigures end_measuring();

    Result<void> commit(const RelayCommit& batch) override;
    Result<std::optional<RelayRow>> find_row(std::string_view kind, std::string_view key) override {
        return store_.find_row(kind, key);
    }
    Result<std::vector<RelayRow>> read_rows(
        std::string_view kind,
        std::string_view prefix,
        std::string_view after,
        std::int64_t count_max) override {
        return store_.read_rows(kind, prefix, after, count_max);
    }
    Result<std::vector<std::string>> known_events(
        const std::vector<std::string>& event_keys) override {
        return store_.known_events(event_keys);
    }
    Result<std::optional<RelayEventRow>> find_event(const std::string& event_key) override {
        return store_.find_event(event_key);
    }
    Result<std::vector<RelayEventRow>> read_events(std::int64_t count_max) override {
        return store_.read_events(count_max);
    }
    Result<std::vector<BufferEntryHead>> load_buffer_heads() override {
        return store_.load_buffer_heads();
    }
    Result<std::vector<BufferEntry>> read_entries(
        const std::string& instance_id,
        std::int64_t after,
        std::int64_t count_max,
        std::int64_t bytes_max) override {
        return store_.read_entries(instance_id, after, count_max, bytes_max);
    }
    Result<std::vector<DeadLetter>> read_dead_letters(
        const std::string& instance_id, const BufferKey& after, std::int64_t count_max) override {
        return store_.read_dead_letters(instance_id, after, count_max);
    }
    Result<std::vector<StoredDeadLetter>> load_dead_letters() override {
        return store_.load_dead_letters();
    }
    Result<std::int64_t> purge(Timestamp now, std::int64_t count_max) override {
        return store_.purge(now, count_max);
    }
    Result<std::map<TenantId, LedgerHead>> load_heads() override { return store_.load_heads(); }

private:
    struct Begun {
        std::int64_t seq = 0;
        std::int64_t at_us = 0;
    };

    void note(const std::vector<std::int64_t>& latencies_us);

    RelayStore& store_;
    Clock& clock_;
    std::vector<std::vector<Begun>> begun_;  // By instance; the lane's own.

    std::function<void(std::int64_t)> on_done_;
    std::atomic<std::int64_t> done_{0};

    std::mutex mutex_;
    LoadFigures figures_;
    std::int64_t measured_from_us_ = 0;  // 0: not measuring.
};

}  // namespace interlock
