#include "bench/paper_bench.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bench/latency.h"
#include "engine/system/system_clock.h"
#include "market/rules/synthetic_market.h"
#include "venues/paper/paper_venue.h"

namespace interlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kIdsPerAccount = 1 << 15;
constexpr std::int64_t kTakerEvery = 20;
constexpr std::size_t kLatencySamples = 200'000;
constexpr int kCallsPerClockReading = 256;

// One account's stream of calls. Requests are prepared, as a caller would hold them.
class PaperFlow {
public:
    PaperFlow(PaperVenue& venue, const VenueAccount& account, std::int64_t open_orders)
        : venue_(venue), open_orders_(static_cast<std::size_t>(open_orders)) {
        request_.account = account;
        request_.symbol = Symbol::parse("BTCUSDT").value();
        for (std::size_t i = 0; i < kIdsPerAccount; ++i) {
            ids_.push_back(OrderClientId::trusted(fmt::format("h{:031d}", i)));
        }
    }

    void call(PaperBenchResult& counts) {
        if (++calls_ % kTakerEvery == 0) {
            take(counts);
        } else if (open_.size() < open_orders_) {
            rest(counts);
        } else {
            cancel(counts);
        }
        if (calls_ % 1024 == 1) {
            look();
        }
    }

private:
    static constexpr std::int64_t kLots = 20;  // 0.0002 BTC, above the least notional.

    // Where the market is; prices of orders are made from it.
    void look() {
        const MarketSet facts = venue_.facts({&request_.symbol, 1});
        CHECK(facts.markets.size() == 1);
        const MarketFacts& market = facts.markets.front();
        bid_ = market.best_bid.value();
        ask_ = market.best_ask.value();
        tick_ = market.rules.tick_size;
        step_ = market.rules.step_size;
    }
    std::size_t next_id() { return next_++ % kIdsPerAccount; }

    void rest(PaperBenchResult& counts) {
        if (calls_ == 1) {
            look();
        }
        ++counts.submits;
        const bool buys = calls_ % 2 == 0;
        const std::int64_t away = 1000 + (calls_ * 37) % 2000;
        const std::size_t id = next_id();
        request_.order_client_id = ids_[id];
        request_.side = buys ? Side::buy : Side::sell;
        request_.time_in_force = TimeInForce::gtc;
        request_.qty = Decimal::from_units(step_.units() * kLots);
        request_.limit_price = Decimal::from_units(
            buys ? bid_.units() - tick_.units() * away : ask_.units() + tick_.units() * away);
        const auto ack = venue_.submit(request_);
        counts.refused += ack ? 0 : 1;
        if (ack && is_live(ack->order.state)) {
            open_.push_back(id);
        }
    }

    void cancel(PaperBenchResult& counts) {
        ++counts.cancels;
        const auto done = venue_.cancel(request_.account, request_.symbol, ids_[open_.front()]);
        open_.pop_front();
        counts.refused += done ? 0 : 1;
    }

    void take(PaperBenchResult& counts) {
        ++counts.submits;
        ++counts.takers;
        const bool buys = (calls_ / kTakerEvery) % 2 == 0;
        request_.order_client_id = ids_[next_id()];
        request_.side = buys ? Side::buy : Side::sell;
        request_.time_in_force = TimeInForce::ioc;
        request_.qty = Decimal::from_units(step_.units() * kLots);
        request_.limit_price = buys ? ask_ : bid_;
        const auto ack = venue_.submit(request_);
        counts.refused += ack ? 0 : 1;
        counts.fills += ack ? static_cast<std::int64_t>(ack->fills.size()) : 0;
    }

    PaperVenue& venue_;
    VenueOrderRequest request_;
    std::size_t open_orders_;
    std::vector<OrderClientId> ids_;
    std::size_t next_ = 0;
    std::deque<std::size_t> open_;  // Places in ids_, oldest first.
    std::int64_t calls_ = 0;
    Decimal bid_;
    Decimal ask_;
    Decimal tick_;
    Decimal step_;
};

double cpu_seconds() {
    timespec spent{};
    CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) == 0);
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
}

PaperBenchResult run_round(std::vector<PaperFlow>& flows, double seconds) {
    PaperBenchResult counts;
    const double cpu_begin = cpu_seconds();
    const auto begin = SteadyClock::now();
    double passed = 0;
    std::int64_t calls = 0;
    while (passed < seconds) {
        for (int i = 0; i < kCallsPerClockReading; ++i) {
            flows[static_cast<std::size_t>(calls++) % flows.size()].call(counts);
        }
        passed = std::chrono::duration<double>(SteadyClock::now() - begin).count();
    }
    const auto orders = static_cast<double>(counts.submits + counts.cancels);
    counts.orders_per_s = orders / passed;
    counts.orders_per_cpu_s = orders / (cpu_seconds() - cpu_begin);
    return counts;
}

std::vector<std::int64_t> time_single_calls(std::vector<PaperFlow>& flows) {
    PaperBenchResult unused;
    std::vector<std::int64_t> nanoseconds;
    for (std::size_t i = 0; i < kLatencySamples; ++i) {
        const auto begin = SteadyClock::now();
        flows[i % flows.size()].call(unused);
        nanoseconds.push_back(
            std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - begin)
                .count());
    }
    std::sort(nanoseconds.begin(), nanoseconds.end());
    return nanoseconds;
}

}  // namespace

Result<PaperBenchResult> run_paper_bench(const PaperBenchOptions& options) {
    SystemClock clock;
    TRY_ASSIGN(
        const std::unique_ptr<PaperVenue> venue,
        PaperVenue::open(
            std::make_unique<SyntheticMarket>(
                SyntheticOptions{.orders_per_10s_max = 0, .orders_per_day_max = 0}),
            clock,
            {}));
    const std::vector<VenueBalance> balances{
        {Asset::parse("USDT").value(), Decimal(10'000'000), {}},
        {Asset::parse("BTC").value(), Decimal(1'000), {}}};
    std::vector<PaperFlow> flows;
    for (std::int64_t i = 0; i < options.accounts; ++i) {
        const VenueAccount account{
            TenantId::trusted("tenant" + std::to_string(i)),
            AccountId::trusted("main"),
            TradeMode::paper};
        TRY(venue->open_account(account, balances));
        flows.emplace_back(*venue, account, options.open_orders);
    }
    run_round(flows, options.seconds / 2);  // To warm up.
    std::vector<PaperBenchResult> rounds;
    for (int i = 0; i < options.rounds; ++i) {
        rounds.push_back(run_round(flows, options.seconds));
    }
    std::sort(rounds.begin(), rounds.end(), [](const auto& a, const auto& b) {
        return a.orders_per_s < b.orders_per_s;
    });
    PaperBenchResult result = rounds[rounds.size() / 2];
    std::vector<double> per_s;
    std::vector<double> per_cpu_s;
    for (const PaperBenchResult& round : rounds) {
        per_s.push_back(round.orders_per_s);
        per_cpu_s.push_back(round.orders_per_cpu_s);
    }
    result.orders_per_s = result.spreads.note("orders_per_s", per_s);
    result.orders_per_cpu_s = result.spreads.note("orders_per_cpu_s", per_cpu_s);
    const std::vector<std::int64_t> nanoseconds = time_single_calls(flows);
    result.p50_ns = percentile_of(nanoseconds, 0.50);
    result.p99_ns = percentile_of(nanoseconds, 0.99);
    result.rounds = options.rounds;
    return result;
}

Json encode(const PaperBenchResult& result) {
    Json json = Json::object({
        {"orders_per_s", static_cast<std::int64_t>(result.orders_per_s)},
        {"orders_per_cpu_s", static_cast<std::int64_t>(result.orders_per_cpu_s)},
        {"submits", result.submits},
        {"cancels", result.cancels},
        {"takers", result.takers},
        {"fills", result.fills},
        {"refused", result.refused},
        {"p50_ns", result.p50_ns},
        {"p99_ns", result.p99_ns},
        {"rounds", result.rounds},
    });
    result.spreads.write(json);
    return json;
}

std::string to_text(const PaperBenchResult& result) {
    const auto calls = static_cast<double>(result.submits + result.cancels);
    const auto percent = [&](std::int64_t part) {
        return calls > 0 ? 100.0 * static_cast<double>(part) / calls : 0.0;
    };
    return fmt::format(
        "The whole paper venue in process: ids, filters, balances, fees, self-trade prevention,\n"
        "moving market, lock; no journal. One thread, {} rounds, median.\n"
        "orders       {:.2f} million/s (submits and cancels); {:.2f} million per second of "
        "processor\n"
        "mix          {:.0f} % passive submits, {:.0f} % cancels, {:.0f} % takers\n"
        "one call     p50 {} ns, p99 {} ns, two readings of the clock included\n"
        "fills        {}, refused {}\n",
        result.rounds,
        result.orders_per_s / 1e6,
        result.orders_per_cpu_s / 1e6,
        percent(result.submits - result.takers),
        percent(result.cancels),
        percent(result.takers),
        result.p50_ns,
        result.p99_ns,
        result.fills,
        result.refused);
}

}  // namespace interlock
