// The strategies of the demo's tenant: a grid that trades on paper and an idle one beside it, so
// that a newcomer has something to look at and to decide about. They rest while the scenes play,
// whose promises count the tenant's orders.
#pragma once

#include <string>

#include "app/plane/plane.h"
#include "base/result.h"

namespace interlock {

class DemoStrategies {
public:
    // `plane` runs and outlives this.
    DemoStrategies(Plane& plane, const std::string& tenant);

    // Pauses what an earlier run left active.
    Result<void> rest();
    // Makes the two unless they are there, and lets the grid trade.
    Result<void> trade();

    const std::string& grid() const { return grid_; }
    const std::string& idle() const { return idle_; }
    static std::string concern();

private:
    using Ask = std::function<void(LoopService::Reply)>;
    static Result<Json> answer_of(const Ask& ask);
    Result<void> find();
    Result<std::string> create(const std::string& type, const Json& config);
    Result<Json> move(const std::string& id, ControlAction action);

    Plane& plane_;
    LoopService::Caller caller_;
    std::string grid_;  // Empty: not there.
    std::string idle_;
    bool is_paused_ = false;
    bool is_active_ = false;
};

}  // namespace interlock
