#include "trader/wire/control_text.h"

#include <initializer_list>

#include "base/canonical_json.h"
#include "codec/canonical_writer.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kAnswerBytesExpected = 800;
constexpr std::size_t kDetailBytesExpected = 768;
constexpr std::size_t kAnswerErrorsMax = 64;

template <class Tag>
void append_id(CanonicalWriter& out, std::string_view key, const std::optional<Id<Tag>>& id) {
    if (id) {
        out.text(key, id->text());
    } else {
        out.raw(key, "null");
    }
}

void append_time(CanonicalWriter& out, std::string_view key, const std::optional<Timestamp>& at) {
    if (at) {
        out.text(key, to_text(*at));
    } else {
        out.raw(key, "null");
    }
}

void append_warnings(CanonicalWriter& out, const ControlResult& result) {
    out.key("warnings");
    out.open_array();
    for (const std::string& warning : result.warnings) {
        out.item(warning);
    }
    out.close_array();
}

void append_risk_mode(CanonicalWriter& out, const ControlResult& result) {
    if (result.risk_mode) {
        out.text("risk_mode", to_word(*result.risk_mode));
    } else {
        out.raw("risk_mode", "null");
    }
}

// A canonical text has its keys in order of the alphabet; an answer has them in order of sense.
Json in_order(const Json& json, std::initializer_list<std::string_view> keys) {
    if (!json.is_object()) {
        return json;
    }
    Json ordered = Json::object();
    for (const std::string_view key : keys) {
        if (const Json* value = json.find(key)) {
            ordered.set(std::string(key), *value);
        }
    }
    for (const auto& [key, value] : json.members()) {
        if (ordered.find(key) == nullptr) {
            ordered.set(key, value);
        }
    }
    return ordered;
}

Json change_in_order(const Json& change) {
    Json ordered = in_order(change, {"mode_change", "reconciled", "open_orders"});
    Json* orders = ordered.find("open_orders");
    if (orders != nullptr && orders->is_array()) {
        for (Json& order : orders->items()) {
            order = in_order(order, {"order_client_id", "cancel_requested"});
        }
    }
    return ordered;
}

bool is_ok(ControlStatus status) {
    return status == ControlStatus::applied || status == ControlStatus::noop;
}

}  // namespace

std::string answer_text(const ControlResult& result) {
    std::string text;
    text.reserve(kAnswerBytesExpected);
    CanonicalWriter out(text);
    out.open_object();
    out.flag("ok", is_ok(result.status));
    out.text("status", to_word(result.status));
    out.text("decision_id", result.decision_id);
    out.text("concern_id", result.concern_id);
    out.text("action", result.action);
    append_id(out, "from_strategy_id", result.from_strategy_id);
    append_id(out, "to_strategy_id", result.to_strategy_id);
    append_risk_mode(out, result);
    out.flag("dry_run", result.dry_run);
    out.key("validation");
    out.open_object();
    out.flag("concern_match", result.validation.concern_match);
    out.flag("account_match", result.validation.account_match);
    out.flag("market_match", result.validation.market_match);
    out.flag("expected_active_match", result.validation.expected_active_match);
    out.flag("target_exists", result.validation.target_exists);
    out.flag("target_runnable", result.validation.target_runnable);
    out.close_object();
    append_warnings(out, result);
    out.key("errors");
    out.open_array();
    for (const Error& error : result.errors) {
        out.raw_item(to_text(encode(error)));
    }
    out.close_array();
    out.raw("result", to_text(result.result));
    append_time(out, "applied_at", result.applied_at);
    out.close_object();
    return text;
}

Result<std::string> detail_text(const ControlAttemptRecord& record) {
    const ControlResult& result = record.result;
    TRY_ASSIGN(const std::string change, canonical_json(result.result));
    std::string text;
    text.reserve(kDetailBytesExpected + record.payload.size());
    CanonicalWriter out(text);
    out.open_object();
    append_time(out, "applied_at", result.applied_at);
    out.integer("attempt", record.attempt);
    out.flag("dry_run", result.dry_run);
    out.key("errors");
    out.open_array();
    for (const Error& error : result.errors) {
        TRY_ASSIGN(const std::string canonical, canonical_json(encode(error)));
        out.raw_item(canonical);
    }
    out.close_array();
    append_id(out, "from_strategy_id", result.from_strategy_id);
    out.flag("override", record.override_guards);
    out.raw("payload", record.payload);
    out.text("received_at", to_text(record.received_at));
    out.raw("result", change);
    append_risk_mode(out, result);
    out.text("status", to_word(result.status));
    append_id(out, "to_strategy_id", result.to_strategy_id);
    out.key("validation");
    out.open_object();
    out.flag("account_match", result.validation.account_match);
    out.flag("concern_match", result.validation.concern_match);
    out.flag("expected_active_match", result.validation.expected_active_match);
    out.flag("market_match", result.validation.market_match);
    out.flag("target_exists", result.validation.target_exists);
    out.flag("target_runnable", result.validation.target_runnable);
    out.close_object();
    append_warnings(out, result);
    out.close_object();
    TRY(out.verdict());
    return text;
}

Result<Json> answer_from_detail(const Json& detail) {
    FieldReader in(detail, "detail");
    const Json status = in.required<std::string>("status");
    const Json payload = in.required<Json>("payload");
    FieldReader asked(payload, "payload");
    Json errors = Json::array();
    for (const Json& error : in.required_array("errors", kAnswerErrorsMax)) {
        errors.push(in_order(error, {"code", "message", "retryable", "next_step", "problems"}));
    }
    Json answer = Json::object({
        {"ok",
         status.as_string() == to_word(ControlStatus::applied) ||
             status.as_string() == to_word(ControlStatus::noop)},
        {"status", status},
        {"decision_id", asked.required<std::string>("decision_id")},
        {"concern_id", asked.required<std::string>("concern_id")},
        {"action", asked.required<std::string>("action")},
        {"from_strategy_id", in.required<Json>("from_strategy_id")},
        {"to_strategy_id", in.required<Json>("to_strategy_id")},
        {"risk_mode", in.required<Json>("risk_mode")},
        {"dry_run", in.required<bool>("dry_run")},
        {"validation",
         in_order(
             in.required<Json>("validation"),
             {"concern_match",
              "account_match",
              "market_match",
              "expected_active_match",
              "target_exists",
              "target_runnable"})},
        {"warnings", in.required<Json>("warnings")},
        {"errors", std::move(errors)},
        {"result", change_in_order(in.required<Json>("result"))},
        {"applied_at", in.required<Json>("applied_at")},
    });
    TRY(asked.finish(true));
    return in.finish(std::move(answer));
}

}  // namespace interlock
