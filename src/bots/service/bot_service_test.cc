#include "bots/service/bot_service.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/bot_world.h"

namespace interlock {
namespace {

class Bot : public ::testing::Test {
protected:
    BotWorld world;
};

std::string refusal(const Json& json) {
    return BotWorld::word_of(json, "refused");
}

TEST_F(Bot, TakesTheSevenStepsOfTheDocument) {
    EXPECT_EQ(*world.put_keys().find("keys_loaded"), Json(true));
    const Json exchange = world.body(
        [&](BotService::Reply reply) { world.bots->exchange_status(world.agent(), reply); });
    EXPECT_EQ(*exchange.find("keys_loaded"), Json(true));
    EXPECT_EQ(BotWorld::word_of(world.call(BotCall::initialize), "bot_state"), "ready");
    EXPECT_EQ(world.state(), "ready");
    EXPECT_EQ(BotWorld::word_of(world.call(BotCall::start), "bot_state"), "running");
    EXPECT_EQ(world.state(), "running");
    EXPECT_EQ(*world.bots->status(world.tenant).find("bot_attached"), Json(true));
}

TEST_F(Bot, NamesTheMissingStepOfACallOutOfSequence) {
    EXPECT_EQ(refusal(world.call(BotCall::initialize)), "keys_missing");
    EXPECT_EQ(refusal(world.call(BotCall::start)), "wrong_bot_state");
    EXPECT_EQ(refusal(world.call(BotCall::stop)), "wrong_bot_state");
    EXPECT_EQ(refusal(world.call(BotCall::restart)), "keys_missing");
    EXPECT_EQ(world.state(), "uninitialized");
}

TEST_F(Bot, AnswersASecondInitialisationWithTheCurrentState) {
    world.put_keys();
    world.call(BotCall::initialize);
    const auto before = world.count("BOT_INITIALIZED");
    EXPECT_EQ(BotWorld::word_of(world.call(BotCall::initialize), "bot_state"), "ready");
    EXPECT_EQ(world.count("BOT_INITIALIZED"), before);
}

TEST_F(Bot, PlacesPostOnlyOrdersOnEverySymbol) {
    world.run_bot();
    world.pass(Duration::of_seconds(30));
    const auto orders = world.open_orders();
    std::set<Symbol> symbols;
    for (const VenueOrder& order : orders) {
        EXPECT_TRUE(order.post_only);
        EXPECT_EQ(order.order_type, OrderType::limit);
        symbols.insert(order.symbol);
    }
    EXPECT_EQ(symbols.size(), 3U);
}

TEST_F(Bot, RecordsWhenAPulseFetchedItsFacts) {
    world.run_bot();
    world.pass(Duration::of_seconds(31));
    std::size_t pulses = 0;
    const auto records = *world.plane->ledger.read(world.tenant, 0, 10'000);
    for (const AuditRecord& record : records) {
        if (record.draft.event != "BOT_PULSE") {
            continue;
        }
        ++pulses;
        const Json* fetched = record.draft.detail.find("fetched");
        ASSERT_NE(fetched, nullptr);
        const auto at = parse_timestamp(fetched->find("account_ended_at")->as_string());
        ASSERT_TRUE(at);
        EXPECT_LE(record.draft.timestamp - *at, BotService::kFactsLife);
        const auto due = parse_timestamp(record.draft.detail.find("due_at")->as_string());
        ASSERT_TRUE(due);
        EXPECT_LE(*due, record.draft.timestamp);
        EXPECT_LT(record.draft.timestamp - *due, kPulseEvery);
        EXPECT_EQ(fetched->find("books")->members().size(), 3U);
    }
    EXPECT_GE(pulses, 1U);
    EXPECT_GE(world.times("BOT_PULSE"), 3);
    EXPECT_LE(world.times("BOT_PULSE"), 5);
}

// An idle bot once wrote a record every ten seconds, 8,640 a day.
TEST_F(Bot, IdlePulsesAreCountedNotRecorded) {
    world.run_bot();
    world.pass(Duration::of_minutes(5));
    const std::int64_t before = world.times("BOT_PULSE");
    const std::int64_t first_seq = world.plane->ledger.head(world.tenant)->seq;
    world.pass(Duration::of_hours(2), Duration::of_seconds(5));
    EXPECT_EQ(world.times("BOT_PULSE"), before + 720);
    std::int64_t idle = 0;
    std::int64_t others = 0;  // After each of which the next idle pulse is the first of its kind.
    for (std::int64_t after = first_seq;;) {
        const auto page = *world.plane->ledger.read(world.tenant, after, 1000);
        for (const AuditRecord& record : page) {
            const bool is_pulse = record.draft.event == "BOT_PULSE";
            const bool is_idle = is_pulse && record.draft.status == AuditStatus::skipped;
            idle += is_idle ? 1 : 0;
            others += (is_pulse && !is_idle) || record.draft.event == "FILL_BOOKED" ? 1 : 0;
            after = record.seq;
        }
        if (page.empty()) {
            break;
        }
    }
    EXPECT_LE(idle, others + 3);
    EXPECT_LT(idle + others, 360) << "most pulses of these hours had nothing to do";
}

// What acts is on record whole, with whatever was counted before it in front of it.
TEST_F(Bot, APulseThatActsIsRecordedWhole) {
    world.run_bot();
    world.pass(Duration::of_minutes(20));
    std::int64_t acting = 0;
    const auto records = *world.plane->ledger.read(world.tenant, 0, 1000);
    for (const AuditRecord& record : records) {
        if (record.draft.event == kFoldEvent) {
            const OpenFold fold = decode_fold(record.draft.detail).value();
            const auto& repeated =
                records.at(static_cast<std::size_t>(std::stoll(fold.of_ref)) - 1);
            EXPECT_EQ(fold_problem(record, &repeated), "");
            EXPECT_TRUE(repeated.draft.detail.find("acting")->items().empty());
        } else if (record.draft.event == "BOT_PULSE") {
            acting += record.draft.detail.find("acting")->items().empty() ? 0 : 1;
        }
    }
    EXPECT_GT(acting, 0);
}

TEST_F(Bot, LeavesItsOrdersWhenItIsStoppedAndListsThem) {
    world.run_bot();
    world.pass(Duration::of_seconds(30));
    const std::size_t before = world.open_orders().size();
    ASSERT_GT(before, 0U);
    const Json answer = world.call(BotCall::stop);
    EXPECT_EQ(BotWorld::word_of(answer, "bot_state"), "stopped");
    EXPECT_EQ(answer.find("open_orders")->items().size(), before);
    const std::int64_t pulses = world.times("BOT_PULSE");
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(world.times("BOT_PULSE"), pulses);
}

// Orders remain at the exchange, whatever becomes of the server (bot.md#2-states). Both sides rest:
// an order to buy is an entry, one to sell a reduction, and start-up recovery tells them apart.
TEST_F(Bot, LeavesTheOrdersOfAStopThroughRestartsOfTheServer) {
    world.run_bot();
    const auto side_count = [&](Side side) {
        const std::vector<VenueOrder> open = world.open_orders();
        return std::count_if(
            open.begin(), open.end(), [&](const VenueOrder& one) { return one.side == side; });
    };
    for (int i = 0; i < 2000 && (side_count(Side::buy) == 0 || side_count(Side::sell) == 0); ++i) {
        world.pass(Duration::of_seconds(30));
    }
    ASSERT_GT(side_count(Side::buy), 0);
    ASSERT_GT(side_count(Side::sell), 0);
    world.call(BotCall::stop);
    const auto ids = [&] {
        std::set<std::string> names;
        for (const VenueOrder& order : world.open_orders()) {
            names.insert(order.order_client_id.text());
        }
        return names;
    };
    const std::set<std::string> left = ids();
    const std::int64_t cursor = world.paper->report(world.venue_account(), 0).value().fills_cursor;
    world.restart();
    world.restart();  // Before the first start came to its end.
    EXPECT_EQ(ids(), left);
    world.pass(Duration::of_seconds(20));
    EXPECT_EQ(world.count("SAFE_RECOVERY_RESOLVED"), 1);
    EXPECT_EQ(world.count("SAFE_RECOVERY_ESCALATED"), 0);
    // The market goes on, so some may be filled; none was cancelled.
    std::set<std::string> found = ids();
    for (const VenueFill& fill : world.paper->report(world.venue_account(), cursor).value().fills) {
        found.insert(fill.order_client_id.text());
    }
    EXPECT_EQ(found, left);
    EXPECT_EQ(world.state(), "stopped");
}

// A deploy or a crash is no reason to give up places in the queue, nor to write to people: it is
// asked again once recovery has looked.
TEST_F(Bot, KeepsThePlacesOfARunningBotThroughRestarts) {
    world.run_bot();
    world.pass(Duration::of_seconds(30));
    const auto ids = [&] {
        std::set<std::string> names;
        for (const VenueOrder& order : world.open_orders()) {
            names.insert(order.order_client_id.text());
        }
        return names;
    };
    for (int start = 1; start <= 3; ++start) {
        const std::set<std::string> left = ids();
        ASSERT_FALSE(left.empty());
        const std::int64_t sent = world.orders_sent();
        const std::int64_t cancelled = world.count("ORDER_CANCELED");
        const std::int64_t cursor =
            world.paper->report(world.venue_account(), 0).value().fills_cursor;
        world.restart();
        // As if it had been read anew already: it pulses at once.
        world.bots->board().end_hydration(world.tenant, world.clock.monotonic());
        const std::int64_t pulses = world.times("BOT_PULSE");
        for (int i = 0; i < 600 && world.count("SAFE_RECOVERY_RESOLVED") < start; ++i) {
            world.pass(Duration::of_milliseconds(100), Duration::of_milliseconds(100));
            const Json status = world.bots->status(world.tenant);
            EXPECT_EQ(
                *status.find("trading"), Json(world.count("SAFE_RECOVERY_RESOLVED") == start));
        }
        // The market goes on, so some may be filled; none was cancelled, and none put in its place.
        std::set<std::string> found = ids();
        const auto fills = world.paper->report(world.venue_account(), cursor).value().fills;
        for (const VenueFill& fill : fills) {
            found.insert(fill.order_client_id.text());
        }
        EXPECT_EQ(found, left);
        EXPECT_EQ(world.orders_sent(), sent);
        EXPECT_EQ(world.count("ORDER_CANCELED"), cancelled);
        EXPECT_EQ(world.times("BOT_PULSE"), pulses);
        world.pass(Duration::of_seconds(20));
        EXPECT_GT(world.times("BOT_PULSE"), pulses);
    }
    EXPECT_EQ(world.count("TRADING_BLOCKED"), 0);
    EXPECT_EQ(world.count("TRADING_UNBLOCKED"), 0);
}

TEST_F(Bot, CancelsItsOrdersWhenAStopIsToldTo) {
    world.run_bot();
    world.pass(Duration::of_seconds(30));
    ASSERT_FALSE(world.open_orders().empty());
    world.call(BotCall::stop, true);
    EXPECT_TRUE(world.open_orders().empty());
}

TEST_F(Bot, GoesOnAfterARestartOfTheServerOnceItWasHydrated) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    world.restart();
    EXPECT_EQ(world.state(), "running");
    const std::int64_t pulses = world.times("BOT_PULSE");
    world.pass(Duration::of_seconds(40));
    EXPECT_EQ(world.count("BOT_RESUMED"), 1);
    EXPECT_GT(world.times("BOT_PULSE"), pulses);
}

TEST_F(Bot, StallsWhileTheVenueIsAwayAndKeepsItsState) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    world.venue_answers = false;
    world.pass(Duration::of_seconds(60));
    EXPECT_EQ(world.state(), "running");
    EXPECT_EQ(*world.bots->status(world.tenant).find("stalled"), Json(true));
    EXPECT_EQ(world.count("BOT_STALLED"), 1);
    EXPECT_EQ(world.bots->board().stalled(), 1u);
    EXPECT_EQ(world.bots->board().running(), 1u);
    const std::int64_t orders = world.orders_sent();
    const std::int64_t pulses = world.times("BOT_PULSE");
    world.venue_answers = true;
    world.pass(Duration::of_seconds(90));
    EXPECT_EQ(*world.bots->status(world.tenant).find("stalled"), Json(false));
    EXPECT_GE(world.orders_sent(), orders);
    EXPECT_GT(world.times("BOT_PULSE"), pulses);
    EXPECT_EQ(world.count("BOT_RESUMED"), 1);
}

TEST_F(Bot, FallsBackWhenItsKeysLoseTheirInnocence) {
    world.run_bot();
    ASSERT_TRUE(world.keys.set(SecretString("good"), [] {
        KeyPermissions bad = good_spot_permissions();
        bad.can_withdraw = true;
        return bad;
    }()));
    world.clock.advance(Duration::of_days(1));
    world.plane->runner.fire_timers(100);
    world.run_effects();
    EXPECT_EQ(world.state(), "uninitialized");
    EXPECT_TRUE(world.plane->latch.is_raised(world.tenant));
    EXPECT_EQ(refusal(world.call(BotCall::initialize)), "keys_missing");
}

TEST_F(Bot, RefusesKeysThatCanWithdraw) {
    EXPECT_EQ(refusal(world.put_keys("paper_key_can_withdraw")), "key_rejected");
    EXPECT_EQ(refusal(world.call(BotCall::initialize)), "keys_missing");
}

TEST_F(Bot, StartsNothingWhileTheKillSwitchIsOn) {
    world.put_keys();
    world.call(BotCall::initialize);
    world.plane->latch.raise(world.tenant);
    EXPECT_EQ(refusal(world.call(BotCall::start)), "kill_switch_active");
}

TEST_F(Bot, StaysAsItWasWhenAnotherStrategyHasItsMarket) {
    world.put_keys();
    world.call(BotCall::initialize);
    CreateStrategyRequest request;
    request.call.idempotency_key = IdempotencyKey::trusted("create");
    request.strategy_type = "idle";
    request.account_id = default_account_id();
    request.market_symbol = "ETHUSDT";
    const Json created = world.body([&](BotService::Reply reply) {
        world.plane->strategies->create(world.human(), request, std::move(reply));
    });
    ControlStrategyRequest start;
    start.call.idempotency_key = IdempotencyKey::trusted("start");
    start.action = HelperAction::start;
    world.body([&](BotService::Reply reply) {
        world.plane->strategies->control(
            world.human(),
            StrategyId::trusted(BotWorld::word_of(created, "id")),
            start,
            std::move(reply));
    });
    EXPECT_EQ(refusal(world.call(BotCall::start)), "market_taken");
    EXPECT_EQ(world.state(), "ready");
}

TEST_F(Bot, FallsBackWhenTheVenueIsAwayAtItsStart) {
    world.put_keys();
    world.call(BotCall::initialize);
    world.venue_answers = false;
    EXPECT_EQ(refusal(world.call(BotCall::start)), "hydration_failed");
    EXPECT_EQ(world.state(), "uninitialized");
    world.venue_answers = true;
    EXPECT_EQ(BotWorld::word_of(world.call(BotCall::restart), "bot_state"), "running");
}

TEST_F(Bot, SaysWhereItsHydrationIs) {
    world.put_keys();
    std::vector<std::string> seen;
    world.on_fetch = [&] {
        seen.push_back(to_text(*world.bots->status(world.tenant).find("hydration")));
    };
    world.call(BotCall::initialize);
    EXPECT_EQ(seen, (std::vector<std::string>{R"({"step":"balances","done":2,"total":5})"}));
    EXPECT_TRUE(world.bots->status(world.tenant).find("hydration")->is_null());
}

TEST_F(Bot, ShowsAChangedConfigurationThoughItsTextIsKept) {
    world.run_bot();
    const std::string before = world.bots->config(world.tenant);
    EXPECT_EQ(world.bots->config(world.tenant), before);
    ASSERT_EQ(
        BotWorld::word_of(
            world.change(world.human(), "update_pnl", UpdatePnl{Decimal(2)}), "status"),
        "applied");
    EXPECT_EQ(*world.config().find("pnl_perc"), Json::number("2"));
    EXPECT_NE(world.bots->config(world.tenant), before);
}

TEST_F(Bot, MakesAnAgentsChangeAProposal) {
    const Json answer = world.change(world.agent(), "update_pnl", UpdatePnl{Decimal(2)});
    EXPECT_EQ(BotWorld::word_of(answer, "status"), "pending_approval");
    EXPECT_EQ(*world.config().find("pnl_perc"), Json::number("1"));
    EXPECT_EQ(to_text(*answer.find("difference")), R"({"pnl_perc":{"from":1,"to":2}})");
}

TEST_F(Bot, AppliesAPersonsChangeAtOnce) {
    const Json answer = world.change(world.human(), "update_pnl", UpdatePnl{Decimal(2)});
    EXPECT_EQ(BotWorld::word_of(answer, "status"), "applied");
    EXPECT_EQ(*world.config().find("pnl_perc"), Json::number("2"));
}

TEST_F(Bot, TellsWhatAnAmountIsWorthAndRefusesMoreThanThereIs) {
    world.run_bot();
    const auto all = [](const std::string& btc) {
        UpdateAllSymbols update;
        update.symbols = {Symbol::parse("BTCUSDT").value()};
        update.amounts = {{update.symbols[0], Decimal::parse(btc).value()}};
        return update;
    };
    const Result<Answer> refused = world.ask([&](BotService::Reply reply) {
        world.bots->change(
            world.human(),
            {.operation = "update_all_symbols", .update = all("1000000000000")},
            reply);
    });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errors::invalid_request);
    ASSERT_EQ(refused.error().problems.size(), 1u);
    const std::string problem = refused.error().problems[0].problem;
    // The value that it names passes.
    const std::string largest = problem.substr(problem.rfind(' ') + 1);
    const Json proposed = world.change(world.agent(), "update_all_symbols", all(largest));
    ASSERT_EQ(BotWorld::word_of(proposed, "status"), "pending_approval") << to_text(proposed);
    const Json* money = proposed.find("money");
    EXPECT_EQ(money->find("at")->as_string(), to_text(world.clock.now()));
    const Json* value = money->find("by_symbol")->find("BTCUSDT");
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(value->find("asset")->as_string(), "USDT");
    // The human who decides reads it in the request itself.
    Json approval;
    world.plane->approvals.get(
        {world.human().principal, world.tenant},
        ApprovalId::trusted(BotWorld::word_of(proposed, "proposal_id")),
        [&](Result<Answer> answer) { approval = *parse_json(answer->body); });
    EXPECT_NE(
        approval.find("summary")->as_string().find(
            "BTCUSDT " + value->find("value")->as_string() + " USDT"),
        std::string::npos)
        << to_text(approval);
    EXPECT_EQ(world.config().find("money")->find("by_symbol")->members().size(), 3u);
}

TEST_F(Bot, TellsEveryProblemOfASettingAtOnce) {
    UpdateBotSettings settings;
    settings.levels = 0;
    settings.volatility = Decimal(11);
    settings.timeframe = "7m";
    const auto problems = [&](const BotUpdate& update) {
        const Result<Answer> answer = world.ask([&](BotService::Reply reply) {
            world.bots->change(
                world.human(), {.operation = "update_bot_settings", .update = update}, reply);
        });
        return answer ? std::vector<FieldProblem>() : answer.error().problems;
    };
    EXPECT_EQ(problems(settings).size(), 3u);
    // What three markets have in common is said once.
    const auto fee = problems(UpdatePnl{Decimal::parse("0.15").value()});
    ASSERT_EQ(fee.size(), 1u);
    EXPECT_EQ(fee[0].path, "pnl_perc");
    EXPECT_EQ(fee[0].problem, "must be more than twice the maker fee");
}

class Proposals : public Bot {
protected:
    std::string propose(Decimal pnl) {
        return BotWorld::word_of(
            world.change(world.agent(), "update_pnl", UpdatePnl{pnl}), "proposal_id");
    }
    Json approve(const std::string& id) {
        return world.body([&](BotService::Reply reply) {
            world.plane->approvals.approve(
                {world.human().principal, world.tenant},
                ApprovalId::trusted(id),
                {},
                std::move(reply));
        });
    }
    std::string pnl() { return to_text(*world.config().find("pnl_perc")); }
};

TEST_F(Proposals, AreCarriedOutByAHumanAfterARestart) {
    const std::string id = propose(Decimal(3));
    world.restart();
    approve(id);
    EXPECT_EQ(pnl(), "3");
}

TEST_F(Proposals, ExpireAndChangeNothing) {
    const std::string id = propose(Decimal(3));
    world.clock.advance(Duration::of_hours(25));
    world.plane->runner.fire_timers(100);
    EXPECT_EQ(refusal(approve(id)), "approval_not_pending");
    EXPECT_EQ(pnl(), "1");
}

// Stale ones void themselves: nobody has to reject what can never be carried out.
TEST_F(Proposals, AreVoidOnceTheConfigurationHasMoved) {
    const std::string id = propose(Decimal(3));
    world.change(world.human(), "update_pnl", UpdatePnl{Decimal(2)});
    EXPECT_EQ(world.count("APPROVAL_LAPSED"), 1);
    EXPECT_EQ(refusal(approve(id)), "approval_not_pending");
    EXPECT_EQ(pnl(), "2");
}

TEST_F(Proposals, OfOneKeyAndOperationTakeEachOthersPlace) {
    const std::string first = propose(Decimal(3));
    UpdateBotSettings settings;
    settings.levels = 5;
    const std::string other_operation = BotWorld::word_of(
        world.change(world.agent(), "update_bot_settings", settings), "proposal_id");
    BotService::Caller other_key = world.agent();
    other_key.principal.id = "key_2";
    const std::string of_other_key = BotWorld::word_of(
        world.change(other_key, "update_pnl", UpdatePnl{Decimal(5)}), "proposal_id");

    const Json next = world.change(world.agent(), "update_pnl", UpdatePnl{Decimal(4)});
    EXPECT_EQ(to_text(*next.find("replaced")), "[\"" + first + "\"]");
    EXPECT_EQ(refusal(approve(first)), "approval_not_pending");
    const std::string second = BotWorld::word_of(next, "proposal_id");
    // The same again is the same proposal.
    EXPECT_EQ(propose(Decimal(4)), second);
    EXPECT_EQ(propose(Decimal(4)), second);
    EXPECT_EQ(world.count("APPROVAL_REQUESTED"), 4);
    EXPECT_EQ(world.count("BOT_PROPOSAL"), 5);  // The second repeat is counted, not recorded.
    approve(second);
    EXPECT_EQ(pnl(), "4");
    // The others were made on what is not in effect any more.
    EXPECT_EQ(refusal(approve(other_operation)), "approval_not_pending");
    EXPECT_EQ(refusal(approve(of_other_key)), "approval_not_pending");
}

TEST_F(Proposals, NeverFillTheDesk) {
    for (std::int64_t i = 0; i < 3 * ApprovalService::kPendingMax; ++i) {
        const Json answer =
            world.change(world.agent(), "update_pnl", UpdatePnl{Decimal(2 + i % 2)});
        ASSERT_EQ(BotWorld::word_of(answer, "status"), "pending_approval") << to_text(answer);
    }
    EXPECT_EQ(world.count("APPROVAL_LAPSED"), 3 * ApprovalService::kPendingMax - 1);
}

TEST_F(Proposals, AreNotUndoneByAReload) {
    approve(propose(Decimal(3)));
    world.body([&](BotService::Reply reply) { world.bots->reload(world.agent(), reply); });
    EXPECT_EQ(pnl(), "3");
}

// Whatever runs as the operator's user may speak on its socket, a tricked agent included.
TEST_F(Bot, MakesTheOperatorsChangeAProposal) {
    world.change(world.human(), "update_pnl", UpdatePnl{Decimal(2)});
    const Json answer = world.change(world.host(), "update_pnl", UpdatePnl{Decimal(5)});
    EXPECT_EQ(BotWorld::word_of(answer, "status"), "pending_approval");
    EXPECT_EQ(*world.config().find("pnl_perc"), Json::number("2"));
    world.body([&](BotService::Reply reply) { world.bots->reload(world.host(), reply); });
    EXPECT_EQ(*world.config().find("pnl_perc"), Json::number("2"));
}

TEST_F(Bot, LeavesAMarketThatIsTakenOutAndCancelsItsOrdersThere) {
    world.run_bot();
    world.pass(Duration::of_seconds(30));
    const Symbol sol = Symbol::parse("SOLUSDT").value();
    const Symbol xrp = Symbol::parse("XRPUSDT").value();
    world.change(world.human(), "update_symbol", UpdateSymbol{sol, xrp, Decimal(300)});
    world.pass(Duration::of_seconds(30));
    bool has_xrp = false;
    const auto orders = world.open_orders();
    for (const VenueOrder& order : orders) {
        EXPECT_NE(order.symbol, sol);
        has_xrp = has_xrp || order.symbol == xrp;
    }
    EXPECT_TRUE(has_xrp);
}

TEST_F(Bot, IsStalledWhileDisconnected) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    world.body([&](BotService::Reply reply) { world.bots->disconnect(world.agent(), reply); });
    const std::int64_t pulses = world.times("BOT_PULSE");
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(world.times("BOT_PULSE"), pulses);
    EXPECT_EQ(world.state(), "running");
    EXPECT_EQ(*world.bots->status(world.tenant).find("stalled"), Json(true));
    world.body([&](BotService::Reply reply) { world.bots->connect(world.agent(), reply); });
    world.pass(Duration::of_seconds(40));
    EXPECT_GT(world.times("BOT_PULSE"), pulses);
    EXPECT_EQ(*world.bots->status(world.tenant).find("stalled"), Json(false));
}

TEST_F(Bot, KeepsItsStrategiesToItself) {
    world.run_bot();
    DeleteStrategyRequest request;
    request.call.idempotency_key = IdempotencyKey::trusted("k");
    const Json answer = world.body([&](BotService::Reply reply) {
        world.plane->strategies->remove(
            world.human(), StrategyId::trusted("bot.btcusdt"), request, std::move(reply));
    });
    EXPECT_EQ(BotWorld::word_of(*answer.find("error"), "code"), "kept_by_bot");
}

TEST_F(Bot, ShowsItsOwnLedgerAsLogLines) {
    world.run_bot();
    const Json logs = *parse_json(world.bots->logs(world.tenant, 3)->text);
    const std::string text = logs.find("logs")->as_string();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    EXPECT_NE(text.find("BOT_STARTED"), std::string::npos);
}

TEST_F(Bot, ShowsNewLogLinesOnceThereAreSome) {
    world.run_bot();
    const std::string before = world.bots->logs(world.tenant, 5)->text;
    EXPECT_EQ(world.bots->logs(world.tenant, 5)->text, before);
    EXPECT_EQ(world.bots->logs(world.tenant, 5)->records_read, 0);
    EXPECT_NE(world.bots->logs(world.tenant, 4)->text, before);
    world.call(BotCall::stop);
    EXPECT_NE(world.bots->logs(world.tenant, 5)->text.find("BOT_STOPPED"), std::string::npos);
}

TEST_F(Bot, TellsItsPositionsAnewAfterATrade) {
    world.run_bot();
    const auto read = [&] {
        return to_text(world.body(
            [&](BotService::Reply reply) { world.bots->positions(world.agent(), reply); }));
    };
    const std::string first = read();
    world.pass(Duration::of_seconds(30));
    EXPECT_NE(read(), first);  // Orders rest there now.
}

}  // namespace
}  // namespace interlock
