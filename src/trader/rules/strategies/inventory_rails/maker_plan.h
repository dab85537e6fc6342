// The only way inventory_rails builds a plan. An order made here is a limit order, post-only, good
// until cancelled, on its own side of the touch; there is no member that could make another kind,
// so an order of this engine that takes cannot be written down.
#pragma once

#include <string>

#include "trader/rules/market_desk.h"

namespace interlock {

class MakerPlan {
public:
    // `desk` outlives this; what orders take up is counted off there.
    explicit MakerPlan(MarketDesk& desk) : desk_(desk) {}
    MakerPlan(const MakerPlan&) = delete;
    MakerPlan& operator=(const MakerPlan&) = delete;

    // False: funds, pace or the bounds of a plan have no room for it, or it would take.
    bool bid(Decimal price, Decimal qty);
    bool ask(Decimal price, Decimal qty);
    void cancel(const OwnOrder& order) { add_cancel(plan_, order); }
    void cancel_all() { interlock::cancel_all(plan_, *desk_.input); }
    bool has_cancels() const { return !plan_.cancels.empty(); }

    // Takes the plan away; nothing can be added afterwards.
    Plan take(std::string reason) &&;

private:
    MarketDesk& desk_;
    Plan plan_;
};

}  // namespace interlock
