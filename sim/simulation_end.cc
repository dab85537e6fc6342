// The end of a run: faults stop, people do their part, and everything must come right again. What
// hangs for ever, loses an answer or stays stopped shows here.
#include <algorithm>

#include "engine/service/ledger_check.h"
#include "sim/archive_check.h"
#include "sim/simulation.h"
#include "sim/tamper.h"

namespace interlock::sim {
namespace {

constexpr int kRestRounds = 60;
constexpr Duration kRestPace = Duration::of_milliseconds(700);
// Long enough for every proof, even after the wall clock was stepped back.
constexpr Duration kTradingRestPace = Duration::of_seconds(5);
constexpr std::size_t kAskedAgainMax = 25;
constexpr std::size_t kRoundTurns = 64;
constexpr int kReleaseAttempts = 4;

}  // namespace

void Simulation::end() {
    heal();
    // Half of the runs go on with the server that has been through it all.
    if (server_->store_has_failed() || config_.seed % 4 < 2) {
        crash(mix_seeds(config_.seed, 30), Crash::machine);
    }
    if (!is_broken()) {
        come_to_rest();
    }
    if (!is_broken()) {
        release_all();
    }
    if (!is_broken()) {
        check_effects_flow();
    }
    if (!is_broken() && loop_) {
        settle_loop();
    }
    if (!is_broken() && trader_) {
        settle_trader();
    }
    if (!is_broken()) {
        ask_again();
    }
    if (!is_broken()) {
        crash(mix_seeds(config_.seed, 31), Crash::machine);
    }
    if (!is_broken()) {
        check_chains();
    }
}

void Simulation::heal() {
    world_.disk.disarm();
    if (server_->faulty() != nullptr) {
        server_->faulty()->disarm();
    }
    world_.sink.set_mood(SinkMood::works, 0);
    world_.sink.go_silent(0);
    if (world_.trades) {
        world_.venue->heal();
    }
    world_.flag.set_unreadable(false);
    world_.flag.set_unwritable(false);
    held_.clear();
}

void Simulation::come_to_rest() {
    work_through(kRestRounds, world_.trades ? kTradingRestPace : kRestPace);
    replies_.on_quiet();
    const auto left = server_->store().load_outbox();
    if ((!left || !left->empty()) && !is_idle()) {
        log_.report(
            "progress",
            left
                ? left->front().effect_id.text() + " (" + left->front().kind + ") was never settled"
                : "the outbox cannot be read: " + left.error().message);
    }
}

void Simulation::release_all() {
    world_.flag.remove_file();
    watch_flag();
    release(system_tenant());
    for (const TenantId& tenant_id : world_.people.tenants) {
        release(tenant_id);
    }
}

// Asks for a release and has every human of the tenant approve it.
void Simulation::release(const TenantId& tenant_id) {
    const auto round = [this] { is_idle(); };
    const auto is_held = [&] {
        return kill_.is_stopped_itself(tenant_id) ||
               server_->plane().latch.is_raised_itself(tenant_id);
    };
    // More than once, because a stop that was never recorded is recorded when first asked about,
    // and a request of the past may expire between two votes.
    for (int i = 0; i < kReleaseAttempts && is_held(); ++i) {
        deliver(composer_.make_kill(tenant_id, world_.people.host_operator, false));
        round();
        for (Principal human : world_.people.humans.at(tenant_id)) {
            human.authenticated_at = world_.clock.now();
            for (const ApprovalId& approval_id : approvals_.pending(tenant_id)) {
                deliver(composer_.make_vote(tenant_id, human, approval_id));
                round();
            }
        }
    }
    if (is_held()) {
        log_.report("progress", tenant_id.text() + " stays stopped although its humans approved");
    }
}

void Simulation::check_effects_flow() {
    for (const TenantId& tenant_id : world_.people.tenants) {
        const std::size_t before = world_.sink.performed_count();
        deliver(composer_.make_probe(tenant_id, true, true));
        is_idle();
        if (world_.sink.performed_count() != before + 1) {
            log_.report("progress", "no effect of " + tenant_id.text() + " gets through any more");
        }
    }
}

void Simulation::ask_again() {
    std::size_t asked = 0;
    std::vector<Command> history = composer_.history();
    history.insert(history.end(), planner_.history().rbegin(), planner_.history().rend());
    for (const Command& command : history) {
        const auto key = answer_key_of(command);
        // An old activation would stop the tenant again; everything else must change nothing.
        const bool repeats =
            command.kind == Command::Kind::probe || command.kind == Command::Kind::tool;
        if (!repeats || asked >= kAskedAgainMax || !key || !answers_.is_answered(*key) ||
            world_.clock.now() - command.sent_at > Composer::kMemory) {
            continue;
        }
        ++asked;
        const std::uint64_t refused = counts_.refusals;
        deliver(command);
        server_->engine().run_round(kRoundTurns, std::chrono::microseconds(0));
        if (counts_.refusals != refused && !answers_.was_altered(*key)) {
            log_.report("I2", "an answered request is refused: " + to_text(command));
        }
    }
    replies_.on_quiet();
}

void Simulation::check_chains() {
    const auto heads = world_.mirror.load();
    KeyLineage keys(world_.keys.first_public_key());
    const auto reports = check_ledger(
        {.store = server_->store(),
         .mirror = heads ? *heads : std::map<TenantId, LedgerHead>(),
         .keys = keys,
         .head_log = world_.head_log.lines,
         .check_artifacts = true});
    if (!reports) {
        log_.report("chain", "the chains cannot be verified: " + reports.error().message);
        return;
    }
    for (const ChainReport& report : *reports) {
        if (!report.ok()) {
            log_.report(
                "chain",
                "the chain of " + report.tenant_id.text() +
                    " does not verify: " + (report.fault ? report.fault->detail : "it was broken"));
        }
    }
}

// The last thing in a run, because the edited store is no longer what the other checkers know.
void Simulation::tamper() {
    // Half of them with records behind the last seals.
    if (config_.seed % 4 == 1) {
        check_effects_flow();
    }
    server_.reset();
    world_.sink.on_arrival = nullptr;
    world_.flag.on_raise = nullptr;
    // Half of the stores are archived before somebody tampers with them.
    if (config_.seed % 8 < 4 || config_.plant == Plant::archive_too_much) {
        check_archive(world_, log_, [this](const std::string& line) { tell(line); });
    }
    if (is_broken()) {
        return;
    }
    check_tampering(world_, log_, [this](const std::string& line) { tell(line); });
}

}  // namespace interlock::sim
