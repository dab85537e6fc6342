#include "bench/bench_plane.h"

#include <time.h>

#include "base/log.h"

namespace interlock {
namespace {

Duration cpu_of_this_thread() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return {used.tv_sec * 1'000'000 + used.tv_nsec / 1000};
}

}  // namespace

Result<std::unique_ptr<BenchPlane>> BenchPlane::open(const Options& options) {
    std::unique_ptr<BenchPlane> made(new BenchPlane());
    TRY(made->build(options));
    return made;
}

BenchPlane::~BenchPlane() {
    if (engine_) {
        engine_->stop();
    }
}

Result<void> BenchPlane::build(const Options& options) {
    TRY_ASSIGN(data_, DataFolder::open(options.folder, ids_));
    SqliteLedgerOptions options_of_store;
    options_of_store.path = data_->file("ledger.db");
    TRY_ASSIGN(store_, SqliteLedgerStore::open(options_of_store));
    LedgerStore* store = store_.get();
    if (options.record) {
        store = &recording_.emplace(*store_);
    }
    TRY_ASSIGN(mirror_, FileHeadMirror::open(data_->file("heads")));
    flag_.emplace(data_->path());
    PlaneConfig config;
    if (options.trade) {
        feed_.emplace(clock_, options.markets);
        TRY_ASSIGN(config.loop.quote, Asset::parse("USDT"));
        config.loop.paper_deposit = Decimal(100'000);
        config.loop.universe = feed_->symbols();
    }
    plane_.emplace(
        Plane::Parts{
            .store = *store,
            .clock = clock_,
            .ids = ids_,
            .mirror = *mirror_,
            .observer = *this,
            .sink = sink_,
            .flag = *flag_,
            .keys = data_->seal_keys(),
            .head_log = data_->head_log(),
            .submit = [this](TurnRequest turn) { engine_->submit(std::move(turn)); },
            .dispatch = [](std::vector<OutboxItem>) {},
            .feed = feed_ ? &*feed_ : nullptr},
        config);
    engine_ = std::make_unique<TurnEngine>(plane_->runner, TurnEngine::Bounds{});
    engine_->set_clock(clock_);
    TRY(plane_->open());
    return {};
}

void BenchPlane::on_commit(std::size_t turns, Duration took) {
    counts_.turns += static_cast<std::int64_t>(turns);
    ++counts_.commits;
    counts_.in_commit.microseconds += took.microseconds;
    counts_.cpu = cpu_of_this_thread();
    const std::int64_t pages = store_->counters().wal.wal_pages;
    // After a restart of the log the count begins anew.
    counts_.wal_pages += pages >= last_wal_pages_ ? pages - last_wal_pages_ : pages;
    last_wal_pages_ = pages;
}

void BenchPlane::on_commit_failure(const Error& error) {
    log_error("bench_commit_failed", {{"message", error.message}});
}

std::vector<TurnCommit> BenchPlane::take_recorded() {
    return recording_ ? recording_->take() : std::vector<TurnCommit>();
}

}  // namespace interlock
