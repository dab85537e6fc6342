// One run: a world, one server after the other, a list of steps, and the checkers that watch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/blocked_invariant.h"
#include "sim/bot_invariant.h"
#include "sim/bot_people.h"
#include "sim/durable_view.h"
#include "sim/fold_invariant.h"
#include "sim/invariants.h"
#include "sim/loop_invariant.h"
#include "sim/planner.h"
#include "sim/server.h"
#include "sim/supervisors.h"
#include "sim/trader_invariant.h"
#include "sim/workload.h"

namespace interlock::sim {

struct RunConfig {
    std::uint64_t seed = 0;
    Plant plant = Plant::none;
    std::function<void(std::string)> trace;  // Empty: nobody listens.
};

struct RunResult {
    std::optional<Violation> violation;
    std::size_t steps_done = 0;  // Up to and with the one that broke the promise.
    // What the run came to see; a run that saw nothing proves nothing.
    struct Counts {
        std::uint64_t deliveries = 0;
        std::uint64_t commits = 0;
        std::uint64_t records = 0;
        std::uint64_t effects = 0;  // Without cancels.
        std::uint64_t cancels = 0;
        std::uint64_t crashes = 0;
        std::uint64_t releases = 0;
        std::uint64_t refusals = 0;
        std::uint64_t folded = 0;  // Counted instead of recorded.
        LoopInvariant::Counts loop;
        TraderInvariant::Counts trader;
        BotInvariant::Counts bots;
        BlockedInvariant::Counts blocked;
        EdgeCounts edges;
    } counts;
};

// Runs the steps, then lets everything come to rest and checks that it does.
RunResult run_simulation(const RunConfig& config, std::span<const Step> steps);

class Simulation {
public:
    explicit Simulation(const RunConfig& config);

    RunResult run(std::span<const Step> steps);

private:
    // Steps, in simulation_steps.cc.
    void take(const Step& step);
    void send(SeededRandom& random);
    void deliver_held(SeededRandom& random);
    void advance_clock(SeededRandom& random);
    // To the moment at which something that waits grows too old, or just beside it.
    void go_to_deadline(SeededRandom& random);
    void vote_at_deadline(SeededRandom& random);
    void send_at_deadline(SeededRandom& random);
    AgeInvariant::Clocks clocks() {
        return {world_.clock.now(), world_.clock.monotonic(), world_.lives};
    }
    void flag_file(SeededRandom& random);
    void flag_trouble(SeededRandom& random);
    void watch_flag();
    void rule_fires(SeededRandom& random);
    void sink_trouble(SeededRandom& random);
    void store_trouble(SeededRandom& random);
    void engine_round(SeededRandom& random);
    void crash_now(SeededRandom& random);
    // Trading, in simulation_loop.cc.
    void plan_on(SeededRandom& random);
    void visit_desk();
    // Strategies, in simulation_trader.cc.
    void supervise(SeededRandom& random);
    void work_a_little(SeededRandom& random);
    void strike_switch(SeededRandom& random);
    void stop_strategies();
    void settle_trader();
    // Maker bots, in simulation_bot.cc.
    void tend_bots(SeededRandom& random);
    void work_as_bots(SeededRandom& random);
    void spoil_key(SeededRandom& random, const TenantId& tenant_id);
    // What displays say of a tenant at this moment; `in_turns`: those that take a turn as well.
    void look_at_displays(const TenantId& tenant_id, bool in_turns);
    void wake_bots();
    void on_submit(const VenueOrderRequest& request);
    void check_may_leave(const TenantId& tenant_id, const std::string& what);
    void settle_loop();
    void work_through(int rounds, Duration pace);
    bool is_idle();

    // The server and its callers.
    void deliver(const Command& command);
    void call_service(const Command& command, const std::function<void(Result<Answer>)>& reply);
    void on_reply(const Delivered& delivered, const Result<Answer>& result);
    void check_audit_ref(const Command& command, const Answer& answer);
    void on_committed(std::span<const TurnCommit> turns);
    void on_arrival(const OutboxItem& effect);
    void start_server();
    bool try_start();
    // A process that is killed leaves what it wrote to the kernel; a machine loses what was not
    // synced.
    enum class Crash { process, machine };
    void crash(std::uint64_t seed, Crash kind);
    void restart();
    void recover_if_dark(std::uint64_t seed);

    // The end of a run, in simulation_end.cc.
    void end();
    void heal();
    void come_to_rest();
    void release_all();
    void release(const TenantId& tenant_id);
    void check_effects_flow();
    void ask_again();
    void check_chains();
    void tamper();

    void tell(const std::string& line);
    bool is_broken() const { return log_.first().has_value(); }

    const RunConfig config_;
    ViolationLog log_;
    World world_;
    TenantInvariant tenants_;
    ChainInvariant chains_;
    FoldInvariant folds_;
    AnswerInvariant answers_;
    ApprovalInvariant approvals_;
    KillInvariant kill_;
    EffectInvariant effects_;
    AgeInvariant ages_;
    ReplyInvariant replies_;
    Composer composer_;
    HostilePlanner planner_;
    Supervisors supervisors_;
    BotPeople bot_people_;
    std::unique_ptr<LoopInvariant> loop_;        // Null where nobody trades.
    std::unique_ptr<TraderInvariant> trader_;    // Null where there are no strategies.
    std::unique_ptr<BotInvariant> bots_;         // Null where there are no bots.
    std::unique_ptr<BlockedInvariant> blocked_;  // Null where nobody trades.
    std::unique_ptr<DurableView> durable_;
    std::vector<Command> held_;  // By the network.
    std::unique_ptr<Server> server_;
    bool flag_was_raised_ = false;  // When the watcher last looked.
    bool store_is_calm_ = true;     // No fault of the store in this life of the server.
    std::uint64_t deliveries_ = 0;
    std::uint64_t rules_ = 0;
    RunResult::Counts counts_;
};

}  // namespace interlock::sim
