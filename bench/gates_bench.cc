#include "bench/gates_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/check.h"
#include "bench/latency.h"
#include "bench/rounded.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/sample_world.h"

namespace interlock {
namespace {

// Calls per reading of the clock, so that the clock itself weighs little.
constexpr std::int64_t kBatch = 16;

struct Shape {
    std::int64_t intents = 1;
    std::int64_t open_orders = 0;
    std::int64_t symbols = 1;
};

void add_open_orders(SampleWorld& world, std::int64_t count) {
    StateFacts& state = world.state;
    for (std::int64_t i = 0; i < count; ++i) {
        SymbolFacts& symbol = state.symbols[static_cast<std::size_t>(i) % state.symbols.size()];
        OpenOrderFacts order;
        order.order_client_id = OrderClientId::trusted(fmt::format("h{:04}", i));
        order.symbol = symbol.symbol;
        order.remaining_qty = sample_decimal("0.0002");
        order.price = Decimal(49'000);
        state.open_orders.push_back(order);
        ++symbol.open_orders;
        symbol.open_buy_notional = *add(symbol.open_buy_notional, sample_decimal("9.8"));
        symbol.open_buy_quote = *add(symbol.open_buy_quote, sample_decimal("9.82"));
        symbol.best_own_bid = Decimal(49'000);
    }
}

SampleWorld world_of(const Shape& shape) {
    SampleWorld world = sample_world(shape.symbols);
    for (SymbolFacts& symbol : world.state.symbols) {
        symbol.position = sample_decimal("0.002");
        symbol.avg_price = Decimal(50'000);
    }
    Intent intent = sample_buy();
    intent.qty = sample_decimal("0.0002");
    world.plan.intents.clear();
    for (std::int64_t i = 0; i < shape.intents; ++i) {
        intent.intent_id = IntentId::trusted(fmt::format("i{}", i));
        world.plan.intents.push_back(intent);
    }
    add_open_orders(world, shape.open_orders);
    return world;
}

// One thing to measure: a call that says whether it came out as it should.
struct Subject {
    GatesRow row;
    std::function<bool()> call;
    std::vector<double> p50s = {};
    std::vector<double> p99s = {};
};

Subject subject_of(std::string what, std::string varied, const Shape& shape) {
    Subject subject;
    subject.row.what = std::move(what);
    subject.row.varied = std::move(varied);
    subject.row.intents = shape.intents;
    subject.row.open_orders = shape.open_orders;
    subject.row.symbols = shape.symbols;
    return subject;
}

Subject gates_subject(std::string varied, const Shape& shape) {
    Subject subject = subject_of("gates", std::move(varied), shape);
    subject.call = [world = world_of(shape)] { return run_gates(world.input()).pass; };
    return subject;
}

Subject refusing_subject() {
    Subject subject = subject_of("gates refusing", "", {});
    SampleWorld world = world_of({});
    world.plan.intents[0].qty = Decimal(1);
    subject.call = [world = std::move(world)] { return !run_gates(world.input()).pass; };
    return subject;
}

Subject dry_run_subject() {
    Subject subject = subject_of("dry run", "", {});
    subject.call = [world = world_of({})] {
        return run_dry_run({.state = world.state,
                            .market = world.market,
                            .plan = world.plan,
                            .slippage_bps = {},
                            .fee_bps = {},
                            .conflicts = {}})
            .pass;
    };
    return subject;
}

Subject envelope_subject() {
    Subject subject = subject_of("envelope", "", {.intents = 0, .open_orders = 0, .symbols = 1});
    subject.call = [world = world_of({})] {
        return allowed_envelope(world.state, world.market).size() == 2;
    };
    return subject;
}

std::vector<Subject> subjects() {
    std::vector<Subject> all;
    for (const std::int64_t intents : {1, 2, 5, 10, 20, 50}) {
        all.push_back(gates_subject("intents", {.intents = intents}));
    }
    // Over nine symbols, so that no symbol reaches its own limit of open orders.
    for (const std::int64_t orders : {0, 20, 60, 180}) {
        all.push_back(gates_subject("open_orders", {.open_orders = orders, .symbols = 9}));
    }
    for (const std::int64_t symbols : {1, 3, 6, 9}) {
        all.push_back(gates_subject("symbols", {.symbols = symbols}));
    }
    all.push_back(refusing_subject());
    all.push_back(dry_run_subject());
    all.push_back(envelope_subject());
    return all;
}

void measure(Subject& subject, std::int64_t samples) {
    using SteadyClock = std::chrono::steady_clock;
    std::vector<std::int64_t> batches;
    batches.reserve(static_cast<std::size_t>(samples));
    for (std::int64_t i = 0; i < samples; ++i) {
        bool is_right = true;
        const auto begin = SteadyClock::now();
        for (std::int64_t call = 0; call < kBatch; ++call) {
            is_right = subject.call() && is_right;
        }
        const auto took = SteadyClock::now() - begin;
        CHECK(is_right);  // Otherwise something else was measured.
        batches.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    }
    std::sort(batches.begin(), batches.end());
    const auto per_call = [](std::int64_t batch) {
        return static_cast<double>(batch) / static_cast<double>(kBatch);
    };
    subject.p50s.push_back(per_call(percentile_of(batches, 0.50)));
    subject.p99s.push_back(per_call(percentile_of(batches, 0.99)));
}

std::int64_t count_of(const GatesRow& row) {
    return row.varied == "intents"       ? row.intents
           : row.varied == "open_orders" ? row.open_orders
                                         : row.symbols;
}

void compare_with_first(std::vector<GatesRow>& rows) {
    const GatesRow* first = nullptr;
    for (GatesRow& row : rows) {
        if (row.varied.empty()) {
            continue;
        }
        if (first == nullptr || first->varied != row.varied) {
            first = &row;
        }
        row.times_first = row.p50_ns / first->p50_ns;
        const auto times_count = static_cast<double>(count_of(row)) /
                                 static_cast<double>(std::max<std::int64_t>(1, count_of(*first)));
        row.per_count = row.times_first / std::max(1.0, times_count);
    }
}

}  // namespace

std::vector<GatesRow> run_gates_bench(const GatesBenchOptions& options) {
    std::vector<Subject> all = subjects();
    for (Subject& subject : all) {
        measure(subject, std::max<std::int64_t>(1, options.samples / 10));  // Warms up.
        subject.p50s.clear();
        subject.p99s.clear();
    }
    for (std::int64_t round = 0; round < options.rounds; ++round) {
        for (Subject& subject : all) {
            measure(subject, options.samples);
        }
    }
    std::vector<GatesRow> rows;
    for (Subject& subject : all) {
        subject.row.p50_ns = subject.row.spreads.note("p50_ns", subject.p50s, 3);
        subject.row.p99_ns = subject.row.spreads.note("p99_ns", subject.p99s, 3);
        rows.push_back(subject.row);
    }
    compare_with_first(rows);
    return rows;
}

Json encode(const GatesRow& row) {
    Json json = Json::object({
        {"what", row.what},
        {"varied", row.varied},
        {"intents", row.intents},
        {"open_orders", row.open_orders},
        {"symbols", row.symbols},
        {"p50_ns", rounded(row.p50_ns, 3)},
        {"p99_ns", rounded(row.p99_ns, 3)},
        {"times_first", rounded(row.times_first, 3)},
        {"per_count", rounded(row.per_count, 3)},
    });
    row.spreads.write(json);
    return json;
}

std::string to_table(const std::vector<GatesRow>& rows) {
    std::string table = fmt::format(
        "{:<15}{:<13}{:>8}{:>8}{:>9}{:>10}{:>10}{:>9}{:>11}\n",
        "what",
        "varied",
        "intents",
        "orders",
        "symbols",
        "p50 ns",
        "p99 ns",
        "x first",
        "per count");
    for (const GatesRow& row : rows) {
        table += fmt::format(
            "{:<15}{:<13}{:>8}{:>8}{:>9}{:>10.0f}{:>10.0f}",
            row.what,
            row.varied,
            row.intents,
            row.open_orders,
            row.symbols,
            row.p50_ns,
            row.p99_ns);
        table += row.varied.empty()
                     ? "\n"
                     : fmt::format("{:>9.2f}{:>11.2f}\n", row.times_first, row.per_count);
    }
    return table;
}

}  // namespace interlock
