// Closed-loop callers on a plane: each has one durable turn under way and sends the next when that
// is answered.
//
// All callers live on one driver thread, as connections live on a network thread: it makes the
// requests, hashes them, submits them, and learns of answers through a queue that the engine thread
// fills once per batch.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/bench_plane.h"
#include "bench/bench_requests.h"
#include "bench/latency.h"

namespace interlock {

inline constexpr std::size_t kTurnCallersMax = 2048;

// Turns that a load sends instead of those of its kind, on the driver's thread.
class TurnSource {
public:
    virtual ~TurnSource() = default;
    virtual void send(std::size_t caller, std::function<void(const Result<Answer>&)> reply) = 0;
    // Whether an answer says that the turn came out as meant; on the engine's thread.
    virtual bool is_as_meant(std::string_view answer) const = 0;
};

struct TurnLoadOptions {
    std::size_t callers = 1;
    TurnKind kind = TurnKind::probe;  // Decisions need a plane that trades.
    TurnSource* source = nullptr;     // Outlives the load; null: turns of the kind.
    std::string tenant_id = "bench";
    IdSource* keys = nullptr;  // Of the requests; outlives the load; null: the plane's, random.
    // Ends with whichever comes first.
    std::int64_t turns_max = 1'000'000;
    std::chrono::milliseconds duration{1000};
};

struct TurnLoadReport {
    std::int64_t turns = 0;
    std::int64_t refused = 0;
    Duration elapsed;
    LatencySummary latency;  // From the driver's submit to the driver seeing the answer.
    Duration driver_cpu;
};

// Starts and stops the plane's engine. Runs on the calling thread, which is the driver.
TurnLoadReport run_turn_load(BenchPlane& bench, const TurnLoadOptions& options);

}  // namespace interlock
