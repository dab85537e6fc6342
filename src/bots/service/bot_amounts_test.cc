// What the amounts of a bot are worth together: bounded by the account, and told to the human who
// decides.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/bot_world.h"

namespace interlock {
namespace {

class BotAmounts : public ::testing::Test {
protected:
    // The three markets of the bot, each with an amount that is worth about so many USDT.
    UpdateAllSymbols worth_each(std::int64_t usdt) {
        const Json config = world.config();
        UpdateAllSymbols update;
        for (const auto& [name, told] : config.find("money")->find("by_symbol")->members()) {
            const Symbol symbol = Symbol::parse(name).value();
            const Decimal amount = BotWorld::small_config().amounts.at(symbol);
            const Decimal value = Decimal::parse(BotWorld::word_of(told, "value")).value();
            const Decimal price = divide_half_even(value, amount).value();
            const Decimal step = Decimal::parse("0.00001").value();
            update.symbols.push_back(symbol);
            update.amounts[symbol] =
                floor_to_step(divide_round_down(Decimal(usdt), price).value(), step).value();
        }
        return update;
    }

    BotWorld world;
};

// The account is worth 10,000 USDT; every one of the amounts below is less than that.
TEST_F(BotAmounts, TogetherAreBoundedByTheAccountAndToldInTheApproval) {
    world.run_bot();
    const UpdateAllSymbols wanted = worth_each(4'000);
    ASSERT_EQ(wanted.symbols.size(), 3u);
    for (const BotService::Caller& who : {world.agent(), world.human()}) {
        const Result<Answer> refused = world.ask([&](BotService::Reply reply) {
            world.bots->change(who, {.operation = "update_all_symbols", .update = wanted}, reply);
        });
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error(), errors::invalid_request);
        ASSERT_EQ(refused.error().problems.size(), 1u);
        EXPECT_EQ(refused.error().problems[0].path, "amounts_by_symbol");
        EXPECT_NE(
            refused.error().problems[0].problem.find("more than the whole account (10000 USDT)"),
            std::string::npos)
            << refused.error().problems[0].problem;
    }

    const Json proposed = world.change(world.agent(), "update_all_symbols", worth_each(3'000));
    ASSERT_EQ(BotWorld::word_of(proposed, "status"), "pending_approval") << to_text(proposed);
    const Json* const total = proposed.find("money")->find("total");
    ASSERT_NE(total, nullptr);
    EXPECT_EQ(BotWorld::word_of(*total, "asset"), "USDT");
    const Decimal value = Decimal::parse(BotWorld::word_of(*total, "value")).value();
    EXPECT_GT(value, Decimal(8'900));
    EXPECT_LE(value, Decimal(9'000));
    Json approval;
    world.plane->approvals.get(
        {world.human().principal, world.tenant},
        ApprovalId::trusted(BotWorld::word_of(proposed, "proposal_id")),
        [&](Result<Answer> answer) { approval = *parse_json(answer->body); });
    EXPECT_NE(
        approval.find("summary")->as_string().find("; " + to_text(value) + " USDT in all."),
        std::string::npos)
        << to_text(approval);
    EXPECT_FALSE(world.config().find("money")->find("total")->is_null());
}

// One market at a time leads no further than all at once.
TEST_F(BotAmounts, OneAfterTheOtherDoNotPassTheAccountEither) {
    world.run_bot();
    const UpdateAllSymbols wanted = worth_each(4'000);
    std::vector<std::string> told;
    for (const auto& [symbol, amount] : wanted.amounts) {
        told.push_back(BotWorld::word_of(
            world.change(world.human(), "update_symbol", UpdateSymbol{symbol, symbol, amount}),
            "status"));
    }
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[0], "applied");
    EXPECT_EQ(told[1], "applied");
    EXPECT_NE(told[2], "applied");
}

}  // namespace
}  // namespace interlock
