#include "bench/matching_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "bench/latency.h"
#include "bench/rounded.h"
#include "market/rules/matching/matching_engine.h"

namespace interlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr MatchingLimits kLimits{.orders_max = std::size_t{1} << 17};
constexpr int kClockReadings = 100'000;

// Counts events and folds them into a number, so that no work can be optimised away.
struct FoldingSink {
    std::uint64_t fingerprint = 0;
    std::int64_t trades = 0;
    std::int64_t refused = 0;

    void fold(std::uint64_t value) { fingerprint = (fingerprint ^ value) * 0x9E3779B97F4A7C15u; }
    void fold(BookOrderId id, Lots quantity) {
        fold(static_cast<std::uint64_t>(id));
        fold(static_cast<std::uint64_t>(quantity.count));
    }
    void on(const BookAccepted& event) { fold(event.id, event.quantity); }
    void on(const BookTrade& event) {
        ++trades;
        fold(event.maker, event.quantity);
        fold(event.taker, {event.price.count});
    }
    void on(const BookCancelled& event) { fold(event.id, event.quantity); }
    void on(const BookRejected& event) {
        ++refused;
        fold(event.id, {static_cast<std::int64_t>(event.reason)});
    }
};

// Says of each refusal what was refused and why; too dear for the passes that are timed as a whole.
struct TellingSink : FoldingSink {
    using FoldingSink::on;
    MatchingCall::Kind kind = MatchingCall::Kind::submit;
    RefusalCounts refusals = {};

    void on(const BookRejected& event) {
        ++refusals[static_cast<std::size_t>(kind)][static_cast<std::size_t>(event.reason)];
        FoldingSink::on(event);
    }
};

template <class Sink>
void play(MatchingEngine& engine, const MatchingCall& call, Sink& sink) {
    const BookOrder& order = call.order;
    switch (call.kind) {
        case MatchingCall::Kind::submit:
            engine.submit(order, sink);
            return;
        case MatchingCall::Kind::cancel:
            engine.cancel(order.id, sink);
            return;
        case MatchingCall::Kind::amend:
            engine.amend({order.id, order.price, order.quantity, order.self_trade}, sink);
            return;
    }
}

std::int64_t ns_between(SteadyClock::time_point from, SteadyClock::time_point to) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

double measure_rate(const std::vector<MatchingCall>& flow, std::uint64_t& fingerprint) {
    MatchingEngine engine(kLimits);
    FoldingSink sink;
    const auto start = SteadyClock::now();
    for (const MatchingCall& call : flow) {
        play(engine, call, sink);
    }
    const auto took = std::max<std::int64_t>(ns_between(start, SteadyClock::now()), 1);
    fingerprint = sink.fingerprint;
    return static_cast<double>(flow.size()) * 1e9 / static_cast<double>(took);
}

std::int64_t measure_clock() {
    std::vector<std::int64_t> readings(kClockReadings);
    for (std::int64_t& reading : readings) {
        const auto start = SteadyClock::now();
        reading = ns_between(start, SteadyClock::now());
    }
    return median_of(std::move(readings));
}

void measure_calls(const std::vector<MatchingCall>& flow, MatchingRow& row) {
    MatchingEngine engine(kLimits);
    TellingSink sink;
    std::vector<std::int64_t> times(flow.size());
    std::size_t resting_most = 0;
    std::size_t levels_most = 0;
    for (std::size_t i = 0; i < flow.size(); ++i) {
        sink.kind = flow[i].kind;
        const auto start = SteadyClock::now();
        play(engine, flow[i], sink);
        times[i] = ns_between(start, SteadyClock::now());
        resting_most = std::max(resting_most, engine.resting_orders());
        levels_most = std::max(levels_most, engine.level_count());
    }
    std::sort(times.begin(), times.end());
    row.p50_ns = percentile_of(times, 0.50);
    row.p99_ns = percentile_of(times, 0.99);
    row.p999_ns = percentile_of(times, 0.999);
    row.max_ns = percentile_of(times, 1);
    row.trades = sink.trades;
    row.refused = sink.refused;
    row.refusals = sink.refusals;
    row.resting_most = static_cast<std::int64_t>(resting_most);
    row.levels_most = static_cast<std::int64_t>(levels_most);
    row.fingerprint = sink.fingerprint;
}

}  // namespace

void run_matching_bench(
    const MatchingBenchOptions& options, const std::function<void(const MatchingRow&)>& done) {
    const std::int64_t clock_ns = measure_clock();
    for (const MatchingMix& mix : options.mixes) {
        const auto flow = make_matching_flow(mix, options.calls, options.seed);
        MatchingRow row{.mix = mix.name, .calls = static_cast<std::int64_t>(flow.size())};
        measure_calls(flow, row);
        std::vector<double> rates;
        for (int round = 0; round < options.rounds; ++round) {
            std::uint64_t fingerprint = 0;
            rates.push_back(measure_rate(flow, fingerprint));
            CHECK(fingerprint == row.fingerprint);
        }
        row.calls_per_s = row.spreads.note("calls_per_s", rates);
        row.clock_ns = clock_ns;
        done(row);
    }
}

namespace {

constexpr std::array<std::string_view, kMatchingCallKinds> kCallWords{"submit", "cancel", "amend"};
constexpr std::array<std::string_view, kBookRefusals> kRefusalWords{
    "bad_price",
    "bad_quantity",
    "bad_combination",
    "duplicate_id",
    "unknown_order",
    "would_take",
    "orders_full",
    "levels_full"};

// Those that happened: {"cancel": {"unknown_order": 7}}.
Json encode_refusals(const RefusalCounts& refusals) {
    Json calls = Json::object();
    for (std::size_t kind = 0; kind < refusals.size(); ++kind) {
        Json reasons = Json::object();
        for (std::size_t reason = 0; reason < refusals[kind].size(); ++reason) {
            if (const std::int64_t count = refusals[kind][reason]; count > 0) {
                reasons.set(std::string(kRefusalWords[reason]), count);
            }
        }
        calls.set(std::string(kCallWords[kind]), std::move(reasons));
    }
    return calls;
}

double percent_of(std::int64_t part, std::int64_t whole) {
    return 100.0 * static_cast<double>(part) /
           static_cast<double>(std::max<std::int64_t>(1, whole));
}

}  // namespace

Json encode(const MatchingRow& row) {
    Json json = Json::object({
        {"mix", row.mix},
        {"calls", row.calls},
        {"calls_per_s", rounded(row.calls_per_s, 0)},
        {"p50_ns", row.p50_ns},
        {"p99_ns", row.p99_ns},
        {"p999_ns", row.p999_ns},
        {"max_ns", row.max_ns},
        {"clock_ns", row.clock_ns},
        {"trades", row.trades},
        {"refused", row.refused},
        {"refusals", encode_refusals(row.refusals)},
        {"resting_most", row.resting_most},
        {"levels_most", row.levels_most},
        {"fingerprint", fmt::format("{:016x}", row.fingerprint)},
    });
    row.spreads.write(json);
    return json;
}

std::string to_table(const std::vector<MatchingRow>& rows) {
    std::string table = fmt::format(
        "{:<12} {:>10} {:>8} {:>7} {:>7} {:>8} {:>9} {:>8} {:>8} {:>8} {:>7}  {}\n",
        "mix",
        "calls/s",
        "ns/call",
        "p50 ns",
        "p99 ns",
        "p99.9 ns",
        "max ns",
        "trades",
        "refused",
        "resting",
        "levels",
        "fingerprint");
    for (const MatchingRow& row : rows) {
        table += fmt::format(
            "{:<12} {:>10.0f} {:>8.1f} {:>7} {:>7} {:>8} {:>9} {:>8} {:>7.1f}% {:>8} {:>7}  "
            "{:016x}\n",
            row.mix,
            row.calls_per_s,
            row.calls_per_s > 0 ? 1e9 / row.calls_per_s : 0,
            row.p50_ns,
            row.p99_ns,
            row.p999_ns,
            row.max_ns,
            row.trades,
            percent_of(row.refused, row.calls),
            row.resting_most,
            row.levels_most,
            row.fingerprint);
    }
    return table;
}

}  // namespace interlock
