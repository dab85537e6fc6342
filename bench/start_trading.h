// From a server that is ready to one that trades: after a start every account that traded before is
// compared with its venue first, and until that is done its entries are halted.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "bench/server_process.h"

namespace interlock {

struct TradingAccess {
    std::string tenant_id;
    std::string access_key;
};

// Takes one order all the way, so that the account has something to recover.
Result<void> trade_once(const ServerProcess& server, const TradingAccess& access);

// Returns once entries are not halted and a plan has passed every gate.
Result<void> await_trading(
    const ServerProcess& server, const TradingAccess& access, std::chrono::seconds patience);

}  // namespace interlock
