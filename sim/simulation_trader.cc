// The trader's part of a simulation: supervisors and people act, strategies tick and trade, and now
// and then the server dies in the middle of a switch.
#include "sim/simulation.h"

namespace interlock::sim {
namespace {

constexpr std::size_t kHeldMax = 40;
constexpr std::size_t kRoundTurns = 64;

}  // namespace

// Some work of every kind between two calls, or nothing would be under way at the next one.
void Simulation::work_a_little(SeededRandom& random) {
    if (random.chance(900)) {
        server_->engine().run_round(1 + random.below(16), std::chrono::microseconds(0));
    }
    for (int i = 0; random.chance(650) && i < 6 && world_.power.on; ++i) {
        server_->outbox().run_round(std::chrono::milliseconds(0));
    }
    if (random.chance(550) && world_.power.on) {
        world_.clock.advance(
            Duration::of_milliseconds(static_cast<std::int64_t>(random.below(2500))));
        server_->watch_venue();
    }
}

void Simulation::supervise(SeededRandom& random) {
    if (world_.has_bots && (!world_.supervised || random.chance(500))) {
        tend_bots(random);
    }
    if (!world_.supervised || !world_.power.on || is_broken()) {
        return;
    }
    const bool races = random.chance(200);
    const std::vector<Command> race =
        races ? supervisors_.compose_race(random) : std::vector<Command>();
    for (const Command& command : race) {
        deliver(command);  // Nothing happens between the two.
    }
    const std::uint64_t calls = races ? 0 : 1 + random.below(4);
    for (std::uint64_t i = 0; i < calls && world_.power.on && !is_broken(); ++i) {
        const Command command = supervisors_.compose(random);
        if (random.chance(60) && held_.size() < kHeldMax) {
            tell("  held back: " + to_text(command));
            held_.push_back(command);
            continue;
        }
        // Strategies mostly get to act first: a switch from one that has nothing open is no test.
        if (random.chance(600)) {
            work_a_little(random);
        }
        if (!world_.power.on) {
            return;
        }
        deliver(command);
        work_a_little(random);
        strike_switch(random);
    }
    if (races && world_.power.on) {
        work_a_little(random);
        strike_switch(random);
    }
}

// Crashes and faults of the store where they hurt most: between the journal of a switch and its
// hand-over, and while the restart after that rolls it back.
void Simulation::strike_switch(SeededRandom& random) {
    if (!world_.power.on || is_broken() || !trader_->is_switching()) {
        return;
    }
    if (random.chance(60)) {
        tell("  in the middle of a switch");
        crash_now(random);
        if (!is_broken() && random.chance(400)) {
            store_trouble(random);
        }
    } else if (random.chance(60)) {
        store_trouble(random);
    }
}

// In two of three runs strategies stop before the books are compared; in the others they trade on.
void Simulation::stop_strategies() {
    if (!world_.supervised || config_.seed % 3 == 0) {
        return;
    }
    SeededRandom random(mix_seeds(config_.seed, 32));
    for (const Command& command : supervisors_.stop_all(random)) {
        deliver(command);
        server_->engine().run_round(kRoundTurns, std::chrono::microseconds(0));
    }
}

void Simulation::settle_trader() {
    trader_->check_rest(server_->plane().running, server_->store());
}

}  // namespace interlock::sim
