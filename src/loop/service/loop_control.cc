// What people change at once, and what they can only ask for.
#include "loop/service/loop_control.h"

#include <algorithm>

#include "account/rules/dust.h"
#include "base/errors.h"
#include "host/rules/kill_step.h"
#include "loop/service/transfer_day.h"

namespace interlock {
namespace {

Json symbols_json(const std::vector<Symbol>& symbols) {
    Json list = Json::array();
    for (const Symbol& symbol : symbols) {
        list.push(symbol.text());
    }
    return list;
}

Answer done(Json answer, const std::string& audit_ref) {
    answer.set("status", "applied");
    answer.set("audit_ref", audit_ref);
    return {200, to_text(answer)};
}

// Old and new values by name: what an approval of limits is bound to.
struct LimitDelta {
    Json from = Json::object();
    Json to = Json::object();
    bool touches_hard = false;
};

void add_change(LimitDelta& delta, const RiskLimits& now, const LimitChange& change) {
    const std::string name(change.spec->name);
    delta.from.set(name, to_text(now.*change.spec->member));
    delta.to.set(name, to_text(change.value));
    delta.touches_hard = delta.touches_hard || change.spec->is_hard;
}

Json limits_json(const RiskLimits& limits) {
    Json list = Json::array();
    for (const LimitSpec& spec : limit_specs()) {
        list.push(Json::object({
            {"name", spec.name},
            {"value", to_text(limits.*spec.member)},
            {"min", spec.min},
            {"max", spec.max},
            {"looser_when",
             spec.looser_when == LooserWhen::higher  ? "higher"
             : spec.looser_when == LooserWhen::lower ? "lower"
                                                     : "never"},
            {"is_hard", spec.is_hard},
            {"meaning", spec.meaning},
        }));
    }
    return list;
}

}  // namespace

LoopControl::LoopControl(Parts parts) : parts_(std::move(parts)) {
    register_kinds();
}

Result<std::string> LoopControl::audit(Turn& turn, Change change) {
    AuditDraft draft = turn.draft(std::move(change.event));
    draft.reason = std::move(change.reason);
    draft.detail = std::move(change.detail);
    if (change.account != nullptr) {
        draft.detail.set("account", encode(change.account->key));
    }
    return turn.audit(std::move(draft));
}

Result<LoopControl::Opened> LoopControl::open(Turn& turn, const AccountId& account_id) {
    TRY_ASSIGN(const VenueAccount key, parts_.loop.account_of(turn, account_id));
    TRY_ASSIGN(const AccountView view, parts_.loop.open_or_load(turn, key));
    return Opened{*view.account, *view.books};
}

Result<TurnReply> LoopControl::ask(Turn& turn, ApprovalService::Draft draft, Json answer) {
    TRY_ASSIGN(const Approval approval, parts_.approvals.request(turn, std::move(draft)));
    answer.set("status", "approval_required");
    answer.set("approval_id", approval.approval_id.text());
    answer.set("expires_at", to_text(approval.expires_at));
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "CONTROL_REQUESTED",
             .reason = approval.summary,
             .detail = Json::object(
                 {{"approval_id", approval.approval_id.text()},
                  {"kind", to_word(approval.kind)}})}));
    answer.set("audit_ref", ref);
    return Answer{202, to_text(answer)};
}

void LoopControl::get_limits(Caller caller, AccountId account_id, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "get_limits";
    turn.reply = std::move(reply);
    turn.decide = [this, account_id = std::move(account_id)](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const Opened opened, open(t, account_id));
        return Answer{
            200,
            to_text(Json::object({
                {"account", encode(opened.account.key)},
                {"limits", limits_json(opened.account.limits)},
                {"state_version", opened.account.version},
            }))};
    };
    parts_.submit(std::move(turn));
}

// N7 of agent-loop.md#what-no-agent-can-do: nobody loosens a limit alone, and an agent never by
// itself.
Result<TurnReply> LoopControl::run(Turn& turn, const ChangeLimitsRequest& request) {
    TRY_ASSIGN(Opened opened, open(turn, request.call.account_id));
    LimitDelta tighter;
    LimitDelta looser;
    for (const LimitChange& change : request.changes) {
        const RiskLimits& now = opened.account.limits;
        if (now.*change.spec->member != change.value) {
            add_change(is_loosening(now, change) ? looser : tighter, now, change);
        }
    }
    std::string ref;
    Json answer = Json::object({{"applied", tighter.to}, {"pending", looser.to}});
    if (!tighter.to.members().empty() || looser.to.members().empty()) {
        Account next = opened.account;
        for (const LimitChange& change : request.changes) {
            if (tighter.to.find(change.spec->name) != nullptr) {
                next.limits.*change.spec->member = change.value;
            }
        }
        TRY_ASSIGN(
            ref,
            audit(
                turn,
                {.event = "LIMITS_CHANGED",
                 .account = &next,
                 .reason = reason_or(request.call.reason, "tightened"),
                 .detail = Json::object({{"from", tighter.from}, {"to", tighter.to}})}));
        if (next != opened.account) {
            ++next.version;
            parts_.loop.put_account(turn, std::move(next));
        }
    }
    if (looser.to.members().empty()) {
        return done(std::move(answer), ref);
    }
    const std::string summary = "Loosen limits: " + to_text(looser.from) + " to " +
                                to_text(looser.to) +
                                (request.call.reason.empty() ? "" : "; " + request.call.reason);
    return ask(
        turn,
        {.kind = ApprovalKind::risk_limits,
         .payload = Json::object(
             {{"change", "limits"},
              {"account", encode(opened.account.key)},
              {"from", looser.from},
              {"to", looser.to}}),
         .summary = summary,
         .critical = looser.touches_hard},
        std::move(answer));
}

Result<TurnReply> LoopControl::run(Turn& turn, const SetModeRequest& request) {
    TRY_ASSIGN(const LoopMode now, load_loop_mode(turn, turn.tenant_id()));
    const std::string from(to_word(now.mode));
    const std::string to(to_word(request.mode));
    if (request.mode == TradeMode::live && !parts_.config.live_available) {
        return fail(errors::live_not_enabled, "This server has no live venue.");
    }
    if (request.mode == TradeMode::shadow && !parts_.config.shadow_available) {
        return fail(errors::mode_unavailable, "This server has no shadow venue.");
    }
    const bool concerns_live = request.mode == TradeMode::live || now.mode == TradeMode::live;
    if (request.mode != now.mode && concerns_live) {
        return ask(
            turn,
            {.kind = ApprovalKind::live_mode,
             .payload = Json::object(
                 {{"change", "mode"},
                  {"tenant_id", turn.tenant_id().text()},
                  {"from", from},
                  {"to", to}}),
             .summary =
                 "Change the mode of " + turn.tenant_id().text() + " from " + from + " to " + to,
             .critical = true},
            Json::object({{"mode", from}}));
    }
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "MODE_CHANGED",
             .reason = reason_or(request.call.reason, to + " mode"),
             .detail = Json::object({{"from", from}, {"to", to}})}));
    TRY(save_mode(turn, now.mode, request.mode));
    return done(Json::object({{"mode", to}}), ref);
}

// The name is the tenant's in every mode; each mode's account opens with its first use, this one's
// now.
Result<TurnReply> LoopControl::run(Turn& turn, const OpenAccountRequest& request) {
    const AccountId& id = request.call.account_id;
    TRY_ASSIGN(LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    if (mode.mode == TradeMode::live) {
        return fail(
            errors::mode_unavailable, "Accounts are opened in paper or shadow mode, not in live.");
    }
    if (id == default_account_id() || mode.accounts.contains(id)) {
        return fail(errors::account_exists, "This tenant has an account " + id.text() + ".");
    }
    if (mode.accounts.size() + 1 >= kAccountsMax) {
        return fail(
            errors::too_many_accounts,
            "This tenant has " + std::to_string(kAccountsMax) + " accounts, the most there are.");
    }
    mode.accounts.insert(id);
    const VenueAccount account{turn.tenant_id(), id, mode.mode};
    turn.save_as<LoopMode>(
        loop_mode_key(turn.tenant_id()), std::make_shared<const LoopMode>(std::move(mode)));
    TRY_ASSIGN(const AccountView opened, parts_.loop.open_or_load(turn, account));
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "ACCOUNT_ADDED",
             .account = opened.account.get(),
             .reason = reason_or(request.call.reason, "account added")}));
    return done(
        Json::object(
            {{"account_id", id.text()},
             {"mode", to_word(account.mode)},
             {"quote", opened.account->quote.text()},
             {"deposit", to_text(opened.account->money.net_deposits)}}),
        ref);
}

void LoopControl::list_accounts(Caller caller, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "list_accounts";
    turn.reply = std::move(reply);
    turn.decide = [](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const LoopMode mode, load_loop_mode(t, t.tenant_id()));
        std::vector<AccountId> ids{default_account_id()};
        ids.insert(ids.end(), mode.accounts.begin(), mode.accounts.end());
        Json accounts = Json::array();
        for (const AccountId& id : ids) {
            TRY_ASSIGN(const AccountView view, load_account(t, {t.tenant_id(), id, mode.mode}));
            accounts.push(Json::object(
                {{"account_id", id.text()},
                 {"mode", to_word(mode.mode)},
                 {"opened_at", view.account ? Json(to_text(view.account->opened_at)) : Json()}}));
        }
        return Answer{
            200,
            to_text(
                Json::object({{"accounts", std::move(accounts)}, {"accounts_max", kAccountsMax}}))};
    };
    parts_.submit(std::move(turn));
}

Result<void> LoopControl::save_mode(Turn& turn, TradeMode from, TradeMode to) {
    if (from != to) {
        TRY_ASSIGN(LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
        mode.mode = to;
        mode.live_enabled = to == TradeMode::live;
        turn.save_as<LoopMode>(
            loop_mode_key(turn.tenant_id()), std::make_shared<const LoopMode>(mode));
    }
    return {};
}

// Anyone of the tenant may stop trading; only a human starts it. After the release of a kill switch
// this is also what ends its aftermath.
Result<TurnReply> LoopControl::run(Turn& turn, const SetTradingRequest& request) {
    const TenantId& tenant_id = turn.tenant_id();
    if (request.enabled && turn.principal().kind != PrincipalKind::human) {
        return fail(errors::human_required, "Only a human enables trading.");
    }
    if (request.enabled) {
        TRY(parts_.approvals.check_word(turn));
    }
    if (request.enabled && parts_.latch.is_raised(tenant_id)) {
        return fail(errors::kill_switch_active, "The kill switch is on.");
    }
    const bool global = tenant_id == system_tenant();
    std::optional<Account> next;
    if (!global) {
        TRY_ASSIGN(const Opened opened, open(turn, request.call.account_id));
        next = opened.account;
    }
    // Rows before the record that names them.
    // The switch's own flag stands for all of a tenant; an account's for that account.
    if (request.enabled || global) {
        TRY(parts_.kill.set_trading(turn, tenant_id, request.enabled));
    }
    if (next && next->trading_enabled != request.enabled) {
        next->trading_enabled = request.enabled;
        ++next->version;
        parts_.loop.put_account(turn, *next);
    }
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = request.enabled ? "TRADING_ENABLED" : "TRADING_DISABLED",
             .account = next ? &*next : nullptr,
             .reason = request.call.reason}));
    // What is still off is told at once: the flag alone lets nobody trade.
    TRY_ASSIGN(std::optional<Blocked> blocked, parts_.kill.why_stopped(turn, tenant_id));
    if (!blocked && next) {
        TRY_ASSIGN(blocked, parts_.loop.why_blocked(turn, next->key));
    }
    return done(
        Json::object({{"trading_enabled", request.enabled}, {"blocked", encode(blocked)}}), ref);
}

Result<TurnReply> LoopControl::run(Turn& turn, const PutStrategyRequest& request) {
    TRY_ASSIGN(Opened opened, open(turn, request.call.account_id));
    Account& next = opened.account;
    if (!next.strategies.contains(request.strategy_id) &&
        next.strategies.size() >= kStrategiesMax) {
        return fail(errors::conflict, "This account has as many strategies as it may.");
    }
    TRY_ASSIGN(
        const std::string built_in, parts_.loop.instance_type(turn, next.key, request.strategy_id));
    StrategyRecord& strategy = next.strategies[request.strategy_id];
    if (!built_in.empty() || (!strategy.type.empty() && strategy.type != "external")) {
        return fail(errors::conflict, "A built-in planner's strategy is not changed here.");
    }
    strategy.type = "external";
    strategy.is_active = request.is_active;
    strategy.max_staleness_sec = request.max_staleness_sec;
    strategy.max_spread_bps = request.max_spread_bps;
    strategy.max_vol_1m = request.max_vol_1m;
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "STRATEGY_SAVED",
             .account = &next,
             .reason = request.call.reason,
             .detail = Json::object(
                 {{"strategy_id", request.strategy_id.text()},
                  {"is_active", request.is_active}})}));
    Json answer = Json::object(
        {{"strategy_id", request.strategy_id.text()},
         {"is_active", strategy.is_active},
         {"is_disabled", strategy.is_disabled}});
    ++next.version;
    parts_.loop.put_account(turn, std::move(next));
    return done(std::move(answer), ref);
}

Result<TurnReply> LoopControl::run(Turn& turn, const EnableStrategyRequest& request) {
    TRY_ASSIGN(Opened opened, open(turn, request.call.account_id));
    Account& next = opened.account;
    const auto found = next.strategies.find(request.strategy_id);
    const bool has_entry = found != next.strategies.end();
    if (!has_entry) {
        // One of ours that the throttle never counted is enabled already.
        TRY_ASSIGN(
            const std::string built_in,
            parts_.loop.instance_type(turn, next.key, request.strategy_id));
        if (built_in.empty()) {
            return fail(errors::unknown_strategy, "This account has no such strategy.");
        }
    } else if (found->second.type == "external") {
        found->second.is_active = true;
        found->second.is_disabled = false;
        found->second.disabled_reason.clear();
        // Or the very next execution would throttle it again.
        found->second.aggressive.clear();
    } else {
        // Nothing is left to count; whether it is active is its concern's word.
        next.strategies.erase(found);
    }
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "STRATEGY_ENABLED",
             .account = &next,
             .reason = request.call.reason,
             .detail = Json::object({{"strategy_id", request.strategy_id.text()}})}));
    ++next.version;
    parts_.loop.put_account(turn, std::move(next));
    return done(
        Json::object({{"strategy_id", request.strategy_id.text()}, {"is_disabled", false}}), ref);
}

Result<TurnReply> LoopControl::run(Turn& turn, const ChangeUniverseRequest& request) {
    TRY_ASSIGN(Opened opened, open(turn, request.call.account_id));
    Account& next = opened.account;
    const std::vector<Symbol> known = parts_.feed.symbols();
    std::vector<Symbol> added;
    for (const Symbol& symbol : request.add) {
        if (std::find(known.begin(), known.end(), symbol) == known.end()) {
            return fail(
                errors::unknown_symbol, "There is no market " + std::string(symbol.text()) + ".");
        }
        if (!next.universe.contains(symbol)) {
            added.push_back(symbol);
        }
    }
    // Out of the universe not even a reduction passes, so nothing may be left behind there but
    // dust, which no order could sell anyway.
    std::vector<Symbol> removed;
    for (const Symbol& symbol : request.remove) {
        const SymbolBook* book = find_book(std::as_const(opened.books.books), symbol);
        const MarketSet market = parts_.feed.facts({&symbol, 1});
        const MarketFacts* facts = market.find(symbol);
        const bool is_left_behind = book != nullptr && book->open.empty() && facts != nullptr &&
                                    is_dust(book->position, *facts);
        if (book != nullptr && !is_left_behind &&
            (!book->position.is_zero() || !book->open.empty())) {
            return fail(
                errors::symbol_in_use,
                std::string(symbol.text()) + " has a position or open orders.");
        }
        if (next.universe.erase(symbol) > 0) {
            removed.push_back(symbol);
        }
    }
    if (next.universe.size() + added.size() > kUniverseMax) {
        return fail(errors::out_of_range, "The universe holds at most 64 symbols.");
    }
    Json answer =
        Json::object({{"removed", symbols_json(removed)}, {"pending", symbols_json(added)}});
    const VenueAccount key = next.key;
    std::string ref;
    if (!removed.empty() || added.empty()) {
        TRY_ASSIGN(
            ref,
            audit(
                turn,
                {.event = "UNIVERSE_CHANGED",
                 .account = &next,
                 .reason = request.call.reason,
                 .detail = Json::object({{"removed", symbols_json(removed)}})}));
        if (!removed.empty()) {
            ++next.version;
            parts_.loop.put_account(turn, std::move(next));
        }
    }
    if (added.empty()) {
        return done(std::move(answer), ref);
    }
    return ask(
        turn,
        {.kind = ApprovalKind::universe_change,
         .payload = Json::object({{"account", encode(key)}, {"add", symbols_json(added)}}),
         .summary = "Let agents trade " + to_text(symbols_json(added))},
        std::move(answer));
}

Result<TurnReply> LoopControl::run(Turn& turn, const TransferTreasuryRequest& request) {
    TRY_ASSIGN(Opened opened, open(turn, request.call.account_id));
    const TransferRequest wanted{
        .from = static_cast<TreasuryBook>(request.from),
        .to = static_cast<TreasuryBook>(request.to),
        .amount = request.amount,
    };
    Json answer = Json::object({
        {"from", to_word(wanted.from)},
        {"to", to_word(wanted.to)},
        {"amount", to_text(wanted.amount)},
    });
    const VenueAccount key = opened.account.key;
    TRY_ASSIGN(const Decimal before, transferred_today(turn, key));
    TRY_ASSIGN(const Decimal with_this, add(before, wanted.amount));
    if (with_this >= parts_.config.transfer_threshold) {
        Json payload = answer;
        payload.set("account", encode(opened.account.key));
        return ask(
            turn,
            {.kind = ApprovalKind::treasury_transfer,
             .payload = std::move(payload),
             .summary = "Transfer " + to_text(wanted.amount) + " from " +
                        std::string(to_word(wanted.from)) + " to " +
                        std::string(to_word(wanted.to))},
            std::move(answer));
    }
    TRY(treasury_transfer(opened.account, opened.books.books, wanted));
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "TREASURY_TRANSFERRED",
             .account = &opened.account,
             .reason = request.call.reason,
             .detail = answer}));
    TRY(note_transfer(turn, key, wanted.amount));
    parts_.loop.put_account(turn, std::move(opened.account));
    return done(std::move(answer), ref);
}

Result<TurnReply> LoopControl::run(Turn& turn, const BookCostRequest& request) {
    TRY_ASSIGN(Opened opened, open(turn, request.call.account_id));
    TRY(roll_to(opened.account, turn.now()));
    const CostBooking cost{
        .kind = static_cast<CostKind>(request.kind),
        .amount = request.amount,
        .agent = turn.principal().id,
        .at = turn.now(),
    };
    TRY(book_cost(opened.account, cost));
    Json answer = Json::object({
        {"kind", to_word(cost.kind)},
        {"amount", to_text(cost.amount)},
        {"booked_to", cost.agent},
    });
    TRY_ASSIGN(
        const std::string ref,
        audit(
            turn,
            {.event = "COST_BOOKED",
             .account = &opened.account,
             .reason = request.call.reason,
             .detail = answer}));
    parts_.loop.put_account(turn, std::move(opened.account));
    return done(std::move(answer), ref);
}

}  // namespace interlock
