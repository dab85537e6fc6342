#include "bench/loop_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "account/rules/facts.h"
#include "base/canonical_json.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "bench/latency.h"
#include "bench/rounded.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/sample_world.h"
#include "loop/rules/rehearsal.h"

namespace interlock {
namespace {

// An account that rests buy orders under every market, and a plan with one more order in each.
struct TickWorld {
    Account account;
    std::vector<SymbolBook> books;
    MarketSet market;
    Plan plan;
    Timestamp now;
    DecisionId decision_id = DecisionId::trusted("dec_tick");
    TickId tick_id = TickId::trusted("tick_1");
};

OrderRecord resting_order(const TickWorld& world, const SymbolBook& book, std::int64_t number) {
    OrderRecord order;
    order.request.account = world.account.key;
    order.request.order_client_id =
        OrderClientId::trusted(fmt::format("h{}{:04}", book.symbol.text(), number));
    order.request.symbol = book.symbol;
    order.request.side = Side::buy;
    order.request.order_type = OrderType::limit;
    order.request.qty = sample_decimal("0.0002");
    order.request.limit_price = Decimal(49'000 - number);
    order.reserve_price = *order.request.limit_price;
    order.decision_id = DecisionId::trusted("dec_before");
    order.tick_id = TickId::trusted("tick_0");
    order.intent_id = IntentId::trusted("i0");
    order.strategy_id = StrategyId::trusted("external");
    order.state = OrderState::resting;
    // Long ago: the rate of orders is not what is measured.
    const Timestamp at = world.now - Duration::of_hours(1);
    order.created_at = at;
    order.updated_at = at;
    order.submitted_at = at;
    return order;
}

Result<TickWorld> make_world(const TickBenchOptions& options) {
    SampleWorld sample = sample_world(options.symbols);
    TickWorld world;
    world.now = sample.state.now;
    world.market = sample.market;
    OpenAccount wanted;
    wanted.key = {TenantId::trusted("bench"), AccountId::trusted("main"), TradeMode::paper};
    wanted.quote = sample.state.quote;
    wanted.deposit = Decimal(100'000);
    wanted.at = world.now;
    TRY_ASSIGN(world.account, open_account(wanted));
    world.account.trading_enabled = true;
    StrategyRecord strategy;
    strategy.type = "external";
    strategy.is_active = true;
    world.account.strategies[StrategyId::trusted("external")] = strategy;
    for (const MarketFacts& market : world.market.markets) {
        world.account.universe.insert(market.symbol);
        SymbolBook book;
        book.symbol = market.symbol;
        book.base = market.rules.base;
        book.quote = market.rules.quote;
        for (std::int64_t i = 0; i < options.open_orders; ++i) {
            TRY(reserve_order(world.account, book, resting_order(world, book, i)));
        }
        world.books.push_back(std::move(book));
    }
    for (std::int64_t i = 0; i < options.symbols; ++i) {
        Intent intent = sample_buy(i);
        intent.intent_id = IntentId::trusted(fmt::format("i{}", i));
        intent.strategy_id = StrategyId::trusted("external");
        intent.qty = sample_decimal("0.0004");
        world.plan.intents.push_back(std::move(intent));
    }
    return world;
}

Result<StateFacts> gather(const TickWorld& world) {
    GatherInput input{
        .account = world.account,
        .books = world.books,
        .market = world.market,
        .now = world.now,
        .kill_switch_active = false,
        .stricter_mode = RiskMode::normal,
        .permissions_verified = true,
    };
    TRY_ASSIGN(const TierInput tier, tier_input(input));
    input.stricter_mode = mode_of(step_tier(world.account.tier, tier).raw);
    return gather_facts(input);
}

GateReport gates(const TickWorld& world, const StateFacts& state) {
    return run_gates({
        .state = state,
        .market = world.market,
        .plan = world.plan,
        .decision_id = world.decision_id,
        .tick_id = world.tick_id,
    });
}

DryRunReport rehearse(const TickWorld& world, const StateFacts& state) {
    return run_dry_run({
        .state = state,
        .market = world.market,
        .plan = world.plan,
        .slippage_bps = {},
        .fee_bps = {},
        .conflicts = {},
    });
}

// What the record of a tick costs besides: the canonical bytes of its inputs and verdicts, hashed.
std::size_t record(const TickWorld& world, const StateFacts& state) {
    std::size_t bytes = 0;
    for (const Json& json :
         {encode(state),
          encode(world.market),
          encode(world.plan),
          encode(gates(world, state)),
          encode_rehearsal(rehearse(world, state), world.decision_id, world.plan)}) {
        const auto text = canonical_json(json);
        CHECK(text.has_value());
        bytes += text->size() + sha256_hex(*text).size();
    }
    return bytes;
}

struct Part {
    std::string name;
    std::function<bool()> call;  // Whether it came out as it should.
    std::vector<double> p50s = {};
    std::vector<double> p99s = {};
};

std::vector<Part> parts_of(const TickWorld& world, const StateFacts& state) {
    const auto tick = [&world] {
        const auto facts = gather(world);
        return facts && gates(world, *facts).pass && rehearse(world, *facts).pass;
    };
    return {
        {"facts", [&world] { return gather(world).has_value(); }},
        {"gates", [&world, &state] { return gates(world, state).pass; }},
        {"dry run", [&world, &state] { return rehearse(world, state).pass; }},
        {"tick", tick},
        {"tick, recorded",
         [&world] {
             const auto facts = gather(world);
             return facts && record(world, *facts) > 0;
         }},
    };
}

void measure(Part& part, std::int64_t samples) {
    using SteadyClock = std::chrono::steady_clock;
    std::vector<std::int64_t> ticks;
    ticks.reserve(static_cast<std::size_t>(samples));
    for (std::int64_t i = 0; i < samples; ++i) {
        const auto begin = SteadyClock::now();
        const bool is_right = part.call();
        const auto took = SteadyClock::now() - begin;
        CHECK(is_right);  // Otherwise something else was measured.
        ticks.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    }
    std::sort(ticks.begin(), ticks.end());
    part.p50s.push_back(static_cast<double>(percentile_of(ticks, 0.50)) / 1e3);
    part.p99s.push_back(static_cast<double>(percentile_of(ticks, 0.99)) / 1e3);
}

}  // namespace

Result<TickReport> run_tick_bench(const TickBenchOptions& options) {
    TRY_ASSIGN(const TickWorld world, make_world(options));
    TRY_ASSIGN(const StateFacts state, gather(world));
    if (const GateReport report = gates(world, state); !report.pass) {
        return fail(
            errors::internal, "The plan does not pass: " + to_text(report.breaches.front()));
    }
    std::vector<Part> parts = parts_of(world, state);
    for (Part& part : parts) {
        measure(part, std::max<std::int64_t>(1, options.samples / 10));  // Warms up.
        part.p50s.clear();
        part.p99s.clear();
    }
    for (std::int64_t round = 0; round < options.rounds; ++round) {
        for (Part& part : parts) {
            measure(part, options.samples);
        }
    }
    TickReport report;
    report.symbols = options.symbols;
    report.open_orders = options.symbols * options.open_orders;
    for (const Part& part : parts) {
        TickRow& row = report.rows.emplace_back();
        row.part = part.name;
        row.p50_us = row.spreads.note("p50_us", part.p50s, 3);
        row.p99_us = row.spreads.note("p99_us", part.p99s, 3);
    }
    return report;
}

Json encode(const TickReport& report) {
    Json rows = Json::array();
    for (const TickRow& row : report.rows) {
        Json json = Json::object(
            {{"part", row.part},
             {"p50_us", rounded(row.p50_us, 3)},
             {"p99_us", rounded(row.p99_us, 3)}});
        row.spreads.write(json);
        rows.push(std::move(json));
    }
    return Json::object({
        {"symbols", report.symbols},
        {"open_orders", report.open_orders},
        {"rows", std::move(rows)},
    });
}

std::string to_text(const TickReport& report) {
    std::string text = fmt::format(
        "One tick without IO: {} symbols, {} open orders, one intent in each symbol.\n"
        "{:<16}{:>10}{:>10}\n",
        report.symbols,
        report.open_orders,
        "part",
        "p50 us",
        "p99 us");
    for (const TickRow& row : report.rows) {
        text += fmt::format("{:<16}{:>10.1f}{:>10.1f}\n", row.part, row.p50_us, row.p99_us);
    }
    return text;
}

}  // namespace interlock
