#include "relay/service/relay_strangers.h"

#include <gtest/gtest.h>

#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;

Encounter met_in_dm(const std::string& user) {
    Encounter met;
    met.bot = {"telegram", "123"};
    met.chat_id = user;
    met.chat_type = "dm";
    met.user_id = user;
    met.user_name = "Zoe";
    met.is_dm = true;
    met.addresses_bot = true;
    return met;
}

Encounter met_in_group(const std::string& user, const std::string& tenant = "") {
    Encounter met = met_in_dm(user);
    met.is_dm = false;
    met.chat_id = "-1001";
    met.discriminator = "-1001";
    met.chat_type = "group";
    met.tenant_id = TenantId::trusted(tenant);
    return met;
}

class StrangersTest : public ::testing::Test {
protected:
    void note(const Encounter& met) {
        world.change([&](RelayTurn& turn) { world.strangers().note(turn, met); });
    }
    bool may_answer(const Encounter& met) {
        bool may = false;
        world.change([&](RelayTurn& turn) { may = world.strangers().may_answer(turn, met); });
        return may;
    }
    Json::Array list(const std::string& tenant = "") {
        const Json json = world.strangers().list(TenantId::trusted(tenant));
        return json.find("strangers")->items();
    }
    std::int64_t number_of(const std::string& user) {
        for (const Json& one : list()) {
            if (one.find("userId")->as_string() == user) {
                return *one.find("number")->as_int64();
            }
        }
        return 0;
    }
    World world;
};

TEST_F(StrangersTest, SaysWhoAndWhereAndNothingOfWhatWasSaid) {
    note(met_in_dm("4242"));
    const auto all = list();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].find("userId")->as_string(), "4242");
    EXPECT_EQ(all[0].find("botId")->as_string(), "123");
    EXPECT_EQ(all[0].find("userName")->as_string(), "Zoe");
    EXPECT_TRUE(all[0].find("tenant")->is_null());
    EXPECT_EQ(all[0].find("lastSeen")->as_string(), to_text(world.clock.now()));
}

TEST_F(StrangersTest, HasOneEntryForAChatThatIsNotRoutedAndOneForAUserOfARoutedOne) {
    note(met_in_group("u1"));
    note(met_in_group("u2"));
    EXPECT_EQ(list().size(), 1u);
    note(met_in_group("u1", "acme"));
    note(met_in_group("u2", "acme"));
    EXPECT_EQ(list("acme").size(), 2u);
    EXPECT_EQ(list().size(), 3u);
    EXPECT_TRUE(list("globex").empty());
}

TEST_F(StrangersTest, SeesHimAgainUnderTheSameNumber) {
    note(met_in_dm("4242"));
    const std::int64_t number = number_of("4242");
    world.clock.advance(kStrangerLook);
    note(met_in_dm("4242"));
    EXPECT_EQ(number_of("4242"), number);
    EXPECT_EQ(list()[0].find("lastSeen")->as_string(), to_text(world.clock.now()));
    EXPECT_NE(list()[0].find("firstSeen")->as_string(), to_text(world.clock.now()));
}

// Who is let in by a number is whom the list showed, however long ago.
TEST_F(StrangersTest, NeverGivesANumberTwice) {
    note(met_in_dm("first"));
    const std::int64_t number = number_of("first");
    world.clock.advance(kStrangerLife);
    world.change([&](RelayTurn& turn) { world.strangers().sweep(turn); });
    EXPECT_TRUE(list().empty());
    ASSERT_TRUE(world.restart().has_value());
    note(met_in_dm("second"));
    EXPECT_GT(number_of("second"), number);
}

TEST_F(StrangersTest, ForgetsWhoWasNotSeenForLongestBeyondTheBoundOfATenantAtABot) {
    note(met_in_group("kept", "globex"));
    Encounter elsewhere = met_in_dm("elsewhere");
    elsewhere.bot.bot_id = "124";
    note(elsewhere);
    for (std::size_t i = 0; i <= kStrangersPerBotMax; ++i) {
        world.clock.advance(Duration::of_milliseconds(1));
        note(met_in_dm("u" + std::to_string(i)));
    }
    const auto of_number = [this](std::int64_t number) {
        return world.strangers().list({}, number).find("strangers")->items().size();
    };
    EXPECT_EQ(of_number(3), 0u);  // u0, behind the two above.
    EXPECT_EQ(of_number(4), 1u);
    EXPECT_EQ(list("globex").size(), 1u);
    EXPECT_EQ(world.state().strangers.held(), kStrangersPerBotMax + 2);
    // A crowd at one bot hides nobody at another in what is shown, either.
    EXPECT_NE(number_of("elsewhere"), 0);
    EXPECT_EQ(list().size(), kStrangersShownMax);
}

TEST_F(StrangersTest, KnowsThemAfterARestart) {
    note(met_in_dm("4242"));
    ASSERT_TRUE(world.restart().has_value());
    EXPECT_EQ(list().size(), 1u);
    world.clock.advance(kStrangerLife);
    world.change([&](RelayTurn& turn) { world.strangers().sweep(turn); });
    EXPECT_TRUE(list().empty());
}

TEST_F(StrangersTest, WhoIsLinkedOrRoutedIsNoStrangerAnyMore) {
    world.add_bot("telegram", "123");
    world.add_instance("i1");
    note(met_in_dm("4242"));
    note(met_in_group("4242"));
    ASSERT_TRUE(world.bind("telegram", "4242", "i1").has_value());
    ASSERT_EQ(list().size(), 1u);  // The chat is nobody's yet.
    ASSERT_TRUE(world.route({"telegram", "123"}, "-1001").has_value());
    EXPECT_TRUE(list().empty());
}

TEST_F(StrangersTest, AnswersOnceAnHourAndInGroupsOnlyWhenAddressed) {
    EXPECT_TRUE(may_answer(met_in_dm("4242")));
    EXPECT_FALSE(may_answer(met_in_dm("4242")));
    EXPECT_TRUE(may_answer(met_in_dm("4243")));
    Encounter aside = met_in_group("4242");
    aside.addresses_bot = false;
    EXPECT_FALSE(may_answer(aside));
    EXPECT_TRUE(may_answer(met_in_group("4242")));
    EXPECT_FALSE(may_answer(met_in_group("4243")));  // The chat has been told.
    world.clock.advance(kStrangerAnswerWindow);
    EXPECT_TRUE(may_answer(met_in_dm("4242")));
}

TEST_F(StrangersTest, ABotAnswersSoManyInAnHourAndNoMore) {
    std::int64_t answered = 0;
    for (std::int64_t i = 0; i < kStrangerAnswersPerBotMax + 5; ++i) {
        answered += may_answer(met_in_dm("u" + std::to_string(i))) ? 1 : 0;
    }
    EXPECT_EQ(answered, kStrangerAnswersPerBotMax);
}

}  // namespace
}  // namespace interlock
