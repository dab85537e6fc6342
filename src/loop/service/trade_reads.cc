#include "loop/service/trade_reads.h"

#include <algorithm>
#include <array>
#include <span>

#include "account/wire/booked_fill.h"
#include "codec/json_schema.h"
#include "loop/service/loop_store.h"

namespace interlock {
namespace {

constexpr std::int64_t kScanPage = 500;

// A member of the row and where it comes from: the record, its detail, the account that the detail
// names, or the order's own row.
enum class From { detail, record, account, order };
struct Column {
    std::string_view name;
    From from = From::detail;
};
constexpr std::array kFillColumns{
    Column{"account_id", From::account},
    Column{"mode", From::account},
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
    Column{"account_id", From::account},
    Column{"mode", From::account},
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

bool is_answer_lost(const Json& row) {
    const Json status = member(row, "submit_status");
    return status == Json("timeout") || status == Json("unknown");
}

// Records of older versions do not mark what an order came to after its answer was lost: there the
// newer row of the two stands for both.
bool is_told(const TradePage& page, const Json& row) {
    const Json id = member(row, "order_client_id");
    return is_answer_lost(row) && std::ranges::any_of(page.rows.items(), [&](const Json& one) {
               return member(one, "order_client_id") == id;
           });
}

// Most records are something else; their text tells without a parse.
bool may_be(const LedgerEntry& entry, const Kind& kind) {
    return std::ranges::any_of(kind.events, [&](std::string_view event) {
        return entry.canonical_json.find(event) != std::string::npos;
    });
}

// An order of an older version names no account: order_ends_turn() finds it.
bool may_be_of(const Json& account_id, const std::string& wanted) {
    return wanted.empty() || account_id.is_null() || account_id == Json(wanted);
}

Result<std::optional<Json>> row_of(
    const LedgerEntry& entry, const Kind& kind, const TradeQuery& query) {
    if (!may_be(entry, kind)) {
        return std::nullopt;
    }
    TRY_ASSIGN(const Json record, parse_json(entry.canonical_json));
    const Json event = member(record, "event");
    const bool is_it = std::ranges::any_of(
        kind.events, [&](std::string_view name) { return event == Json(name); });
    const Json* detail = record.find("detail");
    if (!is_it || detail == nullptr ||
        (!query.symbol.empty() && member(*detail, "symbol") != Json(query.symbol)) ||
        member(*detail, kLateAnswer) == Json(true)) {
        return std::nullopt;
    }
    const Json account = member(*detail, "account");
    if (!may_be_of(member(account, "account_id"), query.account_id)) {
        return std::nullopt;
    }
    // A fill has the venue's own time; of an order it is the record's.
    const Json at = member(*detail, "at");
    Json row =
        Json::object({{"seq", entry.seq}, {"at", at.is_null() ? member(record, "timestamp") : at}});
    for (const Column& column : kind.columns) {
        const Json& source = column.from == From::record    ? record
                             : column.from == From::account ? account
                                                            : *detail;
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
        page.records_read += std::ssize(entries);
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            if (entry->seq >= below) {
                continue;  // Behind a gap that archived records have left.
            }
            TRY_ASSIGN(std::optional<Json> row, row_of(*entry, kind, query));
            if (!row || is_told(page, *row)) {
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

// Of any account in any mode, the likeliest first: records of older versions do not say which one
// their order is of.
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

// An order whose answer was lost stands where that was noted, with the answer as it is known now:
// its decision has it.
Result<void> tell_late_answer(Turn& turn, Json& row, const OrderClientId& order_id) {
    if (!is_answer_lost(row)) {
        return {};
    }
    const Json named = member(row, "decision_id");
    const auto id = DecisionId::parse(named.is_string() ? named.as_string() : "");
    if (!id) {
        return {};
    }
    TRY_ASSIGN(const auto decision, load_decision(turn, turn.tenant_id(), *id));
    if (!decision) {
        return {};
    }
    for (const Execution& execution : decision->execution) {
        if (execution.order_client_id == order_id) {
            const Json now = encode(execution);
            for (const char* name : {"submit_status", "reject_code", "exchange_order_id"}) {
                row.set(name, member(now, name));
            }
        }
    }
    return {};
}

// A report of the venue may show the order before anybody has asked for its answer.
void tell_acceptance(Json& row, const OrderRecord& order) {
    const bool is_seen = order.state == OrderState::resting ||
                         order.state == OrderState::partially_filled ||
                         order.state == OrderState::filled || order.state == OrderState::canceled;
    if (is_answer_lost(row) && is_seen) {
        row.set("submit_status", "acked");
        row.set(
            "exchange_order_id",
            order.exchange_order_id.empty() ? Json() : Json(order.exchange_order_id));
    }
}

Result<void> tell_end(Turn& turn, const LoopMode& mode, Json& row) {
    const Json named = member(row, "order_client_id");
    const auto id = OrderClientId::parse(named.is_string() ? named.as_string() : "");
    if (!id) {
        return {};
    }
    TRY(tell_late_answer(turn, row, *id));
    TRY_ASSIGN(const auto order, find_order(turn, mode, *id));
    if (order) {
        row.set("account_id", order->request.account.account_id.text());
        row.set("mode", to_word(order->request.account.mode));
        row.set("state", to_final_word(order->state));
        row.set("filled_qty", to_text(order->filled_qty));
        tell_acceptance(row, *order);
    }
    return {};
}

}  // namespace

TurnRequest order_ends_turn(
    Principal principal, TradeQuery query, TradePage page, TradePageTo done) {
    const auto held = std::make_shared<TradePage>(std::move(page));
    TurnRequest turn;
    turn.tenant_id = query.tenant_id;
    turn.principal = std::move(principal);
    turn.function = "orders";
    turn.decide = [held, wanted = std::move(query.account_id)](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const LoopMode mode, load_loop_mode(t, t.tenant_id()));
        for (Json& row : held->rows.items()) {
            TRY(tell_end(t, mode, row));
        }
        std::erase_if(held->rows.items(), [&](const Json& row) {
            return !wanted.empty() && member(row, "account_id") != Json(wanted);
        });
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
        {"account_id", schema::text()},
        {"mode", schema::words({"paper", "shadow", "live"})},
        {"symbol", schema::text()},
        {"side", schema::words({"buy", "sell"})},
        {"qty", schema::text("Base units.")},
        {"price", schema::text("Quote per base unit.")},
        {"fee", schema::text("In fee_asset.")},
        {"fee_asset", schema::text()},
        {"is_maker", schema::boolean()},
        {"realized",
         schema::or_null(schema::text(
             "In quote, before fees; null where an older version found the fill later."))},
        {"fee_quote", schema::or_null(schema::text("The fee in quote; null where realized is."))},
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
        {"account_id", schema::or_null(schema::text("Null: of none of this tenant's accounts."))},
        {"mode", schema::or_null(schema::words({"paper", "shadow", "live"}))},
        {"symbol", schema::or_null(schema::text("Null in records of older versions."))},
        {"side", schema::or_null(schema::words({"buy", "sell"}))},
        {"qty", schema::or_null(schema::text("Base units."))},
        {"limit_price", schema::or_null(schema::text("Null: a market order."))},
        {"submit_status",
         schema::words(
             {"acked", "rejected", "timeout", "unknown"},
             "What its submission was answered, as far as it is known by now.")},
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
