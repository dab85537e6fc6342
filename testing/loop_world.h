// A plane that trades: the agent loop over a memory store and a paper venue with a hand-written
// market. The venue outlives rebuild(), which is a restart of everything in front of it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "account/wire/venue_order.h"
#include "app/plane/venue_watch.h"
#include "engine/memory/held_seal_keys.h"
#include "engine/memory/memory_head_log.h"
#include "engine/memory/memory_ledger_store.h"
#include "loop/rules/order_identity.h"
#include "loop/service/venue_sink.h"
#include "loop/wire/loop_tools.h"
#include "testing/plane_world.h"
#include "testing/scripted_market.h"
#include "venues/paper/paper_venue.h"

namespace interlock {

class LoopWorld {
public:
    LoopWorld() : LoopWorld(std::unique_ptr<MarketModel>(std::make_unique<ScriptedMarket>())) {}
    // On another market than the hand-written one.
    explicit LoopWorld(std::unique_ptr<MarketModel> model)
        : market(dynamic_cast<ScriptedMarket*>(model.get())) {
        paper = *PaperVenue::open(std::move(model), clock, {});
        rebuild();
    }

    void rebuild() {
        watch.reset();
        engine.reset();
        plane.reset();
        waiting.clear();
        unsettled.clear();
        ids = std::make_unique<FakeIdSource>("life" + std::to_string(++life_));
        venue_sink = std::make_unique<VenueSink>(VenueSink::Parts{
            .venues = {{TradeMode::paper, paper.get()}},
            .behind = sink,
            .clock = clock,
            .accounts = [this] {
                std::vector<VenueAccount> accounts;
                for (const LoopService::Watched& one : plane->loop->watched()) {
                    accounts.push_back(one.account);
                }
                return accounts;
            }});
        PlaneConfig config;
        config.loop.quote = Asset::parse("USDT").value();
        config.loop.paper_deposit = Decimal(10'000);
        config.loop.universe = paper->symbols();
        config.loop.transfer_threshold = Decimal(100);
        config.supervisor = supervisor_config;
        config.control = control_config;
        plane = std::make_unique<Plane>(
            Plane::Parts{
                .store = store,
                .clock = clock,
                .ids = *ids,
                .mirror = mirror,
                .observer = observer,
                .sink = *venue_sink,
                .flag = flag,
                .keys = keys,
                .head_log = head_log,
                .submit = [this](TurnRequest request) { submit(std::move(request)); },
                .dispatch =
                    [this](std::vector<OutboxItem> effects) {
                        for (OutboxItem& effect : effects) {
                            waiting.push_back(std::move(effect));
                        }
                    },
                .feed = paper.get(),
                .on_account =
                    [this](const Account& account) {
                        const VenueBalance deposit{account.quote, Decimal(10'000), {}};
                        EXPECT_TRUE(paper->open_account(account.key, {&deposit, 1}));
                    }},
            config);
        engine = std::make_unique<InlineEngine>(plane->runner);
        auto snapshot = std::make_shared<PrincipalDirectory::Snapshot>();
        snapshot->humans = {{tenant, 1}, {system_tenant(), 1}};
        plane->directory.publish(snapshot);
        Plane::Recovery recovery = *plane->open();
        unsettled = std::move(recovery.unsettled);
        waiting.insert(
            waiting.end(),
            std::make_move_iterator(recovery.resend.begin()),
            std::make_move_iterator(recovery.resend.end()));
        watch = std::make_unique<VenueWatch>(VenueWatch::Parts{
            .loop = *plane->loop,
            .venues = {{TradeMode::paper, paper.get()}},
            .clock = clock,
            .ticker = *plane->ticker,
            .decisions = *plane->decisions,
            .supervisor = plane->supervisor.get()});
    }

    void submit(TurnRequest request) { engine->submit_turn()(std::move(request)); }

    // Sends what waits, until nothing does; what stays unknown is kept for settle().
    void run_effects() {
        while (!waiting.empty()) {
            for (OutboxItem& effect : std::exchange(waiting, {})) {
                sent.push_back(effect);
                const EffectOutcome outcome = plane->outbox.run_one(effect);
                if (outcome.fate == EffectFate::unknown) {
                    unsettled.push_back(effect);
                }
                submit(plane->runner.outcome_turn(outcome));
            }
        }
    }
    // Asks about everything unknown, once.
    void settle() {
        for (OutboxItem& effect : std::exchange(unsettled, {})) {
            const EffectOutcome outcome = plane->outbox.settle(effect);
            if (outcome.fate == EffectFate::unknown) {
                unsettled.push_back(effect);
            } else {
                submit(plane->runner.outcome_turn(outcome));
            }
        }
        run_effects();
    }
    // Lets time pass: timers, market, watch, effects, questions.
    void pass(Duration span, Duration step = Duration::of_seconds(1)) {
        for (Duration gone; gone < span; gone.microseconds += step.microseconds) {
            clock.advance(step);
            EXPECT_TRUE(paper->advance(clock.now()));
            plane->runner.fire_timers(100);
            run_effects();
            settle();
            watch->poll();
            run_effects();
        }
    }

    Json call(const std::string& tool, const Json& body) {
        auto answer = std::make_shared<std::optional<Result<Answer>>>();
        last_answer = answer;
        submit(turn_of(tool, body, [answer](Result<Answer> result) { *answer = result; }));
        run_effects();
        if (!answer->has_value()) {
            return Json("no answer yet");
        }
        if (!**answer) {
            return Json::object({{"refused", (*answer)->error().code()}});
        }
        return *parse_json((*answer)->value().body);
    }

    TurnRequest turn_of(const std::string& tool, const Json& body, LoopService::Reply reply) {
        LoopService& loop = *plane->loop;
        const LoopService::Caller caller{
            PlaneWorld::agent(), tenant, sha256_hex(tool + to_text(body))};
        const auto made = [&](auto request, auto turn) {
            return request ? (loop.*turn)(caller, *std::move(request), reply)
                           : loop.refusal_turn(caller, body, request.error(), reply);
        };
        if (tool == "state") {
            return made(decode_canonical_state_request(body), &LoopService::state_turn);
        }
        if (tool == "snapshot") {
            return made(decode_market_snapshot_request(body), &LoopService::snapshot_turn);
        }
        if (tool == "validate") {
            return made(decode_validate_plan_request(body), &LoopService::validate_turn);
        }
        if (tool == "dry_run") {
            return made(decode_dry_run_plan_request(body), &LoopService::dry_run_turn);
        }
        if (tool == "execute") {
            return made(decode_execute_plan_request(body), &LoopService::execute_turn);
        }
        if (tool == "verify") {
            return made(decode_verify_execution_request(body), &LoopService::verify_turn);
        }
        return made(decode_record_decision_request(body), &LoopService::record_turn);
    }

    static Json ids_of(const std::string& decision, const std::string& key) {
        return Json::object(
            {{"decision_id", decision}, {"tick_id", "t1"}, {"idempotency_key", key}});
    }
    static Json intent(std::string_view side, std::string_view qty, const Json& price) {
        return Json::object({
            {"symbol", "ABCUSDT"},
            {"side", side},
            {"order_type", price.is_null() ? "market" : "limit"},
            {"qty", qty},
            {"limit_price", price},
            {"time_in_force", "GTC"},
            {"strategy_id", "external"},
            {"expected_edge_bps", 100},
        });
    }
    Json validate(const std::string& decision, const Json& intents, const Json& cancels = {}) {
        Json body = ids_of(decision, "v" + decision);
        Json plan = Json::object({{"intents", intents}, {"reason", "test"}});
        if (!cancels.is_null()) {
            plan.set("cancels", cancels);
        }
        body.set("plan", std::move(plan));
        return call("validate", body);
    }
    Json dry_run(const std::string& decision, const Json& intents, const Json& cancels = {}) {
        Json body = ids_of(decision, "d" + decision);
        Json plan = Json::object({{"intents", intents}});
        if (!cancels.is_null()) {
            plan.set("cancels", cancels);
        }
        body.set("plan", std::move(plan));
        body.set("assumptions", Json::object({{"slippage_bps", 0}, {"fee_bps", 0}}));
        return call("dry_run", body);
    }
    // The request of an execution, with the derived ids filled in.
    Json execute_body(
        const std::string& decision, const Json& intents, const Json& cancels = {}) const {
        Json approved = Json::array();
        for (const Json& one : intents.items()) {
            Intent wanted;
            wanted.intent_id = IntentId::trusted("i" + std::to_string(approved.items().size()));
            wanted.symbol = Symbol::parse(one.find("symbol")->as_string()).value();
            wanted.side = *one.find("side") == Json("buy") ? Side::buy : Side::sell;
            wanted.qty = Decimal::parse(one.find("qty")->as_string()).value();
            if (!one.find("limit_price")->is_null()) {
                wanted.limit_price = Decimal::parse(one.find("limit_price")->as_string()).value();
            }
            Json row = Json::object({
                {"intent_id", wanted.intent_id.text()},
                {"order_client_id",
                 derive_order_client_id(DecisionId::trusted(decision), wanted).text()},
            });
            for (const char* key :
                 {"symbol", "side", "order_type", "qty", "limit_price", "time_in_force"}) {
                row.set(key, *one.find(key));
            }
            if (const Json* post_only = one.find("post_only")) {
                row.set("post_only", *post_only);
            }
            approved.push(std::move(row));
        }
        Json body = ids_of(decision, "e" + decision);
        body.set("execution_mode", "paper");
        body.set("approved_intents", std::move(approved));
        if (!cancels.is_null()) {
            body.set("cancels", cancels);
        }
        return body;
    }
    // The whole way; gives the answer of the execution.
    Json trade(const std::string& decision, const Json& intents, const Json& cancels = {}) {
        validate(decision, intents, cancels);
        dry_run(decision, intents, cancels);
        return call("execute", execute_body(decision, intents, cancels));
    }

    Json account() {
        Json json;
        submit(plane->loop->account_turn(
            {PlaneWorld::agent(), tenant, {}}, default_account_id(), [&](Result<Answer> answer) {
                json = answer ? *parse_json(answer->body) : Json();
            }));
        return json;
    }
    Json decision(const std::string& id) {
        Json json;
        submit(plane->loop->decision_turn(
            {PlaneWorld::agent(), tenant, {}}, DecisionId::trusted(id), [&](Result<Answer> answer) {
                json = answer ? *parse_json(answer->body) : Json();
            }));
        return json;
    }
    std::vector<std::string> events(const std::string& decision = "") {
        std::vector<std::string> events;
        const auto records = *plane->ledger.read(tenant, 0, 10'000);
        for (const AuditRecord& record : records) {
            if (decision.empty() || record.draft.decision_id.text() == decision) {
                events.push_back(record.draft.event);
            }
        }
        return events;
    }
    std::int64_t count(const std::string& event) {
        const auto all = events();
        return std::count(all.begin(), all.end(), event);
    }
    // How often it happened: recorded, folded, or counted in a fold that is open.
    std::int64_t times(const std::string& event) {
        std::int64_t found = 0;
        const auto add = [&](const OpenFold& fold) {
            found += fold.event == event ? fold.count : 0;
        };
        for (std::int64_t after = 0;;) {
            const auto page = *plane->ledger.read(tenant, after, 1000);
            for (const AuditRecord& record : page) {
                found += record.draft.event == event ? 1 : 0;
                if (record.draft.event == kFoldEvent) {
                    add(decode_fold(record.draft.detail).value());
                }
                after = record.seq;
            }
            if (page.empty()) {
                break;
            }
        }
        const auto rows = *memory.load_states(std::string(kFoldPrefix) + tenant.text() + "/");
        for (const auto& [key, state] : rows) {
            const FoldRow row = decode_fold_row(*parse_json(state.json)).value();
            std::for_each(row.open.begin(), row.open.end(), add);
        }
        return found;
    }
    std::int64_t orders_sent() const {
        return std::count_if(sent.begin(), sent.end(), [](const OutboxItem& effect) {
            return effect.kind == kOrderEffect;
        });
    }
    VenueAccount venue_account() const { return {tenant, default_account_id(), TradeMode::paper}; }

    const TenantId tenant = TenantId::trusted("demo");
    SupervisorConfig supervisor_config;  // Takes effect with the next rebuild().
    ControlConfig control_config;        // Likewise.
    HeldSealKeys keys{std::string(32, 's')};
    MemoryHeadLog head_log;
    FakeClock clock;
    std::unique_ptr<FakeIdSource> ids;
    MemoryLedgerStore memory;
    BreakableStore store{memory};
    NullHeadMirror mirror;
    NullTurnObserver observer;
    FakeSink sink;
    FakeKillFlag flag;
    ScriptedMarket* market = nullptr;  // Null on another market.
    std::unique_ptr<PaperVenue> paper;
    std::unique_ptr<VenueSink> venue_sink;
    std::unique_ptr<Plane> plane;
    std::unique_ptr<InlineEngine> engine;
    std::unique_ptr<VenueWatch> watch;
    std::vector<OutboxItem> waiting;
    std::vector<OutboxItem> unsettled;
    std::vector<OutboxItem> sent;
    std::shared_ptr<std::optional<Result<Answer>>> last_answer;

private:
    int life_ = 0;
};

}  // namespace interlock
