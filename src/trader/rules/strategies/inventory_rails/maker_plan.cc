#include "trader/rules/strategies/inventory_rails/maker_plan.h"

namespace interlock {

bool MakerPlan::bid(Decimal price, Decimal qty) {
    return desk_.is_quoted && price < desk_.ask &&
           add_order(plan_, desk_, {.side = Side::buy, .price = price, .qty = qty});
}

bool MakerPlan::ask(Decimal price, Decimal qty) {
    return desk_.is_quoted && price > desk_.bid &&
           add_order(plan_, desk_, {.side = Side::sell, .price = price, .qty = qty});
}

Plan MakerPlan::take(std::string reason) && {
    plan_.reason = std::move(reason);
    return std::move(plan_);
}

}  // namespace interlock
