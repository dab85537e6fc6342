#include "loop/wire/control.h"

#include <algorithm>

#include "account/wire/venue_order.h"
#include "base/check.h"
#include "codec/field_reader.h"
#include "loop/wire/loop_tools.h"

namespace interlock {
namespace {

constexpr std::size_t kReasonLengthMax = 500;
constexpr std::size_t kEventLengthMax = 64;

ControlCall read_call(FieldReader& in) {
    return {
        .idempotency_key = in.required<IdempotencyKey>("idempotency_key"),
        .account_id = in.optional_or<AccountId>("account_id", default_account_id()),
        .reason = in.optional_text("reason", {.length_min = 0, .length_max = kReasonLengthMax})
                      .value_or(""),
    };
}

Decimal read_positive(FieldReader& in, std::string_view key) {
    const Decimal value = in.required<Decimal>(key);
    if (in.ok() && (value.is_negative() || value.is_zero())) {
        in.add_problem(key, "must be positive");
    }
    return value;
}

// A guardrail of a strategy has the range of the limit of the same name.
std::optional<Decimal> read_guardrail(FieldReader& in, std::string_view key) {
    const auto value = in.optional<Decimal>(key);
    const LimitSpec* spec = find_limit_spec(key);
    CHECK(spec != nullptr);
    if (value && (*value < *Decimal::parse(spec->min) || *value > *Decimal::parse(spec->max))) {
        in.add_problem(
            key, "must lie between " + std::string(spec->min) + " and " + std::string(spec->max));
    }
    return value;
}

std::vector<Symbol> read_symbols(FieldReader& in, std::string_view key) {
    std::vector<Symbol> symbols;
    const Json::Array* items = in.optional_array(key, kUniverseChangesMax);
    if (items == nullptr) {
        return symbols;
    }
    for (const Json& item : *items) {
        const auto symbol = Symbol::parse(item.is_string() ? item.as_string() : "");
        if (!symbol) {
            in.add_problem(key, symbol.error().message);
            continue;
        }
        symbols.push_back(*symbol);
    }
    return symbols;
}

template <class Request>
Result<Request> finish(FieldReader& in, Request request) {
    in.reject_unknown();
    return in.finish(std::move(request));
}

}  // namespace

Result<OpenAccountRequest> decode_open_account(const Json& json) {
    FieldReader in(json);
    OpenAccountRequest request{.call = read_call(in)};
    const std::string name = in.required_text("account_id", {.length_max = kAccountNameMax});
    const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
    });
    if (!is_plain) {
        in.add_problem("account_id", "may hold letters, digits, - and _ only");
    }
    return finish(in, std::move(request));
}

Result<ChangeLimitsRequest> decode_change_limits(const Json& json) {
    FieldReader in(json);
    ChangeLimitsRequest request{.call = read_call(in), .changes = {}};
    if (const Json* changes = in.required_object("changes")) {
        auto decoded = decode_limit_changes(*changes);
        if (!decoded) {
            in.absorb(decoded.error());
        } else if (decoded->empty()) {
            in.add_problem("changes", "names no limit");
        } else {
            request.changes = *std::move(decoded);
        }
    }
    return finish(in, std::move(request));
}

Result<SetModeRequest> decode_set_mode(const Json& json) {
    FieldReader in(json);
    SetModeRequest request{.call = read_call(in), .mode = read_trade_mode(in, "mode")};
    return finish(in, std::move(request));
}

Result<SetTradingRequest> decode_set_trading(const Json& json) {
    FieldReader in(json);
    SetTradingRequest request{.call = read_call(in), .enabled = in.required<bool>("enabled")};
    return finish(in, std::move(request));
}

Result<PutStrategyRequest> decode_put_strategy(const Json& json) {
    FieldReader in(json);
    PutStrategyRequest request{
        .call = read_call(in),
        .strategy_id = in.required<StrategyId>("strategy_id"),
        .is_active = in.required<bool>("is_active"),
        .max_staleness_sec = read_guardrail(in, "max_staleness_sec"),
        .max_spread_bps = read_guardrail(in, "max_spread_bps"),
        .max_vol_1m = read_guardrail(in, "max_vol_1m"),
    };
    return finish(in, std::move(request));
}

Result<EnableStrategyRequest> decode_enable_strategy(const Json& json) {
    FieldReader in(json);
    EnableStrategyRequest request{
        .call = read_call(in), .strategy_id = in.required<StrategyId>("strategy_id")};
    return finish(in, std::move(request));
}

Result<ChangeUniverseRequest> decode_change_universe(const Json& json) {
    FieldReader in(json);
    ChangeUniverseRequest request{
        .call = read_call(in),
        .add = read_symbols(in, "add"),
        .remove = read_symbols(in, "remove"),
    };
    if (in.ok() && request.add.empty() && request.remove.empty()) {
        in.add_problem("add", "neither add nor remove names a symbol");
    }
    return finish(in, std::move(request));
}

Result<TransferTreasuryRequest> decode_transfer_treasury(const Json& json) {
    FieldReader in(json);
    TransferTreasuryRequest request{
        .call = read_call(in),
        .from = in.required_word_index("from", kTreasuryBookWords),
        .to = in.required_word_index("to", kTreasuryBookWords),
        .amount = read_positive(in, "amount"),
    };
    if (in.ok() && request.from == request.to) {
        in.add_problem("to", "must be another book than from");
    }
    return finish(in, std::move(request));
}

Result<BookCostRequest> decode_book_cost(const Json& json) {
    FieldReader in(json);
    BookCostRequest request{
        .call = read_call(in),
        .kind = in.required_word_index("kind", kCostKindWords),
        .amount = read_positive(in, "amount"),
    };
    return finish(in, std::move(request));
}

Result<ResumeRecoveryRequest> decode_resume_recovery(const Json& json) {
    FieldReader in(json);
    ResumeRecoveryRequest request{.call = read_call(in)};
    return finish(in, std::move(request));
}

Result<ResetDrawdownRequest> decode_reset_drawdown(const Json& json) {
    FieldReader in(json);
    ResetDrawdownRequest request{.call = read_call(in)};
    return finish(in, std::move(request));
}

Result<ConfirmFlowRequest> decode_confirm_flow(const Json& json) {
    FieldReader in(json);
    ConfirmFlowRequest request{.call = read_call(in), .asset = {}, .price = {}};
    const auto asset = Asset::parse(in.required<std::string>("asset"));
    if (asset) {
        request.asset = *asset;
    } else if (in.ok()) {
        in.add_problem("asset", asset.error().message);
    }
    request.price = in.optional<Decimal>("price");
    if (request.price && (request.price->is_negative() || request.price->is_zero())) {
        in.add_problem("price", "must be positive");
    }
    return finish(in, std::move(request));
}

Result<SuppressAlertRequest> decode_suppress_alert(const Json& json) {
    FieldReader in(json);
    SuppressAlertRequest request{
        .call = read_call(in),
        .event = in.required_text("event", {.length_max = kEventLengthMax}),
        .hours = in.required_integer("hours", 1, kSuppressionHoursMax),
    };
    return finish(in, std::move(request));
}

Json encode(const AlertSuppressions& suppressions) {
    Json list = Json::array();
    for (const AlertSuppression& one : suppressions.list) {
        list.push(Json::object({
            {"event", one.event},
            {"until", to_text(one.until)},
            {"approval_id", one.approval_id},
        }));
    }
    return Json::object({{"suppressed", std::move(list)}});
}

Result<AlertSuppressions> decode_alert_suppressions(const Json& json) {
    FieldReader in(json);
    AlertSuppressions suppressions;
    for (const Json& item : in.required_array("suppressed", kSuppressionsMax)) {
        FieldReader one(item, "suppressed");
        TRY_ASSIGN(
            AlertSuppression suppression,
            one.finish(AlertSuppression{
                .event = one.required<std::string>("event"),
                .until = one.required<Timestamp>("until"),
                .approval_id = one.required<std::string>("approval_id"),
            }));
        suppressions.list.push_back(std::move(suppression));
    }
    return in.finish(std::move(suppressions));
}

}  // namespace interlock
