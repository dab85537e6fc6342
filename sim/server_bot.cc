// The maker bots of a simulated server: vault, bots and the queue of what may block, wired as the
// real server wires them, and the mistakes that are planted around them.
#include "base/check.h"
#include "sim/planner.h"
#include "sim/server.h"

namespace interlock::sim {
namespace {

// Small, so that a full queue is met.
constexpr std::size_t kJobsMax = 2;

template <class Update>
std::optional<BotUpdate> read(
    Result<Update> (*decode)(const Json&),
    const Command& command,
    const std::function<void(Result<Answer>)>& reply) {
    auto update = decode(command.body);
    if (!update) {
        reply(std::unexpected(std::move(update).error()));
        return std::nullopt;
    }
    return BotUpdate(*std::move(update));
}

std::optional<BotUpdate> update_of(
    const Command& command, const std::function<void(Result<Answer>)>& reply) {
    if (command.tool == "update_pnl") {
        return read(decode_update_pnl, command, reply);
    }
    if (command.tool == "update_symbol") {
        return read(decode_update_symbol, command, reply);
    }
    CHECK(command.tool == "update_bot_settings");
    return read(decode_update_bot_settings, command, reply);
}

std::optional<BotCall> call_of(const std::string& tool) {
    if (tool == "initialize_bot") {
        return BotCall::initialize;
    }
    if (tool == "start") {
        return BotCall::start;
    }
    if (tool == "stop") {
        return BotCall::stop;
    }
    return tool == "restart" ? std::optional(BotCall::restart) : std::nullopt;
}

std::optional<bool> flag_at(const Json& body, std::string_view key) {
    const Json* found = body.find(key);
    return found == nullptr ? std::nullopt : std::optional(found->as_bool());
}

// What the store holds of a tenant's bot, inside a turn.
Result<std::optional<BotRecord>> stored_bot(Turn& turn) {
    TRY_ASSIGN(const std::optional<Json> json, turn.load(bot_machine(turn.tenant_id())));
    if (!json) {
        return std::optional<BotRecord>();
    }
    TRY_ASSIGN(BotRecord record, decode_bot_record(*json));
    return std::optional(std::move(record));
}

// Has `extra` done to the stored bot at the end of the turn.
void change_bot(TurnRequest& request, std::function<void(BotRecord&)> extra) {
    request.decide = [decide = std::move(request.decide),
                      extra = std::move(extra)](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(TurnReply reply, decide(turn));
        TRY_ASSIGN(std::optional<BotRecord> record, stored_bot(turn));
        if (record) {
            extra(*record);
            turn.save_as<BotRecord>(
                bot_machine(turn.tenant_id()),
                std::make_shared<const BotRecord>(*std::move(record)));
        }
        return reply;
    };
}

// The plant forget_inventory: the engine's account of itself begins anew, with nothing.
Result<void> forget_inventory(Turn& turn) {
    const VenueAccount account = bot_account_of(turn.tenant_id());
    TRY_ASSIGN(const auto record, stored_bot(turn));
    const std::vector<Symbol> markets = record ? record->markets : std::vector<Symbol>();
    for (const Symbol& symbol : markets) {
        TRY_ASSIGN(
            const auto stored, load_instance(turn, scope_of(account), bot_strategy_id(symbol)));
        TRY_ASSIGN(const AccountView view, load_account(turn, account));
        const SymbolBook* book = view.account ? find_book(view.books->books, symbol) : nullptr;
        if (!stored || book == nullptr || stored->memory.find("start") == nullptr) {
            continue;
        }
        StrategyInstance next = *stored;
        next.memory.set("start", "0");
        next.memory.set("start_net", to_text(net_qty_of(book->tallies, next.strategy_id)));
        save_instance(turn, std::move(next));
    }
    return {};
}

// The plant plan_while_looking: while its strategies decide, the account is one that was doubted.
Result<TurnReply> decide_doubting(Turn& turn, const VenueAccount& key, const TurnRequest& request) {
    const auto pose = [&](bool only_looks) -> Result<bool> {
        TRY_ASSIGN(const AccountView view, load_account(turn, key));
        if (!view.account || view.account->recovery.phase != RecoveryPhase::recovering ||
            view.account->recovery.only_looks == only_looks) {
            return false;
        }
        Account posed = *view.account;
        posed.recovery.only_looks = only_looks;
        save_account(turn, std::move(posed));
        return true;
    };
    TRY_ASSIGN(const bool has_posed, pose(false));
    TRY_ASSIGN(TurnReply reply, request.decide(turn));
    if (has_posed) {
        TRY(pose(true));
    }
    return reply;
}

}  // namespace

void Server::build_bots() {
    if (!world_.has_bots) {
        return;
    }
    const SubmitTurn to_engine = [this](TurnRequest turn) { submit(std::move(turn)); };
    const auto later = [this](std::function<void()> job) {
        if (jobs_.size() >= kJobsMax) {
            return false;
        }
        jobs_.push_back(std::move(job));
        return true;
    };
    key_workers_ = std::make_unique<WorkerPool>(WorkerPool::Bounds{.threads = 0, .waiting_max = 0});
    vault_ = std::make_unique<VaultService>(VaultService::Parts{
        .runner = plane_->runner,
        .submit = to_engine,
        .workers = *key_workers_,
        .masters = world_.master_keys,
        .ids = world_.ids,
        .checks = {{"paper", &world_.exchange_keys}}});
    pnl_ = std::make_unique<PnlJobs>(PnlJobs::Parts{
        .runner = plane_->runner,
        .store = *witness_,
        .feed = world_.venue->paper(),
        .log = world_.pnl_log,
        .clock = world_.clock,
        .submit = to_engine,
        .run = later});
    bots_ = std::make_unique<BotService>(BotService::Parts{
        .runner = plane_->runner,
        .submit = to_engine,
        .loop = *plane_->loop,
        .runtime = plane_->running,
        .ticker = *plane_->ticker,
        .control = *plane_->decisions,
        .kill = plane_->kill,
        .latch = plane_->latch,
        .approvals = plane_->approvals,
        .vault = *vault_,
        .store = *witness_,
        .feed = world_.venue->paper(),
        .clock = world_.clock,
        .fetch = [this](
                     const VenueAccount& account,
                     std::int64_t cursor) { return world_.venue->report(account, cursor); },
        .run = later,
        .pnl = *pnl_,
        .defaults = world_.default_bot});
}

Result<void> Server::open_bots() {
    if (bots_ == nullptr) {
        return {};
    }
    TRY(vault_->open());
    TRY(pnl_->open());
    TRY(bots_->open());
    spoil_bots();
    return {};
}

void Server::run_job() {
    if (!jobs_.empty() && world_.power.on) {
        const std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        job();
    }
}

void Server::run_jobs() {
    for (std::size_t left = jobs_.size(); left > 0; --left) {
        run_job();
    }
}

void Server::call_bot(const Command& command, const std::function<void(Result<Answer>)>& reply) {
    const BotService::Caller caller{command.principal, command.tenant_id, {}};
    const std::string& tool = command.tool;
    if (const auto call = call_of(tool)) {
        bots_->call(caller, {*call, flag_at(command.body, "cancel_orders")}, reply);
    } else if (tool == "put_keys") {
        ExchangeKeys keys;
        keys.exchange = "paper";
        keys.api_key = SecretString(command.body.find("api_key")->as_string());
        keys.api_secret = SecretString(std::string(kSlippedKey));
        bots_->put_keys(caller, std::move(keys), reply);
    } else if (tool == "connect") {
        bots_->connect(caller, reply);
    } else if (tool == "disconnect") {
        bots_->disconnect(caller, reply);
    } else if (tool == "reload_from_config") {
        bots_->reload(caller, reply);
    } else if (tool == "set_stop_policy") {
        bots_->set_stop_policy(caller, *flag_at(command.body, "cancel_on_stop"), reply);
    } else if (tool == "positions") {
        bots_->positions(caller, reply);
    } else if (tool == "exchange_status") {
        bots_->exchange_status(caller, reply);
    } else if (auto update = update_of(command, reply)) {
        bots_->change(caller, {tool, *std::move(update)}, reply);
    }
}

void Server::plant_into_bot(TurnRequest& request) {
    const bool is_change = request.function.starts_with("update_") &&
                           request.function != "update_exchange_keys" &&
                           request.function != "update_strategy";
    if (bots_ == nullptr) {
        return;
    }
    if (world_.plant == Plant::agent_applies && is_change) {
        request.principal = world_.people.humans.at(request.tenant_id).front();
    }
    if (world_.plant == Plant::keep_version && is_change) {
        change_bot(request, [](BotRecord& record) { --record.config_version; });
    }
    if (world_.plant == Plant::forget_inventory && request.function == "strategy_act") {
        request.decide = [decide = std::move(request.decide)](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(TurnReply reply, decide(turn));
            TRY(forget_inventory(turn));
            return reply;
        };
    }
    const bool is_planning = request.function == "bot_pulse" ||
                             request.function == "strategy_tick" ||
                             request.function == "strategy_act";
    if (world_.plant == Plant::plan_while_looking && is_planning) {
        TurnRequest inner;
        inner.decide = std::move(request.decide);
        request.decide = [inner, key = bot_account_of(request.tenant_id)](Turn& turn) {
            return decide_doubting(turn, key, inner);
        };
    }
    if (world_.plant == Plant::act_unasked && request.function == "loop_beat") {
        act_unasked(request.tenant_id);
    }
}

// The plant act_unasked: nobody asks whether the bot trades.
void Server::act_unasked(const TenantId& tenant_id) {
    const auto seen = bots_->board().view(tenant_id);
    if (!seen || seen->record.state == BotState::running) {
        return;
    }
    for (const Symbol& symbol : seen->record.markets) {
        TurnRequest act =
            plane_->ticker->act_turn(bot_account_of(tenant_id), bot_strategy_id(symbol));
        act.reply = [](const Result<Answer>&) {};
        engine_->submit_internal(std::move(act));
    }
}

Json Server::bot_status(const TenantId& tenant_id) {
    Json status = bots_->status(tenant_id);
    if (world_.plant == Plant::show_trading) {
        status.set("blocked", Json());
    }
    return status;
}

// The mistakes a restart makes with bots.
void Server::spoil_bots() {
    for (const TenantId& tenant_id : world_.people.tenants) {
        const auto seen = bots_->board().view(tenant_id);
        if (!seen) {
            continue;
        }
        if (world_.plant == Plant::forget_bot) {
            bots_->board().show(tenant_id, {BotRecord{}, {}, world_.clock.monotonic()});
        }
        if (world_.plant == Plant::forget_stop && seen->record.state == BotState::stopped) {
            TurnRequest turn;
            turn.tenant_id = tenant_id;
            turn.principal = internal_principal("recovery");
            turn.function = "forget_stop";
            turn.reply = [](const Result<Answer>&) {};
            turn.decide = [](Turn&) -> Result<TurnReply> { return Answer{200, "{}"}; };
            change_bot(turn, [](BotRecord& record) { record.state = BotState::running; });
            engine_->submit_internal(std::move(turn));
        }
        if (world_.plant == Plant::sweep_at_start && seen->record.state == BotState::stopped) {
            TurnRequest turn;
            turn.tenant_id = tenant_id;
            turn.principal = internal_principal("recovery");
            turn.function = "sweep_at_start";
            turn.reply = [](const Result<Answer>&) {};
            turn.decide = [this](Turn& t) -> Result<TurnReply> {
                TRY(plane_->loop->cancel_orders(
                    t,
                    {.account = bot_account_of(t.tenant_id()),
                     .decision_id = "sys_recovery",
                     .which = [](const OrderRecord&) { return true; }}));
                return Answer{200, "{}"};
            };
            engine_->submit_internal(std::move(turn));
        }
    }
}

}  // namespace interlock::sim
