// The strategies there are: one line each, ascending by name.
#include <algorithm>
#include <array>

#include "core/strategy/exposure_protector/exposure_protector.h"
#include "core/strategy/grid_trader/grid_trader.h"
#include "core/strategy/idle/idle.h"
#include "core/strategy/inventory_rails/inventory_rails.h"
#include "core/strategy/strategy.h"
#include "core/strategy/trend_follower/trend_follower.h"

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
