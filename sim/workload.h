// What happens in a simulation: a list of steps made from a seed, and the commands callers send.
//
// A step carries a number of its own from which every choice inside it follows. So a list from
// which steps were taken out still means something, which is what shrinking a failure needs.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "sim/command.h"
#include "sim/seeded.h"

namespace interlock::sim {

enum class StepKind {
    command,       // A caller sends something; now, or held back by the network.
    deliver_held,  // Something held back arrives, perhaps not for the last time.
    engine_round,
    outbox_round,
    advance_clock,
    planner,      // The hostile planner makes some calls.
    trader,       // Supervisors and people move strategies.
    venue_round,  // The server looks at its venue.
    desk,         // Humans put right what only they may.
    step_clock_back,
    flag_file,     // Somebody puts or removes the KILL file.
    flag_trouble,  // The KILL file can no longer be read or written, or can again.
    watch_flag,    // The server's watcher looks at the KILL file.
    rule_fires,    // An internal rule stops a tenant.
    sink_trouble,
    venue_trouble,
    store_trouble,
    crash,
    restart,
};
std::string_view to_word(StepKind kind);

struct Step {
    StepKind kind = StepKind::command;
    std::uint64_t seed = 0;
};

// Two of three runs are trading days: stops are rare, so that planners get somewhere.
bool is_trading_day(std::uint64_t seed);

// Steps with exactly `turns` commands among them.
std::vector<Step> make_steps(std::uint64_t seed, std::uint64_t turns);

// Makes up commands. It sees what callers could see: what they sent, which approvals there are and
// who is stopped.
class Composer {
public:
    struct Sight {
        const People& people;
        std::function<Timestamp()> now;
        std::function<bool(const TenantId&)> is_stopped;
        std::function<std::vector<ApprovalId>(const TenantId&, bool only_pending)> approvals;
        std::function<std::string(const TenantId&, const ApprovalId&)> requester;
        bool stops_are_rare = false;
    };
    explicit Composer(Sight sight) : sight_(std::move(sight)) {}

    // Callers forget what they sent after this long; the server may forget after seven days.
    static constexpr Duration kMemory = Duration::of_days(3);
    static constexpr std::size_t kHistoryMax = 200;

    Command compose(SeededRandom& random);
    // Used by the end of a run as well.
    Command make_probe(const TenantId& tenant_id, bool effect, bool wait);
    Command make_kill(const TenantId& tenant_id, const Principal& by, bool active);
    Command make_vote(const TenantId& tenant_id, const Principal& by, ApprovalId approval_id);
    const std::vector<Command>& history() const { return history_; }

private:
    Command new_probe(SeededRandom& random);
    Command repeat(SeededRandom& random, bool altered);
    Command kill(SeededRandom& random, bool active);
    Command vote(SeededRandom& random);
    Command misplaced_vote(SeededRandom& random);
    Command question(SeededRandom& random);
    Principal some_human(SeededRandom& random, const TenantId& tenant_id);
    TenantId some_tenant(SeededRandom& random, bool or_system);
    void remember(const Command& command);

    Sight sight_;
    std::vector<Command> history_;
    std::map<TenantId, std::uint64_t> keys_;  // Tenants use the same key texts, on purpose.
    std::uint64_t reasons_ = 0;
};

}  // namespace interlock::sim
