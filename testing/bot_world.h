// A tenant's maker bot on the paper venue, driven by hand: the whole plane, a vault, PnL jobs and
// the bots, on a synthetic market of nine symbols. restart() is a crash and a start.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bots/service/bot_service.h"
#include "market/rules/synthetic_market.h"
#include "testing/loop_world.h"
#include "testing/memory_pnl_log.h"
#include "testing/vault_desk.h"
#include "venues/paper/paper_keys.h"

namespace interlock {

class BotWorld : public LoopWorld {
public:
    BotWorld() : LoopWorld(std::unique_ptr<MarketModel>(std::make_unique<SyntheticMarket>())) {
        build();
    }

    static BotConfig small_config() {
        return default_bot_config({
            {Symbol::parse("BTCUSDT").value(), Decimal::parse("0.004").value()},
            {Symbol::parse("ETHUSDT").value(), Decimal::parse("0.08").value()},
            {Symbol::parse("SOLUSDT").value(), Decimal::parse("1.5").value()},
        });
    }

    void restart() {
        bots.reset();
        pnl.reset();
        vault.reset();
        rebuild();
        build();
    }

    BotService::Caller agent() const { return {PlaneWorld::agent(), tenant, {}}; }
    BotService::Caller human() {
        Principal principal;
        principal.kind = PrincipalKind::human;
        principal.id = "hum_1";
        principal.tenants = {tenant};
        principal.authenticated_at = clock.now();
        return {principal, tenant, {}};
    }
    BotService::Caller host() const { return {VaultDesk::host_operator(), tenant, {}}; }

    // The answer, once everything it led to has run.
    template <class Ask>
    Result<Answer> ask(Ask wanted) {
        auto answer = std::make_shared<std::optional<Result<Answer>>>();
        wanted([answer](Result<Answer> result) {
            EXPECT_FALSE(answer->has_value());  // Exactly once.
            *answer = std::move(result);
        });
        run_effects();
        EXPECT_TRUE(answer->has_value());
        return answer->has_value() ? **answer : fail(errors::internal, "no answer");
    }
    template <class Ask>
    Json body(Ask wanted) {
        const Result<Answer> answer = ask(std::move(wanted));
        return answer
                   ? *parse_json(answer->body)
                   : Json::object(
                         {{"refused", answer.error().code()}, {"message", answer.error().message}});
    }
    Json call(BotCall wanted, std::optional<bool> cancel = std::nullopt) {
        return body([&](BotService::Reply reply) {
            bots->call(agent(), {.call = wanted, .cancel_orders = cancel}, std::move(reply));
        });
    }
    Json put_keys(const std::string& api_key = "good", const std::string& exchange = "paper") {
        return body([&](BotService::Reply reply) {
            bots->put_keys(agent(), VaultDesk::keys(api_key, exchange), std::move(reply));
        });
    }
    Json change(const BotService::Caller& who, const std::string& operation, BotUpdate update) {
        return body([&](BotService::Reply reply) {
            bots->change(who, {.operation = operation, .update = std::move(update)}, reply);
        });
    }
    void run_bot() {
        put_keys();
        call(BotCall::initialize);
        call(BotCall::start);
    }
    Json config() { return *parse_json(bots->config(tenant)); }
    std::string state() { return word_of(bots->status(tenant), "bot_state"); }
    static std::string word_of(const Json& json, std::string_view key) {
        const Json* value = json.is_object() ? json.find(key) : nullptr;
        return value != nullptr && value->is_string() ? value->as_string() : to_text(json);
    }
    std::vector<VenueOrder> open_orders() {
        return paper->report(venue_account(), 0).value().open_orders;
    }

    PaperKeys keys{clock};
    FakeKeyCheck live;
    FakeMasterKeys masters;
    MemoryPnlLog log;
    bool venue_answers = true;
    std::function<void()> on_fetch = [] {};  // Whenever the venue is asked.
    std::unique_ptr<WorkerPool> workers;
    std::unique_ptr<VaultService> vault;
    std::unique_ptr<PnlJobs> pnl;
    std::unique_ptr<BotService> bots;

private:
    void build() {
        workers = std::make_unique<WorkerPool>(WorkerPool::Bounds{.threads = 0, .waiting_max = 0});
        const SubmitTurn to_engine = [this](TurnRequest turn) { submit(std::move(turn)); };
        vault = std::make_unique<VaultService>(VaultService::Parts{
            .runner = plane->runner,
            .submit = to_engine,
            .workers = *workers,
            .masters = masters,
            .ids = *ids,
            .checks = {{"paper", &keys}, {"live", &live}}});
        EXPECT_TRUE(vault->open());
        const auto at_once = [](const std::function<void()>& job) {
            job();
            return true;
        };
        pnl = std::make_unique<PnlJobs>(PnlJobs::Parts{
            .runner = plane->runner,
            .store = store,
            .feed = *paper,
            .log = log,
            .clock = clock,
            .submit = to_engine,
            .run = at_once});
        EXPECT_TRUE(pnl->open());
        bots = std::make_unique<BotService>(BotService::Parts{
            .runner = plane->runner,
            .submit = to_engine,
            .loop = *plane->loop,
            .runtime = plane->running,
            .ticker = *plane->ticker,
            .control = *plane->decisions,
            .kill = plane->kill,
            .latch = plane->latch,
            .approvals = plane->approvals,
            .vault = *vault,
            .store = store,
            .feed = *paper,
            .clock = clock,
            .fetch = [this](
                         const VenueAccount& account, std::int64_t cursor) -> Result<VenueReport> {
                on_fetch();
                if (!venue_answers) {
                    return fail(errors::venue_unreachable, "The venue does not answer.");
                }
                return paper->report(account, cursor);
            },
            .run = at_once,
            .pnl = *pnl,
            .defaults = small_config()});
        EXPECT_TRUE(bots->open());
        watch = std::make_unique<VenueWatch>(VenueWatch::Parts{
            .loop = *plane->loop,
            .venues = {{TradeMode::paper, paper.get()}},
            .clock = clock,
            .ticker = *plane->ticker,
            .decisions = *plane->decisions,
            .supervisor = plane->supervisor.get(),
            .bots = bots.get()});
    }
};

}  // namespace interlock
