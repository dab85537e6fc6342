// Control of the loop where a case file cannot set the stage: servers with other configurations and
// accounts in states that only the loop itself brings about
// (docs/contracts/agent-loop.md#control-by-people).
#include <gtest/gtest.h>

#include "api_world.h"
#include "loop/service/loop_store.h"
#include "loop/wire/control.h"
#include "market/rules/synthetic_market.h"

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

// agent-loop.md, "Accounts".
std::string opened(ApiWorld& world, const std::string& as, const std::string& name) {
    const HttpResponse response = post(
        world,
        as,
        "accounts",
        R"({"idempotency_key":"open_)" + name + as + R"(","account_id":")" + name + R"("})");
    const auto json = parse_json(response.body);
    const Json* error = json ? json->find("error") : nullptr;
    return error != nullptr ? error->find("code")->as_string() : member(response, "status");
}

HttpResponse buy_on(ApiWorld& world, const std::string& account, const std::string& decision) {
    const std::string ids = R"({"account_id":")" + account + R"(","decision_id":")" + decision +
                            R"(","tick_id":"t","idempotency_key":"k)";
    const std::string order =
        R"("symbol":"ABCUSDT","side":"buy","order_type":"limit","qty":"1","limit_price":"100.01",)"
        R"("time_in_force":"GTC")";
    const std::string plan = R"(","plan":{"reason":"a test","intents":[{)" + order +
                             R"(,"strategy_id":"external","expected_edge_bps":100}]})";
    const HttpResponse validated =
        post(world, "planner", "tools/py_validate_plan", ids + "v" + decision + plan + "}");
    if (validated.status != 200) {
        return validated;
    }
    const HttpResponse rehearsed = post(
        world,
        "planner",
        "tools/py_dry_run_plan",
        ids + "r" + decision + plan + R"(,"assumptions":{"slippage_bps":25,"fee_bps":20}})");
    const Json dry = *parse_json(rehearsed.body);
    const std::string order_id =
        dry.find("dry_run")->find("projected")->items().at(0).find("order_client_id")->as_string();
    const auto answer = world.send_later(
        {.as = "planner",
         .method = "POST",
         .path = "/api/demo/tools/py_execute_plan",
         .body = ids + "x" + decision +
                 R"(","execution_mode":"paper","approved_intents":[{"intent_id":"i0",)" + order +
                 R"(,"order_client_id":")" + order_id + R"("}]})"});
    world.plane_world().run_effects();
    return answer->value_or(HttpResponse{});
}

TEST(FurtherAccounts, AreOpenedByAHumanAndTradedOnByAgents) {
    ApiWorld world;
    const HttpResponse before = buy_on(world, "second", "d0");
    EXPECT_EQ(before.status, 404) << before.body;
    EXPECT_TRUE(before.body.contains("it has main.")) << before.body;
    EXPECT_EQ(opened(world, "human", "second"), "applied");
    EXPECT_EQ(opened(world, "second_human", "second"), "account_exists");
    const Json list = get(world, "accounts");
    EXPECT_EQ(list.find("accounts")->items().size(), 2u) << to_text(list);
    const HttpResponse bought = buy_on(world, "second", "d1");
    EXPECT_TRUE(bought.body.contains("\"acked\"")) << bought.body;
    const auto positions = [&](const std::string& account) {
        return get(world, "account?account_id=" + account).find("positions")->items().size();
    };
    EXPECT_EQ(positions("second"), 1u);
    EXPECT_EQ(positions("main"), 0u) << "books of its own";
    const HttpResponse nobody = buy_on(world, "third", "d2");
    EXPECT_TRUE(nobody.body.contains("it has main, second.")) << nobody.body;
    EXPECT_TRUE(buy_on(world, "main", "d3").body.contains("\"acked\""));
    for (const std::string name : {"fills", "orders"}) {
        const auto accounts = [&](const std::string& query) {
            std::string found;
            const Json page = get(world, name + query);
            for (const Json& row : page.find(name)->items()) {
                EXPECT_EQ(*row.find("mode"), Json("paper"));
                found += row.find("account_id")->as_string() + " ";
            }
            return found;
        };
        EXPECT_EQ(accounts(""), "main second ") << name;
        EXPECT_EQ(accounts("?account_id=second"), "second ") << name;
        EXPECT_EQ(accounts("?account_id=third"), "") << name;
    }
    world.restart();
    EXPECT_EQ(positions("second"), 1u);
}

TEST(FurtherAccounts, AreKeptWhenTheModeChangesAndOpenThereWithTheirFirstUse) {
    PlaneConfig config = ApiWorld::default_config();
    config.loop.shadow_available = true;
    ApiWorld world(std::move(config));
    EXPECT_EQ(opened(world, "human", "second"), "applied");
    EXPECT_EQ(
        post(world, "human", "mode", R"({"idempotency_key":"m","mode":"shadow"})").status, 200);
    const Json listed = get(world, "accounts");
    const auto& accounts = listed.find("accounts")->items();
    ASSERT_EQ(accounts.size(), 2u);
    EXPECT_TRUE(accounts[1].find("opened_at")->is_null());
    EXPECT_EQ(
        get(world, "account?account_id=second").find("equity")->as_string(),
        get(world, "account").find("equity")->as_string());
}

TEST(FurtherAccounts, AreBoundedAndHavePlainNames) {
    ApiWorld world;
    for (std::size_t i = 1; i < kAccountsMax; ++i) {
        EXPECT_EQ(opened(world, "human", "more-" + std::to_string(i)), "applied");
    }
    EXPECT_EQ(opened(world, "human", "one_more"), "too_many_accounts");
    EXPECT_EQ(opened(world, "human", "main"), "account_exists");
    EXPECT_EQ(opened(world, "human", "a:b"), "invalid_request");
    EXPECT_EQ(opened(world, "human", std::string(65, 'a')), "invalid_request");
    EXPECT_EQ(opened(world, "agent", "mine"), "human_required");
}

}  // namespace
}  // namespace interlock
