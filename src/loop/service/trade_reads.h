// Orders and fills of a tenant, newest first, out of its audit ledger: what the books took is a
// record there, however old. Any thread, no turn but the one that is named.
//
// A page looks at no more than kTradeScanMax records, so it may be shorter than asked for, or
// empty, with more behind it. Records that were archived are in their files and not here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "engine/ports/ledger_store.h"
#include "engine/service/turn.h"

namespace interlock {

inline constexpr std::int64_t kTradePageMax = 500;
inline constexpr std::int64_t kTradePageDefault = 50;
inline constexpr std::int64_t kTradeScanMax = 5'000;

struct TradeQuery {
    TenantId tenant_id = {};
    std::int64_t before = 0;  // Only records below this number; 0: the newest.
    std::int64_t limit = kTradePageDefault;
    std::string symbol = {};      // Empty: of every market.
    std::string account_id = {};  // Empty: of every account.
};
// In the detail of an order's outcome: its answer had been lost, and ORDER_UNKNOWN stands before
// it. An order is listed once, where it was answered first, so that no page has it again.
inline constexpr std::string_view kLateAnswer = "late_answer";

struct TradePage {
    Json rows = Json::array();
    std::optional<std::int64_t> next_before;  // Nothing: there is no older one.
    std::int64_t records_read = 0;
};

// FILL_BOOKED, a row each.
Result<TradePage> read_fills(LedgerStore& store, const TradeQuery& query);
// Every order that was sent, once, as the first answer to its submission says; what has become of
// it since is not in that record: `state` and `filled_qty` are null until order_ends_turn() was
// run.
Result<TradePage> read_orders(LedgerStore& store, const TradeQuery& query);

using TradePageTo = std::function<void(Result<TradePage>)>;
// Fills in what has become of the orders by now, and takes out those of older versions that turn
// out to be of another account than asked for. They move, so it takes a turn; null stays where no
// account of the tenant knows the order.
TurnRequest order_ends_turn(
    Principal principal, TradeQuery query, TradePage page, TradePageTo done);

// With a header line; for `Accept: text/csv`.
std::string fills_csv(const Json& rows);
std::string orders_csv(const Json& rows);

Json fill_row_schema();
Json order_row_schema();

}  // namespace interlock
