#include "relay/service/relay_people.h"

#include <gtest/gtest.h>

#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;
const BotKey kBot{"telegram", "123"};

class PeopleTest : public ::testing::Test {
protected:
    PeopleTest() : one(world.add_instance("one")), two(world.add_instance("two", "globex")) {
        world.add_bot("telegram", "123");
    }
    void bind(const std::string& instance) {
        ASSERT_EQ(World::code_of(world.bind("telegram", "ann", instance)), "ok");
        world.clock.advance(Duration::of_seconds(1));
    }
    std::string say(const std::string& text, const std::string& user = "ann") {
        std::string answer;
        world.change([&](RelayTurn& turn) {
            answer = world.people().answer(
                turn,
                {.bot = kBot, .user_id = user, .user_name = "Ann", .is_dm = true},
                *read_person_word(text));
        });
        return answer;
    }
    Result<Json> ask_for_dm(const RelayCaller& caller) {
        return world.ask([&](RelayReply reply) {
            world.management().set_dm_default(caller, {"telegram", {}, "ann"}, std::move(reply));
        });
    }
    std::string wish() {
        std::string sentence;
        world.change(
            [&](RelayTurn& turn) { sentence = world.people().wish_for(turn, kBot, "ann"); });
        return sentence;
    }
    std::string target() { return world.state().dm_choice_of(kBot, "ann"); }

    World world;
    RelayCaller one;
    RelayCaller two;
};

TEST_F(PeopleTest, WhoamiTellsTheIdAndTheAgents) {
    EXPECT_NE(say("/whoami").find("ann"), std::string::npos);
    EXPECT_NE(say("/whoami").find("/link CODE"), std::string::npos);
    bind("one");
    bind("two");
    const std::string told = say("/whoami");
    EXPECT_NE(told.find("1. one, which gets your direct messages"), std::string::npos) << told;
    EXPECT_NE(told.find("2. two"), std::string::npos) << told;
}

TEST_F(PeopleTest, UnlinkEndsTheOnlyLinkOrTheOneThatIsNamed) {
    bind("one");
    bind("two");
    EXPECT_NE(say("/unlink").find("2. two"), std::string::npos);
    EXPECT_EQ(world.state().bindings_of(kBot, "ann").size(), 2u);
    EXPECT_NE(say("/unlink 3").find("none of your agents"), std::string::npos);
    EXPECT_NE(say("/unlink 2").find("no longer linked to two"), std::string::npos);
    EXPECT_NE(say("/unlink").find("no longer linked to one"), std::string::npos);
    EXPECT_TRUE(world.state().bindings_of(kBot, "ann").empty());
    EXPECT_EQ(world.count_in_chain("RELAY_UNBOUND", "globex"), 1);
    EXPECT_NE(say("/unlink").find("linked to no agent"), std::string::npos);
}

TEST_F(PeopleTest, NobodyUnlinksOrChoosesForSomebodyElse) {
    bind("one");
    EXPECT_NE(say("/unlink one", "eve").find("linked to no agent"), std::string::npos);
    EXPECT_EQ(world.state().bindings_of(kBot, "ann").size(), 1u);
    EXPECT_NE(say("/default one", "eve").find("linked to no agent"), std::string::npos);
}

TEST_F(PeopleTest, DefaultChoosesByNumberOrById) {
    bind("one");
    bind("two");
    EXPECT_EQ(target(), "one");
    EXPECT_NE(say("/default 2").find("go to two now"), std::string::npos);
    EXPECT_EQ(target(), "two");
    say("/default one");
    EXPECT_EQ(target(), "one");
    EXPECT_NE(say("/default").find("/default 2"), std::string::npos);
    EXPECT_NE(say("/default 0").find("none of your agents"), std::string::npos);
    EXPECT_EQ(target(), "one");
}

// An agent that he once linked cannot take his direct messages from another by asking.
TEST_F(PeopleTest, AnInstanceThatAsksWaitsForThePersonsWord) {
    bind("one");
    bind("two");
    const auto asked = ask_for_dm(two);
    ASSERT_EQ(World::code_of(asked), "ok");
    EXPECT_EQ(World::text_of(asked, "state"), "asked");
    EXPECT_EQ(target(), "one");
    const std::string sentence = wish();
    EXPECT_NE(sentence.find("two asks"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("/default two"), std::string::npos) << sentence;
    EXPECT_EQ(wish(), "");  // Once.
    ASSERT_TRUE(world.restart().has_value());
    EXPECT_EQ(wish(), "");
    EXPECT_EQ(target(), "one");
    say("/default two");
    EXPECT_EQ(target(), "two");
    EXPECT_EQ(World::text_of(ask_for_dm(two), "state"), "set");
}

TEST_F(PeopleTest, OneWishAtATimeAndAgainAfterADay) {
    const RelayCaller three = world.add_instance("three");
    bind("one");
    bind("two");
    bind("three");
    EXPECT_EQ(World::text_of(ask_for_dm(two), "state"), "asked");
    EXPECT_EQ(World::text_of(ask_for_dm(two), "state"), "asked");
    EXPECT_EQ(world.count_in_chain("RELAY_DM_DEFAULT_ASKED", "globex"), 1);
    EXPECT_EQ(World::code_of(ask_for_dm(three)), "conflict");
    EXPECT_NE(wish(), "");
    world.clock.advance(kDmWishLife);
    EXPECT_EQ(World::text_of(ask_for_dm(three), "state"), "asked");
    EXPECT_NE(wish().find("three asks"), std::string::npos);
}

TEST_F(PeopleTest, AWishEndsWithItsLink) {
    bind("one");
    bind("two");
    ask_for_dm(two);
    say("/unlink two");
    EXPECT_EQ(wish(), "");
    EXPECT_EQ(world.state().dm_defaults.held(), 0u);
    EXPECT_EQ(target(), "one");
}

TEST_F(PeopleTest, HeIsAnsweredSoOftenAndNoMore) {
    bind("one");
    for (std::int64_t i = 0; i < kPersonWordsMax; ++i) {
        EXPECT_NE(say("/whoami"), "");
    }
    EXPECT_EQ(say("/whoami"), "");
    EXPECT_EQ(say("/unlink"), "");
    EXPECT_EQ(world.state().bindings_of(kBot, "ann").size(), 1u);
    world.clock.advance(kPersonWindow);
    EXPECT_NE(say("/whoami"), "");
}

// What is said to somebody who is linked to nothing is counted as every answer to strangers is.
TEST_F(PeopleTest, WordsOfTheUnlinkedCountWithTheBotAndTheChat) {
    for (std::int64_t i = 0; i < kStrangerWordsMax; ++i) {
        EXPECT_NE(say("/link WRONG", "zoe"), "");
    }
    EXPECT_EQ(say("/whoami", "zoe"), "");
    const auto in_group = [this](const std::string& user, const std::string& chat) {
        std::string answer;
        world.change([&](RelayTurn& turn) {
            answer = world.people().answer(
                turn,
                {.bot = kBot, .user_id = user, .user_name = {}, .chat_id = chat, .is_dm = false},
                {PersonWordKind::link, "WRONG"});
        });
        return answer;
    };
    EXPECT_NE(in_group("u1", "-1001"), "");
    EXPECT_EQ(in_group("u2", "-1001"), "");  // Once an hour.
    EXPECT_NE(in_group("u2", "-1002"), "");
    std::int64_t answered = kStrangerWordsMax + 2;
    for (int user = 0; user < 60; ++user) {
        for (const char* word : {"/whoami", "/unlink", "/default"}) {
            answered += say(word, "v" + std::to_string(user)).empty() ? 0 : 1;
        }
    }
    EXPECT_EQ(answered, kStrangerAnswersPerBotMax);
    Encounter met;
    met.bot = kBot;
    met.user_id = met.chat_id = "polite";
    met.is_dm = true;
    world.change([&](RelayTurn& turn) { EXPECT_EQ(world.people().meet(turn, met), ""); });
    bind("one");
    EXPECT_NE(say("/whoami"), "");  // Who is linked is answered all the same.
    world.clock.advance(kStrangerAnswerWindow);
    EXPECT_NE(say("/whoami", "zoe"), "");
}

TEST_F(PeopleTest, ABotThatIsSilentListsStrangersAndTellsThemNothing) {
    RelayPeople silent(
        {.state = world.state(),
         .management = world.management(),
         .strangers = world.strangers(),
         .answers_strangers = [](const BotKey&) { return false; }});
    Encounter met;
    met.bot = kBot;
    met.user_id = met.chat_id = "zoe";
    met.is_dm = true;
    std::string told = "?";
    world.change([&](RelayTurn& turn) { told = silent.meet(turn, met); });
    EXPECT_EQ(told, "");
    const Person zoe{.bot = kBot, .user_id = "zoe", .user_name = {}, .is_dm = true};
    world.change([&](RelayTurn& turn) {
        EXPECT_EQ(silent.answer(turn, zoe, {PersonWordKind::whoami, {}}), "");
        EXPECT_EQ(silent.answer(turn, zoe, {PersonWordKind::link, "wrong"}), "");
    });
    EXPECT_EQ(world.strangers().list({}).find("strangers")->items().size(), 1u);
    world.change([&](RelayTurn& turn) { told = world.people().meet(turn, met); });
    EXPECT_NE(told.find("/link CODE"), std::string::npos);
}

TEST_F(PeopleTest, ABystanderOfARoutedChatIsNotNoted) {
    Encounter met;
    met.bot = kBot;
    met.tenant_id = TenantId::trusted("acme");
    met.discriminator = met.chat_id = "-1001";
    met.user_id = "zoe";
    world.change([&](RelayTurn& turn) { EXPECT_EQ(world.people().meet(turn, met), ""); });
    EXPECT_TRUE(world.strangers().list({}).find("strangers")->items().empty());
}

}  // namespace
}  // namespace interlock
