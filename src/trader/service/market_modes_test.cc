// What restricts one market says nothing of the others (agent-loop.md#risk-modes): in the state a
// planner is told, and at the gates behind it.
#include <gtest/gtest.h>

#include "market/rules/synthetic_market.h"
#include "testing/strategy_world.h"

namespace interlock {
namespace {

struct MarketModesTest : ::testing::Test {
    MarketModesTest() : world(std::make_unique<SyntheticMarket>()) {
        world.account();
        world.pass(Duration::of_seconds(2));
        concern("BTCUSDT");
        concern("ETHUSDT");
    }

    // A strategy that does nothing makes the market a concern.
    void concern(const std::string& symbol) {
        CreateStrategyRequest request;
        request.call.idempotency_key = IdempotencyKey::trusted("make" + symbol);
        request.strategy_type = "idle";
        request.account_id = default_account_id();
        request.market_symbol = symbol;
        const Json answer = world.answer_of([&](LoopService::Reply reply) {
            world.plane->strategies->create(world.caller(), std::move(request), std::move(reply));
        });
        EXPECT_NE(answer.find("id"), nullptr) << to_text(answer);
    }
    void set_mode(const std::string& symbol, const std::string& mode) {
        Json payload = StrategyWorld::payload("mode" + symbol + mode, "set_risk_mode");
        payload.set("concern_id", "main:" + symbol);
        payload.set("market_symbol", symbol);
        payload.set("risk_mode", mode);
        EXPECT_EQ(word(world.decide(payload), "status"), "applied");
    }
    Json state() {
        Json body = LoopWorld::ids_of("look", "look" + std::to_string(++looks_));
        body.set("as_of", to_text(world.clock.now()));
        return *world.call("state", body).find("state");
    }
    static Json row_of(const Json& rows, std::string_view symbol, std::string_view side = {}) {
        for (const Json& row : rows.items()) {
            if (*row.find("symbol") == Json(symbol) &&
                (side.empty() || *row.find("side") == Json(side))) {
                return row;
            }
        }
        ADD_FAILURE() << "no row of " << symbol;
        return {};
    }
    // Through validation and dry run, as a market order.
    bool passes(const Json& row, Decimal qty) {
        const std::string id = "try" + std::to_string(++looks_);
        Json intent = LoopWorld::intent(word(row, "side"), to_text(qty), Json());
        intent.set("symbol", *row.find("symbol"));
        const Json intents = Json::array({intent});
        const Json verdict = world.validate(id, intents);
        if (!verdict.find("validation")->find("pass")->as_bool()) {
            return false;
        }
        return world.dry_run(id, intents).find("dry_run")->find("pass")->as_bool();
    }

    StrategyWorld world;

private:
    int looks_ = 0;
};

TEST_F(MarketModesTest, AHaltedConcernClosesItsOwnEnvelopeAlone) {
    const Json before = state();
    set_mode("btcusdt", "halted");
    const Json after = state();
    const Json& rows = *after.find("allowed_envelope");
    EXPECT_EQ(word(row_of(rows, "BTCUSDT", "buy"), "max_qty"), "0");
    const std::string why = to_text(*row_of(rows, "BTCUSDT", "buy").find("blocked_by"));
    EXPECT_NE(why.find("policy_guardrails:risk_mode_halted:BTCUSDT"), std::string::npos) << why;
    for (const char* symbol : {"ETHUSDT", "SOLUSDT", "XRPUSDT"}) {
        EXPECT_EQ(
            to_text(row_of(rows, symbol, "buy")),
            to_text(row_of(*before.find("allowed_envelope"), symbol, "buy")));
        EXPECT_NE(word(row_of(rows, symbol, "buy"), "max_qty"), "0") << symbol;
    }
}

TEST_F(MarketModesTest, AccountAndConcernsAreToldApart) {
    const Json before = *state().find("runtime_flags");
    set_mode("btcusdt", "halted");
    set_mode("ethusdt", "defensive");
    const Json after = state();
    EXPECT_EQ(to_text(*after.find("runtime_flags")), to_text(before));
    const Json& modes = *after.find("market_modes");
    const std::string account = word(before, "risk_mode");
    EXPECT_EQ(word(row_of(modes, "BTCUSDT"), "concern_mode"), "halted");
    EXPECT_EQ(word(row_of(modes, "BTCUSDT"), "size_factor"), "0");
    EXPECT_EQ(word(row_of(modes, "ETHUSDT"), "risk_mode"), "defensive");
    EXPECT_EQ(word(row_of(modes, "ETHUSDT"), "size_factor"), "0.25");
    EXPECT_EQ(word(row_of(modes, "SOLUSDT"), "concern_mode"), "normal");
    EXPECT_EQ(word(row_of(modes, "SOLUSDT"), "risk_mode"), account);
}

// The property of the envelope, at the service: its largest size passes, one step more does not.
TEST_F(MarketModesTest, TheEnvelopeOfEveryMarketIsWhatTheLoopAllows) {
    set_mode("btcusdt", "halted");
    set_mode("ethusdt", "reduced");
    const Json told = state();
    int open = 0;
    for (const Json& row : told.find("allowed_envelope")->items()) {
        const auto qty = Decimal::parse(word(row, "max_qty")).value();
        const Symbol symbol = Symbol::parse(word(row, "symbol")).value();
        const MarketSet market = world.paper->facts(std::vector<Symbol>{symbol});
        const Decimal step = market.markets.at(0).rules.step_size;
        if (qty.is_positive()) {
            ++open;
            EXPECT_TRUE(passes(row, qty)) << to_text(row);
        }
        EXPECT_FALSE(passes(row, *add(qty, step))) << to_text(row);
    }
    EXPECT_GE(open, 8);
}

// One plan in two markets: the halted one alone is named.
TEST_F(MarketModesTest, APlanIsToldWhichOfItsMarketsIsHalted) {
    set_mode("btcusdt", "halted");
    Json halted = LoopWorld::intent("buy", "0.001", Json());
    halted.set("symbol", "BTCUSDT");
    Json fine = LoopWorld::intent("buy", "0.1", Json());
    fine.set("symbol", "ETHUSDT");
    const Json verdict = world.validate("both", Json::array({halted, fine}));
    EXPECT_EQ(
        to_text(*verdict.find("validation")->find("blocking_reasons")),
        R"(["risk_limits:entries_stopped:BTCUSDT","policy_guardrails:risk_mode_halted:BTCUSDT"])");
    EXPECT_TRUE(
        world.validate("fine", Json::array({fine})).find("validation")->find("pass")->as_bool());
}

}  // namespace
}  // namespace interlock
