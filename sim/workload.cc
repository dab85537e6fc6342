#include "sim/workload.h"

#include <algorithm>
#include <array>

#include "base/crypto.h"
#include "host/rules/approval_step.h"

namespace interlock::sim {
namespace {

struct Weighted {
    StepKind kind;
    std::uint64_t weight;
};
// What follows a command, in parts of a thousand each: several of them may.
constexpr std::array<Weighted, 18> kBetween{{
    {StepKind::deliver_held, 180},
    {StepKind::engine_round, 450},
    {StepKind::outbox_round, 600},
    {StepKind::advance_clock, 300},
    {StepKind::planner, 330},
    {StepKind::trader, 120},
    {StepKind::venue_round, 300},
    {StepKind::desk, 80},
    {StepKind::step_clock_back, 12},
    {StepKind::flag_file, 10},
    {StepKind::flag_trouble, 8},
    {StepKind::watch_flag, 60},
    {StepKind::rule_fires, 3},
    {StepKind::sink_trouble, 50},
    {StepKind::venue_trouble, 60},
    {StepKind::store_trouble, 22},
    {StepKind::crash, 10},
    {StepKind::restart, 5},
}};

std::string hash_of(const Command& command) {
    std::string text(to_word(command.kind));
    if (command.kind == Command::Kind::probe) {
        const ProbeRequest& probe = command.probe;
        text += "|" + probe.decision_id.text() + "|" + probe.tick_id.text() + "|" +
                probe.idempotency_key.text() + "|" + probe.note + "|" + (probe.effect ? "e" : "") +
                (probe.wait ? "w" : "");
    } else {
        text += "|" + command.kill.reason + "|" + (command.kill.active ? "on" : "off");
    }
    return sha256_hex(text);
}

}  // namespace

std::string_view to_word(StepKind kind) {
    constexpr std::array<std::string_view, 19> kWords{
        "command",
        "deliver_held",
        "engine_round",
        "outbox_round",
        "advance_clock",
        "planner",
        "trader",
        "venue_round",
        "desk",
        "clock_back",
        "flag_file",
        "flag_trouble",
        "watch_flag",
        "rule_fires",
        "sink_trouble",
        "venue_trouble",
        "store_trouble",
        "crash",
        "restart"};
    return kWords[static_cast<std::size_t>(kind)];
}

bool is_trading_day(std::uint64_t seed) {
    return mix_seeds(seed, 6) % 3 != 0;
}

namespace {

// On a trading day what stops everybody happens seldom, and there is more to do.
std::uint64_t weight_on_trading_day(const Weighted& step) {
    switch (step.kind) {
        case StepKind::planner:
        case StepKind::trader:
        case StepKind::venue_round:
        case StepKind::desk:
            return step.weight * 2;
        case StepKind::flag_file:
        case StepKind::flag_trouble:
        case StepKind::store_trouble:
        case StepKind::crash:
            return step.weight / 4;
        case StepKind::rule_fires:
            return step.weight / 3;
        default:
            return step.weight;
    }
}

}  // namespace

std::vector<Step> make_steps(std::uint64_t seed, std::uint64_t turns) {
    SeededRandom random(mix_seeds(seed, 10));
    std::vector<Step> steps;
    // Some runs are quiet, some are stormy; faults of all kinds grow together.
    const std::uint64_t storm = random.below(3);
    const bool trading = is_trading_day(seed);
    for (std::uint64_t i = 0; i < turns; ++i) {
        steps.push_back({StepKind::command, random.next()});
        for (const Weighted& next : kBetween) {
            const bool is_fault = next.kind >= StepKind::step_clock_back;
            const std::uint64_t usual = trading ? weight_on_trading_day(next) : next.weight;
            const std::uint64_t weight = is_fault ? usual * (storm + 1) / 2 : usual;
            if (random.chance(weight)) {
                steps.push_back({next.kind, random.next()});
            }
        }
    }
    return steps;
}

TenantId Composer::some_tenant(SeededRandom& random, bool or_system) {
    if (or_system && random.chance(150)) {
        return system_tenant();
    }
    return random.pick(sight_.people.tenants);
}

Principal Composer::some_human(SeededRandom& random, const TenantId& tenant_id) {
    Principal human = random.pick(sight_.people.humans.at(tenant_id));
    // A login lasts five minutes for this: some are at its end to the microsecond.
    const std::int64_t off = static_cast<std::int64_t>(random.below(3)) - 1;
    human.authenticated_at =
        random.chance(300)
            ? sight_.now() - Duration{kFreshAuthentication.microseconds + off}
            : sight_.now() - Duration::of_minutes(static_cast<std::int64_t>(random.below(8)));
    return human;
}

void Composer::remember(const Command& command) {
    if (history_.size() >= kHistoryMax) {
        history_.erase(history_.begin());
    }
    history_.push_back(command);
}

Command Composer::make_probe(const TenantId& tenant_id, bool effect, bool wait) {
    Command command;
    command.kind = Command::Kind::probe;
    command.tenant_id = tenant_id;
    command.principal = sight_.people.agents.at(tenant_id).front();
    command.sent_at = sight_.now();
    const std::string number = std::to_string(++keys_[tenant_id]);
    command.probe = {
        .decision_id = DecisionId::trusted("d" + number),
        .tick_id = TickId::trusted("tick" + number),
        .idempotency_key = IdempotencyKey::trusted("k" + number),
        .note = "note " + number + " of " + tenant_id.text(),
        .effect = effect,
        .wait = wait,
    };
    command.request_hash = hash_of(command);
    remember(command);
    return command;
}

Command Composer::make_kill(const TenantId& tenant_id, const Principal& by, bool active) {
    Command command;
    command.kind = active ? Command::Kind::kill_on : Command::Kind::kill_off;
    command.tenant_id = tenant_id;
    command.principal = by;
    command.sent_at = sight_.now();
    command.kill.active = active;
    command.kill.reason = (active ? "stop " : "go on ") + std::to_string(++reasons_) + " of " +
                          (tenant_id == system_tenant() ? "the host" : tenant_id.text());
    command.request_hash = hash_of(command);
    return command;
}

Command Composer::make_vote(
    const TenantId& tenant_id, const Principal& by, ApprovalId approval_id) {
    Command command;
    command.kind = Command::Kind::approve;
    command.tenant_id = tenant_id;
    command.principal = by;
    command.approval_id = std::move(approval_id);
    command.sent_at = sight_.now();
    return command;
}

Command Composer::new_probe(SeededRandom& random) {
    const bool effect = random.chance(700);
    Command command = make_probe(some_tenant(random, false), effect, effect && random.chance(350));
    if (random.chance(200)) {
        // The same bytes as another tenant's: only the tenant tells them apart.
        command.probe.note = "plain";
        command.request_hash = hash_of(command);
        history_.back() = command;
    }
    command.principal = random.pick(sight_.people.agents.at(command.tenant_id));
    return command;
}

Command Composer::repeat(SeededRandom& random, bool altered) {
    std::vector<const Command*> known;
    for (const Command& command : history_) {
        if (sight_.now() - command.sent_at < kMemory) {
            known.push_back(&command);
        }
    }
    if (known.empty()) {
        return new_probe(random);
    }
    Command command = *random.pick(known);
    if (altered) {
        std::string& words =
            command.kind == Command::Kind::probe ? command.probe.note : command.kill.reason;
        words += " (altered)";
        command.request_hash = hash_of(command);
    }
    return command;
}

Command Composer::kill(SeededRandom& random, bool active) {
    TenantId tenant_id = some_tenant(random, true);
    if (!active) {
        // Whoever asks for a release mostly looks first.
        for (int i = 0; i < 6 && !sight_.is_stopped(tenant_id); ++i) {
            tenant_id = some_tenant(random, true);
        }
    }
    Principal by = sight_.people.host_operator;
    if (tenant_id != system_tenant() && random.chance(600)) {
        by = random.pick(sight_.people.agents.at(tenant_id));
    } else if (random.chance(700)) {
        by = some_human(random, tenant_id);
    }
    Command command = make_kill(tenant_id, by, active);
    const bool py = by.kind == PrincipalKind::agent && random.chance(600);
    if (py) {
        command.form = KillSwitchService::Form::py_tool;
        command.kill.decision_id = DecisionId::trusted("d" + std::to_string(reasons_));
        command.kill.tick_id = TickId::trusted("tick" + std::to_string(reasons_));
        command.kill.claimed_actor = "somebody";
    }
    if (py || random.chance(400)) {
        command.kill.idempotency_key = IdempotencyKey::trusted("s" + std::to_string(reasons_));
        remember(command);
    }
    return command;
}

Command Composer::vote(SeededRandom& random) {
    TenantId tenant_id = some_tenant(random, true);
    // Humans mostly look where something waits for them.
    for (int i = 0; i < 6 && sight_.approvals(tenant_id, true).empty(); ++i) {
        tenant_id = some_tenant(random, true);
    }
    std::vector<ApprovalId> known = sight_.approvals(tenant_id, random.chance(850));
    if (known.empty()) {
        known = {ApprovalId::trusted("apr_nobodyknowsthis")};
    }
    Command command = make_vote(tenant_id, some_human(random, tenant_id), random.pick(known));
    // People like to wave through what they asked for themselves.
    for (const Principal& human : sight_.people.humans.at(tenant_id)) {
        if (sight_.requester(tenant_id, command.approval_id) == to_text(human) &&
            random.chance(500)) {
            command.principal.id = human.id;
        }
    }
    command.decision.comment = random.chance(500) ? "seen by " + tenant_id.text() : "";
    if (random.chance(60)) {
        command.decision.subject_hash = sha256_hex("something else");
    }
    if (random.chance(120)) {
        command.kind = Command::Kind::reject;
    }
    return command;
}

// Somebody who may not: an agent, the operator, or a human of another tenant.
Command Composer::misplaced_vote(SeededRandom& random) {
    Command command = vote(random);
    const TenantId elsewhere = some_tenant(random, true);
    switch (random.below(4)) {
        case 0:
        case 1:
            command.principal = command.tenant_id == system_tenant()
                                    ? sight_.people.host_operator
                                    : random.pick(sight_.people.agents.at(command.tenant_id));
            break;
        case 2:
            command.principal = some_human(random, elsewhere);
            break;
        default:
            // A human of the tenant who names another tenant's approval.
            command.tenant_id = elsewhere;
            command.principal = some_human(random, elsewhere);
    }
    return command;
}

Command Composer::question(SeededRandom& random) {
    Command command;
    command.tenant_id = some_tenant(random, true);
    command.sent_at = sight_.now();
    command.principal = command.tenant_id == system_tenant()
                            ? sight_.people.host_operator
                            : random.pick(sight_.people.agents.at(command.tenant_id));
    const std::vector<ApprovalId> known = sight_.approvals(command.tenant_id, false);
    switch (random.below(known.empty() ? 2 : 3)) {
        case 0:
            command.kind = Command::Kind::kill_status;
            break;
        case 1:
            command.kind = Command::Kind::list_approvals;
            break;
        default:
            command.kind = Command::Kind::get_approval;
            command.approval_id = random.pick(known);
    }
    return command;
}

Command Composer::compose(SeededRandom& random) {
    const bool any_stopped =
        std::any_of(sight_.people.tenants.begin(), sight_.people.tenants.end(), sight_.is_stopped);
    // With something stopped, people are busy getting it going again.
    if (any_stopped && random.chance(550)) {
        if (random.chance(350)) {
            return kill(random, false);
        }
        // Those who may not try as well, just when there is something to decide.
        return random.chance(180) ? misplaced_vote(random) : vote(random);
    }
    const std::uint64_t what = random.below(100);
    if (what < 50) {
        return new_probe(random);
    }
    if (what < 66) {
        return repeat(random, false);
    }
    if (what < 72) {
        return repeat(random, true);
    }
    if (what < 75 && !(sight_.stops_are_rare && random.chance(850))) {
        return kill(random, true);
    }
    if (what < 77) {
        return kill(random, false);
    }
    if (what < 82) {
        return vote(random);
    }
    return what < 91 ? misplaced_vote(random) : question(random);
}

}  // namespace interlock::sim
