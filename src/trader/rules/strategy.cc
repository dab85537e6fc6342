// The words and codecs every strategy shares, and the way back from a recorded input to its plan.
#include "trader/rules/strategy.h"

#include <array>

#include "base/errors.h"
#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kPostures{"conservative", "balanced", "aggressive"};
constexpr std::array<std::string_view, 3> kParts{"cancels", "sells", "buys"};
constexpr std::size_t kTypeNameLengthMax = 64;

}  // namespace

std::string_view to_word(RiskPosture posture) {
    return kPostures[static_cast<std::size_t>(posture)];
}

Result<RiskPosture> parse_risk_posture(std::string_view word) {
    for (std::size_t i = 0; i < kPostures.size(); ++i) {
        if (kPostures[i] == word) {
            return static_cast<RiskPosture>(i);
        }
    }
    return fail(errors::invalid_request, "A risk posture is conservative, balanced or aggressive.");
}

Json encode(const OwnOrder& order) {
    return Json::object({
        {"order_client_id", order.order_client_id.text()},
        {"side", to_word(order.side)},
        {"price", to_text(order.price)},
        {"remaining_qty", to_text(order.remaining_qty)},
        {"is_uncertain", order.is_uncertain},
        {"cancel_requested", order.cancel_requested},
    });
}

Result<OwnOrder> decode_own_order(const Json& json) {
    FieldReader in(json);
    OwnOrder order{
        .order_client_id = in.required<OrderClientId>("order_client_id"),
        .side = read_side(in, "side"),
        .price = in.required<Decimal>("price"),
        .remaining_qty = in.required<Decimal>("remaining_qty"),
        .is_uncertain = in.required<bool>("is_uncertain"),
        .cancel_requested = in.required<bool>("cancel_requested"),
    };
    in.reject_unknown();
    return in.finish(std::move(order));
}

std::string_view to_word(PlanPart part) {
    return kParts[static_cast<std::size_t>(part)];
}

Plan part_of(const Plan& plan, PlanPart part) {
    Plan one;
    one.reason = plan.reason;
    if (part == PlanPart::cancels) {
        one.cancels = plan.cancels;
        return one;
    }
    const Side side = part == PlanPart::sells ? Side::sell : Side::buy;
    for (const Intent& intent : plan.intents) {
        if (intent.side == side) {
            one.intents.push_back(intent);
        }
    }
    return one;
}

Json encode(const PlannerInput& input) {
    Json orders = Json::array();
    for (const OwnOrder& order : input.own_orders) {
        orders.push(encode(order));
    }
    Json json = Json::object({
        {"strategy_type", input.strategy_type},
        {"config", input.config},
        {"strategy_id", input.strategy_id.text()},
        {"symbol", input.symbol.text()},
        {"signals", encode(input.signals)},
        {"own_orders", std::move(orders)},
        {"memory", input.memory},
        {"posture", to_word(input.posture)},
        {"part", to_word(input.part)},
    });
    if (input.trades) {
        json.set("trades", encode(*input.trades));
    }
    return json;
}

Result<PlannerInput> decode_planner_input(const Json& json) {
    FieldReader in(json);
    PlannerInput input;
    input.strategy_type = in.required_text("strategy_type", {.length_max = kTypeNameLengthMax});
    input.config = in.required<Json>("config");
    input.strategy_id = in.required<StrategyId>("strategy_id");
    input.symbol = read_stored_symbol(in, "symbol");
    if (const Json* signals = in.required_object("signals")) {
        if (auto read = decode_market_signals(*signals)) {
            input.signals = *std::move(read);
        } else {
            in.absorb(read.error());
        }
    }
    for (const Json& item : in.required_array("own_orders", kStateOpenOrdersMax)) {
        if (auto order = decode_own_order(item)) {
            input.own_orders.push_back(*std::move(order));
        } else {
            in.absorb(order.error());
        }
    }
    input.memory = in.required<Json>("memory");
    if (const Json* trades = in.optional_object("trades")) {
        if (auto read = decode_own_trades(*trades)) {
            input.trades = *std::move(read);
        } else {
            in.absorb(read.error());
        }
    }
    input.posture = static_cast<RiskPosture>(in.required_word_index("posture", kPostures));
    input.part = static_cast<PlanPart>(in.required_word_index("part", kParts));
    in.reject_unknown();
    return in.finish(std::move(input));
}

Result<Plan> replan(const Json& planner_input, const StateFacts& state, const MarketSet& market) {
    TRY_ASSIGN(const PlannerInput input, decode_planner_input(planner_input));
    const StrategyType* type = find_strategy_type(input.strategy_type);
    if (type == nullptr) {
        return fail(
            errors::not_found, "There is no strategy type " + input.strategy_type + " any more.");
    }
    TRY_ASSIGN(const std::shared_ptr<const Strategy> strategy, type->open(input.config));
    TRY_ASSIGN(
        const StrategyStep step,
        strategy->step({
            .strategy_id = input.strategy_id,
            .symbol = input.symbol,
            .state = state,
            .market = market,
            .signals = input.signals,
            .own_orders = input.own_orders,
            .memory = input.memory,
            .trades = input.trades ? &*input.trades : nullptr,
            .posture = input.posture,
        }));
    return part_of(step.plan, input.part);
}

}  // namespace interlock
