#include "market/rules/synthetic_market.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/check.h"
#include "market/rules/market_noise.h"

namespace interlock {
namespace {

// What a draw is for; keeps draws of the same step apart.
enum class Draw : std::uint64_t { spread = 101, gap, size, trades, trade_size, trade_side, halt };

std::uint64_t draw(std::uint64_t seed, Draw purpose, std::int64_t at) {
    return mix_bits(seed, static_cast<std::uint64_t>(purpose), static_cast<std::uint64_t>(at));
}

constexpr std::int64_t kStepsPerHour = 3600 * kStepsPerSecond;
constexpr std::int64_t kHaltStepsMin = 30 * kStepsPerSecond;
constexpr std::int64_t kHaltStepsMax = 180 * kStepsPerSecond;
// Quotes at one price keep their size for this many steps.
constexpr int kSizeHoldShift = 4;
constexpr std::uint64_t kSeedWord = 0x4D41524B4554;

std::int64_t floor_to(std::int64_t value, std::int64_t grid) {
    return value / grid * grid;
}
std::int64_t ceil_to(std::int64_t value, std::int64_t grid) {
    return (value + grid - 1) / grid * grid;
}

Decimal decimal(std::string_view text) {
    const auto parsed = Decimal::parse(text);
    CHECK(parsed.has_value());
    return *parsed;
}

Asset asset(std::string_view text) {
    const auto parsed = Asset::parse(text);
    CHECK(parsed.has_value());
    return *parsed;
}

MarketRules rules_of(const SyntheticSymbol& symbol, std::string_view quote) {
    const auto name = Symbol::parse(std::string(symbol.base) + std::string(quote));
    CHECK(name.has_value());
    MarketRules rules;
    rules.symbol = *name;
    rules.base = asset(symbol.base);
    rules.quote = asset(quote);
    rules.tick_size = decimal(symbol.tick_size);
    rules.price_min = rules.tick_size;
    rules.price_max = Decimal(1'000'000);
    rules.step_size = decimal(symbol.step_size);
    rules.qty_min = rules.step_size;
    rules.qty_max = Decimal(9'000'000);
    rules.market_qty_max = Decimal(1'000'000);
    rules.notional_min = Decimal(5);
    rules.notional_max = Decimal(9'000'000);
    rules.percent_up = decimal("1.2");
    rules.percent_down = decimal("0.8");
    rules.open_orders_max = 200;
    return rules;
}

// The size of a quote at one price, around `usual`: most near it, a few much larger.
std::int64_t quote_lots(std::uint64_t bits, std::int64_t usual) {
    const std::int64_t percent = uniform(bits, 30, 170);
    const std::int64_t factor = uniform(mix_bits(bits, 1, 1), 0, 19) == 0 ? 4 : 1;
    return std::max<std::int64_t>(1, usual * percent / 100 * factor);
}

}  // namespace

std::vector<SyntheticSymbol> default_symbols() {
    const auto symbol = [](std::string_view base,
                           std::pair<std::string_view, std::string_view> steps,
                           std::pair<std::int64_t, std::int64_t> ticks,
                           std::array<std::int64_t, 4> ways) {
        return SyntheticSymbol{
            .base = base,
            .tick_size = steps.first,
            .step_size = steps.second,
            .anchor_ticks = ticks.first,
            .grid_ticks = ticks.second,
            .spread_bps_x10 = ways[0],
            .volatility_ppm = ways[1],
            .level_quote = ways[2],
            .halts_per_mille = ways[3]};
    };
    return {
        symbol("BTC", {"0.01", "0.00001"}, {6'400'000, 100}, {10, 480'000, 40'000, 0}),
        symbol("ETH", {"0.01", "0.0001"}, {320'000, 10}, {12, 600'000, 30'000, 0}),
        symbol("BNB", {"0.01", "0.001"}, {58'000, 2}, {18, 560'000, 15'000, 0}),
        symbol("SOL", {"0.01", "0.001"}, {15'000, 1}, {20, 850'000, 15'000, 0}),
        symbol("XRP", {"0.0001", "0.1"}, {6'200, 1}, {25, 800'000, 10'000, 0}),
        symbol("ADA", {"0.0001", "0.1"}, {4'500, 1}, {30, 820'000, 8'000, 4}),
        symbol("DOGE", {"0.00001", "1"}, {14'000, 1}, {30, 1'100'000, 8'000, 6}),
        symbol("AVAX", {"0.001", "0.01"}, {28'000, 5}, {35, 1'000'000, 6'000, 4}),
        symbol("LINK", {"0.001", "0.01"}, {14'500, 3}, {35, 880'000, 6'000, 0}),
    };
}

SyntheticMarket::SyntheticMarket(const SyntheticOptions& options) : seed_(options.seed) {
    std::vector<SyntheticSymbol> symbols =
        options.symbols.empty() ? default_symbols() : options.symbols;
    const auto name_of = [&](const SyntheticSymbol& symbol) {
        return std::string(symbol.base) + std::string(options.quote);
    };
    std::sort(symbols.begin(), symbols.end(), [&](const auto& a, const auto& b) {
        return name_of(a) < name_of(b);
    });
    for (const SyntheticSymbol& symbol : symbols) {
        CHECK(symbol.anchor_ticks > 0 && symbol.grid_ticks > 0 && symbol.level_quote > 0);
        MarketRules rules = rules_of(symbol, options.quote);
        rules.orders_per_10s_max = options.orders_per_10s_max;
        rules.orders_per_day_max = options.orders_per_day_max;
        // The first characters of the name tell the symbols of one seed apart.
        std::uint64_t own = mix_bits(seed_, kSeedWord, rules.symbol.text().size());
        for (const char c : rules.symbol.text()) {
            own = mix_bits(own, kSeedWord, static_cast<std::uint64_t>(c));
        }
        const __int128 lot_value = static_cast<__int128>(symbol.anchor_ticks) *
                                   rules.tick_size.units() / 1'000'000'000 *
                                   rules.step_size.units() / 1'000'000'000;
        const __int128 wanted = static_cast<__int128>(symbol.level_quote) * Decimal(1).units();
        shapes_.push_back({
            .seed = own,
            .anchor_ticks = symbol.anchor_ticks,
            .grid_ticks = symbol.grid_ticks,
            .spread_bps_x10 = symbol.spread_bps_x10,
            .volatility_ppm = symbol.volatility_ppm,
            .halts_per_mille = symbol.halts_per_mille,
            .best_lots = static_cast<std::int64_t>(
                std::max<__int128>(1, lot_value == 0 ? wanted : wanted / lot_value)),
        });
        rules_.push_back(std::move(rules));
    }
}

bool SyntheticMarket::is_halted_at(const Shape& shape, std::int64_t step) const {
    if (shape.halts_per_mille == 0) {
        return false;
    }
    const std::int64_t hour = step / kStepsPerHour;
    const std::uint64_t bits = draw(shape.seed, Draw::halt, hour);
    if (uniform(bits, 0, 999) >= shape.halts_per_mille) {
        return false;
    }
    const std::int64_t length = uniform(mix_bits(bits, 1, 0), kHaltStepsMin, kHaltStepsMax);
    const std::int64_t begin =
        hour * kStepsPerHour + uniform(mix_bits(bits, 2, 0), 0, kStepsPerHour - length);
    return step >= begin && step < begin + length;
}

MarketTouch SyntheticMarket::touch_at(std::size_t market, std::int64_t step) const {
    CHECK(market < shapes_.size());
    const Shape& shape = shapes_[market];
    const std::int64_t mid =
        scale_by_log(shape.anchor_ticks, log_price_at({shape.seed, shape.volatility_ppm}, step));
    // Between 0.6 and 1.5 of the usual, times the root-like pull of the hour's regime.
    const std::int64_t breath = uniform(draw(shape.seed, Draw::spread, step >> 3), 600, 1500) *
                                (1000 + regime_permille(shape.seed, step)) / 2000;
    const auto spread = static_cast<std::int64_t>(
        static_cast<__int128>(mid) * shape.spread_bps_x10 * breath / 100'000'000);
    const std::int64_t width = ceil_to(std::max<std::int64_t>(1, spread), shape.grid_ticks);
    const std::int64_t bid =
        std::max(shape.grid_ticks, floor_to(mid - width / 2, shape.grid_ticks));
    return {.bid = {bid}, .ask = {bid + width}, .halted = is_halted_at(shape, step)};
}

void SyntheticMarket::view_at(std::size_t market, std::int64_t step, MarketView& view) const {
    const MarketTouch touch = touch_at(market, step);
    const Shape& shape = shapes_[market];
    view.at = time_of_step(step);
    view.halted = touch.halted;
    view.bids.clear();
    view.asks.clear();
    view.trades.clear();
    const std::int64_t held = step >> kSizeHoldShift;
    const auto lots_at = [&](std::int64_t price, std::size_t depth) {
        const std::uint64_t bits =
            mix_bits(draw(shape.seed, Draw::size, held), 0, static_cast<std::uint64_t>(price));
        // The book is thicker away from the touch.
        const auto usual = shape.best_lots * (4 + static_cast<std::int64_t>(depth)) / 4;
        return quote_lots(bits, usual);
    };
    std::int64_t bid = touch.bid.count;
    std::int64_t ask = touch.ask.count;
    for (std::size_t depth = 0; depth < kMarketLevelsMax; ++depth) {
        if (bid > 0) {
            view.bids.push_back({{bid}, {lots_at(bid, depth)}});
        }
        view.asks.push_back({{ask}, {lots_at(ask, depth)}});
        const std::uint64_t bits =
            mix_bits(draw(shape.seed, Draw::gap, held), 0, static_cast<std::uint64_t>(depth));
        const std::int64_t gap = shape.grid_ticks * uniform(bits, 1, 3);
        bid -= gap;
        ask += gap;
    }
    if (!view.halted) {
        add_trades(shape, step, view);
    }
}

void SyntheticMarket::add_trades(const Shape& shape, std::int64_t step, MarketView& view) const {
    const std::uint64_t bits = draw(shape.seed, Draw::trades, step);
    const std::int64_t wild = regime_permille(shape.seed, step) > 1000 ? 2 : 0;
    const std::int64_t count = uniform(bits, 0, 3 + wild);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto number = static_cast<std::uint64_t>(i);
        const std::uint64_t side_bits =
            mix_bits(draw(shape.seed, Draw::trade_side, step), number, 0);
        const bool buys = uniform(side_bits, 0, 1) == 1;
        const std::vector<MarketLevel>& hit = buys ? view.asks : view.bids;
        if (hit.empty()) {
            continue;
        }
        const std::uint64_t size_bits =
            mix_bits(draw(shape.seed, Draw::trade_size, step), number, 0);
        const Lots quantity{quote_lots(size_bits, std::max<std::int64_t>(1, shape.best_lots / 8))};
        view.trades.push_back({hit.front().price, quantity, buys ? BookSide::buy : BookSide::sell});
    }
}

}  // namespace interlock
