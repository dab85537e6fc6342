// The bots' part of a simulation: people and agents look after them, pulses come and go, and the
// server dies between what a hydration reads and what it commits.
#include "bots/service/bot_service.h"
#include "sim/simulation.h"

namespace interlock::sim {
namespace {

constexpr int kWakeRounds = 30;
constexpr Duration kWakePace = Duration::of_seconds(4);

std::string code_in(const Json& json) {
    const Json* const blocked = json.find("blocked");
    return blocked == nullptr || blocked->is_null() ? "" : blocked->find("code")->as_string();
}

bool is_true(const Json& json, std::string_view key) {
    const Json* const value = json.find(key);
    return value != nullptr && value->is_bool() && value->as_bool();
}

bool is_silent(const Json& bot) {
    return bot.find("bot_state")->as_string() == "running" &&
           (is_true(bot, "stalled") || !is_true(bot, "connected"));
}

// Of a list of strategies: one that the bot keeps and that would trade.
bool is_makers(const Json& strategy) {
    return strategy.find("strategy_id")->as_string().starts_with(kKeptStrategyPrefix) &&
           strategy.find("mode")->as_string() == "active";
}

}  // namespace

void Simulation::look_at_displays(const TenantId& tenant_id, bool in_turns) {
    const VenueAccount account = bot_account_of(tenant_id);
    const bool is_latched = server_->plane().latch.is_raised(tenant_id);
    const Json bot = server_->bot_status(tenant_id);
    const bool runs = bot.find("bot_state")->as_string() == "running";
    blocked_->on_display(
        {.account = account,
         .where = "/status",
         .code = code_in(bot),
         .is_latched = is_latched,
         .is_stalled = is_silent(bot),
         .is_strategy = true});
    if (is_true(bot, "trading") != (runs && code_in(bot).empty())) {
        log_.report("blocked", "/status of " + tenant_id.text() + " contradicts itself");
    }
    if (!in_turns) {
        return;
    }
    const auto look = [&](const std::string& where) {
        return [this, tenant_id, account, where, is_latched](const Result<Answer>& answer) {
            const bool is_stalled = is_silent(server_->bot_status(tenant_id));
            const auto json = answer ? parse_json(answer->body) : Result<Json>(Json());
            const Json* const list = json ? json->find("strategies") : nullptr;
            const std::vector<Json> told =
                list == nullptr ? std::vector<Json>{json.value_or(Json())} : list->items();
            for (const Json& one : told) {
                blocked_->on_display(
                    {.account = account,
                     .where = where,
                     .code = code_in(one),
                     .is_latched = is_latched,
                     .is_stalled = is_stalled && list != nullptr && is_makers(one),
                     .is_strategy = list != nullptr});
            }
        };
    };
    const Principal reader = internal_principal("display");
    server_->plane().strategies->list({reader, tenant_id, {}}, look("the list of strategies"));
    server_->plane().kill.status(
        {reader, tenant_id, KillSwitchService::Form::plain, {}}, look("/kill"));
    work_through(1, Duration());
}

// Some time, long enough for a pulse now and then, and some work of every kind.
void Simulation::work_as_bots(SeededRandom& random) {
    for (std::uint64_t i = 0; i <= random.below(4) && world_.power.on; ++i) {
        if (random.chance(800)) {
            world_.clock.advance(
                Duration::of_milliseconds(static_cast<std::int64_t>(random.below(7000))));
            server_->watch_venue();
        }
        server_->engine().run_round(1 + random.below(10), std::chrono::microseconds(0));
        server_->run_job();
        for (int j = 0; random.chance(700) && j < 6 && world_.power.on; ++j) {
            server_->outbox().run_round(std::chrono::milliseconds(0));
        }
    }
    for (const TenantId& tenant_id : world_.people.tenants) {
        if (world_.power.on) {
            look_at_displays(tenant_id, false);
        }
    }
}

// What a key may do changes at the exchange; the daily check finds out.
void Simulation::spoil_key(SeededRandom& random, const TenantId& tenant_id) {
    const std::string key = bot_people_.key_of(tenant_id);
    if (key.empty()) {
        return;
    }
    tell("  the key of " + tenant_id.text() + " becomes one that can withdraw");
    KeyPermissions bad = good_spot_permissions();
    bad.can_withdraw = true;
    (void)world_.exchange_keys.set(SecretString(key), bad);
    if (random.chance(500)) {
        world_.clock.advance(Duration::of_hours(25));
    }
}

void Simulation::tend_bots(SeededRandom& random) {
    const TenantId tenant_id = random.pick(world_.people.tenants);
    const std::uint64_t calls = 1 + random.below(3);
    for (std::uint64_t i = 0; i < calls && world_.power.on && !is_broken(); ++i) {
        const std::vector<ApprovalId> waiting = approvals_.pending(tenant_id);
        if (!waiting.empty() && random.chance(450)) {
            Principal human = random.pick(world_.people.humans.at(tenant_id));
            human.authenticated_at = world_.clock.now();
            deliver(composer_.make_vote(tenant_id, human, random.pick(waiting)));
        } else {
            deliver(bot_people_.compose(random, tenant_id));
        }
        // A few turns at a time: what one call leads to lies beside what the next one does.
        if (random.chance(600)) {
            server_->engine().run_round(1 + random.below(4), std::chrono::microseconds(0));
        }
        if (random.chance(40) && world_.power.on) {
            tell("  in the middle of a call to a bot");
            crash_now(random);
        }
        if (random.chance(700) && world_.power.on) {
            work_as_bots(random);
        }
    }
    if (random.chance(15) && world_.power.on) {
        spoil_key(random, tenant_id);
    }
    if (world_.power.on) {
        work_as_bots(random);
    }
}

// Every fault is over: bots that run trade again by themselves. Then their people stop them, so
// that the books can be compared while nothing moves.
void Simulation::wake_bots() {
    if (!bots_) {
        return;
    }
    work_through(kWakeRounds, kWakePace);
    for (const TenantId& tenant_id : world_.people.tenants) {
        if (!is_broken()) {
            bots_->check_awake(tenant_id);
            look_at_displays(tenant_id, true);
            const BotPeople::View bot = bots_->look(tenant_id);
            if (bot.state == BotState::running && bot.is_connected) {
                blocked_->check_noted(bot_account_of(tenant_id));
            }
            deliver(bot_people_.stop(tenant_id));
        }
    }
    work_through(2, kWakePace);
    bots_->check_trades();
}

}  // namespace interlock::sim
