#include "trader/wire/strategy_requests.h"

#include <array>

#include "account/wire/venue_order.h"
#include "base/check.h"
#include "codec/field_reader.h"
#include "loop/wire/loop_tools.h"

namespace interlock {
namespace {

constexpr std::size_t kReasonLengthMax = 500;
constexpr std::array<std::string_view, 2> kNewModes{"off", "observe"};
constexpr std::array<std::string_view, 5> kActions{"start", "pause", "resume", "stop", "reconcile"};
constexpr std::array<std::string_view, 3> kConcernWords{"active", "paused", "informational"};

StrategyCall read_call(FieldReader& in) {
    return {
        .idempotency_key = in.required<IdempotencyKey>("idempotency_key"),
        .reason = in.optional_text("reason", {.length_min = 0, .length_max = kReasonLengthMax})
                      .value_or(""),
    };
}

template <class Request>
Result<Request> finish(FieldReader& in, Request request) {
    in.reject_unknown();
    return in.finish(std::move(request));
}

void check_size(FieldReader& in, std::string_view key, const Json& json) {
    if (to_text(json).size() > kConfigBytesMax) {
        in.add_problem(key, "is larger than " + std::to_string(kConfigBytesMax) + " bytes");
    }
}

StrategyPolicy read_policy(FieldReader& in, const Json* json) {
    if (json == nullptr) {
        return {};
    }
    auto policy = decode_strategy_policy(*json);
    if (!policy) {
        in.absorb(policy.error());
        return {};
    }
    return *std::move(policy);
}

constexpr std::string_view kCallProperties = R"(
    "idempotency_key": {"type": "string", "minLength": 1, "maxLength": 128},
    "reason": {"type": "string", "maxLength": 500})";
constexpr std::string_view kPolicySchema = R"({
    "type": "object", "additionalProperties": false,
    "properties": {
        "risk_posture": {"enum": ["conservative", "balanced", "aggressive"]},
        "priority": {"type": "integer", "minimum": 0, "maximum": 10},
        "metadata": {"type": "object"}}})";

Json schema_of(std::string_view required, std::string_view properties) {
    std::string text = R"({"type": "object", "additionalProperties": false, "required": [)";
    text += required;
    text += R"(], "properties": {)";
    text += kCallProperties;
    text += properties;
    text += "}}";
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace

Result<CreateStrategyRequest> decode_create_strategy(const Json& json) {
    FieldReader in(json);
    CreateStrategyRequest request;
    request.call = read_call(in);
    request.strategy_type = in.required_text("strategy_type", {.length_max = 64});
    request.account_id = in.optional_or<AccountId>("account_id", default_account_id());
    request.market_symbol = in.required_text("market_symbol", {.length_max = 40});
    request.name =
        in.optional_text("name", {.length_min = 0, .length_max = kInstanceNameMax}).value_or("");
    if (const Json* config = in.optional_object("config")) {
        request.config = *config;
        check_size(in, "config", *config);
    }
    if (const auto mode = in.optional_word_index("mode", kNewModes)) {
        request.mode = static_cast<InstanceMode>(*mode);
    }
    request.policy = read_policy(in, in.optional_object("policy"));
    return finish(in, std::move(request));
}

Result<UpdateStrategyRequest> decode_update_strategy(const Json& json) {
    FieldReader in(json);
    UpdateStrategyRequest request;
    request.call = read_call(in);
    request.name = in.optional_text("name", {.length_min = 0, .length_max = kInstanceNameMax});
    if (const Json* config = in.optional_object("config")) {
        request.config = *config;
        check_size(in, "config", *config);
    }
    if (const Json* state = in.optional_object("state")) {
        request.state = *state;
        check_size(in, "state", *state);
    }
    if (const auto mode = in.optional_word_index("mode", kNewModes)) {
        request.mode = static_cast<InstanceMode>(*mode);
    }
    if (!request.name && !request.config && !request.state && !request.mode) {
        in.add_problem("config", "nothing to change: send name, config, state or mode");
    }
    return finish(in, std::move(request));
}

Result<DeleteStrategyRequest> decode_delete_strategy(const Json& json) {
    FieldReader in(json);
    return finish(in, DeleteStrategyRequest{read_call(in)});
}

Result<ControlStrategyRequest> decode_control_strategy(const Json& json) {
    FieldReader in(json);
    ControlStrategyRequest request{
        .call = read_call(in),
        .action = static_cast<HelperAction>(in.required_word_index("action", kActions))};
    return finish(in, std::move(request));
}

Result<StrategyPolicyRequest> decode_strategy_policy_request(const Json& json) {
    FieldReader in(json);
    StrategyPolicyRequest request;
    request.call = read_call(in);
    request.policy = read_policy(in, in.required_object("policy"));
    return finish(in, std::move(request));
}

Result<MoveStrategyRequest> decode_move_strategy(const Json& json) {
    FieldReader in(json);
    MoveStrategyRequest request;
    request.call = read_call(in);
    request.expected_active_strategy_id =
        in.optional_nullable<StrategyId>("expected_active_strategy_id");
    if (const auto word = in.optional<std::string>("risk_mode")) {
        if (auto mode = parse_risk_mode(*word)) {
            request.risk_mode = *mode;
        } else {
            in.add_problem("risk_mode", mode.error().message);
        }
    }
    request.override_guards = in.optional_or<bool>("override", false);
    return finish(in, std::move(request));
}

Result<ConcernRequest> decode_concern_request(const Json& json) {
    FieldReader in(json);
    ConcernRequest request{
        .call = read_call(in),
        .status = static_cast<ConcernStatus>(in.required_word_index("status", kConcernWords))};
    return finish(in, std::move(request));
}

Json strategy_request_schema(std::string_view operation_id) {
    if (operation_id == "create_strategy") {
        return schema_of(R"("idempotency_key", "strategy_type", "market_symbol")", std::string(R"(,
                "strategy_type": {"type": "string", "maxLength": 64},
                "account_id": {"type": "string", "default": "main"},
                "market_symbol": {"type": "string", "maxLength": 40},
                "name": {"type": "string", "maxLength": 80},
                "config": {"type": "object",
                           "description": "By the type's schema; missing keys take defaults."},
                "mode": {"enum": ["off", "observe"], "default": "off"},
                "policy": )") + std::string(kPolicySchema));
    }
    if (operation_id == "update_strategy") {
        return schema_of(R"("idempotency_key")", R"(,
                "name": {"type": "string", "maxLength": 80},
                "config": {"type": "object", "description": "Whole, not a patch."},
                "state": {"type": "object", "description": "Keys of the type's state schema."},
                "mode": {"enum": ["off", "observe"]})");
    }
    if (operation_id == "control_strategy") {
        return schema_of(
            R"("idempotency_key", "action")",
            R"(, "action": {"enum": ["start", "pause", "resume", "stop", "reconcile"]})");
    }
    if (operation_id == "set_strategy_policy") {
        return schema_of(
            R"("idempotency_key", "policy")", R"(, "policy": )" + std::string(kPolicySchema));
    }
    if (operation_id == "set_concern") {
        return schema_of(
            R"("idempotency_key", "status")",
            R"(, "status": {"enum": ["active", "paused", "informational"]})");
    }
    if (operation_id == "switch_strategy") {
        return schema_of(R"("idempotency_key")", R"(,
                "expected_active_strategy_id": {"type": ["string", "null"]},
                "risk_mode": {"type": "string"},
                "override": {"type": "boolean", "default": false})");
    }
    return schema_of(R"("idempotency_key")", "");
}

}  // namespace interlock
