#include "services/loop/trade_reads.h"

#include <algorithm>
#include <array>
#include <span>

#include "contracts/json_schema.h"
#include "contracts/venue/booked_fill.h"
#include "services/loop/loop_store.h"

namespace interlock {
namespace {

constexpr std::int64_t kScanPage = 500;

// A member of the row and where it comes from: the record, its detail, or the order's own row.
enum class From { detail, record, order };
struct Column {
    std::string_view name;
    From from = From::detail;
};
constexpr std::array kFillColumns{
    Column{"symbol"},
    Column{"side"},
    Column{"qty"},
    Column{"price"},
    Column{"fee"},
    Column{"fee_asset"},
    Column{"is_maker"},
    Column{"realized"},
    Column{"fee_quote"},
    Column{"trade_id"},
    Column{"order_client_id"},
    Column{"exchange_order_id"},
    Column{"decision_id", From::record},
};
constexpr std::array kOrderColumns{
    Column{"symbol"},
    Column{"side"},
    Column{"qty"},
    Column{"limit_price"},
    Column{"submit_status"},
    Column{"reject_code"},
    Column{"order_client_id"},
    Column{"exchange_order_id"},
    Column{"intent_id"},
    Column{"decision_id", From::record},
    Column{"state", From::order},
    Column{"filled_qty", From::order},
};
constexpr std::array<std::string_view, 1> kFillEvents{kFillBookedEvent};
constexpr std::array<std::string_view, 4> kOrderEvents{
    "ORDER_ACKED", "ORDER_REJECTED", "ORDER_NEVER_ARRIVED", "ORDER_UNKNOWN"};

struct Kind {
    std::span<const std::string_view> events;
    std::span<const Column> columns;
};
const Kind kFills{kFillEvents, kFillColumns};
const Kind kOrders{kOrderEvents, kOrderColumns};

Json member(const Json& object, std::string_view key) {
    const Json* value = object.find(key);
    return value == nullptr ? Json() : *value;
}

// Most records are something else; their text tells without a parse.
bool may_be(const LedgerEntry& entry, const Kind& kind) {
    return std::ranges::any_of(kind.events, [&](std::string_view event) {
        return entry.canonical_json.find(event) != std::string::npos;
    });
}

Result<std::optional<Json>> row_of(
    const LedgerEntry& entry, const Kind& kind, const std::string& symbol) {
    if (!may_be(entry, kind)) {
        return std::nullopt;
    }
    TRY_ASSIGN(const Json record, parse_json(entry.canonical_json));
    const Json event = member(record, "event");
    const bool is_it = std::ranges::any_of(
        kind.events, [&](std::string_view name) { return event == Json(name); });
    const Json* detail = record.find("detail");
    if (!is_it || detail == nullptr ||
        (!symbol.empty() && member(*detail, "symbol") != Json(symbol))) {
        return std::nullopt;
    }
    // A fill has the venue's own time; of an order it is the record's.
    const Json at = member(*detail, "at");
    Json row =
        Json::object({{"seq", entry.seq}, {"at", at.is_null() ? member(record, "timestamp") : at}});
    for (const Column& column : kind.columns) {
        const Json& source = column.from == From::record ? record : *detail;
        row.set(
            std::string(column.name),
            column.from == From::order ? Json() : member(source, column.name));
    }
    return row;
}

Result<TradePage> read_back(LedgerStore& store, const TradeQuery& query, const Kind& kind) {
    TRY_ASSIGN(const LedgerHead head, store.read_head(query.tenant_id));
    const std::int64_t newest = head.seq + 1;
    std::int64_t below = query.before > 0 ? std::min(query.before, newest) : newest;
    const std::int64_t lowest = std::max<std::int64_t>(1, below - kTradeScanMax);
    TradePage page;
    while (below > lowest) {
        const std::int64_t from = std::max(lowest, below - kScanPage);
        TRY_ASSIGN(const auto entries, store.read_ledger(query.tenant_id, from - 1, below - from));
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            if (entry->seq >= below) {
                continue;  // Behind a gap that archived records have left.
            }
            TRY_ASSIGN(std::optional<Json> row, row_of(*entry, kind, query.symbol));
            if (!row) {
                continue;
            }
            page.rows.push(*std::move(row));
            if (std::ssize(page.rows.items()) == query.limit) {
                page.next_before = entry->seq;
                return page;
            }
        }
        below = from;
    }
    if (lowest > 1) {
        page.next_before = lowest;
    }
    return page;
}

// RFC 4180: quotes are doubled. Numbers and booleans as they are.
std::string csv_field(const Json& value) {
    if (value.is_null()) {
        return {};
    }
    if (!value.is_string()) {
        return to_text(value);
    }
    const std::string& text = value.as_string();
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string field = "\"";
    for (const char c : text) {
        field += c;
        if (c == '"') {
            field += c;
        }
    }
    return field + "\"";
}

std::string csv(const Json& rows, const Kind& kind) {
    std::string text = "seq,at";
    for (const Column& column : kind.columns) {
        text += "," + std::string(column.name);
    }
    text += "\n";
    for (const Json& row : rows.items()) {
        std::string line;
        for (const auto& [name, value] : row.members()) {
            line += (line.empty() ? "" : ",") + csv_field(value);
        }
        text += line + "\n";
    }
    return text;
}

}  // namespace

Result<TradePage> read_fills(LedgerStore& store, const TradeQuery& query) {
    return read_back(store, query, kFills);
}

Result<TradePage> read_orders(LedgerStore& store, const TradeQuery& query) {
    return read_back(store, query, kOrders);
}

namespace {

// Of any account in any mode, the likeliest first: a record does not say which one its order is of.
Result<std::shared_ptr<const OrderRecord>> find_order(
    Turn& turn, const LoopMode& mode, const OrderClientId& id) {
    std::vector<TradeMode> modes{mode.mode};
    for (const TradeMode other : {TradeMode::paper, TradeMode::shadow, TradeMode::live}) {
        if (other != mode.mode) {
            modes.push_back(other);
        }
    }
    std::vector<AccountId> accounts{default_account_id()};
    accounts.insert(accounts.end(), mode.accounts.begin(), mode.accounts.end());
    for (const TradeMode one : modes) {
        for (const AccountId& account : accounts) {
            TRY_ASSIGN(auto order, load_order(turn, {turn.tenant_id(), account, one}, id));
            if (order) {
                return order;
            }
        }
    }
    return nullptr;
}

}  // namespace

TurnRequest order_ends_turn(
    Principal principal, TenantId tenant_id, TradePage page, TradePageTo done) {
    const auto held = std::make_shared<TradePage>(std::move(page));
    TurnRequest turn;
    turn.tenant_id = std::move(tenant_id);
    turn.principal = std::move(principal);
    turn.function = "orders";
    turn.decide = [held](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const LoopMode mode, load_loop_mode(t, t.tenant_id()));
        for (Json& row : held->rows.items()) {
            const Json named = member(row, "order_client_id");
            const auto id = OrderClientId::parse(named.is_string() ? named.as_string() : "");
            if (!id) {
                continue;
            }
            TRY_ASSIGN(const auto order, find_order(t, mode, *id));
            if (order) {
                row.set("state", to_final_word(order->state));
                row.set("filled_qty", to_text(order->filled_qty));
            }
        }
        return Answer{200, "{}"};
    };
    turn.reply = [held, done = std::move(done)](Result<Answer> answer) {
        if (!answer) {
            return done(std::unexpected(std::move(answer).error()));
        }
        done(std::move(*held));
    };
    return turn;
}

std::string fills_csv(const Json& rows) {
    return csv(rows, kFills);
}

std::string orders_csv(const Json& rows) {
    return csv(rows, kOrders);
}

Json fill_row_schema() {
    return schema::object({
        {"seq", schema::integer("Of its audit record.")},
        {"at", schema::moment("By the venue's clock.")},
        {"symbol", schema::text()},
        {"side", schema::words({"buy", "sell"})},
        {"qty", schema::text("Base units.")},
        {"price", schema::text("Quote per base unit.")},
        {"fee", schema::text("In fee_asset.")},
        {"fee_asset", schema::text()},
        {"is_maker", schema::boolean()},
        {"realized", schema::text("In quote, before fees.")},
        {"fee_quote", schema::text("The fee in quote.")},
        {"trade_id", schema::integer()},
        {"order_client_id", schema::text()},
        {"exchange_order_id", schema::text()},
        {"decision_id", schema::text()},
    });
}

Json order_row_schema() {
    return schema::object({
        {"seq", schema::integer("Of its audit record.")},
        {"at", schema::moment()},
        {"symbol", schema::or_null(schema::text("Null in records of older versions."))},
        {"side", schema::or_null(schema::words({"buy", "sell"}))},
        {"qty", schema::or_null(schema::text("Base units."))},
        {"limit_price", schema::or_null(schema::text("Null: a market order."))},
        {"submit_status",
         schema::words(
             {"acked", "rejected", "timeout", "unknown"}, "What its submission was answered.")},
        {"reject_code", schema::or_null(schema::text())},
        {"order_client_id", schema::text()},
        {"exchange_order_id", schema::or_null(schema::text())},
        {"intent_id", schema::text()},
        {"decision_id", schema::text()},
        {"state",
         schema::or_null(schema::words(
             {"new", "partially_filled", "filled", "canceled", "rejected", "unknown"},
             "What has become of it by now."))},
        {"filled_qty", schema::or_null(schema::text("Base units, booked by now."))},
    });
}

}  // namespace interlock
