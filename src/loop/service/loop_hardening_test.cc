// Gaps that were found in the loop and closed, each with what would show it again: an adjusted plan
// nobody could hand in, transfers cut into pieces, a kill lost in a crash, a decision without end,
// a verdict made of a store's failure, and cancels behind a slow venue.
#include <gtest/gtest.h>

#include "host/service/test_tampered_store.h"
#include "loop/service/transfer_day.h"
#include "testing/loop_world.h"
#include "trader/service/replay_service.h"

namespace interlock {
namespace {

Json one(std::string_view side, std::string_view qty, const Json& price) {
    return Json::array({LoopWorld::intent(side, qty, price)});
}

std::string error_code(const Json& answer) {
    const Json* errors = answer.find("errors");
    return errors == nullptr || errors->items().empty()
               ? ""
               : errors->items()[0].find("code")->as_string();
}

void decide(LoopWorld& world, std::function<void(Turn&)> change) {
    TurnRequest turn;
    turn.tenant_id = world.tenant;
    turn.principal = internal_principal("test");
    turn.function = "test";
    turn.decide = [change = std::move(change)](Turn& t) -> Result<TurnReply> {
        change(t);
        return Answer{};
    };
    turn.reply = [](Result<Answer> answer) { EXPECT_TRUE(answer); };
    world.submit(std::move(turn));
}

bool passes(const Json& answer) {
    return *answer.find("validation")->find("pass") == Json(true);
}

TEST(LoopHardening, AnAdjustedPlanMayBeValidatedAsItIs) {
    LoopWorld world;
    // As large as the gates allow, so that any slippage is too much.
    Json intents;
    std::string decision;
    for (int qty = 100; qty > 0; --qty) {
        intents = one("buy", std::to_string(qty), Json());
        intents.items()[0].set("expected_edge_bps", Json());
        decision = "d" + std::to_string(qty);
        if (passes(world.validate(decision, intents))) {
            break;
        }
    }
    Json body = LoopWorld::ids_of(decision, "rehearse");
    body.set("plan", Json::object({{"intents", intents}}));
    body.set("assumptions", Json::object({{"slippage_bps", 1000}, {"fee_bps", 10}}));
    const Json answer = world.call("dry_run", body);
    const Json* adjusted = answer.find("dry_run")->find("adjusted_plan");
    ASSERT_NE(adjusted, nullptr) << to_text(answer);
    Json again = LoopWorld::ids_of("again", "again");
    again.set("plan", *adjusted);
    const auto request = decode_validate_plan_request(again);
    ASSERT_TRUE(request.has_value()) << request.error().message;
    EXPECT_TRUE(passes(world.call("validate", again)));
}

std::string transfer(LoopWorld& world, const std::string& key, const char* amount) {
    TransferTreasuryRequest request;
    request.call.idempotency_key = IdempotencyKey::trusted(key);
    request.call.account_id = default_account_id();
    request.from = 0;
    request.to = 1;
    request.amount = Decimal::parse(amount).value();
    std::string status;
    world.plane->control->call(
        {PlaneWorld::agent(), world.tenant, key},
        "transfer_treasury",
        request,
        [&](Result<Answer> answer) {
            const auto body = answer ? parse_json(answer->body) : Result<Json>(Json());
            const Json* word = body ? body->find("status") : nullptr;
            status = word == nullptr ? "refused" : word->as_string();
        });
    return status;
}

// The threshold of this world is 100.
TEST(LoopHardening, TransfersInPiecesNeedTheApprovalOfTheirSum) {
    LoopWorld world;
    world.account();
    EXPECT_EQ(transfer(world, "k1", "60"), "applied");
    EXPECT_EQ(transfer(world, "k2", "39"), "applied");
    EXPECT_EQ(transfer(world, "k3", "1"), "approval_required");
}

TEST(LoopHardening, TheNextUtcDayBeginsWithNoTransfers) {
    LoopWorld world;
    world.account();
    ASSERT_EQ(transfer(world, "k1", "99"), "applied");
    ASSERT_EQ(transfer(world, "k2", "99"), "approval_required");
    world.clock.advance(Duration::of_days(1));
    EXPECT_EQ(transfer(world, "k3", "99"), "applied");
}

// The process dies after the escalation is on the disk and before the kill is.
TEST(LoopHardening, AKillAfterAnEscalationSurvivesACrash) {
    LoopWorld world;
    world.account();
    decide(world, [&](Turn& turn) {
        turn.after_commit([&world] { world.store.broken = true; });
        RecoveryStep step;
        step.state.phase = RecoveryPhase::escalated;
        step.state.exposure_grew = true;
        step.escalated = true;
        step.kill_reason = "recovery_exposure_grew";
        EXPECT_TRUE(world.plane->loop->recover(turn, world.venue_account(), step));
    });
    world.store.broken = false;
    world.flag = FakeKillFlag();
    world.rebuild();
    ASSERT_EQ(world.count("SAFE_RECOVERY_ESCALATED"), 1);
    ASSERT_FALSE(world.plane->latch.is_raised(world.tenant));
    world.pass(Duration::of_seconds(2));
    EXPECT_TRUE(world.plane->latch.is_raised(world.tenant));
    EXPECT_EQ(world.count("KILL_SWITCH_ACTIVATED"), 1);
    // Once on the record it is not asked for again.
    world.pass(Duration::of_seconds(5));
    EXPECT_EQ(world.count("KILL_SWITCH_ACTIVATED"), 1);
}

TEST(LoopHardening, ADecisionTakesAHundredPlansAndNoMore) {
    LoopWorld world;
    const auto plan_again = [&](int attempt) {
        Json body = LoopWorld::ids_of("d1", "v" + std::to_string(attempt));
        body.set(
            "plan", Json::object({{"intents", one("buy", "1", "100.01")}, {"reason", "test"}}));
        return world.call("validate", body);
    };
    for (int attempt = 1; attempt <= 100; ++attempt) {
        ASSERT_TRUE(passes(plan_again(attempt)));
    }
    EXPECT_EQ(error_code(plan_again(101)), "decision_closed");
    EXPECT_EQ(world.count("PLAN_CREATED"), 100);
}

TEST(LoopHardening, AStoreThatFailsDuringAnExecutionIsNoVerdictOnThePlan) {
    LoopWorld world;
    const Json intents = one("buy", "1", "100.01");
    world.validate("d1", intents);
    world.dry_run("d1", intents);
    const Json body = world.execute_body("d1", intents);
    const auto id = OrderClientId::trusted(
        body.find("approved_intents")->items()[0].find("order_client_id")->as_string());
    decide(world, [&](Turn& turn) {
        turn.save(order_key(world.venue_account(), id), Json::array());  // No order can be read.
    });
    world.call("execute", body);
    EXPECT_EQ(*world.decision("d1").find("stage"), Json("rehearsed"));
    EXPECT_EQ(world.count("ACTION_REJECTED"), 0);
    EXPECT_EQ(world.orders_sent(), 0);
}

TEST(LoopHardening, AChangedOutcomeOfACancelIsFoundByAReplay) {
    LoopWorld world;
    const Json resting = world.trade("d1", one("buy", "1", "99.5"));
    const Json id = *resting.find("execution")->items()[0].find("order_client_id");
    world.trade("d2", Json::array(), Json::array({id}));
    world.pass(Duration::of_seconds(5));
    const auto differing = [&](LedgerStore& store) {
        ReplayCheck check{.store = store, .tenant_id = world.tenant};
        const auto report = replay_ledger(check);
        return report ? report->differing : -1;
    };
    EXPECT_EQ(differing(world.memory), 0);
    TamperedStore store(world.memory);
    bool changed = false;
    store.on_state = [&](const std::string&, std::string& json) {
        const std::string from = R"("status":"canceled")";
        if (const auto at = json.find(from); at != std::string::npos) {
            json.replace(at, from.size(), R"("status":"not_open")");
            changed = true;
        }
    };
    EXPECT_EQ(differing(store), 1);
    EXPECT_TRUE(changed);
}

OutboxItem effect_of(const std::string& id, std::string_view kind) {
    OutboxItem effect;
    effect.effect_id = EffectId::trusted(id);
    effect.tenant_id = TenantId::trusted("demo");
    effect.kind = std::string(kind);
    effect.json = "{}";
    effect.delivery = kind == kCancelAllKind ? Delivery::repeatable : Delivery::at_most_once;
    return effect;
}

// An outbox that holds three unsettled effects, with the next pass over them due.
struct BusyOutbox {
    explicit BusyOutbox(std::vector<OutboxItem> unsettled) {
        outbox.enqueue_unsettled({effect_of("first", "probe")});
        outbox.run_round(std::chrono::milliseconds(0));  // Settles at once; the next in a second.
        outcomes.clear();
        const std::size_t count = unsettled.size();
        outbox.enqueue_unsettled(std::move(unsettled));
        for (std::size_t i = 0; i + 1 < count; ++i) {
            outbox.run_round(std::chrono::milliseconds(0));
        }
        EXPECT_TRUE(outcomes.empty());
        world.clock.advance(Duration::of_seconds(1));
    }

    LoopWorld world;
    std::vector<std::string> outcomes;
    std::function<void()> on_outcome = [] {};
    OutboxThreads outbox{world.plane->outbox, world.clock, [this](const EffectOutcome& outcome) {
                             outcomes.push_back(outcome.effect.effect_id.text());
                             on_outcome();
                         }};
};

TEST(LoopHardening, UnsettledCancelsAreSettledFirst) {
    BusyOutbox busy(
        {effect_of("a", "probe"), effect_of("b", "probe"), effect_of("stop", kCancelAllKind)});
    busy.outbox.run_round(std::chrono::milliseconds(0));
    EXPECT_EQ(busy.outcomes, (std::vector<std::string>{"stop", "a", "b"}));
}

TEST(LoopHardening, ACancelDoesNotWaitForAllUnsettledEffects) {
    BusyOutbox busy({effect_of("a", "probe"), effect_of("b", "probe"), effect_of("c", "probe")});
    bool stopped = false;
    busy.on_outcome = [&] {
        if (!stopped) {
            stopped = true;
            busy.outbox.enqueue({effect_of("stop", kCancelAllKind)});
        }
    };
    busy.outbox.run_round(std::chrono::milliseconds(0));
    EXPECT_EQ(busy.outcomes, (std::vector<std::string>{"a", "stop", "b", "c"}));
}

}  // namespace
}  // namespace interlock
