#include "account/wire/intent.h"

#include <array>
#include <set>

#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 2> kSides{"buy", "sell"};
constexpr std::array<std::string_view, 2> kTypes{"market", "limit"};
constexpr std::array<std::string_view, 3> kTifs{"GTC", "IOC", "FOK"};
constexpr std::array<std::string_view, 3> kModes{"paper", "shadow", "live"};
constexpr std::size_t kReasonLengthMax = 2000;
constexpr char kUnitSeparator = 0x1f;

template <class Word>
Word word_at(std::size_t index) {
    return static_cast<Word>(index);
}

// A market order has no price and rests nowhere; a limit order needs one.
void check_shape(const Intent& intent, FieldReader& in) {
    if (!intent.qty.is_positive()) {
        in.add_problem("qty", "must be greater than zero");
    }
    if (intent.order_type == OrderType::limit) {
        if (!intent.limit_price) {
            in.add_problem("limit_price", "is required for a limit order");
        } else if (!intent.limit_price->is_positive()) {
            in.add_problem("limit_price", "must be greater than zero");
        }
    } else {
        if (intent.limit_price) {
            in.add_problem("limit_price", "must be null for a market order");
        }
        if (intent.post_only) {
            in.add_problem("post_only", "must be false for a market order");
        }
    }
    if (intent.post_only && intent.time_in_force != TimeInForce::gtc) {
        in.add_problem("post_only", "needs time_in_force GTC");
    }
}

Symbol read_symbol(FieldReader& in) {
    const std::string text = in.required_text("symbol", {.length_min = 1, .length_max = 40});
    if (text.empty()) {
        return {};
    }
    const auto symbol = Symbol::parse(text);
    if (!symbol) {
        in.add_problem("symbol", symbol.error().message);
        return {};
    }
    return *symbol;
}

}  // namespace

std::string_view to_word(Side side) {
    return kSides[static_cast<std::size_t>(side)];
}
std::string_view to_word(OrderType type) {
    return kTypes[static_cast<std::size_t>(type)];
}
std::string_view to_word(TimeInForce tif) {
    return kTifs[static_cast<std::size_t>(tif)];
}
std::string_view to_word(TradeMode mode) {
    return kModes[static_cast<std::size_t>(mode)];
}

Side read_side(FieldReader& in, std::string_view key) {
    return word_at<Side>(in.required_word_index(key, kSides));
}
OrderType read_order_type(FieldReader& in, std::string_view key) {
    return word_at<OrderType>(in.required_word_index(key, kTypes));
}
TimeInForce read_time_in_force(FieldReader& in, std::string_view key) {
    return word_at<TimeInForce>(in.required_word_index(key, kTifs));
}
TradeMode read_trade_mode(FieldReader& in, std::string_view key) {
    return word_at<TradeMode>(in.required_word_index(key, kModes));
}

Intent decode_intent(const Json& json, std::size_t position, IntentForm form, FieldReader& in) {
    const std::string_view list = form == IntentForm::execute ? "approved_intents" : "intents";
    FieldReader item(json, in.path_of(list) + "[" + std::to_string(position) + "]");
    Intent intent;
    if (form == IntentForm::execute) {
        intent.intent_id = item.required<IntentId>("intent_id");
        intent.order_client_id = item.required<OrderClientId>("order_client_id");
    } else {
        intent.intent_id = item.optional_or<IntentId>(
            "intent_id", IntentId::trusted("i" + std::to_string(position)));
    }
    intent.symbol = read_symbol(item);
    intent.side = read_side(item, "side");
    intent.order_type = read_order_type(item, "order_type");
    intent.qty = item.required<Decimal>("qty");
    intent.limit_price = item.required_nullable<Decimal>("limit_price");
    if (form == IntentForm::dry_run) {
        const auto tif = item.optional_word_index("time_in_force", kTifs);
        intent.time_in_force = tif ? word_at<TimeInForce>(*tif) : TimeInForce::gtc;
    } else {
        intent.time_in_force = read_time_in_force(item, "time_in_force");
    }
    intent.post_only = item.optional_or<bool>("post_only", false);
    if (form == IntentForm::validate) {
        intent.strategy_id = item.required<StrategyId>("strategy_id");
        intent.expected_edge_bps = item.required_nullable<Decimal>("expected_edge_bps");
    } else {
        intent.strategy_id = item.optional_or<StrategyId>("strategy_id", {});
        intent.expected_edge_bps = item.optional<Decimal>("expected_edge_bps");
    }
    if (item.ok()) {
        check_shape(intent, item);
    }
    item.reject_unknown();
    auto decoded = item.finish(std::move(intent));
    if (!decoded) {
        in.absorb(decoded.error());
        return {};
    }
    return *std::move(decoded);
}

std::vector<Intent> decode_intents(FieldReader& in, std::string_view key, IntentForm form) {
    std::vector<Intent> intents;
    std::set<IntentId> seen;
    for (const Json& item : in.required_array(key, kIntentsMax)) {
        intents.push_back(decode_intent(item, intents.size(), form, in));
        const IntentId& id = intents.back().intent_id;
        if (!id.empty() && !seen.insert(id).second) {
            in.add_problem(key, "names the intent_id " + id.text() + " twice");
        }
    }
    return intents;
}

std::vector<OrderClientId> decode_cancels(FieldReader& in) {
    std::vector<OrderClientId> cancels;
    const Json::Array* items = in.optional_array("cancels", kCancelsMax);
    if (items == nullptr) {
        return cancels;
    }
    for (const Json& item : *items) {
        auto id = read_value(item, static_cast<OrderClientId*>(nullptr));
        if (!id) {
            in.add_problem("cancels", std::move(id.error()));
            continue;
        }
        cancels.push_back(*std::move(id));
    }
    return cancels;
}

Result<Plan> decode_plan(const Json& json, IntentForm form, const std::string& path) {
    FieldReader in(json, path);
    Plan plan{
        .intents = decode_intents(in, "intents", form),
        .cancels = decode_cancels(in),
        .reason = {},
    };
    const TextBounds bounds{.length_min = 0, .length_max = kReasonLengthMax};
    plan.reason = form == IntentForm::validate ? in.required_text("reason", bounds)
                                               : in.optional_text("reason", bounds).value_or("");
    in.reject_unknown();
    return in.finish(std::move(plan));
}

Json encode(const Intent& intent) {
    Json json = Json::object({
        {"intent_id", intent.intent_id.text()},
        {"symbol", intent.symbol.text()},
        {"side", to_word(intent.side)},
        {"order_type", to_word(intent.order_type)},
        {"qty", to_text(intent.qty)},
        {"limit_price", intent.limit_price ? Json(to_text(*intent.limit_price)) : Json()},
        {"time_in_force", to_word(intent.time_in_force)},
        {"post_only", intent.post_only},
    });
    if (!intent.strategy_id.empty()) {
        json.set("strategy_id", intent.strategy_id.text());
    }
    if (intent.expected_edge_bps) {
        json.set("expected_edge_bps", to_text(*intent.expected_edge_bps));
    }
    return json;
}

Json encode(const Plan& plan) {
    Json intents = Json::array();
    for (const Intent& intent : plan.intents) {
        intents.push(encode(intent));
    }
    Json cancels = Json::array();
    for (const OrderClientId& id : plan.cancels) {
        cancels.push(id.text());
    }
    return Json::object({
        {"intents", std::move(intents)},
        {"cancels", std::move(cancels)},
        {"reason", plan.reason},
    });
}

Result<Plan> decode_stored_plan(const Json& json) {
    // What we store has the dry run's form: strategy and edge may be absent.
    return decode_plan(json, IntentForm::dry_run, "plan");
}

std::string intents_hash(const Plan& plan) {
    std::string text = "intents.v1";
    const auto add = [&text](std::string_view part) {
        text += kUnitSeparator;
        text += part;
    };
    for (const Intent& intent : plan.intents) {
        add(intent.intent_id.text());
        add(intent.symbol.text());
        add(to_word(intent.side));
        add(to_word(intent.order_type));
        add(to_text(intent.qty));
        add(intent.limit_price ? to_text(*intent.limit_price) : "-");
        add(intent.post_only ? "post_only" : "-");
    }
    for (const OrderClientId& id : plan.cancels) {
        add("cancel");
        add(id.text());
    }
    return sha256_hex(text);
}

namespace {

Json with_words(std::string_view schema, std::string_view description) {
    Json json = parse_json(schema).value();
    json.set("description", description);
    return json;
}

constexpr std::string_view kDecimal = R"({"type": ["string", "number"]})";
constexpr std::string_view kDecimalOrNull = R"({"type": ["string", "number", "null"]})";
constexpr std::string_view kId = R"({"type": "string", "minLength": 1, "maxLength": 128})";

template <std::size_t N>
Json words_schema(const std::array<std::string_view, N>& words, std::string_view description) {
    return Json::object(
        {{"type", "string"}, {"enum", json_list(words)}, {"description", description}});
}

}  // namespace

Json intents_schema(IntentForm form) {
    // The later tools take the very intents of the first; what they mean stands there.
    const bool is_first = form == IntentForm::validate;
    const auto words = [&](std::string_view text) {
        return is_first ? text : std::string_view("As validated.");
    };
    Json properties = Json::object({
        {"intent_id", with_words(kId, words("Unique in the plan; left out: i0, i1, … in order."))},
        {"symbol",
         with_words(R"({"type": "string", "maxLength": 64})", words("One of state.symbols."))},
        {"side", words_schema(kSides, words("Of the base asset."))},
        {"order_type", words_schema(kTypes, words("market takes at once."))},
        {"qty",
         with_words(
             kDecimal,
             words("Base units above 0: a multiple of step_size, within allowed_envelope."))},
        {"limit_price",
         with_words(
             kDecimalOrNull,
             words("Quote per base unit above 0: a multiple of tick_size; null for market."))},
        {"time_in_force", words_schema(kTifs, words("IOC and FOK never rest."))},
        {"post_only",
         with_words(R"({"type": "boolean"})", words("A limit that is refused rather than takes."))},
        {"strategy_id", with_words(kId, words("One of state.strategy_ids."))},
        {"expected_edge_bps",
         with_words(kDecimalOrNull, words("Gain you expect, in basis points; or null."))},
    });
    Json required = Json::array({"symbol", "side", "order_type", "qty", "limit_price"});
    if (form != IntentForm::dry_run) {
        required.push("time_in_force");
    }
    if (form == IntentForm::validate) {
        required.push("strategy_id");
        required.push("expected_edge_bps");
    }
    if (form == IntentForm::execute) {
        required.push("intent_id");
        required.push("order_client_id");
        properties.set("order_client_id", with_words(kId, "As the dry run gave it."));
    }
    return Json::object({
        {"type", "array"},
        {"maxItems", kIntentsMax},
        {"description", is_first ? "Orders wanted." : "The validated intents, unchanged."},
        {"items",
         Json::object({
             {"type", "object"},
             {"additionalProperties", false},
             {"required", std::move(required)},
             {"properties", std::move(properties)},
         })},
    });
}

Json cancels_schema() {
    return Json::object({
        {"type", "array"},
        {"maxItems", kCancelsMax},
        {"description", "order_client_ids of own open orders to cancel."},
        {"items", parse_json(kId).value()},
    });
}

}  // namespace interlock
