// The steps of a simulation, one function each. What a step chooses follows from its own seed.
#include <algorithm>
#include <array>

#include "engine/service/outbox_runner.h"
#include "sim/simulation.h"

namespace interlock::sim {
namespace {

constexpr std::size_t kHeldMax = 40;
constexpr std::size_t kDeadlineTurns = 64;

std::string to_text(Duration span) {
    return std::to_string(span.microseconds / 1000) + " ms";
}

}  // namespace

void Simulation::take(const Step& step) {
    SeededRandom random(step.seed);
    tell(std::string(to_word(step.kind)));
    switch (step.kind) {
        case StepKind::command:
            send(random);
            break;
        case StepKind::deliver_held:
            deliver_held(random);
            break;
        case StepKind::engine_round:
            engine_round(random);
            break;
        case StepKind::outbox_round:
            for (std::uint64_t i = 0; i <= random.below(3) && world_.power.on; ++i) {
                server_->outbox().run_round(std::chrono::milliseconds(0));
            }
            server_->run_job();
            break;
        case StepKind::advance_clock:
            advance_clock(random);
            break;
        case StepKind::planner:
            plan_on(random);
            break;
        case StepKind::trader:
            supervise(random);
            break;
        case StepKind::venue_round:
            server_->watch_venue();
            break;
        case StepKind::desk:
            visit_desk();
            break;
        case StepKind::step_clock_back:
            world_.clock.step_back(Duration::of_milliseconds(
                static_cast<std::int64_t>(random.below(random.chance(800) ? 3000 : 120'000))));
            break;
        case StepKind::flag_file:
            flag_file(random);
            break;
        case StepKind::flag_trouble:
            flag_trouble(random);
            break;
        case StepKind::watch_flag:
            watch_flag();
            break;
        case StepKind::rule_fires:
            rule_fires(random);
            break;
        case StepKind::sink_trouble:
            sink_trouble(random);
            break;
        case StepKind::venue_trouble:
            if (world_.trades) {
                tell(" " + world_.venue->trouble(random));
            }
            break;
        case StepKind::store_trouble:
            store_trouble(random);
            break;
        case StepKind::crash:
            crash_now(random);
            break;
        case StepKind::restart:
            restart();
            break;
    }
}

void Simulation::send(SeededRandom& random) {
    const Command command = composer_.compose(random);
    if (random.chance(250) && held_.size() < kHeldMax) {
        tell("  held back: " + to_text(command));
        held_.push_back(command);
    } else {
        deliver(command);
    }
    // People at the machine put things right again, some time later.
    if (world_.flag.file_is_there() && random.chance(200)) {
        tell("  somebody removes the KILL file");
        world_.flag.remove_file();
    }
    if (random.chance(150)) {
        world_.flag.set_unreadable(false);
        world_.flag.set_unwritable(false);
    }
}

void Simulation::deliver_held(SeededRandom& random) {
    if (held_.empty()) {
        return;
    }
    const std::size_t at = random.below(held_.size());
    const Command command = held_[at];
    const bool is_old = world_.clock.now() - command.sent_at > Composer::kMemory;
    if (is_old || !random.chance(300)) {
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (is_old || random.chance(80)) {
        return;  // Lost on the way.
    }
    deliver(command);
}

void Simulation::engine_round(SeededRandom& random) {
    if (server_->store_has_failed() && random.chance(300)) {
        tell("  a supervisor restarts the server");
        crash_now(random);
        return;
    }
    const std::size_t turns_max = 1 + random.below(random.chance(300) ? 30 : 6);
    server_->engine().run_round(turns_max, std::chrono::microseconds(0));
}

void Simulation::go_to_deadline(SeededRandom& random) {
    random.chance(500) ? vote_at_deadline(random) : send_at_deadline(random);
}

// Somebody decides in the last millisecond, or a moment too late; half of the time it is who asked.
void Simulation::vote_at_deadline(SeededRandom& random) {
    std::vector<std::pair<TenantId, ApprovalId>> open;
    for (const auto& [tenant_id, humans] : world_.people.humans) {
        for (const ApprovalId& id : approvals_.pending(tenant_id)) {
            open.emplace_back(tenant_id, id);
        }
    }
    if (open.empty()) {
        return;
    }
    const auto [tenant_id, id] = random.pick(open);
    const ApprovalInvariant::Request request = approvals_.request_of(tenant_id, id);
    // What was asked for a day ahead is not waited for.
    const Duration left = request.until - world_.clock.now();
    if (left.microseconds <= 0 || left > Duration::of_hours(1)) {
        return;
    }
    const std::int64_t off = static_cast<std::int64_t>(random.below(5)) * 500 - 1000;
    world_.clock.advance({std::max<std::int64_t>(0, left.microseconds + off)});
    Principal human = random.pick(world_.people.humans.at(tenant_id));
    human.authenticated_at = world_.clock.now();
    deliver(composer_.make_vote(tenant_id, human, id));
    server_->engine().run_round(kDeadlineTurns, std::chrono::microseconds(0));
}

// The outbox gets to work when an effect has just, or just not, grown too old.
void Simulation::send_at_deadline(SeededRandom& random) {
    const auto waiting = server_->store().load_outbox();
    if (!waiting) {
        return;
    }
    for (const OutboxItem& item : *waiting) {
        const Duration left = item.not_after - world_.clock.now();
        if (adds_no_exposure(item.kind) || left.microseconds <= 0 ||
            left > Duration::of_minutes(1)) {
            continue;
        }
        const std::int64_t off = static_cast<std::int64_t>(random.below(3)) - 1;
        world_.clock.advance({left.microseconds + off});
        ages_.edges().add(Edge::effect_age, off <= 0);
        for (std::size_t i = 0; i <= waiting->size() && world_.power.on; ++i) {
            server_->outbox().run_round(std::chrono::milliseconds(0));
        }
        return;
    }
}

void Simulation::advance_clock(SeededRandom& random) {
    if (random.chance(150)) {
        go_to_deadline(random);
        return;
    }
    constexpr std::array<std::pair<std::uint64_t, Duration>, 5> kSpans{{
        {600, Duration::of_milliseconds(200)},
        {850, Duration::of_seconds(3)},
        {950, Duration::of_minutes(2)},
        {990, Duration::of_minutes(30)},
        {1000, Duration::of_days(1)},
    }};
    const std::uint64_t way = random.below(1000);
    for (const auto& [below, span_max] : kSpans) {
        if (way < below) {
            const Duration span{static_cast<std::int64_t>(
                random.below(static_cast<std::uint64_t>(span_max.microseconds)))};
            tell("  by " + to_text(span));
            world_.clock.advance(span);
            if (world_.trades && random.chance(850)) {
                (void)world_.venue->paper().advance(world_.clock.now());
            }
            return;
        }
    }
}

void Simulation::flag_file(SeededRandom& random) {
    if (world_.flag.file_is_there()) {
        tell("  removed");
        world_.flag.remove_file();
    } else if (random.chance(600)) {
        tell("  put there");
        world_.flag.put_file("file " + std::to_string(random.below(100)));
    }
}

void Simulation::flag_trouble(SeededRandom& random) {
    const bool unreadable = random.chance(500);
    tell(unreadable ? "  unreadable" : "  unwritable");
    world_.flag.set_unreadable(unreadable);
    world_.flag.set_unwritable(!unreadable);
}

void Simulation::watch_flag() {
    const bool raised = world_.flag.is_raised();
    if (raised && !flag_was_raised_) {
        tell("  seen");
        kill_.on_accepted(
            {.tenant_id = system_tenant(),
             .reason = world_.flag.reason(),
             .head_seq = world_.reference.head_of(system_tenant()),
             .delivery_number = 0,
             .may_go_unrecorded = true});
        server_->plane().kill.on_flag_raised();
    }
    flag_was_raised_ = raised;
}

void Simulation::rule_fires(SeededRandom& random) {
    const TenantId tenant_id = random.pick(world_.people.tenants);
    const std::string reason = "rule " + std::to_string(++rules_) + " of " + tenant_id.text();
    tell("  " + reason);
    kill_.on_accepted(
        {.tenant_id = tenant_id,
         .reason = reason,
         .head_seq = world_.reference.head_of(tenant_id),
         .delivery_number = 0,
         .may_go_unrecorded = false});
    server_->plane().kill.activate_by_rule(tenant_id, "drift_rule", reason);
}

void Simulation::sink_trouble(SeededRandom& random) {
    constexpr std::array<SinkMood, 3> kMoods{
        SinkMood::refuses, SinkMood::loses_answer, SinkMood::loses_request};
    if (random.chance(250)) {
        world_.sink.go_silent(1 + random.below(6));
        return;
    }
    world_.sink.set_mood(kMoods[random.below(kMoods.size())], 1 + random.below(3));
}

void Simulation::store_trouble(SeededRandom& random) {
    store_is_calm_ = false;
    if (random.chance(100)) {
        world_.mirror.fail_next_load();
    }
    if (server_->faulty() != nullptr) {
        constexpr std::array<StoreFault, 6> kFaults{
            StoreFault::crash_before_commit,
            StoreFault::crash_after_commit,
            StoreFault::fail_before_commit,
            StoreFault::fail_after_commit,
            StoreFault::conflict_on_commit,
            StoreFault::fail_read};
        server_->faulty()->arm(kFaults[random.below(kFaults.size())], random.below(5));
        return;
    }
    constexpr std::array<DiskFault, 4> kFaults{
        DiskFault::power_loss, DiskFault::power_loss, DiskFault::io_error, DiskFault::disk_full};
    world_.disk.arm(
        {.fault = kFaults[random.below(kFaults.size())],
         .calls_until = random.below(60),
         .calls_hit = 1 + random.below(3),
         .counts_reads = random.chance(200),
         .seed = random.next()});
}

void Simulation::crash_now(SeededRandom& random) {
    const Crash kind = random.chance(400) ? Crash::process : Crash::machine;
    tell(kind == Crash::process ? "  the process is killed" : "  the machine goes down");
    crash(random.next(), kind);
}

void Simulation::restart() {
    server_->finish();
    if (!world_.power.on) {
        return;
    }
    server_.reset();
    if (!world_.power.on) {
        return;
    }
    kill_.on_crash();
    replies_.on_crash();
    start_server();
}

}  // namespace interlock::sim
