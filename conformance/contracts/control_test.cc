// Control of the loop where a case file cannot set the stage: servers with other configurations and
// accounts in states that only the loop itself brings about (seed 002 §6.2; SEMANTICS S8, S12).
#include <gtest/gtest.h>

#include "api_world.h"
#include "core/market/synthetic_market.h"
#include "services/loop/loop_store.h"

namespace interlock {
namespace {

const VenueAccount kAccount{
    TenantId::trusted("demo"), AccountId::trusted("main"), TradeMode::paper};

HttpResponse post(
    ApiWorld& world, const std::string& as, const std::string& path, const std::string& body) {
    return world.send({.as = as, .method = "POST", .path = "/api/demo/" + path, .body = body});
}

std::string member(const HttpResponse& response, std::string_view key) {
    const auto json = parse_json(response.body);
    const Json* value = json ? json->find(key) : nullptr;
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

Json get(ApiWorld& world, const std::string& path) {
    return world.send_json({.as = "human", .path = "/api/demo/" + path});
}

// Changes the stored account as a turn of the loop would.
void change_account(ApiWorld& world, const std::function<void(Account&)>& change) {
    get(world, "account");  // Opens it.
    TurnRequest turn;
    turn.tenant_id = kAccount.tenant_id;
    turn.principal = internal_principal("test");
    turn.function = "test";
    turn.decide = [&](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const AccountView view, load_account(t, kAccount));
        Account next = *view.account;
        change(next);
        ++next.version;
        world.plane_world().plane->loop->put_account(t, std::move(next));
        return Answer{200, "{}"};
    };
    turn.reply = [](const Result<Answer>& answer) { ASSERT_TRUE(answer); };
    world.plane_world().submit(std::move(turn));
}

std::string approve(ApiWorld& world, const std::string& as, const std::string& approval_id) {
    const HttpResponse response = post(world, as, "approvals/" + approval_id + "/approve", "{}");
    return response.status == 200 ? member(response, "state") : response.body;
}

std::string mode_of(ApiWorld& world) {
    return get(world, "account").find("runtime_flags")->find("mode")->as_string();
}

PlaneConfig with_live() {
    PlaneConfig config = ApiWorld::default_config();
    config.loop.live_available = true;
    config.loop.shadow_available = true;
    return config;
}

TEST(LiveMode, IsEnabledByAnApprovalOnly) {
    ApiWorld world(with_live());
    const HttpResponse asked =
        post(world, "human", "mode", R"({"idempotency_key":"m1","mode":"live"})");
    EXPECT_EQ(asked.status, 202) << asked.body;
    EXPECT_EQ(mode_of(world), "paper");
    EXPECT_EQ(approve(world, "second_human", member(asked, "approval_id")), "consumed");
    EXPECT_EQ(
        post(world, "human", "mode", R"({"idempotency_key":"m2","mode":"live"})").status, 200);
}

TEST(LiveMode, IsLeftByAnApprovalOnly) {
    ApiWorld world(with_live());
    const HttpResponse in =
        post(world, "human", "mode", R"({"idempotency_key":"m1","mode":"live"})");
    ASSERT_EQ(approve(world, "second_human", member(in, "approval_id")), "consumed");
    const HttpResponse out =
        post(world, "human", "mode", R"({"idempotency_key":"m2","mode":"paper"})");
    EXPECT_EQ(out.status, 202) << out.body;
    EXPECT_EQ(member(out, "mode"), "live");
    EXPECT_EQ(approve(world, "second_human", member(out, "approval_id")), "consumed");
    EXPECT_EQ(mode_of(world), "paper");
}

TEST(LiveMode, NeedsTwoPeopleUnderTheTwoPersonRule) {
    PlaneConfig config = with_live();
    config.two_person_rule = true;
    ApiWorld world(config);
    const HttpResponse asked =
        post(world, "human", "mode", R"({"idempotency_key":"m1","mode":"live"})");
    const std::string id = member(asked, "approval_id");
    EXPECT_EQ(approve(world, "human", id), "pending");
    EXPECT_EQ(mode_of(world), "paper");
    EXPECT_EQ(approve(world, "second_human", id), "consumed");
}

TEST(LiveMode, IsNotEnteredFromAModeTheApprovalWasNotAskedFor) {
    ApiWorld world(with_live());
    const HttpResponse asked =
        post(world, "human", "mode", R"({"idempotency_key":"m1","mode":"live"})");
    ASSERT_EQ(
        post(world, "human", "mode", R"({"idempotency_key":"m2","mode":"shadow"})").status, 200);
    const HttpResponse response =
        post(world, "second_human", "approvals/" + member(asked, "approval_id") + "/approve", "{}");
    EXPECT_EQ(response.status, 409);
    EXPECT_NE(response.body.find("base_moved"), std::string::npos) << response.body;
    EXPECT_EQ(mode_of(world), "shadow");
}

TEST(LiveMode, TradesNothingThatWasValidatedOnPaper) {
    ApiWorld world;
    const HttpResponse response = post(
        world,
        "planner",
        "tools/py_execute_plan",
        R"({"decision_id":"d","tick_id":"t","idempotency_key":"k","execution_mode":"live",
            "approved_intents":[]})");
    EXPECT_EQ(response.status, 403) << response.body;
    EXPECT_NE(response.body.find("live_not_enabled"), std::string::npos) << response.body;
}

TEST(HardLimits, NeedTwoPeopleUnderTheTwoPersonRule) {
    PlaneConfig config = ApiWorld::default_config();
    config.two_person_rule = true;
    ApiWorld world(config);
    const HttpResponse asked = post(
        world, "agent", "limits", R"({"idempotency_key":"l1","changes":{"max_leverage":"2"}})");
    ASSERT_EQ(asked.status, 202) << asked.body;
    const std::string id = member(asked, "approval_id");
    EXPECT_EQ(approve(world, "human", id), "pending");
    EXPECT_EQ(approve(world, "second_human", id), "consumed");
}

TEST(Drawdown, IsResetByAnApprovalToTodaysEquity) {
    ApiWorld world;
    change_account(world, [&](Account& account) {
        account.money.peak = Decimal(20'000);
        account.tier.drawdown_latched_at = world.plane_world().clock.now();
    });
    const HttpResponse asked =
        post(world, "human", "recovery/reset_drawdown", R"({"idempotency_key":"r1"})");
    ASSERT_EQ(asked.status, 202) << asked.body;
    EXPECT_EQ(get(world, "account").find("peak_equity")->as_string(), "20000");
    EXPECT_EQ(approve(world, "second_human", member(asked, "approval_id")), "consumed");
    EXPECT_EQ(get(world, "account").find("peak_equity")->as_string(), "10000");
    EXPECT_TRUE(get(world, "account").find("tier")->find("drawdown_latched_at")->is_null());
}

TEST(Drawdown, WithoutAStopHasNothingToReset) {
    ApiWorld world;
    const HttpResponse response =
        post(world, "human", "recovery/reset_drawdown", R"({"idempotency_key":"r1"})");
    EXPECT_EQ(response.status, 409);
    EXPECT_NE(response.body.find("drawdown_not_latched"), std::string::npos);
}

TEST(Recovery, IsResumedByAHumanWhenEscalated) {
    ApiWorld world;
    change_account(world, [](Account& account) {
        account.recovery.phase = RecoveryPhase::escalated;
        account.recovery.reasons = {"balance_mismatch"};
    });
    EXPECT_EQ(post(world, "agent", "recovery/resume", R"({"idempotency_key":"r1"})").status, 403);
    const HttpResponse response =
        post(world, "human", "recovery/resume", R"({"idempotency_key":"r1"})");
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(get(world, "account").find("recovery")->find("phase")->as_string(), "recovering");
}

TEST(Recovery, ThatIsNotEscalatedIsNotResumed) {
    ApiWorld world;
    const HttpResponse response =
        post(world, "human", "recovery/resume", R"({"idempotency_key":"r1"})");
    EXPECT_EQ(response.status, 409);
    EXPECT_NE(response.body.find("not_escalated"), std::string::npos);
}

TEST(ExternalFlow, IsBookedWhenAHumanConfirmsIt) {
    ApiWorld world;
    change_account(world, [&](Account& account) {
        const Timestamp now = world.plane_world().clock.now();
        account.external_flows.push_back(
            {.asset = Asset::parse("USDT").value(),
             .amount = Decimal(50),
             .first_seen_at = now,
             .last_seen_at = now});
    });
    const HttpResponse response =
        post(world, "human", "recovery/confirm_flow", R"({"idempotency_key":"f1","asset":"USDT"})");
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(get(world, "account").find("equity")->as_string(), "10050");
    const HttpResponse again =
        post(world, "human", "recovery/confirm_flow", R"({"idempotency_key":"f2","asset":"USDT"})");
    EXPECT_EQ(again.status, 404) << again.body;
}

TEST(ExternalFlow, OfCoinsIsBookedAtTheMarketsMid) {
    ApiWorld world;
    change_account(world, [&](Account& account) {
        const Timestamp now = world.plane_world().clock.now();
        account.external_flows.push_back(
            {.asset = Asset::parse("ABC").value(),
             .amount = Decimal(2),
             .first_seen_at = now,
             .last_seen_at = now});
    });
    const HttpResponse response =
        post(world, "human", "recovery/confirm_flow", R"({"idempotency_key":"f1","asset":"ABC"})");
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(member(response, "price"), "100");
    EXPECT_EQ(get(world, "account").find("equity")->as_string(), "10200");
}

TEST(Throttle, EndsWhenAHumanReenablesTheStrategy) {
    ApiWorld world;
    change_account(world, [](Account& account) {
        StrategyRecord& strategy = account.strategies[StrategyId::trusted("external")];
        strategy.is_disabled = true;
        strategy.disabled_reason = "repeated_execution";
    });
    EXPECT_EQ(
        post(
            world,
            "agent",
            "strategies/enable",
            R"({"idempotency_key":"e1","strategy_id":"external"})")
            .status,
        403);
    EXPECT_EQ(
        post(
            world,
            "human",
            "strategies/enable",
            R"({"idempotency_key":"e1","strategy_id":"external"})")
            .status,
        200);
    const Json account = get(world, "account");
    EXPECT_EQ(*account.find("strategies")->items()[0].find("is_disabled"), Json(false));
}

TEST(Strategies, AreBoundedInNumber) {
    ApiWorld world;
    change_account(world, [](Account& account) {
        while (account.strategies.size() < kStrategiesMax) {
            account.strategies[StrategyId::trusted(
                "s" + std::to_string(account.strategies.size()))] = {};
        }
    });
    const HttpResponse response = post(
        world,
        "human",
        "strategies",
        R"({"idempotency_key":"p1","strategy_id":"one_more","is_active":true})");
    EXPECT_EQ(response.status, 409) << response.body;
}

TEST(Alerts, PageBackThroughALongChain) {
    ApiWorld world;
    for (int i = 0; i < 3; ++i) {
        post(world, "agent", "kill", R"({"active":true})");
    }
    for (int i = 0; i < 2100; ++i) {
        post(
            world,
            "agent",
            "limits",
            R"({"idempotency_key":"k)" + std::to_string(i) +
                R"(","changes":{"max_spread_bps":"50"}})");
    }
    const Json first = get(world, "alerts?limit=2");
    EXPECT_TRUE(first.find("alerts")->items().empty());
    const std::string before = first.find("next_before")->number_text();
    const Json second = get(world, "alerts?limit=2&before=" + before);
    EXPECT_EQ(second.find("alerts")->items().size(), 2u);
    const Json third =
        get(world, "alerts?limit=2&before=" + second.find("next_before")->number_text());
    EXPECT_FALSE(third.find("alerts")->items().empty());
    EXPECT_EQ(
        get(world, "alerts?limit=1000").find("error")->find("code")->as_string(),
        "invalid_request");
}

// paper-venue.md 1.1: the served market states an order rate, so our share of it can say no.
TEST(ServedVenue, HoldsAPlanToItsShareOfTheOrderRateThatTheMarketStates) {
    PlaneConfig config = ApiWorld::default_config();
    config.loop.limits = {
        {.spec = find_limit_spec("order_rate_share"), .value = Decimal::parse("0.001").value()}};
    ApiWorld world(std::move(config), std::make_unique<SyntheticMarket>());
    const auto refused = [&](const std::string& decision, int orders) {
        const std::string one =
            R"({"symbol":"BTCUSDT","side":"buy","order_type":"market","qty":"0.001",)"
            R"("limit_price":null,"time_in_force":"IOC","strategy_id":"external",)"
            R"("expected_edge_bps":100})";
        const HttpResponse answer = post(
            world,
            "planner",
            "tools/py_validate_plan",
            R"({"decision_id":")" + decision + R"(","tick_id":"t","idempotency_key":")" + decision +
                R"(","plan":{"reason":"a test","intents":[)" + one +
                (orders == 2 ? "," + one : "") + "]}}");
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body.contains("policy_guardrails:order_rate:BTCUSDT");
    };
    EXPECT_FALSE(refused("d1", 1));
    EXPECT_TRUE(refused("d2", 2));
}

}  // namespace
}  // namespace interlock
