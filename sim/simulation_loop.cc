// The trading part of a simulation: what the hostile planner does, what is checked at the venue,
// and the quiet end at which our books and the venue's must be the same.
#include "sim/simulation.h"

namespace interlock::sim {
namespace {

constexpr std::size_t kRoundTurns = 64;
constexpr int kSettleRounds = 120;
constexpr Duration kSettlePace = Duration::of_seconds(2);
constexpr int kIdleRoundsMax = 60;
constexpr std::size_t kHeldMax = 40;

}  // namespace

// A few calls in a row: between them the server mostly gets to work, or a ticket would never be
// used before it expires.
void Simulation::plan_on(SeededRandom& random) {
    if (!world_.trades) {
        return;
    }
    for (std::uint64_t i = 0; i <= random.below(7) && world_.power.on && !is_broken(); ++i) {
        const Command command = planner_.compose(random);
        if (random.chance(60) && held_.size() < kHeldMax) {
            tell("  held back: " + to_text(command));
            held_.push_back(command);
            continue;
        }
        deliver(command);
        if (random.chance(850)) {
            server_->engine().run_round(1 + random.below(12), std::chrono::microseconds(0));
        }
        for (int j = 0; random.chance(600) && j < 6 && world_.power.on; ++j) {
            server_->outbox().run_round(std::chrono::milliseconds(0));
        }
        if (random.chance(400) && world_.power.on) {
            world_.clock.advance(
                Duration::of_milliseconds(static_cast<std::int64_t>(random.below(300))));
            server_->watch_venue();
        }
    }
}

void Simulation::visit_desk() {
    if (!world_.trades) {
        return;
    }
    server_->visit_desk(system_tenant());
    for (const TenantId& tenant_id : world_.people.tenants) {
        server_->visit_desk(tenant_id);
    }
}

void Simulation::on_submit(const VenueOrderRequest& request) {
    const TenantId& tenant_id = request.account.tenant_id;
    tell(
        "    venue: order " + request.order_client_id.text() + " of " + tenant_id.text() + ", " +
        std::string(to_word(request.side)) + " " + to_text(request.qty) + " " +
        std::string(request.symbol.text()));
    loop_->on_submit(request, durable_->evidence_of(tenant_id, request.order_client_id));
    if (trader_) {
        trader_->on_submit(request);
    }
    if (bots_) {
        bots_->on_submit(request);
    }
    ages_.on_submit(tenant_id, request.order_client_id, clocks());
    check_may_leave(tenant_id, request.order_client_id.text());
}

void Simulation::work_through(int rounds, Duration pace) {
    for (int i = 0; i < rounds && !is_broken(); ++i) {
        server_->engine().run_round(kRoundTurns, std::chrono::microseconds(0));
        for (int j = 0; j < 8; ++j) {
            server_->outbox().run_round(std::chrono::milliseconds(0));
        }
        world_.clock.advance(pace);
        server_->watch_venue();
        watch_flag();
    }
}

// Works without letting time pass until nothing is left in the outbox; false when that never comes.
bool Simulation::is_idle() {
    for (int i = 0; i < kIdleRoundsMax && !is_broken(); ++i) {
        server_->engine().run_round(kRoundTurns, std::chrono::microseconds(0));
        for (int j = 0; j < 8; ++j) {
            server_->outbox().run_round(std::chrono::milliseconds(0));
        }
        server_->run_jobs();
        server_->engine().run_round(kRoundTurns, std::chrono::microseconds(0));
        const auto left = server_->store().load_outbox();
        if (left && left->empty() && server_->engine().waiting() == 0) {
            return true;
        }
    }
    return false;
}

// Faults are over: recovery must come to its end by itself or with the humans' word, and then the
// books are what the venue says.
void Simulation::settle_loop() {
    wake_bots();
    stop_strategies();
    work_through(kSettleRounds, kSettlePace);
    visit_desk();
    work_through(kSettleRounds / 2, kSettlePace);
    if (!is_idle() && !is_broken()) {
        log_.report("progress", "the outbox never becomes empty");
    }
    if (!is_broken()) {
        loop_->check_books();
    }
    for (const VenueAccount& account : loop_->accounts()) {
        if (!is_broken() && loop_->is_recovering(account)) {
            log_.report(
                "progress", account.tenant_id.text() + " stays in recovery although all is well");
        }
    }
}

}  // namespace interlock::sim
