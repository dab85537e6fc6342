// What every step of the loop stands on: accounts, facts, refusals.
#include "loop/service/loop_service.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "account/rules/why_account_blocked.h"
#include "account/wire/facts_text.h"
#include "base/canonical_json.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/log.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"
#include "engine/service/outbox_runner.h"
#include "host/rules/kill_step.h"

namespace interlock {
namespace {

// The paper strategy an outside planner may name without a human having made one; shadow and paper
// accounts only, where nothing can be lost.
StrategyRecord paper_strategy() {
    StrategyRecord strategy;
    strategy.type = "external";
    strategy.is_active = true;
    return strategy;
}

Json encode_config(const LoopConfig& config) {
    Json universe = Json::array();
    for (const Symbol& symbol : config.universe) {
        universe.push(symbol.text());
    }
    Json limits = Json::object();
    for (const LimitChange& change : config.limits) {
        limits.set(std::string(change.spec->name), to_text(change.value));
    }
    return Json::object({
        {"policy", LoopService::kPolicyVersion},
        {"quote", config.quote.text()},
        {"paper_deposit", to_text(config.paper_deposit)},
        {"universe", std::move(universe)},
        {"limits", std::move(limits)},
    });
}

void add_symbol(std::vector<Symbol>& symbols, const Symbol& symbol) {
    const auto place = std::lower_bound(symbols.begin(), symbols.end(), symbol);
    if (place == symbols.end() || *place != symbol) {
        symbols.insert(place, symbol);
    }
}

// Which of our own strategies may trade is the word of their concerns; the account keeps only what
// the throttle counted of them. `facts` ascend by id and go on to.
void mark_active(std::vector<StrategyFacts>& facts, const std::vector<StrategyId>& active) {
    for (StrategyFacts& one : facts) {
        one.is_active = one.is_active && one.is_external;
    }
    for (const StrategyId& id : active) {
        auto place = std::lower_bound(
            facts.begin(), facts.end(), id, [](const StrategyFacts& one, const StrategyId& other) {
                return one.strategy_id < other;
            });
        if (place == facts.end() || place->strategy_id != id) {
            place = facts.emplace(place);
            place->strategy_id = id;
        }
        place->is_active = true;
        place->is_external = false;
    }
}

std::vector<Symbol> symbols_of(const Plan& plan) {
    std::vector<Symbol> symbols;
    for (const Intent& intent : plan.intents) {
        add_symbol(symbols, intent.symbol);
    }
    return symbols;
}

LoopService::Watched watched_of(const Account& account) {
    return {account.key, account.fills_cursor, account.version, why_account_blocked(account)};
}

}  // namespace

// The accounts the watch polls. Written by the engine thread after commits, read by the watch; the
// lock is one of ADR 0007's.
struct LoopService::Shared {
    mutable std::mutex mutex;
    std::map<VenueAccount, Watched> accounts;
    FactsText texts;  // The engine thread's own; no lock.
};

LoopService::LoopService(Parts parts)
    : parts_(std::move(parts)), shared_(std::make_shared<Shared>()) {
    parts_.kill.set_account_word(
        [this](Turn& turn, const TenantId& tenant_id) -> Result<KillSwitchService::AccountWord> {
            TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, tenant_id));
            const VenueAccount main{tenant_id, default_account_id(), mode.mode};
            TRY_ASSIGN(const AccountView view, load_account(turn, main));
            KillSwitchService::AccountWord word;
            if (view.account) {
                word.blocked = interlock::why_account_blocked(*view.account);
            }
            TRY_ASSIGN(word.warnings, warnings_of(turn, main));
            return word;
        });
    auto text = canonical_json(encode_config(parts_.config));
    CHECK(text.has_value());
    config_text_ = *std::move(text);
    TurnRunner& runner = parts_.runner;
    runner.on_effect(std::string(kOrderEffect), [this](Turn& turn, const EffectOutcome& outcome) {
        return on_order(turn, outcome);
    });
    runner.on_effect(std::string(kCancelKind), [this](Turn& turn, const EffectOutcome& outcome) {
        return on_cancel(turn, outcome);
    });
    runner.on_effect(std::string(kReportKind), [this](Turn& turn, const EffectOutcome& outcome) {
        return on_report(turn, outcome);
    });
    runner.on_effect(std::string(kCancelAllKind), [this](Turn& turn, const EffectOutcome& outcome) {
        return on_cancel_all(turn, outcome);
    });
    runner.on_timer("loop_recovery", [this](Turn& turn, const TimerItem& timer) {
        return on_recovery_timer(turn, timer);
    });
    // Set with an escalation that kills (loop_recovery.cc); asks until the kill is on the record.
    runner.on_timer("loop_kill_check", [this](Turn& turn, const TimerItem& timer) -> Result<void> {
        TRY_ASSIGN(
            const auto kill,
            turn.load_as<KillState>("kill/" + timer.tenant_id.text(), decode_kill_state));
        if (kill && kill->active) {
            return {};
        }
        TRY_ASSIGN(const Json json, parse_json(timer.json));
        FieldReader in(json);
        std::string reason = in.required<std::string>("reason");
        turn.after_commit([this, tenant_id = timer.tenant_id, reason = std::move(reason)] {
            parts_.kill.activate_by_rule(tenant_id, "safe_recovery", reason);
        });
        TimerItem again = timer;
        again.due_at = turn.now() + Duration::of_seconds(1);
        turn.set_timer(std::move(again));
        return {};
    });
}

Result<void> LoopService::open() {
    TRY_ASSIGN(const auto stored, parts_.runner.stored_states("account/"));
    for (const auto& [key, state] : stored) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        TRY_ASSIGN(const Account account, decode_account(json));
        {
            const std::lock_guard lock(shared_->mutex);
            shared_->accounts[account.key] = watched_of(account);
        }
        if (parts_.on_account) {
            parts_.on_account(account);
        }
        TurnRequest turn;
        turn.tenant_id = account.key.tenant_id;
        turn.principal = internal_principal("recovery");
        turn.function = "begin_recovery";
        turn.decide = [this, wanted = account.key](Turn& t) -> Result<TurnReply> {
            TRY(enter_recovery_of(t, wanted, {"startup"}));
            return Answer{200, "{}"};
        };
        turn.reply = [](Result<Answer> answer) {
            if (!answer) {
                log_error("recovery_failed", {{"message", answer.error().message}});
            }
        };
        parts_.submit(std::move(turn));
    }
    return {};
}

std::vector<LoopService::Watched> LoopService::watched() const {
    const std::lock_guard lock(shared_->mutex);
    std::vector<Watched> accounts;
    for (const auto& [account, watched] : shared_->accounts) {
        accounts.push_back(watched);
    }
    return accounts;
}

std::optional<LoopService::Watched> LoopService::watched(const VenueAccount& account) const {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->accounts.find(account);
    return found == shared_->accounts.end() ? std::nullopt : std::optional(found->second);
}

void LoopService::put_account(Turn& turn, Account account) {
    turn.after_commit([shared = shared_, watched = watched_of(account)] {
        const std::lock_guard lock(shared->mutex);
        shared->accounts[watched.account] = watched;
    });
    save_account(turn, std::move(account));
}

Result<VenueAccount> LoopService::account_of(Turn& turn, const AccountId& account_id) {
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    return VenueAccount{turn.tenant_id(), account_id, mode.mode};
}

namespace {

Error no_account(const VenueAccount& key, const LoopMode& mode) {
    if (key.mode == TradeMode::live) {
        return fail(errors::unknown_account, "This tenant has no live account.").error();
    }
    std::string known = default_account_id().text();
    for (const AccountId& id : mode.accounts) {
        known += ", " + id.text();
    }
    return fail(
               errors::unknown_account,
               "This tenant has no account \"" + key.account_id.text() + "\"; it has " + known +
                   ".")
        .error();
}

}  // namespace

Result<AccountView> LoopService::open_or_load(Turn& turn, const VenueAccount& key) {
    TRY_ASSIGN(AccountView view, load_account(turn, key));
    if (view.account) {
        return view;
    }
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, key.tenant_id));
    if (key.mode == TradeMode::live ||
        (key.account_id != default_account_id() && !mode.accounts.contains(key.account_id))) {
        return std::unexpected(no_account(key, mode));
    }
    TRY_ASSIGN(RiskLimits limits, default_limits(parts_.config.paper_deposit));
    for (const LimitChange& change : parts_.config.limits) {
        limits.*change.spec->member = change.value;
    }
    TRY_ASSIGN(
        Account account,
        open_account({
            .key = key,
            .quote = parts_.config.quote,
            .deposit = parts_.config.paper_deposit,
            .limits = limits,
            .ops_reserve = std::nullopt,
            .at = turn.now(),
        }));
    account.trading_enabled = true;
    account.universe = {parts_.config.universe.begin(), parts_.config.universe.end()};
    account.strategies[StrategyId::trusted("external")] = paper_strategy();
    AuditDraft draft = turn.draft("ACCOUNT_OPENED");
    draft.actor = AuditActor::python;
    draft.reason = std::string(to_word(key.mode)) + " account with its first use";
    draft.detail.set("account", encode(key));
    draft.detail.set("deposit", to_text(parts_.config.paper_deposit));
    TRY(turn.audit(std::move(draft)));
    if (parts_.on_account) {
        turn.after_commit([this, account] { parts_.on_account(account); });
    }
    put_account(turn, std::move(account));
    save_books(turn, key, {});
    return load_account(turn, key);
}

Result<RiskMode> LoopService::kill_aftermath(Turn& turn, const TenantId& tenant_id) {
    RiskMode strictest = RiskMode::normal;
    for (const TenantId& one : {tenant_id, system_tenant()}) {
        TRY_ASSIGN(
            const auto kill, turn.load_as<KillState>("kill/" + one.text(), decode_kill_state));
        if (kill && kill->defensive_until && *kill->defensive_until > turn.now()) {
            strictest = RiskMode::defensive;
        }
    }
    return parts_.latch.is_raised(tenant_id) ? RiskMode::halted : strictest;
}

Result<bool> LoopService::is_trading_enabled(Turn& turn, const Account& account) {
    bool enabled = account.trading_enabled;
    for (const TenantId& one : {account.key.tenant_id, system_tenant()}) {
        TRY_ASSIGN(
            const auto kill, turn.load_as<KillState>("kill/" + one.text(), decode_kill_state));
        enabled = enabled && (!kill || kill->trading_enabled);
    }
    return enabled;
}

Result<std::optional<Blocked>> LoopService::why_stopped(Turn& turn, const TenantId& tenant_id) {
    return parts_.kill.why_stopped(turn, tenant_id);
}

Result<std::optional<Blocked>> LoopService::why_blocked(Turn& turn, const VenueAccount& key) {
    TRY_ASSIGN(std::optional<Blocked> blocked, why_stopped(turn, key.tenant_id));
    if (blocked) {
        return blocked;
    }
    TRY_ASSIGN(const AccountView view, load_account(turn, key));
    return view.account ? interlock::why_account_blocked(*view.account) : std::nullopt;
}

Result<std::vector<std::string>> LoopService::warnings_of(Turn& turn, const VenueAccount& key) {
    return overlay_.warnings ? overlay_.warnings(turn, key) : std::vector<std::string>();
}

std::optional<Blocked> LoopService::why_account_blocked(const VenueAccount& key) const {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->accounts.find(key);
    return found == shared_->accounts.end() ? std::nullopt : found->second.blocked;
}

Result<std::vector<StrategyId>> LoopService::active_strategies(
    Turn& turn, const VenueAccount& account) {
    return overlay_.active_strategies ? overlay_.active_strategies(turn, account)
                                      : std::vector<StrategyId>();
}

Result<std::string> LoopService::instance_type(
    Turn& turn, const VenueAccount& account, const StrategyId& id) {
    return overlay_.instance_type ? overlay_.instance_type(turn, account, id) : std::string();
}

Result<LoopService::Gathered> LoopService::gather(
    Turn& turn, const VenueAccount& key, const Plan& plan) {
    const std::vector<Symbol> wanted = symbols_of(plan);
    return gather_deep(turn, key, wanted, wanted);
}

Result<LoopService::Gathered> LoopService::gather_for(
    Turn& turn, const VenueAccount& key, const std::vector<Symbol>& symbols) {
    return gather_deep(turn, key, symbols, {});
}

Result<void> LoopService::add_market_modes(Turn& turn, Gathered& facts) {
    if (!overlay_.market_modes) {
        return {};
    }
    TRY_ASSIGN(const std::vector<MarketMode> modes, overlay_.market_modes(turn, facts.key));
    for (const MarketMode& one : modes) {
        for (SymbolFacts& symbol : facts.state.symbols) {
            if (symbol.symbol == one.symbol) {
                symbol.risk_mode = one.mode;
            }
        }
    }
    return {};
}

Result<LoopService::Gathered> LoopService::gather_deep(
    Turn& turn,
    const VenueAccount& key,
    const std::vector<Symbol>& symbols,
    const std::vector<Symbol>& deep) {
    Gathered facts;
    facts.key = key;
    TRY_ASSIGN(facts.view, open_or_load(turn, key));
    std::vector<Symbol> priced = priced_symbols(facts.view);
    for (const Symbol& symbol : symbols) {
        add_symbol(priced, symbol);
    }
    facts.market = parts_.feed.deep_facts(priced, deep);
    TRY_ASSIGN(const RiskMode aftermath, kill_aftermath(turn, key.tenant_id));
    GatherInput input{
        .account = *facts.view.account,
        .books = facts.view.books->books,
        .market = facts.market,
        .now = turn.now(),
        .kill_switch_active = parts_.latch.is_raised(key.tenant_id),
        .stricter_mode = aftermath,
        .permissions_verified = key.mode != TradeMode::live,
    };
    // A tier that this moment alone would set counts at once; only loosening waits for the beats.
    TRY_ASSIGN(const TierInput tier, tier_input(input));
    input.stricter_mode =
        std::max(input.stricter_mode, mode_of(step_tier(facts.view.account->tier, tier).raw));
    TRY_ASSIGN(facts.state, gather_facts(input));
    TRY(add_market_modes(turn, facts));
    TRY_ASSIGN(facts.state.trading_enabled, is_trading_enabled(turn, *facts.view.account));
    if (!facts.state.trading_enabled || facts.state.kill_switch_active) {
        TRY_ASSIGN(facts.blocked, parts_.kill.why_stopped(turn, key.tenant_id));
    }
    if (!facts.blocked) {
        facts.blocked = interlock::why_account_blocked(*facts.view.account);
    }
    TRY_ASSIGN(const std::vector<StrategyId> active, active_strategies(turn, key));
    mark_active(facts.state.strategies, active);
    return facts;
}

Result<void> LoopService::keep_inputs(Turn& turn, Gathered& facts) {
    TRY_ASSIGN(std::string state, shared_->texts.of(facts.state));
    TRY_ASSIGN(std::string market, shared_->texts.of(facts.market));
    facts.inputs = {
        .state_ref = turn.put_artifact(std::move(state)),
        .market_ref = turn.put_artifact(std::move(market)),
    };
    return {};
}

Result<Json> LoopService::seen(const Gathered& facts) {
    TRY_ASSIGN(const std::string state, shared_->texts.of(facts.state));
    TRY_ASSIGN(const std::string market, shared_->texts.of(facts.market));
    return Json::object(
        {{"state", "sha256:" + sha256_hex(state)}, {"market", "sha256:" + sha256_hex(market)}});
}

std::string LoopService::config_ref(Turn& turn) {
    return turn.put_artifact(config_text_);
}

TurnRequest LoopService::tool_turn(
    Caller caller, std::string function, const ToolCall& call, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = std::move(function);
    turn.key = call.idempotency_key;
    turn.request_hash = std::move(caller.request_hash);
    turn.reply = std::move(reply);
    return turn;
}

Result<TurnReply> LoopService::refuse(
    Turn& turn, const ToolCall& call, const Error& error, AuditStep step) {
    AuditDraft draft = turn.draft("ERROR_EVENT");
    draft.decision_id = call.decision_id;
    draft.tick_id = call.tick_id;
    draft.step = step;
    draft.status = AuditStatus::failed;
    draft.reason = error.message;
    draft.detail.set("code", error.code());
    TRY_ASSIGN(const std::string ref, turn.audit_refusal(std::move(draft)));
    return Answer{error.http_status(), to_text(tool_error_answer(error, ref)), !error.retryable()};
}

TurnRequest LoopService::refusal_turn(Caller caller, const Json& body, Error error, Reply reply) {
    const ClaimedIds ids = claimed_ids(body);
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "refused_tool_call";
    turn.reply = std::move(reply);
    turn.decide = [this, ids, error = std::move(error)](Turn& t) {
        return refuse(
            t,
            {.decision_id = ids.decision_id,
             .tick_id = ids.tick_id,
             .idempotency_key = {},
             .account_id = {}},
            error,
            AuditStep::control);
    };
    return turn;
}

Result<void> LoopService::audit_step(Turn& turn, Decision& decision, StepRecord record) {
    AuditDraft draft = turn.draft(std::move(record.event));
    draft.tenant_id = decision.account.tenant_id;
    draft.decision_id = decision.decision_id;
    draft.tick_id = decision.tick_id;
    draft.step = record.step;
    draft.status = record.status;
    draft.severity = record.severity;
    draft.reason = std::move(record.reason);
    draft.detail = std::move(record.detail);
    draft.artifacts = std::move(record.artifacts);
    draft.actor = record.by_planner ? AuditActor::codex : AuditActor::python;
    TRY_ASSIGN(decision.audit_ref, turn.audit(std::move(draft)));
    return {};
}

}  // namespace interlock
