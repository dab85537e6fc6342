#include "trader/rules/strategies/inventory_rails/rails_memory.h"

#include "codec/field_reader.h"
#include "trader/rules/strategies/inventory_rails/inventory_rails.h"

namespace interlock {

Json encode(const RailsMemory& memory) {
    return Json::object({
        {"start", to_text(memory.start)},
        {"start_net", to_text(memory.start_net)},
        {"reference", to_text(memory.reference)},
        {"has_traded", memory.has_traded},
    });
}

RailsMemory read_rails_memory(const Json& json) {
    if (!json.is_object() || json.members().empty()) {
        return {};
    }
    FieldReader in(json);
    RailsMemory memory{
        .start = in.required<Decimal>("start"),
        .start_net = in.required<Decimal>("start_net"),
        .reference = in.required<Decimal>("reference"),
        .has_traded = in.required<bool>("has_traded"),
    };
    return in.ok() && memory.is_set() && !memory.start.is_negative() ? memory : RailsMemory{};
}

Json rails_state_schema() {
    return state_schema_of({
        {"start", "string", "Engine inventory at the first tick, in base units."},
        {"start_net", "string", "What the strategy had bought less sold by then."},
        {"reference", "string", "The mid at the first tick."},
        {"has_traded", "boolean", "The books knew a fill of it."},
    });
}

}  // namespace interlock
