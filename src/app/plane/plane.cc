#include "app/plane/plane.h"

#include <set>

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
        if (head.seq < 1) {
            continue;  // No record's; the walk says so.
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
           parts.ids,
           [this](const TenantId& tenant_id) { return ledger.open_break(tenant_id); }}),
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
    // itself is what just failed.
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

// The stop follows from the rows of the breaks, each time anew: whoever found one may have ended
// before its own stop was on record, and tools that run without a server stop nobody.
void Plane::stop_for_breaks(const std::vector<ChainReport>& chains) {
    // Every tenant may read the global reason, so it does not say whose row it was (I7).
    const std::string why = "the audit chain is broken; see `interlock audit verify`";
    std::set<TenantId> found_now;
    for (const ChainReport& report : chains) {
        if (report.fault) {
            found_now.insert(report.tenant_id);
            kill.activate_by_rule(report.tenant_id, "chain_check", why);
        }
    }
    const auto breaks = ledger.open_breaks();
    for (const auto& [tenant_id, state] : *breaks) {
        if (!found_now.contains(tenant_id)) {
            kill.keep_stopped(tenant_id, "chain_check", why);
        }
    }
}

Result<void> Plane::relay_broke(const ChainReport& report) {
    kill.activate_by_rule(
        report.tenant_id,
        "chain_check",
        "an audit chain of the relay is broken; see `interlock audit verify`");
    return ledger.note_break(report.tenant_id, kRelayBook, *report.fault);
}

Result<Plane::Recovery> Plane::open() {
    Recovery recovery;
    TRY_ASSIGN(std::vector<OutboxItem> left, runner.open());
    directory.judge_sessions_by(parts_.clock);
    directory.time_of_sessions(parts_.clock.now());
    directory.time_of_sessions(newest_record(runner, parts_.store));
    TRY(kill.open());
    TRY_ASSIGN(recovery.chains, ledger.open());
    stop_for_breaks(recovery.chains);
    TRY(archive.open());
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
