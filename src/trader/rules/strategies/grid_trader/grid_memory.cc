#include "trader/rules/strategies/grid_trader/grid_memory.h"

#include "codec/field_reader.h"
#include "trader/rules/strategies/grid_trader/grid_trader.h"

namespace interlock {
namespace {

constexpr std::int64_t kLineMax = 1'000'000;
constexpr std::int64_t kCountMax = std::int64_t{1} << 53;
constexpr std::int64_t kLevelBitsMax = (std::int64_t{1} << kGridLevelsMax) - 1;

}  // namespace

Json encode(const GridMemory& memory) {
    return Json::object({
        {"anchor", to_text(memory.anchor)},
        {"step", to_text(memory.step)},
        {"line", memory.line},
        {"buy_levels", memory.buy_levels},
        {"sell_levels", memory.sell_levels},
        {"position", to_text(memory.position)},
        {"slides", memory.slides},
        {"recentres", memory.recentres},
    });
}

GridMemory read_grid_memory(const Json& json) {
    if (!json.is_object() || json.members().empty()) {
        return {};
    }
    FieldReader in(json);
    GridMemory memory{
        .anchor = in.required<Decimal>("anchor"),
        .step = in.required<Decimal>("step"),
        .line = in.required_integer("line", -kLineMax, kLineMax),
        .buy_levels = in.required_integer("buy_levels", 0, kLevelBitsMax),
        .sell_levels = in.required_integer("sell_levels", 0, kLevelBitsMax),
        .position = in.required<Decimal>("position"),
        .slides = in.required_integer("slides", 0, kCountMax),
        .recentres = in.required_integer("recentres", 0, kCountMax),
    };
    return in.ok() && memory.is_set() ? memory : GridMemory{};
}

Json grid_state_schema() {
    return state_schema_of({
        {"anchor", "string", "The price that line 0 lies at."},
        {"step", "string", "The distance between two lines, as a fraction of the anchor."},
        {"line", "integer", "The line the grid stands around."},
        {"buy_levels", "integer", "Bits: the levels with a buy after the last tick."},
        {"sell_levels", "integer", "Bits: the levels with a sell after the last tick."},
        {"position", "string", "What was held at the last tick."},
        {"slides", "integer", "How often the grid moved by whole lines."},
        {"recentres", "integer", "How often it was laid out anew."},
    });
}

}  // namespace interlock
