// What everyone may read of strategies. Reports describe; they never command, and reading changes
// nothing.
#include <algorithm>
#include <map>

#include "base/errors.h"
#include "codec/json_list.h"
#include "trader/rules/why_market_blocked.h"
#include "trader/service/control_shared.h"
#include "trader/service/strategy_service.h"

namespace interlock {
namespace {

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

Json decimal_or_null(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

// What people see: one without a name goes by its type.
const std::string& name_of(const StrategyInstance& instance) {
    return instance.name.empty() ? instance.strategy_type : instance.name;
}

Json identity_block(const StrategyInstance& instance) {
    return Json::object({
        {"strategy_id", instance.strategy_id.text()},
        {"strategy_name", name_of(instance)},
        {"strategy_type", instance.strategy_type},
        {"account_id", instance.account.account_id.text()},
        {"market", instance.symbol.text()},
        {"base_currency", instance.base.text()},
        {"quote_currency", instance.quote.text()},
    });
}

Json fit_block(const StrategyInstance& instance) {
    const StrategyType* type = find_strategy_type(instance.strategy_type);
    if (type == nullptr) {
        return Json::object();
    }
    return Json::object({
        {"expected_market_regime", type->fit.expected_market_regime},
        {"avoided_market_regime", type->fit.avoided_market_regime},
        {"risk_profile", type->fit.risk_profile},
        {"liquidity_expectation", type->fit.liquidity_expectation},
        {"event_risk_expectation", type->fit.event_risk_expectation},
        {"volatility_expectation", type->fit.volatility_expectation},
    });
}

// Where its decisions are found: the ledger has all of them under ids that begin like this.
Json history_of(const StrategyInstance& instance) {
    return Json::object({
        {"ticks", instance.ticks},
        {"last_tick_at", time_or_null(instance.last_tick_at)},
        {"decision_ids_begin_with",
         std::string(kBuiltinDecisionPrefix) + instance.strategy_id.text() + "."},
    });
}

// What of the account this strategy works with. Sums that do not fit are told as null.
Json position_block(const StrategyTicker::Sight& sight, const LoopService::Gathered& facts) {
    const StrategyInstance& instance = *sight.instance;
    const SymbolFacts* held = facts.state.find(instance.symbol);
    const Decimal base = held == nullptr ? Decimal() : held->position;
    const Decimal locked_base = held == nullptr ? Decimal() : held->open_sell_qty;
    const Decimal locked_quote = held == nullptr ? Decimal() : held->open_buy_quote;
    const auto& holdings = facts.view.account->money.holdings;
    const auto cash = holdings.find(facts.view.account->quote);
    const Decimal quote = cash == holdings.end() ? Decimal() : cash->second;
    const auto free_base = subtract(base, locked_base);
    const MarketFacts* market = facts.market.find(instance.symbol);
    const auto mid = market == nullptr ? std::nullopt : mid_of(*market);
    std::optional<Decimal> exposure;
    if (mid) {
        if (const auto value = multiply_half_even(base, *mid)) {
            exposure = *value;
        }
    }
    Json orders = Json::array();
    for (const OwnOrder& order : sight.own_orders) {
        orders.push(encode(order));
    }
    return Json::object({
        {"account_balance", Json::object({{"base", to_text(base)}, {"quote", to_text(quote)}})},
        {"available_balance",
         Json::object(
             {{"base", free_base ? Json(to_text(*free_base)) : Json()},
              {"quote", to_text(facts.state.cash_free)}})},
        {"base_position", to_text(base)},
        {"quote_position", to_text(quote)},
        {"open_orders", std::move(orders)},
        {"reserved_balance",
         Json::object({{"base", to_text(locked_base)}, {"quote", to_text(locked_quote)}})},
        {"exposure", decimal_or_null(exposure)},
    });
}

// What its own orders on this market came to, as long as it is remembered.
Json fills_of(const StrategyTicker::Sight& sight, const LoopService::Gathered& facts) {
    const StrategyInstance& instance = *sight.instance;
    const SymbolBook* book = find_book(facts.view.books->books, instance.symbol);
    const StrategyTally* tally =
        book == nullptr ? nullptr : find_tally(book->tallies, instance.strategy_id);
    Json last;
    if (tally != nullptr && tally->last_fill) {
        last = Json::object({
            {"side", to_word(tally->last_fill->side)},
            {"price", to_text(tally->last_fill->price)},
            {"at", to_text(tally->last_fill->at)},
        });
    }
    return Json::object({
        {"net_qty", tally == nullptr ? "0" : to_text(tally->net_qty)},
        {"last", std::move(last)},
    });
}

Json assessment_block(const StrategyAssessment& assessment) {
    return Json::object({
        {"current_reason", assessment.current_reason},
        {"key_drivers", json_list(assessment.key_drivers)},
        {"warnings", json_list(assessment.warnings)},
        {"constraints", json_list(assessment.constraints)},
    });
}

}  // namespace

Json describe(
    const StrategyInstance& instance,
    const Concern* concern,
    const std::optional<Blocked>& blocked) {
    const ExecutionQuality quality = concern == nullptr ? ExecutionQuality::good : concern->quality;
    return Json::object({
        {"id", instance.strategy_id.text()},
        {"strategy_id", instance.strategy_id.text()},  // As every request names it.
        {"name", name_of(instance)},
        {"strategy_type", instance.strategy_type},
        {"account_id", instance.account.account_id.text()},
        {"market_symbol", instance.symbol.text()},
        {"base_currency", instance.base.text()},
        {"counter_currency", instance.quote.text()},
        {"concern_id", concern == nullptr ? Json() : Json(concern->concern_id.text())},
        {"mode", to_word(instance.mode)},
        {"paused", instance.paused},
        {"status", status_of(instance, quality, blocked.has_value())},
        {"blocked", encode(blocked)},
        {"policy", encode(instance.policy)},
        {"last_error", instance.last_error.empty() ? Json() : Json(instance.last_error)},
        {"version", instance.version},
        {"created_at", to_text(instance.created_at)},
        {"updated_at", to_text(instance.updated_at)},
    });
}

Json describe_strategy_types() {
    Json list = Json::array();
    for (const StrategyType& type : strategy_types()) {
        list.push(Json::object({
            {"strategy_type", type.name},
            {"label", type.label},
            {"config_schema", type.config_schema()},
            {"state_schema", type.state_schema()},
        }));
    }
    return Json::object({{"strategy_types", std::move(list)}});
}

void StrategyService::list(Caller caller, Reply reply) {
    parts_.submit(read_turn(
        std::move(caller),
        "list_strategies",
        [this](Turn& turn) { return run_list(turn); },
        std::move(reply)));
}

Result<TurnReply> StrategyService::run_list(Turn& turn) {
    TRY_ASSIGN(const StrategyScope where, scope(turn));
    TRY_ASSIGN(const auto known, load_instance_list(turn, where));
    Json strategies = Json::array();
    for (const StrategyId& id : known->ids) {
        TRY_ASSIGN(const auto instance, load_instance(turn, where, id));
        if (!instance) {
            continue;
        }
        TRY_ASSIGN(const auto concern, load_concern_of(turn, instance->account, instance->symbol));
        const ExecutionQuality quality = concern ? concern->quality : ExecutionQuality::good;
        TRY_ASSIGN(const auto blocked, parts_.ticker.why_blocked(turn, *instance, concern.get()));
        strategies.push(Json::object({
            {"id", id.text()},
            {"strategy_id", id.text()},
            {"name", name_of(*instance)},
            {"strategy_type", instance->strategy_type},
            {"mode", to_word(instance->mode)},
            {"status", status_of(*instance, quality, blocked.has_value())},
            {"blocked", encode(blocked)},
            {"concern_id", concern ? Json(concern->concern_id.text()) : Json()},
            {"account_id", instance->account.account_id.text()},
            {"market_symbol", instance->symbol.text()},
        }));
    }
    return Answer{200, to_text(Json::object({{"strategies", std::move(strategies)}}))};
}

void StrategyService::list_concerns(Caller caller, Reply reply) {
    parts_.submit(read_turn(
        std::move(caller),
        "list_concerns",
        [this](Turn& turn) { return run_list_concerns(turn); },
        std::move(reply)));
}

Result<TurnReply> StrategyService::run_list_concerns(Turn& turn) {
    TRY_ASSIGN(const StrategyScope where, scope(turn));
    TRY_ASSIGN(const auto known, load_instance_list(turn, where));
    std::set<ConcernId> seen;
    Json concerns = Json::array();
    for (const StrategyId& id : known->ids) {
        TRY_ASSIGN(const auto instance, load_instance(turn, where, id));
        if (!instance) {
            continue;
        }
        TRY_ASSIGN(const auto concern, load_concern_of(turn, instance->account, instance->symbol));
        if (!concern || !seen.insert(concern->concern_id).second) {
            continue;
        }
        const auto& active = concern->active_strategy_id;
        concerns.push(Json::object({
            {"concern_id", concern->concern_id.text()},
            {"account_id", concern->account.account_id.text()},
            {"market_symbol", concern->symbol.text()},
            {"status", to_word(concern->status)},
            {"risk_mode", to_word(concern->risk_mode)},
            {"active_strategy_id", active ? Json(active->text()) : Json()},
            {"execution_quality", to_word(concern->quality)},
            {"reasons", json_list(concern->quality_reasons)},
            {"switching", concern->switching.has_value()},
            {"version", concern->version},
        }));
    }
    return Answer{200, to_text(Json::object({{"concerns", std::move(concerns)}}))};
}

void StrategyService::get(Caller caller, StrategyId id, Include include, Reply reply) {
    parts_.submit(get_turn(std::move(caller), std::move(id), include, std::move(reply)));
}

TurnRequest StrategyService::get_turn(Caller caller, StrategyId id, Include include, Reply reply) {
    return read_turn(
        std::move(caller),
        "get_strategy",
        [this, id = std::move(id), include](Turn& turn) { return run_get(turn, id, include); },
        std::move(reply));
}

Result<TurnReply> StrategyService::run_get(
    Turn& turn, const StrategyId& id, const Include& include) {
    TRY_ASSIGN(const StrategyInstance instance, find(turn, id));
    TRY_ASSIGN(const auto concern, load_concern_of(turn, instance.account, instance.symbol));
    TRY_ASSIGN(const auto blocked, parts_.ticker.why_blocked(turn, instance, concern.get()));
    Json answer = describe(instance, concern.get(), blocked);
    if (include.config) {
        answer.set("config", instance.config);
    }
    if (include.state) {
        answer.set("state", instance.memory);
    }
    if (include.debug) {
        answer.set(
            "debug",
            Json::object({
                {"ticks", instance.ticks},
                {"last_tick_at", time_or_null(instance.last_tick_at)},
                {"failed_in_a_row", instance.fail_count},
                {"is_latched", instance.is_latched},
                {"is_running",
                 parts_.runtime.find(instance.account, instance.strategy_id) != nullptr},
            }));
    }
    if (!include.report && !include.render) {
        return Answer{200, to_text(answer)};
    }
    TRY_ASSIGN(Json report, report_of(turn, instance));
    if (include.render) {
        Json widgets = Json::array();
        if (const Json* facts = report.find("supervision")) {
            for (const auto& [name, value] : facts->members()) {
                widgets.push(
                    Json::object({{"widget", "metric"}, {"label", name}, {"value", value}}));
            }
        }
        answer.set("render", std::move(widgets));
    }
    if (include.report) {
        answer.set("report", std::move(report));
    }
    return Answer{200, to_text(answer)};
}

Result<Json> StrategyService::report_of(Turn& turn, const StrategyInstance& instance) {
    TRY_ASSIGN(const auto concern, load_concern_of(turn, instance.account, instance.symbol));
    if (!concern) {
        return fail(errors::corrupt_data, "A strategy belongs to no concern.");
    }
    TRY_ASSIGN(
        LoopService::Gathered facts,
        parts_.loop.gather_for(turn, instance.account, {instance.symbol}));
    TRY_ASSIGN(
        StrategyTicker::Sight sight,
        parts_.ticker.sight_of(facts, std::make_shared<const StrategyInstance>(instance), concern));
    TRY_ASSIGN(sight.blocked, parts_.ticker.why_blocked(turn, instance, concern.get()));
    StrategyAssessment assessment;
    if (sight.strategy) {
        auto stepped = parts_.ticker.step(sight, facts);
        if (stepped) {
            assessment = std::move(stepped->assessment);
        } else {
            assessment.current_intent = "wait";
            assessment.current_reason = stepped.error().message;
            assessment.warnings = {std::string(stepped.error().code())};
        }
    } else {
        assessment.current_intent = "none";
        assessment.current_reason = "The strategy cannot be loaded with its config.";
    }
    const bool is_active = instance.mode == InstanceMode::active;
    if (is_active && sight.blocked && !lets_through(*sight.blocked, PlanPart::sells)) {
        // What it would do now it does not do; an observer tells it all the same.
        assessment.current_intent = "wait";
        assessment.current_reason = sight.blocked->reason;
        assessment.constraints.insert(assessment.constraints.begin(), sight.blocked->code);
    }
    // The strictest of the concern's, the account's and what its tier brings.
    const RiskMode in_effect = facts.state.risk_mode_in(instance.symbol);
    Json execution = parts_.control.execution_of(*concern, turn.now());
    execution.set("fills", fills_of(sight, facts));
    return Json::object({
        {"identity", identity_block(instance)},
        {"control",
         Json::object(
             {{"enabled_state", instance.mode == InstanceMode::off ? "off" : "on"},
              {"mode", to_word(instance.mode)},
              {"paused", instance.paused},
              {"risk_mode", to_word(concern->risk_mode)},
              {"risk_mode_in_effect", to_word(in_effect)},
              {"size_factor", to_text(size_factor_of(in_effect))},
              {"policy", encode(instance.policy)}})},
        {"fit", fit_block(instance)},
        {"supervision", assessment.supervision},
        {"position", position_block(sight, facts)},
        {"state",
         Json::object(
             {{"status", status_of(instance, concern->quality, sight.blocked.has_value())},
              {"blocked", encode(sight.blocked)},
              {"current_intent", assessment.current_intent},
              {"last_transition", instance.last_transition},
              {"decision_history", history_of(instance)},
              {"last_update", to_text(instance.updated_at)},
              {"uncertainty", assessment.uncertainty},
              {"confidence", decimal_or_null(assessment.confidence)}})},
        {"assessment", assessment_block(assessment)},
        {"execution", std::move(execution)},
    });
}

}  // namespace interlock
