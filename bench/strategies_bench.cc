#include "bench/strategies_bench.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "app/plane/plane.h"
#include "app/plane/venue_watch.h"
#include "base/errors.h"
#include "bench/latency.h"
#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "engine/sink/no_sink.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/file_kill_flag.h"
#include "engine/system/random_id_source.h"
#include "loop/service/venue_sink.h"
#include "market/rules/synthetic_market.h"
#include "venues/paper/paper_venue.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kTypes{
    "grid_trader", "trend_follower", "exposure_protector", "idle"};
constexpr Duration kRound = Duration::of_seconds(1);
constexpr Duration kActingRound = Duration::of_minutes(1);
constexpr std::int64_t kMarketsOfAnAccount = 9;
const Decimal kDeposit(100'000);

// Time moves when the bench says so; every round is one tick of every strategy.
class BenchClock final : public Clock {
public:
    Timestamp now() override { return now_; }
    Duration monotonic() override { return {now_.microseconds}; }
    void advance(Duration span) { now_ = now_ + span; }

private:
    Timestamp now_ = *parse_timestamp("2026-01-05T12:00:00Z");
};

class Quiet final : public TurnObserver {
    void on_commit(std::size_t, Duration) override {}
    void on_refusal(std::string_view) override {}
    void on_commit_failure(const Error&) override {}
};

std::int64_t cpu_us_of_this_thread() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000 + used.tv_nsec / 1000;
}

// The production plane over SQLite and the paper venue, all on this thread.
class StrategiesWorld {
public:
    explicit StrategiesWorld(Duration round) : round_(round) {}

    Result<void> open(const std::string& folder) {
        TRY_ASSIGN(data_, DataFolder::open(folder, ids_));
        SqliteLedgerOptions options;
        options.path = data_->file("ledger.db");
        TRY_ASSIGN(store_, SqliteLedgerStore::open(options));
        TRY_ASSIGN(mirror_, FileHeadMirror::open(data_->file("heads")));
        flag_.emplace(data_->path());
        // No order rate: what is measured is ours.
        TRY_ASSIGN(
            paper_,
            PaperVenue::open(
                std::make_unique<SyntheticMarket>(
                    SyntheticOptions{.orders_per_10s_max = 0, .orders_per_day_max = 0}),
                clock_,
                {}));
        TRY(paper_->advance(clock_.now()));
        sink_.emplace(VenueSink::Parts{
            .venues = {{TradeMode::paper, paper_.get()}},
            .behind = no_sink_,
            .clock = clock_,
            .accounts = [this] {
                std::vector<VenueAccount> accounts;
                for (const LoopService::Watched& one : plane_->loop->watched()) {
                    accounts.push_back(one.account);
                }
                return accounts;
            }});
        TRY(build_plane());
        watch_.emplace(VenueWatch::Parts{
            .loop = *plane_->loop,
            .venues = {{TradeMode::paper, paper_.get()}},
            .clock = clock_,
            .ticker = *plane_->ticker,
            .decisions = *plane_->decisions});
        return {};
    }

    Plane& plane() { return *plane_; }
    std::vector<Symbol> symbols() const { return paper_->symbols(); }
    std::string new_key() { return ids_.new_id("idem"); }

    // Runs a turn with everything that follows from it; its answer as JSON.
    template <class Make>
    Result<Json> ask(Make make) {
        std::optional<Result<Answer>> answer;
        turns_.push_back(make([&](Result<Answer> given) { answer = std::move(given); }));
        run_turns();
        run_effects();
        if (!answer) {
            return fail(errors::unavailable, "A turn was not answered.");
        }
        if (!*answer) {
            return std::unexpected(answer->error());
        }
        return parse_json((*answer)->body);
    }

    // One round of ticks; how much CPU it took and how many strategies acted.
    struct Round {
        std::int64_t cpu_us = 0;
        std::int64_t acting = 0;
    };
    Result<Round> tick() {
        clock_.advance(round_);
        TRY(paper_->advance(clock_.now()));
        plane_->runner.fire_timers(1000);
        run_turns();
        Round round;
        const std::int64_t begin = cpu_us_of_this_thread();
        turns_ = plane_->ticker->due_turns(clock_.monotonic());
        const std::size_t ticks = turns_.size();
        const std::size_t ran = run_turns();
        round.cpu_us = cpu_us_of_this_thread() - begin;
        round.acting = static_cast<std::int64_t>(ran - ticks);
        run_effects();
        watch_->poll();  // Nothing is due any more; fills and cancels are seen.
        run_turns();
        run_effects();
        return round;
    }

    std::int64_t open_orders() {
        std::int64_t count = 0;
        for (const LoopService::Watched& one : plane_->loop->watched()) {
            const auto report = paper_->report(one.account, 0);
            count += report ? std::ssize(report->open_orders) : 0;
        }
        return count;
    }

private:
    Result<void> build_plane() {
        PlaneConfig config;
        TRY_ASSIGN(config.loop.quote, Asset::parse("USDT"));
        config.loop.paper_deposit = kDeposit;
        config.loop.universe = paper_->symbols();
        plane_.emplace(
            Plane::Parts{
                .store = *store_,
                .clock = clock_,
                .ids = ids_,
                .mirror = *mirror_,
                .observer = observer_,
                .sink = *sink_,
                .flag = *flag_,
                .keys = data_->seal_keys(),
                .head_log = data_->head_log(),
                .submit = [this](TurnRequest turn) { turns_.push_back(std::move(turn)); },
                .dispatch =
                    [this](std::vector<OutboxItem> effects) {
                        std::move(effects.begin(), effects.end(), std::back_inserter(effects_));
                    },
                .feed = paper_.get(),
                .on_account =
                    [this](const Account& account) {
                        const VenueBalance deposit{account.quote, kDeposit, {}};
                        (void)paper_->open_account(account.key, {&deposit, 1});
                    }},
            config);
        TRY(plane_->open());
        return {};
    }

    // As the engine takes them: everything that waits becomes one batch.
    std::size_t run_turns() {
        std::size_t count = 0;
        while (!turns_.empty()) {
            count += turns_.size();
            plane_->runner.run_batch(std::exchange(turns_, {}));
        }
        return count;
    }
    void run_effects() {
        while (!effects_.empty()) {
            for (const OutboxItem& effect : std::exchange(effects_, {})) {
                turns_.push_back(plane_->runner.outcome_turn(plane_->outbox.run_one(effect)));
            }
            run_turns();
        }
    }

    const Duration round_;
    BenchClock clock_;
    RandomIdSource ids_;
    Quiet observer_;
    std::optional<DataFolder> data_;
    std::unique_ptr<SqliteLedgerStore> store_;
    std::optional<FileHeadMirror> mirror_;
    std::optional<FileKillFlag> flag_;
    NoSink no_sink_;
    std::unique_ptr<PaperVenue> paper_;
    std::optional<VenueSink> sink_;
    std::optional<Plane> plane_;
    std::optional<VenueWatch> watch_;
    std::vector<TurnRequest> turns_;
    std::vector<OutboxItem> effects_;
};

std::string text_of(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

Json config_of(std::string_view type) {
    Json config = Json::object({{"tick_seconds", 1}});
    if (type == "grid_trader") {
        config.set("grid_levels", 3);
        config.set("order_notional_quote", "50");
    }
    return config;
}

// Steps so small that a minute of the market meets some of them.
Json acting_config() {
    Json config = config_of("grid_trader");
    config.set("volatility_multiplier", "0");
    config.set("grid_step_pct", "0.001");
    config.set("fee_rate", "0.0002");
    config.set("fee_margin_pct", "0.0001");
    return config;
}

struct Made {
    LoopService::Caller caller;
    Symbol symbol;
    std::string type;
    Json config;
};

Result<std::string> create(StrategiesWorld& world, const Made& made) {
    CreateStrategyRequest request;
    request.call.idempotency_key = IdempotencyKey::trusted(world.new_key());
    request.strategy_type = made.type;
    request.account_id = default_account_id();
    request.market_symbol = made.symbol.text();
    request.config = made.config;
    request.mode = InstanceMode::observe;
    TRY_ASSIGN(const Json answer, world.ask([&](LoopService::Reply reply) {
        return world.plane().strategies->create_turn(
            made.caller, std::move(request), std::move(reply));
    }));
    if (text_of(answer, "id").empty()) {
        return fail(errors::unavailable, "A strategy could not be made: " + to_text(answer));
    }
    return text_of(answer, "id");
}

Result<void> activate(StrategiesWorld& world, const Made& made, const std::string& id) {
    Json payload = Json::object({
        {"decision_id", world.new_key()},
        {"concern_id", concern_id_of(default_account_id(), made.symbol).text()},
        {"account_id", default_account_id().text()},
        {"market_symbol", made.symbol.text()},
        {"action", "switch"},
        {"target_strategy_id", id},
        {"reason", "the bench begins"},
        {"confidence", Json::number("1")},
    });
    TRY_ASSIGN(const Json answer, world.ask([&](LoopService::Reply reply) {
        return world.plane().decisions->apply_turn(
            made.caller, std::move(payload), std::move(reply));
    }));
    if (text_of(answer, "status") != "applied") {
        return fail(errors::unavailable, "A strategy could not be started: " + to_text(answer));
    }
    return {};
}

// Gives how many are active.
Result<std::int64_t> populate(StrategiesWorld& world, const StrategiesBenchOptions& options) {
    const std::vector<Symbol> symbols = world.symbols();
    const std::int64_t markets = std::ssize(symbols);
    std::int64_t active = 0;
    for (std::int64_t i = 0; i < options.instances; ++i) {
        const std::int64_t account = i % options.accounts;
        const std::int64_t round = i / options.accounts;  // Within the account.
        Made made;
        made.caller.tenant_id = TenantId::trusted(fmt::format("bench{}", account));
        made.caller.principal.kind = PrincipalKind::agent;
        made.caller.principal.id = "key_bench";
        made.symbol = symbols[static_cast<std::size_t>(round % markets)];
        const bool is_first = round < markets;
        // The first of a market is the one that trades: every second one a grid.
        const std::int64_t kind = is_first ? (round % 2 == 0 ? 0 : 1 + round % 3) : i / 3 % 4;
        made.type = kTypes[options.acting ? 0 : static_cast<std::size_t>(kind)];
        made.config = options.acting ? acting_config() : config_of(made.type);
        TRY_ASSIGN(const std::string id, create(world, made));
        if (is_first) {
            TRY(activate(world, made, id));
            ++active;
        }
    }
    return active;
}

// What the measured rounds took, and which of them somebody acted in.
struct RoundTimes {
    std::vector<double> all_ms;
    std::vector<double> quiet_ms;
    std::vector<double> acting_ms;
    std::int64_t acting = 0;

    void add(const StrategiesWorld::Round& round) {
        all_ms.push_back(static_cast<double>(round.cpu_us) / 1e3);
        (round.acting == 0 ? quiet_ms : acting_ms).push_back(all_ms.back());
        acting += round.acting;
    }

    void fill(StrategiesBenchReport& report) const {
        report.acting = static_cast<double>(acting) / static_cast<double>(all_ms.size());
        report.round_max_ms = *std::max_element(all_ms.begin(), all_ms.end());
        report.round_p50_ms = report.spreads.note("round_cpu_p50_ms", all_ms, 3);
        report.quiet_p50_ms = report.spreads.note("quiet_round_cpu_p50_ms", quiet_ms, 3);
        report.acting_p50_ms = report.spreads.note("acting_round_cpu_p50_ms", acting_ms, 3);
        report.acting_rounds = std::ssize(acting_ms);
        std::vector<std::int64_t> sorted_us;
        for (const double ms : acting_ms) {
            sorted_us.push_back(static_cast<std::int64_t>(ms * 1e3));
        }
        std::ranges::sort(sorted_us);
        report.acting_p99_ms = static_cast<double>(percentile_of(sorted_us, 0.99)) / 1e3;
    }
};

}  // namespace

Result<StrategiesBenchReport> run_strategies_bench(const StrategiesBenchOptions& options) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    if (options.acting && options.instances > options.accounts * kMarketsOfAnAccount) {
        return fail(
            errors::invalid_request,
            fmt::format("{} accounts have fewer concerns than that.", options.accounts),
            "Give one account for every nine strategies.");
    }
    StrategiesWorld world(options.acting ? kActingRound : kRound);
    TRY(world.open(folder.file("data")));
    StrategiesBenchReport report;
    TRY_ASSIGN(report.active, populate(world, options));
    for (std::int64_t i = 0; i < options.warm_up; ++i) {
        TRY(world.tick());
    }
    RoundTimes times;
    for (std::int64_t i = 0; i < options.rounds; ++i) {
        TRY_ASSIGN(const StrategiesWorld::Round round, world.tick());
        times.add(round);
    }
    if (options.acting && times.acting == 0) {
        return fail(errors::unavailable, "No strategy acted, so that nothing was measured.");
    }
    report.instances = options.instances;
    report.running = static_cast<std::int64_t>(world.plane().running.size());
    report.accounts = options.accounts;
    report.rounds = options.rounds;
    report.open_orders = world.open_orders();
    times.fill(report);
    return report;
}

Json encode(const StrategiesBenchReport& report) {
    Json json = Json::object({
        {"instances", report.instances},
        {"running", report.running},
        {"active", report.active},
        {"accounts", report.accounts},
        {"rounds", report.rounds},
        {"open_orders", report.open_orders},
        {"acting_per_round", rounded(report.acting, 3)},
        {"round_cpu_p50_ms", rounded(report.round_p50_ms, 3)},
        {"round_cpu_max_ms", rounded(report.round_max_ms, 3)},
        {"quiet_round_cpu_p50_ms", rounded(report.quiet_p50_ms, 3)},
        {"acting_rounds", report.acting_rounds},
        {"acting_round_cpu_p50_ms", rounded(report.acting_p50_ms, 3)},
        {"acting_round_cpu_p99_ms", rounded(report.acting_p99_ms, 3)},
    });
    report.spreads.write(json);
    return json;
}

std::string to_text(const StrategiesBenchReport& report) {
    return fmt::format(
        "{} live strategies in {} accounts, {} of them active with {} open orders; every one "
        "ticks\n"
        "in every round, {:.1f} act on it. CPU of the engine's thread, commits to disk included.\n"
        "round            p50 {:.1f} ms, max {:.1f} ms of {} rounds\n"
        "nobody acts      p50 {:.1f} ms\n"
        "somebody acts    p50 {:.1f} ms, p99 {:.1f} ms of {} rounds\n",
        report.running,
        report.accounts,
        report.active,
        report.open_orders,
        report.acting,
        report.round_p50_ms,
        report.round_max_ms,
        report.rounds,
        report.quiet_p50_ms,
        report.acting_p50_ms,
        report.acting_p99_ms,
        report.acting_rounds);
}

}  // namespace interlock
