#include "sim/simulation.h"

#include "base/errors.h"
#include "base/json.h"
#include "base/redaction.h"
#include "engine/service/outbox_runner.h"

namespace interlock::sim {
namespace {

// A start that fails this often in a row fails for another reason than an injected fault.
constexpr int kStartsMax = 40;

}  // namespace

RunResult run_simulation(const RunConfig& config, std::span<const Step> steps) {
    return Simulation(config).run(steps);
}

Simulation::Simulation(const RunConfig& config)
    : config_(config),
      world_(config.seed, config.plant, log_),
      tenants_(world_.people, log_),
      chains_(log_),
      folds_(log_),
      answers_(log_),
      approvals_(world_.people, log_, world_.two_person_rule),
      kill_(approvals_, log_),
      effects_(log_),
      ages_(log_),
      replies_(log_),
      composer_(
          {.people = world_.people,
           .now = [this] { return world_.clock.now(); },
           .is_stopped = [this](const TenantId& tenant_id) { return kill_.is_stopped(tenant_id); },
           .approvals =
               [this](const TenantId& tenant_id, bool only_pending) {
                   return only_pending ? approvals_.pending(tenant_id) : approvals_.all(tenant_id);
               },
           .requester =
               [this](const TenantId& tenant_id, const ApprovalId& approval_id) {
                   return approvals_.request_of(tenant_id, approval_id).by;
               },
           .stops_are_rare = is_trading_day(config.seed)}),
      planner_(
          {.people = world_.people,
           .now = [this] { return world_.clock.now(); },
           .feed = world_.trades ? &world_.venue->paper() : nullptr,
           .facts = [this](const TenantId& tenant_id) { return loop_->seen_by(tenant_id); }}),
      supervisors_(
          {.people = world_.people,
           .now = [this] { return world_.clock.now(); },
           .feed = world_.trades ? &world_.venue->paper() : nullptr,
           .look = [this](
                       const TenantId& tenant_id,
                       const std::string& symbol) { return trader_->look(tenant_id, symbol); }}),
      bot_people_(
          {.people = world_.people,
           .now = [this] { return world_.clock.now(); },
           .feed = world_.trades ? &world_.venue->paper() : nullptr,
           .look = [this](const TenantId& tenant_id) { return bots_->look(tenant_id); }}) {
    if (world_.trades) {
        loop_ = std::make_unique<LoopInvariant>(*world_.venue, log_);
        blocked_ = std::make_unique<BlockedInvariant>(*loop_, log_);
        world_.venue->on_submit = [this](const VenueOrderRequest& request) { on_submit(request); };
    }
    if (world_.supervised || world_.has_bots) {
        trader_ = std::make_unique<TraderInvariant>(*world_.venue, *loop_, log_);
    }
    if (world_.has_bots) {
        bots_ = std::make_unique<BotInvariant>(
            BotInvariant::Parts{*world_.venue, *loop_, world_.default_bot, log_});
    }
    world_.flag.on_raise = [this] { kill_.on_file_written(); };
    world_.sink.on_arrival = [this](const OutboxItem& effect) { on_arrival(effect); };
    if (world_.on_disk) {
        durable_ = std::make_unique<DiskDurableView>(world_.disk, kDatabasePath);
    }
}

RunResult Simulation::run(std::span<const Step> steps) {
    RunResult result;
    tell(
        std::string(world_.on_disk ? "SQLite on a crash disk" : "memory store") + ", " +
        std::to_string(world_.people.tenants.size()) + " tenants" +
        (world_.two_person_rule ? ", two-person rule" : "") + (world_.trades ? ", a venue" : "") +
        (world_.supervised ? ", a trader" : "") + (world_.has_bots ? ", bots" : ""));
    start_server();
    for (const Step& step : steps) {
        if (is_broken()) {
            break;
        }
        ++result.steps_done;
        take(step);
        if (bots_) {
            bots_->check_trades();
        }
        recover_if_dark(mix_seeds(step.seed, 20));
    }
    if (!is_broken()) {
        tell("the end: everything comes to rest");
        end();
    }
    if (!is_broken() && !world_.on_disk) {
        tamper();
    }
    server_.reset();
    result.violation = log_.first();
    counts_.deliveries = deliveries_;
    counts_.folded = folds_.counted();
    if (loop_) {
        counts_.edges.add(loop_->limits().edges());
    }
    counts_.edges.add(approvals_.edges());
    counts_.edges.add(ages_.edges());
    counts_.loop = loop_ ? loop_->counts() : LoopInvariant::Counts{};
    counts_.trader = trader_ ? trader_->counts() : TraderInvariant::Counts{};
    counts_.bots = bots_ ? bots_->counts() : BotInvariant::Counts{};
    counts_.blocked = blocked_ ? blocked_->counts() : BlockedInvariant::Counts{};
    result.counts = counts_;
    if (result.violation) {
        tell("VIOLATION of " + result.violation->invariant + ": " + result.violation->what);
    }
    return result;
}

void Simulation::tell(const std::string& line) {
    if (config_.trace) {
        config_.trace(line);
    }
}

void Simulation::start_server() {
    for (int i = 0; i < kStartsMax && !is_broken(); ++i) {
        if (try_start()) {
            return;
        }
    }
    log_.report("progress", "the server does not start any more");
}

bool Simulation::try_start() {
    // A batch that was under way at the crash is there or not: settled before the start adds to it.
    const auto settle = [this](LedgerStore& store) {
        if (world_.power.on) {
            auto armed = world_.disk.set_aside();  // The look is ours, not the server's.
            on_committed(
                world_.reference.check(store, world_.clock.now(), Reference::Look::before_start));
            world_.disk.put_back(std::move(armed));
        }
    };
    auto started = Server::start(
        world_, [this](std::span<const TurnCommit> turns) { on_committed(turns); }, settle);
    if (!world_.power.on) {
        tell("  the power went while it started");
        started = fail(errors::unavailable, "no power");
        SeededRandom random(mix_seeds(world_.seed, world_.lives));
        world_.disk.settle_after_crash(random.next());
        world_.power.on = true;
        return false;
    }
    if (!started) {
        tell("  it did not start: " + started.error().message);
        return false;
    }
    server_ = *std::move(started);
    if (!world_.on_disk) {
        durable_ = std::make_unique<StoreDurableView>(*server_->memory());
    }
    for (const ChainReport& report : server_->recovery().chains) {
        if (report.fault) {
            log_.report(
                "chain",
                "start-up found the chain of " + report.tenant_id.text() + " broken at record " +
                    std::to_string(report.fault->seq) + ": " + report.fault->detail);
        }
    }
    world_.disk.disarm();  // The look at what was recovered is ours, not the server's.
    store_is_calm_ = true;
    on_committed(
        world_.reference.check(server_->store(), world_.clock.now(), Reference::Look::after_start));
    if (trader_) {
        trader_->on_start(server_->plane().running, server_->store());
    }
    if (bots_) {
        bots_->on_start(server_->bot_board());
    }
    flag_was_raised_ = world_.flag.is_raised();
    if (flag_was_raised_) {
        kill_.on_accepted(
            {.tenant_id = system_tenant(),
             .reason = world_.flag.reason(),
             .head_seq = world_.reference.head_of(system_tenant()),
             .delivery_number = 0,
             .may_go_unrecorded = true});
    }
    return true;
}

void Simulation::crash(std::uint64_t seed, Crash kind) {
    ++counts_.crashes;
    world_.power.on = false;
    server_.reset();
    if (kind == Crash::machine) {
        SeededRandom random(seed);
        world_.disk.settle_after_crash(random.next());
        world_.mirror.settle_after_crash(random);
    }
    world_.power.on = true;
    kill_.on_crash();
    replies_.on_crash();
    start_server();
}

void Simulation::recover_if_dark(std::uint64_t seed) {
    if (!world_.power.on) {
        tell("  the power went");
        crash(seed, Crash::machine);
    }
}

void Simulation::deliver(const Command& sent) {
    Command command = sent;
    const bool has_words = command.kind == Command::Kind::tool ||
                           command.kind == Command::Kind::control ||
                           command.kind == Command::Kind::helper;
    // What the faces do to callers' words before any service hears them.
    if (has_words && world_.plant != Plant::keep_secret) {
        mask_secrets(command.body, SecretDepth::full);
    }
    const Delivered delivered{++deliveries_, command};
    tell("  #" + std::to_string(delivered.number) + " " + to_text(command));
    answers_.on_delivered(command);
    replies_.on_delivered(delivered);
    kill_.on_delivered(delivered);
    if (command.kind == Command::Kind::kill_on) {
        kill_.on_accepted(
            {.tenant_id = command.tenant_id,
             .reason = command.kill.reason,
             .head_seq = world_.reference.head_of(command.tenant_id),
             .delivery_number = delivered.number,
             .may_go_unrecorded = false});
    }
    call_service(
        command, [this, delivered](const Result<Answer>& result) { on_reply(delivered, result); });
}

void Simulation::call_service(
    const Command& command, const std::function<void(Result<Answer>)>& reply) {
    Plane& plane = server_->plane();
    const ApprovalService::Caller approver{command.principal, command.tenant_id};
    const KillSwitchService::Caller killer{
        command.principal, command.tenant_id, command.form, command.request_hash};
    switch (command.kind) {
        case Command::Kind::probe:
            plane.probes.run(
                {command.principal, command.tenant_id, command.request_hash}, command.probe, reply);
            break;
        case Command::Kind::kill_on:
        case Command::Kind::kill_off:
            plane.kill.set(killer, command.kill, reply);
            break;
        case Command::Kind::kill_status:
            plane.kill.status(killer, reply);
            break;
        case Command::Kind::list_approvals:
            plane.approvals.list(approver, std::nullopt, reply);
            break;
        case Command::Kind::get_approval:
            plane.approvals.get(approver, command.approval_id, reply);
            break;
        case Command::Kind::approve:
            plane.approvals.approve(approver, command.approval_id, command.decision, reply);
            break;
        case Command::Kind::reject:
            plane.approvals.reject(approver, command.approval_id, command.decision, reply);
            break;
        case Command::Kind::tool:
            server_->call_tool(command, reply);
            break;
        case Command::Kind::control:
            server_->call_control(command, reply);
            break;
        case Command::Kind::helper:
            server_->call_helper(command, reply);
            break;
        case Command::Kind::bot:
            server_->call_bot(command, reply);
            break;
    }
}

void Simulation::on_reply(const Delivered& delivered, const Result<Answer>& result) {
    if (!world_.power.on) {
        return;  // Nobody hears it.
    }
    const Command& command = delivered.command;
    tell(
        "  #" + std::to_string(delivered.number) + " -> " +
        (result ? std::to_string(result->http_status) + " " + result->body
                : std::string(result.error().code()) + ": " + result.error().message));
    counts_.refusals += result ? 0 : 1;
    tenants_.check_text(
        command.tenant_id, result ? result->body : result.error().message, "an answer");
    answers_.on_reply(command, result);
    approvals_.on_reply(command, result, world_.clock.now());
    kill_.on_reply(delivered, result);
    replies_.on_reply(delivered);
    if (command.kind == Command::Kind::tool) {
        planner_.on_reply(command, result);
    }
    if (trader_) {
        supervisors_.on_reply(command, result);
        // A fault that was set in the life before may strike in this one; then nothing is rolled
        // back, and an answer that is only remembered still goes out.
        trader_->on_reply(command, result, store_is_calm_ && !server_->store_has_failed());
    }
    if (bots_) {
        bot_people_.on_reply(command, result);
        bots_->on_reply(command, result);
    }
    if (result) {
        check_audit_ref(command, *result);
    }
}

// "<seq>:<first 16 hex digits>" must be a committed record of the caller's own tenant.
void Simulation::check_audit_ref(const Command& command, const Answer& answer) {
    const auto body = parse_json(answer.body);
    const Json* ref = body ? body->find("audit_ref") : nullptr;
    if (ref == nullptr || !ref->is_string() || ref->as_string().empty()) {
        return;
    }
    const std::string& text = ref->as_string();
    const std::size_t colon = text.find(':');
    const std::int64_t seq = std::stoll(text.substr(0, colon));
    const std::string digits = text.substr(colon + 1);
    const auto is_in = [&](const TenantId& tenant_id) {
        return world_.reference.hash_at(tenant_id, seq).starts_with(digits);
    };
    if (is_in(command.tenant_id)) {
        return;
    }
    for (const TenantId& other : world_.people.tenants) {
        if (is_in(other)) {
            log_.report(
                "I7", "the answer to (" + to_text(command) + ") cites a record of " + other.text());
        }
    }
    log_.report(
        "durability",
        "the answer to (" + to_text(command) + ") cites record " + text +
            ", which is not in the chain");
}

void Simulation::on_committed(std::span<const TurnCommit> turns) {
    counts_.commits += turns.empty() ? 0 : 1;
    for (const TurnCommit& turn : turns) {
        std::vector<AuditRecord> records;
        for (const LedgerEntry& entry : turn.audit) {
            ++counts_.records;
            chains_.on_entry(entry);
            const auto json = parse_json(entry.canonical_json);
            const auto record =
                json ? decode_audit_record(*json) : Result<AuditRecord>(AuditRecord{});
            if (!json || !record) {
                log_.report("chain", "a record that cannot be read was committed");
                return;
            }
            tell(
                "    " + entry.tenant_id.text() + "." + std::to_string(entry.seq) + " " +
                record->draft.event + " by " + record->draft.principal +
                (record->draft.reason.empty() ? "" : ": " + record->draft.reason));
            counts_.releases += record->draft.event == "KILL_SWITCH_RELEASED" ? 1 : 0;
            tenants_.on_record(*record, entry.canonical_json);
            approvals_.on_record(*record);
            kill_.on_record(*record);
            records.push_back(*record);
            records.back().hash = entry.hash;
        }
        folds_.on_commit(turn, records);
        ages_.on_commit(turn, clocks());
        if (loop_) {
            loop_->on_commit(turn, records);
            blocked_->on_commit(turn, records);
        }
        if (trader_) {
            trader_->on_commit(turn, records);
        }
        if (bots_) {
            bots_->on_commit(turn, records);
        }
    }
}

void Simulation::on_arrival(const OutboxItem& effect) {
    tell(
        "    sink: " + effect.kind + " " + effect.effect_id.text() + " of " +
        effect.tenant_id.text());
    if (effect.kind == kCancelAllKind) {
        ++counts_.cancels;
        return;
    }
    ++counts_.effects;
    effects_.on_arrival(effect, durable_->justifies(effect));
    ages_.on_arrival(effect, clocks());
    tenants_.check_text(effect.tenant_id, effect.json, "an effect");
    check_may_leave(effect.tenant_id, effect.effect_id.text());
}

void Simulation::check_may_leave(const TenantId& tenant_id, const std::string& what) {
    const std::string why = kill_.why_stopped(tenant_id);
    if (!why.empty()) {
        log_.report(
            "I6", what + " of " + tenant_id.text() + " left although it was stopped (" + why + ")");
    }
    if (world_.flag.file_is_there()) {
        log_.report("I6", what + " left although the KILL file was there");
    }
    if (world_.flag.is_unreadable()) {
        log_.report("I5", what + " left although nobody could read the KILL file");
    }
}

}  // namespace interlock::sim
