// The strategies there are: one line each, ascending by name.
#include <algorithm>
#include <array>

#include "core/strategy/grid_trader/grid_trader.h"
#include "core/strategy/idle/idle.h"
#include "core/strategy/strategy.h"

namespace interlock {
namespace {

constexpr std::array kTypes{
    kGridTraderType,
    kIdleType,
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
