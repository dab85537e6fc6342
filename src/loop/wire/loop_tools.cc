#include "loop/wire/loop_tools.h"
#include "account/wire/venue_order.h"

#include "base/errors.h"
#include "codec/error_json.h"

namespace interlock {
namespace {

ToolCall read_call(FieldReader& in) {
    return {
        .decision_id = in.required<DecisionId>("decision_id"),
        .tick_id = in.required<TickId>("tick_id"),
        .idempotency_key = in.required<IdempotencyKey>("idempotency_key"),
        .account_id = in.optional_or<AccountId>("account_id", default_account_id()),
    };
}

Decimal read_not_negative(FieldReader& in, std::string_view key) {
    const Decimal value = in.required<Decimal>(key);
    if (value.is_negative()) {
        in.add_problem(key, "must not be negative");
    }
    return value;
}

Plan read_plan(FieldReader& in, IntentForm form) {
    const Json* json = in.required_object("plan");
    if (json == nullptr) {
        return {};
    }
    auto plan = decode_plan(*json, form, "plan");
    if (!plan) {
        in.absorb(plan.error());
        return {};
    }
    return *std::move(plan);
}

void check_record(const Json& record, FieldReader& in) {
    FieldReader fields(record, "record");
    for (const std::string_view key :
         {"plan_summary", "validation_summary", "execution_summary", "verification_summary"}) {
        fields.required_text(key, {.length_min = 0, .length_max = kSummaryLengthMax});
    }
    fields.required_object("state_delta");
    fields.required_object("metrics");
    fields.reject_unknown();
    if (auto checked = fields.finish(true); !checked) {
        in.absorb(checked.error());
    }
}

}  // namespace

Result<CanonicalStateRequest> decode_canonical_state_request(const Json& json) {
    FieldReader in(json);
    CanonicalStateRequest request{.call = read_call(in), .as_of = in.required<Timestamp>("as_of")};
    in.reject_unknown();
    return in.finish(std::move(request));
}

Result<MarketSnapshotRequest> decode_market_snapshot_request(const Json& json) {
    FieldReader in(json);
    MarketSnapshotRequest request{.call = read_call(in), .symbols = {}, .max_staleness_sec = {}};
    for (const Json& item : in.required_array("symbols", kSnapshotSymbolsMax)) {
        if (!item.is_string()) {
            in.add_problem("symbols", "expected strings");
            continue;
        }
        const auto symbol = Symbol::parse(item.as_string());
        if (!symbol) {
            in.add_problem("symbols", symbol.error().message);
            continue;
        }
        request.symbols.push_back(*symbol);
    }
    request.max_staleness_sec = read_not_negative(in, "max_staleness_sec");
    in.reject_unknown();
    return in.finish(std::move(request));
}

Result<ValidatePlanRequest> decode_validate_plan_request(const Json& json) {
    FieldReader in(json);
    ValidatePlanRequest request{.call = read_call(in), .plan = read_plan(in, IntentForm::validate)};
    in.reject_unknown();
    return in.finish(std::move(request));
}

Result<DryRunPlanRequest> decode_dry_run_plan_request(const Json& json) {
    FieldReader in(json);
    DryRunPlanRequest request{
        .call = read_call(in),
        .plan = read_plan(in, IntentForm::dry_run),
        .slippage_bps = {},
        .fee_bps = {},
    };
    if (const Json* assumptions = in.required_object("assumptions")) {
        FieldReader fields(*assumptions, "assumptions");
        request.slippage_bps = read_not_negative(fields, "slippage_bps");
        request.fee_bps = read_not_negative(fields, "fee_bps");
        fields.reject_unknown();
        if (auto checked = fields.finish(true); !checked) {
            in.absorb(checked.error());
        }
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Result<ExecutePlanRequest> decode_execute_plan_request(const Json& json) {
    FieldReader in(json);
    ExecutePlanRequest request{
        .call = read_call(in), .mode = read_trade_mode(in, "execution_mode"), .plan = {}};
    request.plan.intents = decode_intents(in, "approved_intents", IntentForm::execute);
    request.plan.cancels = decode_cancels(in);
    in.reject_unknown();
    return in.finish(std::move(request));
}

Result<VerifyExecutionRequest> decode_verify_execution_request(const Json& json) {
    FieldReader in(json);
    VerifyExecutionRequest request{.call = read_call(in), .order_client_ids = {}};
    for (const Json& item : in.required_array("order_client_ids", kVerifyOrdersMax)) {
        auto id = read_value(item, static_cast<OrderClientId*>(nullptr));
        if (!id) {
            in.add_problem("order_client_ids", std::move(id.error()));
            continue;
        }
        request.order_client_ids.push_back(*std::move(id));
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Result<RecordDecisionRequest> decode_record_decision_request(const Json& json) {
    FieldReader in(json);
    RecordDecisionRequest request{.call = read_call(in), .record = {}};
    if (const Json* record = in.required_object("record")) {
        check_record(*record, in);
        request.record = *record;
        if (to_text(*record).size() > kRecordBytesMax) {
            in.add_problem("record", "is larger than 65536 bytes");
        }
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

ClaimedIds claimed_ids(const Json& json) {
    ClaimedIds ids;
    if (const Json* decision = json.find("decision_id"); decision && decision->is_string()) {
        if (auto id = DecisionId::parse(decision->as_string())) {
            ids.decision_id = *std::move(id);
        }
    }
    if (const Json* tick = json.find("tick_id"); tick && tick->is_string()) {
        if (auto id = TickId::parse(tick->as_string())) {
            ids.tick_id = *std::move(id);
        }
    }
    return ids;
}

Json tool_error_answer(const Error& error, std::string_view audit_ref) {
    return Json::object({
        {"status", "error"},
        {"errors", Json::array({encode(error)})},
        {"audit_ref", audit_ref},
    });
}

}  // namespace interlock
