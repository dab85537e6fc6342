#include "loop/rules/state_delta.h"

#include <map>

#include "account/rules/exact.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::int64_t kMicrosecondsPerMillisecond = 1000;

struct Moved {
    Exact qty;    // In base; sells are negative.
    Exact quote;  // Buys are negative.
    Exact fees;   // At their worth in quote.
};

Json decimal_or_null(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

Json order_row(const OrderRecord& order) {
    return Json::object({
        {"order_client_id", order.id().text()},
        {"symbol", order.symbol().text()},
        {"side", to_word(order.request.side)},
        {"state", to_final_word(order.state)},
        {"filled_qty", to_text(order.filled_qty)},
        {"filled_quote", to_text(order.filled_quote)},
        {"fee_quote", to_text(order.fee_quote)},
        {"open_qty", to_text(reserved_qty(order))},
        {"touch_price", decimal_or_null(order.touch_price)},
        {"slippage_bps", decimal_or_null(slippage_bps_of(order))},
    });
}

std::int64_t count_of(const Json& rows, std::string_view status) {
    std::int64_t count = 0;
    for (const Json& row : rows.items()) {
        const Json* word = row.find("submit_status");
        count += word != nullptr && *word == Json(status) ? 1 : 0;
    }
    return count;
}

// Null unless both are known.
Result<Json> milliseconds_to_execution(const Json& timestamps) {
    FieldReader in(timestamps);
    const auto planned = in.required<Timestamp>("planned_at");
    const auto executed = in.optional<Timestamp>("executed_at");
    Json span =
        executed ? Json((*executed - planned).microseconds / kMicrosecondsPerMillisecond) : Json();
    return in.finish(std::move(span));
}

// Sums over the orders of a delta.
struct Sums {
    Exact filled_quote;
    Exact fee_quote;
    Exact measured_quote;  // Of the orders whose slippage is known.
    Exact weighted_bps;
};

Result<Sums> sums_of(const Json& orders) {
    Sums sums;
    for (const Json& row : orders.items()) {
        FieldReader in(row);
        const auto quote = in.required<Decimal>("filled_quote");
        const auto fee = in.required<Decimal>("fee_quote");
        const auto slippage = in.required_nullable<Decimal>("slippage_bps");
        TRY(in.finish(0));
        sums.filled_quote += quote;
        sums.fee_quote += fee;
        if (slippage) {
            sums.measured_quote += quote;
            sums.weighted_bps += Exact(quote).times_even(*slippage);
        }
    }
    return sums;
}

}  // namespace

Result<Json> state_delta(const Decision& decision, const std::vector<OrderRecord>& orders) {
    Json rows = Json::array();
    std::map<Symbol, Moved> moved;
    for (const OrderRecord& order : orders) {
        rows.push(order_row(order));
        Moved& here = moved[order.symbol()];
        const bool is_buy = order.request.side == Side::buy;
        here.qty = is_buy ? here.qty + order.filled_qty : here.qty - order.filled_qty;
        here.quote = is_buy ? here.quote - order.filled_quote : here.quote + order.filled_quote;
        here.fees += order.fee_quote;
    }
    Json positions = Json::array();
    for (const auto& [symbol, sums] : moved) {
        TRY_ASSIGN(const Decimal qty, sums.qty.result());
        TRY_ASSIGN(const Decimal quote, sums.quote.result());
        TRY_ASSIGN(const Decimal fees, sums.fees.result());
        positions.push(Json::object({
            {"symbol", symbol.text()},
            {"qty", to_text(qty)},
            {"quote", to_text(quote)},
            {"fee_quote", to_text(fees)},
        }));
    }
    Json cancels = Json::array();
    for (const CancelRow& row : decision.cancels) {
        cancels.push(Json::object(
            {{"order_client_id", row.order_client_id.text()}, {"status", row.status}}));
    }
    return Json::object({
        {"orders", std::move(rows)},
        {"positions", std::move(positions)},
        {"cancels", std::move(cancels)},
    });
}

Result<Json> decision_metrics(const Recorded& recorded) {
    FieldReader in(recorded.state_delta);
    const Json orders = in.required<Json>("orders");
    if (!recorded.execution.is_array() || !orders.is_array()) {
        in.add_problem("orders", "must be rows");
        return in.finish(Json());
    }
    TRY_ASSIGN(const Sums sums, sums_of(orders));
    TRY_ASSIGN(const Decimal filled_quote, sums.filled_quote.result());
    TRY_ASSIGN(const Decimal fee_quote, sums.fee_quote.result());
    TRY_ASSIGN(const Decimal measured, sums.measured_quote.result());
    Json slippage;
    if (measured.is_positive()) {
        TRY_ASSIGN(const Decimal weighted, sums.weighted_bps.result());
        TRY_ASSIGN(const Decimal mean, divide_half_even(weighted, measured));
        slippage = to_text(mean);
    }
    TRY_ASSIGN(Json took, milliseconds_to_execution(recorded.timestamps));
    const auto count = static_cast<std::int64_t>(recorded.execution.items().size());
    const std::int64_t acked = count_of(recorded.execution, "acked");
    const std::int64_t rejected = count_of(recorded.execution, "rejected");
    return Json::object({
        {"orders", count},
        {"acked", acked},
        {"rejected", rejected},
        {"unknown", count - acked - rejected},
        {"filled_quote", to_text(filled_quote)},
        {"fee_quote", to_text(fee_quote)},
        {"slippage_bps", std::move(slippage)},
        {"planned_to_executed_ms", std::move(took)},
    });
}

}  // namespace interlock
