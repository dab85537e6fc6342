#include "services/plane.h"

#include "base/log.h"

namespace interlock {
namespace {

// The newest records tell a time that has been, whatever the clock says after a restart.
Timestamp newest_record(const TurnRunner& runner, LedgerStore& store) {
    constexpr int kChainsMax = 1000;  // `_system`, which has the logins, is the first.
    Timestamp newest;
    int asked = 0;
    for (const auto& [tenant_id, head] : runner.heads()) {
        if (++asked > kChainsMax) {
            break;
        }
        const auto last = store.read_ledger(tenant_id, head.seq - 1, 1);
        if (!last || last->empty()) {
            continue;
        }
        const auto json = parse_json(last->front().canonical_json);
        if (const Json* at = json ? json->find("timestamp") : nullptr; at && at->is_string()) {
            newest = std::max(newest, parse_timestamp(at->as_string()).value_or(newest));
        }
    }
    return newest;
}

}  // namespace

Plane::Plane(Parts parts, PlaneConfig config)
    : runner({parts.store, parts.clock, parts.ids, parts.mirror, parts.keys, parts.observer}),
      outbox({parts.sink, latch, parts.flag, parts.clock}),
      ledger(
          {runner,
           parts.store,
           parts.mirror,
           parts.clock,
           parts.keys,
           parts.head_log,
           parts.submit,
           directory}),
      archive({runner, parts.store, parts.submit, parts.segment_bytes}),
      folds(runner),
      approvals({runner, parts.submit, directory, config.two_person_rule}),
      kill(
          {runner,
           parts.submit,
           latch,
           parts.flag,
           directory,
           approvals,
           parts.dispatch,
           [this](const TenantId& tenant_id) { return ledger.chain_problem(tenant_id); },
           parts.ids}),
      internal_errors(parts.submit, kill),
      probes({runner, parts.submit, latch, config.has_sink}),
      parts_(parts) {
    if (parts.feed != nullptr) {
        loop = std::make_unique<LoopService>(LoopService::Parts{
            .runner = runner,
            .submit = parts.submit,
            .latch = latch,
            .kill = kill,
            .feed = *parts.feed,
            .config = config.loop,
            .on_account = parts.on_account});
        control = std::make_unique<LoopControl>(LoopControl::Parts{
            .loop = *loop,
            .submit = parts.submit,
            .approvals = approvals,
            .kill = kill,
            .ledger = ledger,
            .latch = latch,
            .feed = *parts.feed,
            .config = config.loop});
        ticker = std::make_unique<StrategyTicker>(StrategyTicker::Parts{
            .loop = *loop, .runtime = running, .feed = *parts.feed, .submit = parts.submit});
        decisions = std::make_unique<ControlService>(ControlService::Parts{
            .runner = runner,
            .submit = parts.submit,
            .loop = *loop,
            .runtime = running,
            .latch = latch,
            .feed = *parts.feed,
            .config = config.control});
        strategies = std::make_unique<StrategyService>(StrategyService::Parts{
            .runner = runner,
            .submit = parts.submit,
            .loop = *loop,
            .runtime = running,
            .ticker = *ticker,
            .control = *decisions,
            .feed = *parts.feed});
        supervisor = std::make_unique<SupervisorService>(SupervisorService::Parts{
            .submit = parts.submit,
            .loop = *loop,
            .ticker = *ticker,
            .control = *decisions,
            .ledger = ledger,
            .latch = latch,
            .feed = *parts.feed,
            .config = config.supervisor});
    }
    ledger.set_archive([this](const TenantId& tenant_id) { return archive.archive_of(tenant_id); });
    runner.set_effect_dispatch(parts.dispatch);
    runner.set_outcome_rule(
        [this](const TurnRequest& turn, const Error* error) { internal_errors.note(turn, error); });
    // A ledger that cannot be written stops trading: latch first, then the file, because the record
    // itself is what just failed (S13).
    runner.set_commit_failure_rule([this](const Error& error) {
        kill.note_store_failure(error.message);
        latch.raise_global();
        if (const auto raised = parts_.flag.raise("audit write failed: " + error.message);
            !raised) {
            log_error("kill_file_failed", {{"message", raised.error().message}});
        }
    });
}

void Plane::close() {
    folds.close_all();  // First: what they record is sealed, too.
    ledger.sign_all();
}

Result<Plane::Recovery> Plane::open() {
    Recovery recovery;
    TRY_ASSIGN(std::vector<OutboxItem> left, runner.open());
    directory.judge_sessions_by(parts_.clock);
    directory.time_of_sessions(parts_.clock.now());
    directory.time_of_sessions(newest_record(runner, parts_.store));
    TRY(kill.open());
    TRY_ASSIGN(recovery.chains, ledger.open());
    TRY(archive.open());
    for (const ChainReport& report : recovery.chains) {
        if (report.fault) {
            // Every tenant may read the global reason, so it does not say whose row it was (I7).
            kill.activate_by_rule(
                report.tenant_id,
                "chain_check",
                "the audit chain is broken; see `interlock audit verify`");
        }
    }
    for (OutboxItem& item : left) {
        if (item.delivery == Delivery::repeatable) {
            recovery.resend.push_back(std::move(item));
            continue;
        }
        if (item.state == OutboxState::pending) {
            parts_.submit(runner.outcome_turn(
                {.effect = item,
                 .fate = EffectFate::unknown,
                 .receipt = {},
                 .error_code = "interrupted",
                 .error_message = "The server went down before the outcome was known."}));
        }
        recovery.unsettled.push_back(std::move(item));
    }
    if (loop) {
        TRY(loop->open());
        TRY(decisions->open());
        TRY(strategies->open());
    }
    return recovery;
}

}  // namespace interlock
