// A seeded market of several symbols: prices that wander, spreads that breathe, depth on both
// sides, trades, calm and wild hours, halts. A pure function of seed and step number, in whole
// numbers only, so that the same seed gives the same bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "market/rules/market_model.h"

namespace interlock {

struct SyntheticSymbol {
    std::string_view base;
    std::string_view tick_size;
    std::string_view step_size;
    std::int64_t anchor_ticks = 0;     // The price it wanders around.
    std::int64_t grid_ticks = 1;       // Quotes stand on multiples of this.
    std::int64_t spread_bps_x10 = 10;  // The usual spread, in tenths of a basis point.
    std::int64_t volatility_ppm = 500'000;
    std::int64_t level_quote = 20'000;  // What the best level is usually worth, in quote units.
    std::int64_t halts_per_mille = 0;   // How many of a thousand hours have a halt in them.
};

struct SyntheticOptions {
    std::uint64_t seed = 1;
    std::string_view quote = "USDT";
    std::vector<SyntheticSymbol> symbols = {};  // Empty: default_symbols().
    // The venue's ORDERS limits, for each account; 0: none.
    std::int64_t orders_per_10s_max = 1000;
    std::int64_t orders_per_day_max = 200'000;
};

// Nine symbols like those of a large exchange; three of them halt now and then.
std::vector<SyntheticSymbol> default_symbols();

class SyntheticMarket final : public MarketModel {
public:
    // The options are our own: ones that make no market are a mistake of the program.
    explicit SyntheticMarket(const SyntheticOptions& options = {});

    std::span<const MarketRules> markets() const override { return rules_; }
    MarketTouch touch_at(std::size_t market, std::int64_t step) const override;
    void view_at(std::size_t market, std::int64_t step, MarketView& view) const override;

    std::uint64_t seed() const { return seed_; }

private:
    struct Shape {
        std::uint64_t seed = 0;
        std::int64_t anchor_ticks = 0;
        std::int64_t grid_ticks = 1;
        std::int64_t spread_bps_x10 = 0;
        std::int64_t volatility_ppm = 0;
        std::int64_t halts_per_mille = 0;
        std::int64_t best_lots = 0;  // The usual size of the best level.
    };

    bool is_halted_at(const Shape& shape, std::int64_t step) const;
    void add_trades(const Shape& shape, std::int64_t step, MarketView& view) const;

    std::uint64_t seed_;
    std::vector<MarketRules> rules_;
    std::vector<Shape> shapes_;
};

}  // namespace interlock
