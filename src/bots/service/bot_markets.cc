// The markets of a bot: one instance of inventory_rails for each symbol, kept by the bot alone. The
// bot holds a market's concern from its first start on and keeps it while it is stopped, because
// orders it left there are its own; it gives the concern up when the symbol leaves its
// configuration, and then its orders are cancelled.
#include <algorithm>

#include "base/errors.h"
#include "bots/service/bot_service.h"
#include "trader/service/control_shared.h"

namespace interlock {
namespace {

bool has(const std::vector<Symbol>& symbols, const Symbol& symbol) {
    return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

}  // namespace

Result<void> BotService::hold_markets(Turn& turn, BotRecord& record) {
    for (const Symbol& symbol : record.markets) {
        if (!has(record.config.symbols, symbol)) {
            TRY(leave_market(turn, symbol));
        }
    }
    for (const Symbol& symbol : record.config.symbols) {
        TRY(hold_market(turn, record, symbol));
    }
    record.markets = record.config.symbols;
    return {};
}

Result<StrategyInstance> BotService::instance_of(Turn& turn, const Symbol& symbol) {
    const VenueAccount account = bot_account_of(turn.tenant_id());
    const StrategyId id = bot_strategy_id(symbol);
    TRY_ASSIGN(const auto stored, load_instance(turn, scope_of(account), id));
    if (stored) {
        return *stored;
    }
    const MarketSet market = parts_.feed.facts(std::vector<Symbol>{symbol});
    const MarketFacts* facts = market.find(symbol);
    if (facts == nullptr) {
        return fail(
            errors::unknown_symbol, "There is no market " + std::string(symbol.text()) + ".");
    }
    StrategyInstance fresh;
    fresh.strategy_id = id;
    fresh.strategy_type = kMakerType;
    fresh.account = account;
    fresh.symbol = symbol;
    fresh.base = facts->rules.base;
    fresh.quote = facts->rules.quote;
    fresh.created_at = turn.now();
    fresh.name = "maker bot";
    TRY_ASSIGN(const auto known, load_instance_list(turn, scope_of(account)));
    if (known->ids.size() >= kInstancesMax) {
        return fail(errors::overloaded, "This tenant has too many strategies.");
    }
    InstanceList list = *known;
    list.ids.push_back(id);
    save_instance_list(turn, scope_of(account), std::move(list));
    return fresh;
}

Result<void> BotService::hold_market(Turn& turn, const BotRecord& record, const Symbol& symbol) {
    TRY_ASSIGN(StrategyInstance instance, instance_of(turn, symbol));
    TRY_ASSIGN(const auto stored, load_concern_of(turn, instance.account, symbol));
    Concern concern;
    if (stored) {
        concern = *stored;
    } else {
        TRY_ASSIGN(concern.concern_id, make_concern_id(instance.account.account_id, symbol));
        concern.account = instance.account;
        concern.symbol = symbol;
    }
    const bool is_ours = concern.active_strategy_id == instance.strategy_id;
    if (concern.switching || (concern.active_strategy_id && !is_ours)) {
        return fail(
            errors::market_taken,
            "Another strategy trades " + std::string(symbol.text()) + " on this account.");
    }
    instance.config = rails_config_of(record.config, symbol);
    const OpenedStrategy opened = open_strategy(instance.strategy_type, instance.config);
    if (!opened.strategy) {
        return fail(errors::invalid_request, opened.problem);
    }
    instance.is_latched = false;
    instance.fail_count = 0;
    instance.last_error.clear();
    if (!is_ours) {
        take_activity(turn, concern, instance);
        instance.last_transition = "active by its bot";
        save_concern(turn, std::move(concern));
        turn.after_commit(
            [this, account = instance.account, symbol] { parts_.control.watch(account, symbol); });
    }
    reconcile_after(turn, parts_.runtime, instance);
    save_instance(turn, std::move(instance));
    return {};
}

Result<void> BotService::leave_market(Turn& turn, const Symbol& symbol) {
    const VenueAccount account = bot_account_of(turn.tenant_id());
    const StrategyId id = bot_strategy_id(symbol);
    TRY_ASSIGN(const auto stored, load_instance(turn, scope_of(account), id));
    TRY_ASSIGN(const auto concern, load_concern_of(turn, account, symbol));
    if (!stored || !concern) {
        return {};
    }
    if (concern->switching) {
        return fail(errors::switch_in_progress, "A switch of this market is under way.");
    }
    StrategyInstance instance = *stored;
    if (concern->active_strategy_id == id) {
        Concern freed = *concern;
        release_activity(turn, freed, instance, InstanceMode::off);
        save_concern(turn, std::move(freed));
    }
    instance.mode = InstanceMode::off;
    instance.last_transition = "off by its bot";
    TRY(parts_.loop.cancel_orders(
        turn,
        {.account = account, .decision_id = "sys_bot", .which = [id](const OrderRecord& order) {
             return order.strategy_id == id;
         }}));
    reconcile_after(turn, parts_.runtime, instance);
    save_instance(turn, std::move(instance));
    return settle_blocks(turn, account, this);
}

Result<Json> BotService::open_orders_of(Turn& turn) const {
    TRY_ASSIGN(const AccountView view, load_account(turn, bot_account_of(turn.tenant_id())));
    Json list = Json::array();
    if (!view.account) {
        return list;
    }
    for (const SymbolBook& book : view.books->books) {
        for (const OrderRecord& order : book.open) {
            if (!is_kept_strategy(order.strategy_id)) {
                continue;
            }
            list.push(Json::object({
                {"order_client_id", order.id().text()},
                {"symbol", order.symbol().text()},
                {"side", to_word(order.request.side)},
                {"price",
                 order.request.limit_price ? Json(to_text(*order.request.limit_price)) : Json()},
                {"remaining_qty", to_text(reserved_qty(order))},
                {"state", to_final_word(order.state)},
            }));
        }
    }
    return list;
}

}  // namespace interlock
