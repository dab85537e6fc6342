#include "loop/rules/rehearsal.h"

#include "loop/rules/order_identity.h"

namespace interlock {

Json encode_rehearsal(const DryRunReport& report, const DecisionId& decision_id, const Plan& plan) {
    Json json = encode(report);
    Json* projected = json.find("projected");
    if (projected == nullptr || projected->items().size() != plan.intents.size()) {
        return json;
    }
    std::size_t at = 0;
    for (Json& row : projected->items()) {
        const Intent& intent = plan.intents[at++];
        row.set("intent_id", intent.intent_id.text());
        row.set("order_client_id", derive_order_client_id(decision_id, intent).text());
    }
    return json;
}

}  // namespace interlock
