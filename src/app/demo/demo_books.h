// The paper venue's journal against an account of ours: what the venue itself wrote down is the
// truth that the demo holds our books to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/money.h"
#include "base/result.h"

namespace interlock {

// One tenant's account as the venue's journal tells it.
struct VenueBooks {
    std::map<std::string, Decimal> holdings;       // By asset; zeros are left out.
    std::map<std::string, std::int64_t> accepted;  // How often, by order_client_id.
    std::int64_t fills = 0;

    std::int64_t orders() const { return static_cast<std::int64_t>(accepted.size()); }
    bool has_duplicate() const;
};
Result<VenueBooks> read_venue_books(const std::string& data_folder, const std::string& tenant);

// Free and locked together, by asset, of an answer to GET /api/{tenant}/account.
Result<std::map<std::string, Decimal>> holdings_of(const Json& account);
// "0.003996 BTC, 99778.4 USDT"
std::string describe_holdings(const std::map<std::string, Decimal>& holdings);

}  // namespace interlock
