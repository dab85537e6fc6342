// Tells witnesses each seal of `_system` (ADR 0024), each on a thread of its own: a witness that is
// slow or gone holds up nobody, the engine least of all.
//
// The head log is the queue. What a witness has not got yet is what stands there behind the newest
// line it has, so nothing is lost by a restart and nothing grows in memory. A witness whose newest
// line the chain does not have proves that the folder was put back or written anew: that is put on
// record as a break of `_system` before the witness gets another line.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/ports/clock.h"
#include "engine/ports/head_log.h"
#include "engine/ports/ledger_store.h"
#include "engine/ports/witness.h"
#include "engine/service/turn_gate.h"

namespace interlock {

// Lines given to one witness before it is asked again whether to stop.
inline constexpr std::size_t kWitnessBatchMax = 64;
inline constexpr Duration kWitnessRetryFirst = Duration::of_seconds(1);
inline constexpr Duration kWitnessRetryMax = Duration::of_minutes(5);
// A witness that has not taken a line for so long is an alert.
inline constexpr Duration kWitnessLateAfter = Duration::of_minutes(10);
// At shutdown, for the last seal; what is not taken by then waits for the next start.
inline constexpr Duration kWitnessStopGrace = Duration::of_seconds(2);

struct WitnessState {
    std::string name;
    ChainHead newest = {};  // That it is known to have; seq 0: none.
    std::optional<Timestamp> pushed_at = {};
    std::int64_t pushed = 0;   // Lines in this life of the server.
    std::int64_t pending = 0;  // Lines that it has not got yet.
    std::int64_t failures = 0;
    std::string problem = {};  // Why the last try failed; "" when it did not.
    std::optional<Timestamp> failing_since = {};
    std::string disagreement = {};  // What it has and we have not; "" when nothing.
};
Json encode(const WitnessState& state);

// One witness. round() belongs to one thread, everything else to any.
class WitnessPusher {
public:
    struct Parts {
        std::unique_ptr<Witness> witness;
        HeadLog& head_log;
        LedgerStore& store;
        Clock& clock;
        // Has not taken a line for kWitnessLateAfter; or, with "", takes them again.
        std::function<void(const std::string& name, const std::string& problem)> on_late;
    };
    explicit WitnessPusher(Parts parts);

    // Gives what is due; how long to wait for the next round unless somebody rings.
    Duration round();
    WitnessState state() const;
    bool has_all() const;
    // What it has and we have not, while nobody has put that on record; it gets nothing until then.
    std::optional<ChainFault> dispute() const;
    void settle_dispute();
    Witness& witness() { return *parts_.witness; }

private:
    enum class Stage { unmet, disputed, met };
    Result<void> give();
    Result<void> meet();
    Result<std::vector<WitnessedHead>> due_lines();
    Duration note_failure(const Error& error);
    void note_success();

    const Parts parts_;
    mutable std::mutex mutex_;
    WitnessState state_;
    Stage stage_ = Stage::unmet;
    std::optional<ChainFault> dispute_;
    bool is_late_ = false;
    std::int64_t failures_in_row_ = 0;
    Duration failing_since_{};  // Monotonic.
};

class WitnessService {
public:
    struct Parts {
        HeadLog& head_log;
        LedgerStore& store;
        Clock& clock;
        SubmitTurn submit;  // For alerts.
        // Engine thread: puts it on record and stops everything; whether it is on record.
        std::function<bool(const ChainFault& fault)> note_disagreement;
    };
    WitnessService(Parts parts, std::vector<std::unique_ptr<Witness>> witnesses);
    ~WitnessService();

    void start();
    // Any thread, at once: there is a new line in the head log.
    void ring();
    // Engine thread, between batches: puts on record what a witness has and we have not.
    void duty();
    // Waits for the last lines, at most kWitnessStopGrace.
    void stop();

    std::vector<WitnessState> states() const;
    std::string metrics_text() const;

private:
    void run(std::size_t index);

    const Parts parts_;
    std::vector<std::unique_ptr<WitnessPusher>> pushers_;
    std::atomic<bool> has_dispute_{false};
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t rings_ = 0;
    std::vector<std::int64_t> answered_;  // By pusher: the last ring that a whole round followed.
    bool is_stopping_ = false;
};

// What a witness has and the chain of `_system` has not; nothing when it has it.
Result<std::optional<ChainFault>> disagreement_of(LedgerStore& store, const WitnessedHead& head);

}  // namespace interlock
