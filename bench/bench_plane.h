// The production plane for benchmarks: engine thread, services and SQLite store on a real disk,
// without a network around it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/plane/plane.h"
#include "bench/bench_feed.h"
#include "bench/recording_store.h"
#include "engine/service/turn_engine.h"
#include "engine/sink/no_sink.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/file_kill_flag.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"
#include "loop/rules/gates/sample_world.h"
#include "loop/service/venue_sink.h"
#include "venues/paper/paper_venue.h"

namespace interlock {

// What the engine thread did, written by it and read after it stopped.
struct EngineCounts {
    std::int64_t turns = 0;
    std::int64_t commits = 0;
    Duration in_commit;  // Wall time.
    Duration cpu;        // Of the engine thread, up to its last commit.
    std::int64_t wal_pages = 0;
    std::vector<std::int64_t> commits_us = {};  // Wall time of each.
};

class BenchPlane final : private TurnObserver {
public:
    struct Options {
        std::string folder;   // New, or holding an earlier plane.
        bool record = false;  // Keep copies of the turns; costs time.
        bool trade = false;   // With markets, so that plans can be validated.
        // With the paper venue and its moving markets instead, so that orders are filled.
        bool venue = false;
        std::int64_t markets = kSampleSymbolsMax;
        std::int64_t wal_restart_bytes = kWalRestartBytes;
    };
    static Result<std::unique_ptr<BenchPlane>> open(const Options& options);
    ~BenchPlane() override;

    // `on_round` runs on the engine thread after each batch was answered.
    void start(std::function<void()> on_round) {
        engine_->set_round_duty([this, call = std::move(on_round)] {
            plane_->ledger.duty();
            call();
        });
        engine_->start();
        if (outbox_) {
            outbox_->start();
        }
    }
    // Ends the engine thread; counts and turns may be read afterwards.
    void stop();

    Plane& plane() { return *plane_; }
    RandomIdSource& ids() { return ids_; }
    std::vector<Symbol> symbols() const {
        return feed() != nullptr ? feed()->symbols() : std::vector<Symbol>();
    }
    WalCounters wal() const { return store_->counters().wal; }
    const EngineCounts& counts() const { return counts_; }
    std::vector<TurnCommit> take_recorded();

private:
    BenchPlane() = default;
    Result<void> build(const Options& options);
    Result<void> open_venue();
    Result<LoopConfig> loop_config(const Options& options);
    const MarketFeed* feed() const;
    void on_commit(std::size_t turns, Duration took) override;
    void on_refusal(std::string_view) override {}
    void on_commit_failure(const Error& error) override;

    SystemClock clock_;
    RandomIdSource ids_;
    std::optional<DataFolder> data_;
    std::unique_ptr<SqliteLedgerStore> store_;
    std::optional<RecordingStore> recording_;
    std::optional<FileHeadMirror> mirror_;
    std::optional<FileKillFlag> flag_;
    NoSink sink_;
    std::unique_ptr<PaperVenue> venue_;
    std::optional<VenueSink> venue_sink_;
    std::optional<BenchFeed> feed_;
    std::optional<Plane> plane_;
    std::unique_ptr<TurnEngine> engine_;
    std::unique_ptr<OutboxThreads> outbox_;
    EngineCounts counts_;
    std::int64_t last_wal_pages_ = 0;
};

}  // namespace interlock
