#include "bench/bench_plane.h"

#include <time.h>

#include "base/log.h"
#include "bench/trading_caller.h"
#include "market/rules/synthetic_market.h"

namespace interlock {
namespace {

const Decimal kBenchDeposit(100'000);

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
    stop();
}

void BenchPlane::stop() {
    if (outbox_) {
        outbox_->stop();
    }
    if (engine_) {
        engine_->stop();
    }
}

const MarketFeed* BenchPlane::feed() const {
    return venue_ ? venue_.get() : feed_ ? static_cast<const MarketFeed*>(&*feed_) : nullptr;
}

// No order rate: what is measured is ours.
Result<void> BenchPlane::open_venue() {
    TRY_ASSIGN(
        venue_,
        PaperVenue::open(
            std::make_unique<SyntheticMarket>(
                SyntheticOptions{.orders_per_10s_max = 0, .orders_per_day_max = 0}),
            clock_,
            {.journal_path = data_->file("paper.journal")}));
    TRY(venue_->advance(clock_.now()));
    venue_sink_.emplace(VenueSink::Parts{
        .venues = {{TradeMode::paper, venue_.get()}},
        .behind = sink_,
        .clock = clock_,
        .accounts = [] { return std::vector<VenueAccount>(); }});
    return {};
}

Result<LoopConfig> BenchPlane::loop_config(const Options& options) {
    LoopConfig loop;
    if (options.venue) {
        TRY(open_venue());
        TRY_ASSIGN(
            loop.limits,
            decode_limit_changes(Json::object({{"repeated_execution_max", kTradeExecutionsMax}})));
    } else if (options.trade) {
        feed_.emplace(clock_, options.markets);
    } else {
        return loop;
    }
    TRY_ASSIGN(loop.quote, Asset::parse("USDT"));
    loop.paper_deposit = kBenchDeposit;
    loop.universe = feed()->symbols();
    return loop;
}

Result<void> BenchPlane::build(const Options& options) {
    TRY_ASSIGN(data_, DataFolder::open(options.folder, ids_));
    SqliteLedgerOptions options_of_store;
    options_of_store.path = data_->file("ledger.db");
    options_of_store.wal_restart_bytes = options.wal_restart_bytes;
    TRY_ASSIGN(store_, SqliteLedgerStore::open(options_of_store));
    LedgerStore* store = store_.get();
    if (options.record) {
        store = &recording_.emplace(*store_);
    }
    TRY_ASSIGN(mirror_, FileHeadMirror::open(data_->file("heads")));
    flag_.emplace(data_->path());
    PlaneConfig config;
    TRY_ASSIGN(config.loop, loop_config(options));
    EffectSink* sink = venue_sink_ ? static_cast<EffectSink*>(&*venue_sink_) : &sink_;
    plane_.emplace(
        Plane::Parts{
            .store = *store,
            .clock = clock_,
            .ids = ids_,
            .mirror = *mirror_,
            .observer = *this,
            .sink = *sink,
            .flag = *flag_,
            .keys = data_->seal_keys(),
            .head_log = data_->head_log(),
            .submit = [this](TurnRequest turn) { engine_->submit(std::move(turn)); },
            .dispatch =
                [this](std::vector<OutboxItem> effects) {
                    if (outbox_) {
                        outbox_->enqueue(std::move(effects));
                    }
                },
            .feed = feed(),
            .on_account =
                [this](const Account& account) {
                    const VenueBalance deposit{account.quote, kBenchDeposit, {}};
                    if (venue_ && !venue_->open_account(account.key, {&deposit, 1})) {
                        log_error("bench_account_failed", {});
                    }
                }},
        config);
    engine_ = std::make_unique<TurnEngine>(plane_->runner, TurnEngine::Bounds{});
    engine_->set_clock(clock_);
    if (venue_) {
        outbox_ =
            std::make_unique<OutboxThreads>(plane_->outbox, clock_, [this](EffectOutcome outcome) {
                engine_->submit_internal(plane_->runner.outcome_turn(std::move(outcome)));
            });
    }
    TRY(plane_->open());
    return {};
}

void BenchPlane::on_commit(std::size_t turns, Duration took) {
    counts_.turns += static_cast<std::int64_t>(turns);
    ++counts_.commits;
    counts_.in_commit.microseconds += took.microseconds;
    counts_.commits_us.push_back(took.microseconds);
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
