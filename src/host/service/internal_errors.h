// Three internal errors in a row stop their tenant (docs/contracts/kill-switch.md#1-turning-it-on):
// a plane that is wrong about itself must not go on trading.
//
// Invariants:
// - Only our own mistakes count: a refusal, a full queue, a disk or venue that fails are none.
// - A row ends when an operation that failed in it does its work again. What others do meanwhile
//   neither ends nor feeds it, so reads that succeed hide nothing.
// - Each one is an ERROR_EVENT; equal ones fold. The failure to record one is not counted.
// - `_system` trades nothing and is never stopped by this.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "engine/service/turn_runner.h"
#include "host/service/kill_switch_service.h"

namespace interlock {

inline constexpr std::size_t kInternalErrorsMax = 3;

class InternalErrors {
public:
    InternalErrors(SubmitTurn submit, KillSwitchService& kill);

    // What became of a turn; null: it was decided, whatever it answers. Engine thread.
    void note(const TurnRequest& turn, const Error* error);

private:
    void record(const TurnRequest& turn, const Error& error);

    struct Row {
        std::size_t count = 0;
        std::set<std::string> functions;  // At most kInternalErrorsMax, then the row is over.
    };
    SubmitTurn submit_;
    KillSwitchService& kill_;
    std::map<TenantId, Row> rows_;  // Of tenants with a row under way.
};

}  // namespace interlock
