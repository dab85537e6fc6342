// Ends folds in time: each at the end of its hour, by a timer of the store, and all of them at a
// shutdown. After a crash nothing is to be done: the counts are in the store, and so are the
// timers.
#pragma once

#include <string>

#include "engine/service/turn_runner.h"

namespace interlock {

inline constexpr std::string_view kFoldTimer = "fold";
inline constexpr std::string_view kBudgetTimer = "write_budget";
inline constexpr std::string_view kFoldPrefix = "fold/";

std::string fold_key(const TenantId& tenant_id, std::string_view subject);
std::string budget_key(const TenantId& tenant_id);

class FoldService {
public:
    // Rows that one batch closes at a shutdown.
    static constexpr std::size_t kClosedPerBatch = 256;

    explicit FoldService(TurnRunner& runner);

    // Engine thread, or after it has ended: records every fold that is open.
    void close_all();

private:
    TurnRunner& runner_;
};

}  // namespace interlock
