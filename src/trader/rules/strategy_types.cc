// The strategies there are: one line each, ascending by name.
#include <algorithm>
#include <array>

#include "trader/rules/strategies/exposure_protector/exposure_protector.h"
#include "trader/rules/strategies/grid_trader/grid_trader.h"
#include "trader/rules/strategies/idle/idle.h"
#include "trader/rules/strategies/inventory_rails/inventory_rails.h"
#include "trader/rules/strategies/trend_follower/trend_follower.h"
#include "trader/rules/strategy.h"

namespace interlock {
namespace {

constexpr std::array kTypes{
    kExposureProtectorType,
    kGridTraderType,
    kIdleType,
    kInventoryRailsType,
    kTrendFollowerType,
};
static_assert(std::ranges::is_sorted(kTypes, {}, &StrategyType::name));

}  // namespace

std::span<const StrategyType> strategy_types() {
    return kTypes;
}

const StrategyType* find_strategy_type(std::string_view name) {
    const auto found = std::ranges::find(kTypes, name, &StrategyType::name);
    return found == kTypes.end() ? nullptr : &*found;
}

}  // namespace interlock
