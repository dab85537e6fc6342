// The PnL job (docs/contracts/pnl.md#the-job): one at a time for each tenant, in the background, in
// slices.
//
// All trades come from the tenant's own ledger: FILL_BOOKED is written in the turn that books a
// trade, is never removed, and names the account, so it holds every trade the books ever took. A
// venue does not: the paper venue forgets old trades, a real one pages them by market for a while,
// and both tell trades of orders that were never ours. Order rows know trade ids, not prices.
//
//     run ──► row `running` ──► pages of the ledger ──► market by market ──► total ──► row `idle`
//
// A run that completed leaves its trades in the log and in the row how far they reach, with a hash
// over them: the next one reads those and then only what the ledger has gained. Trades that do not
// have the hash are read from the ledger anew.
//
// The row is committed before the first slice and after the last one. A row that says `running`
// without a job in this process is `unknown`: the process ended in between. settle() makes it idle.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/ports/venue.h"
#include "bots/ports/pnl_log.h"
#include "bots/rules/pnl_report.h"
#include "engine/ports/clock.h"
#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"

namespace interlock {

enum class PnlState { idle, running, unknown };
std::string_view to_word(PnlState state);

// How far the trades in the log reach.
struct PnlCursor {
    std::int64_t seq = 0;  // Of the ledger; trades booked later are not in the log.
    std::int64_t bytes = 0;
    std::string hash;  // hash(n) = SHA-256(hash(n-1) || line n), the first over the line alone.
    friend bool operator==(const PnlCursor&, const PnlCursor&) = default;
};

// What is on record of a tenant's jobs; the machine `pnl/<tenant>`.
struct PnlRow {
    bool is_running = false;
    std::string run_id;  // Of the last run; empty before the first.
    std::int64_t lookback_days = 0;
    Timestamp started_at;
    std::string outcome;  // "completed", "stopped", "interrupted", or why it failed.
    std::optional<Timestamp> last_update;  // When a run last completed.
    PnlCursor trades = {};                 // What that run left in the log.
    friend bool operator==(const PnlRow&, const PnlRow&) = default;
};
Json encode(const PnlRow& row);
Result<PnlRow> decode_pnl_row(const Json& json);

struct PnlStatus {
    PnlState state = PnlState::idle;
    bool is_stopping = false;
    std::int64_t records_read = 0;  // Of the ledger; these four are of the running job.
    std::int64_t records_total = 0;
    std::int64_t symbols_done = 0;
    std::int64_t symbols_total = 0;  // 0 until the ledger is read.
    std::string last_outcome;
    std::optional<Timestamp> last_update;
};
// The answer of `pnl_status`, with the progress of a running job.
Json encode(const PnlStatus& status);
// The answer of `pnl_last_update`: Unix seconds as a JSON number, or null.
Json pnl_last_update_json(const PnlStatus& status);

class PnlJobs {
public:
    struct Bounds {
        std::size_t jobs_max = 16;  // Of all tenants at once; one more: `overloaded`.
        std::int64_t page_records = 1000;
        std::size_t fills_max = 500'000;       // Of one job; one more and it fails as `overloaded`.
        std::size_t kept_bytes = 1024 * 1024;  // Of the log's trades in one slice.
    };
    // Puts a slice where it may take its time; false: no room. WorkerPool::try_run is one.
    using RunSlice = std::function<bool(std::function<void()>)>;
    struct Parts {
        TurnRunner& runner;
        LedgerStore& store;
        const MarketFeed& feed;
        PnlLog& log;
        Clock& clock;
        SubmitTurn submit;
        RunSlice run;
    };
    explicit PnlJobs(Parts parts) : PnlJobs(std::move(parts), Bounds{}) {}
    PnlJobs(Parts parts, Bounds bounds) : parts_(std::move(parts)), bounds_(bounds) {}

    // Before the first turn: reads the rows. Jobs that were running are `unknown` from here on.
    Result<void> open();
    // Any thread, once after open() and now and then: records every unknown job as interrupted.
    void settle();
    // Any thread, before the pool is stopped: running jobs end where they are and say nothing, so
    // that the next start finds them unknown. This object outlives the pool's last slice.
    void shut_down() { is_closing_ = true; }

    // Inside a turn of the tenant. These answer `run_pnl` and `stop_pnl`.
    struct Order {
        VenueAccount account;
        std::int64_t lookback_days = kLookbackDaysDefault;
    };
    struct Answered {
        std::string message;
        bool running = false;
    };
    Result<Answered> start(Turn& turn, const Order& order);
    Result<Answered> stop(Turn& turn);

    // Any thread.
    PnlStatus status(const TenantId& tenant_id) const;
    // `pnl_snapshot`: the newest lines of the tenant's log.
    Result<std::string> snapshot(const TenantId& tenant_id, std::size_t lines_max) const {
        return parts_.log.tail(tenant_id, lines_max);
    }

private:
    struct Job;
    using JobPtr = std::shared_ptr<Job>;
    struct Entry {
        PnlRow row;  // As committed.
        JobPtr job;  // Null: none in this process.
        bool is_settling = false;
        bool is_unknown() const { return row.is_running && !job; }
    };

    bool is_unknown(const TenantId& tenant_id, const std::string& run_id) const;
    std::size_t jobs_running() const;
    Result<JobPtr> job_of(Turn& turn, const Order& order);
    void launch(const JobPtr& job, PnlRow row);
    void pump(const JobPtr& job);
    bool step(const JobPtr& job);
    Result<void> read_kept(Job& job);
    Result<void> read_page(Job& job);
    // The line of a trade, or nothing when the record is none.
    static Result<std::optional<std::string>> trade_line(const LedgerEntry& entry);
    Result<void> take_trade(Job& job, const std::string& line) const;
    void sort_markets(Job& job) const;
    Result<void> reckon_market(Job& job);
    Result<void> write_total(Job& job);
    void finish(const JobPtr& job, std::string outcome);
    void record_end(const JobPtr& job, std::string outcome);
    struct End {
        std::string outcome;
        PnlCursor trades = {};  // Of a completed run.
    };
    void submit_end(const TenantId& tenant_id, const std::string& run_id, End end);
    void on_recorded(const TenantId& tenant_id, PnlRow row);
    void on_unrecorded(const TenantId& tenant_id, const std::string& run_id);

    Parts parts_;
    const Bounds bounds_;
    std::atomic<bool> is_closing_ = false;
    mutable std::mutex mutex_;
    std::map<TenantId, Entry> entries_;  // One for each tenant that ever ran a job.
};

}  // namespace interlock
