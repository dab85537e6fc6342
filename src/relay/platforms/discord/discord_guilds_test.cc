#include "relay/platforms/discord/discord_guilds.h"

#include <gtest/gtest.h>

#include "relay/platforms/discord/discord_views.h"
#include "relay/platforms/discord/test_discord.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

constexpr Duration kStart = Duration::of_seconds(1000);
constexpr std::string_view kGuild = R"({"id":"1","owner_id":"9",
    "roles":[{"id":"1","permissions":"1024"},{"id":"2","permissions":"0"}],
    "channels":[
      {"id":"10","type":0,"name":"general","topic":"all","permission_overwrites":[]},
      {"id":"20","type":0,"name":"secret","permission_overwrites":[
        {"id":"1","type":0,"allow":"0","deny":"1024"},
        {"id":"2","type":0,"allow":"1024","deny":"0"}]}],
    "threads":[
      {"id":"30","type":11,"name":"talk","parent_id":"20","guild_id":"1"},
      {"id":"31","type":12,"name":"quiet","parent_id":"10","guild_id":"1"}]})";

Json json(std::string_view text) {
    const auto parsed = parse_json(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *parsed : Json();
}

Duration later(Duration span) {
    return {kStart.microseconds + span.microseconds};
}

ViewQuestion ask(const std::string& channel, const std::string& user = "7") {
    return {.guild_id = "1", .channel_id = channel, .parent_channel_id = {}, .user_id = user};
}

struct Known : DiscordGuilds {
    Known() {
        on_event("GUILD_CREATE", json(kGuild), kStart);
        put_member("1", "7", std::vector<std::string>{}, kStart);
        put_member("1", "8", std::vector<std::string>{"2"}, kStart);
        put_member("1", "9", std::vector<std::string>{}, kStart);
    }
    std::optional<bool> sees(
        const std::string& channel, const std::string& user, Duration now = kStart) const {
        return view(ask(channel, user), now).can_view;
    }
};

TEST(DiscordGuilds, AnswerByRolesAndOverwrites) {
    const Known guilds;
    EXPECT_EQ(guilds.sees("10", "7"), true);
    EXPECT_EQ(guilds.sees("20", "7"), false);
    EXPECT_EQ(guilds.sees("20", "8"), true);
    EXPECT_EQ(guilds.sees("20", "9"), true);  // The owner.
}

TEST(DiscordGuilds, JudgeAThreadByItsParent) {
    const Known guilds;
    EXPECT_EQ(guilds.sees("30", "7"), false);
    EXPECT_EQ(guilds.sees("30", "8"), true);
}

TEST(DiscordGuilds, AskWhoIsInAPrivateThread) {
    Known guilds;
    EXPECT_EQ(guilds.view(ask("31"), kStart).missing, MissingFact::thread_member);
    guilds.put_thread_member("31", "7", false, kStart);
    EXPECT_EQ(guilds.sees("31", "7"), false);
    guilds.put_thread_member("31", "7", true, kStart);
    EXPECT_EQ(guilds.sees("31", "7"), true);
    guilds.on_event(
        "THREAD_MEMBERS_UPDATE", json(R"({"id":"31","removed_member_ids":["7"]})"), kStart);
    EXPECT_EQ(guilds.view(ask("31"), kStart).missing, MissingFact::thread_member);
    EXPECT_EQ(guilds.sees("31", "9"), true);  // The owner needs not be in it.
}

TEST(DiscordGuilds, DoNotAnswerWhatIsNotKnown) {
    const Known guilds;
    EXPECT_EQ(guilds.view(ask("99"), kStart).missing, MissingFact::channel);
    EXPECT_EQ(guilds.view(ask("10", "70"), kStart).missing, MissingFact::member);
    ViewQuestion elsewhere = ask("10");
    elsewhere.guild_id = "5";
    EXPECT_EQ(guilds.view(elsewhere, kStart).missing, MissingFact::guild);
}

TEST(DiscordGuilds, LetEverybodySeeHisOwnDirectMessages) {
    const DiscordGuilds guilds;
    EXPECT_EQ(guilds.view({{}, "10", {}, "7"}, kStart).can_view, true);
}

TEST(DiscordGuilds, ForgetWhatAMemberHoldsAfterAWhile) {
    const Known guilds;
    EXPECT_EQ(guilds.sees("10", "7", later(Duration::of_seconds(59))), true);
    EXPECT_EQ(guilds.view(ask("10"), later(kDiscordFactsLife)).missing, MissingFact::member);
}

TEST(DiscordGuilds, FollowTheEvents) {
    Known guilds;
    guilds.on_event(
        "GUILD_ROLE_UPDATE",
        json(R"({"guild_id":"1","role":{"id":"1","permissions":"0"}})"),
        kStart);
    EXPECT_EQ(guilds.sees("10", "7"), false);
    guilds.on_event(
        "CHANNEL_UPDATE",
        json(R"({"id":"10","guild_id":"1","type":0,"name":"open","permission_overwrites":[
            {"id":"7","type":1,"allow":"1024","deny":"0"}]})"),
        kStart);
    EXPECT_EQ(guilds.sees("10", "7"), true);
    EXPECT_EQ(guilds.channel("1", "10")->name, "open");
    guilds.on_event(
        "GUILD_MEMBER_UPDATE", json(R"({"guild_id":"1","user":{"id":"8"},"roles":[]})"), kStart);
    EXPECT_EQ(guilds.sees("20", "8"), false);
    guilds.on_event("GUILD_MEMBER_REMOVE", json(R"({"guild_id":"1","user":{"id":"9"}})"), kStart);
    EXPECT_EQ(guilds.sees("10", "9"), false);
    guilds.on_event("GUILD_ROLE_DELETE", json(R"({"guild_id":"1","role_id":"2"})"), kStart);
    guilds.on_event("CHANNEL_DELETE", json(R"({"id":"10","guild_id":"1"})"), kStart);
    EXPECT_EQ(guilds.view(ask("10"), kStart).missing, MissingFact::channel);
    guilds.on_event("GUILD_DELETE", json(R"({"id":"1"})"), kStart);
    EXPECT_EQ(guilds.view(ask("20"), kStart).missing, MissingFact::guild);
    EXPECT_EQ(guilds.sizes().channels, 0u);
}

TEST(DiscordGuilds, KnowThreadsThatAppear) {
    Known guilds;
    guilds.on_event(
        "THREAD_CREATE",
        json(R"({"id":"40","type":11,"guild_id":"1","parent_id":"10","name":"new"})"),
        kStart);
    EXPECT_EQ(guilds.channel("1", "40")->thread_parent_id, "10");
    guilds.on_event(
        "THREAD_LIST_SYNC",
        json(R"({"guild_id":"1","threads":[{"id":"41","type":11,"parent_id":"10"}]})"),
        kStart);
    EXPECT_EQ(guilds.sees("41", "7"), true);
    EXPECT_EQ(guilds.channel("1", "10")->thread_parent_id, "");
}

TEST(DiscordGuilds, LearnWhatAnAuthorHoldsFromHisMessage) {
    Known guilds;
    guilds.on_event(
        "MESSAGE_CREATE",
        json(R"({"guild_id":"1","author":{"id":"70"},"member":{"roles":["2"]}})"),
        kStart);
    EXPECT_EQ(guilds.sees("20", "70"), true);
    guilds.on_event(
        "MESSAGE_CREATE",
        json(R"({"guild_id":"1","author":{"id":"71"},"webhook_id":"5","member":{"roles":[]}})"),
        kStart);
    EXPECT_EQ(guilds.sees("20", "71"), std::nullopt);
}

TEST(DiscordGuilds, AreNoFactsForLongWithoutTheirShard) {
    Known guilds;
    guilds.shard_lost(0, 1, kStart);
    EXPECT_EQ(guilds.sees("10", "7"), true);
    const Duration old = later(kDiscordFactsLife);
    EXPECT_EQ(guilds.view(ask("10"), old).missing, MissingFact::guild);
    guilds.shard_resumed(0, 1);
    EXPECT_EQ(guilds.view(ask("10"), old).missing, MissingFact::member);
    guilds.forget_shard(0, 1);
    EXPECT_EQ(guilds.view(ask("10"), kStart).missing, MissingFact::guild);
    EXPECT_EQ(guilds.sizes().channels, 0u);
}

TEST(DiscordGuilds, DoNotLetAnAnswerReplaceWhatEventsTold) {
    Known guilds;
    guilds.put_channel(
        json(R"({"id":"20","guild_id":"1","type":0,"permission_overwrites":[]})"), kStart);
    guilds.put_guild(
        json(R"({"id":"1","owner_id":"7","roles":[{"id":"1","permissions":"1024"}]})"), kStart);
    EXPECT_EQ(guilds.sees("20", "7"), false);
}

TEST(DiscordGuilds, DoNotKnowAChannelWhoseOverwritesCannotBeRead) {
    Known guilds;
    for (const std::string_view overwrites :
         {R"()", R"(,"permission_overwrites":null)", R"(,"permission_overwrites":{})"}) {
        guilds.on_event(
            "CHANNEL_UPDATE",
            json(R"({"id":"20","guild_id":"1","type":0)" + std::string(overwrites) + "}"),
            kStart);
        EXPECT_EQ(guilds.view(ask("20"), kStart).missing, MissingFact::channel);
    }
    guilds.on_event(
        "CHANNEL_UPDATE",
        json(R"({"id":"10","guild_id":"1","type":0,"permission_overwrites":[
            {"id":"1","type":0,"allow":"x","deny":"y"}]})"),
        kStart);
    EXPECT_EQ(guilds.sees("10", "7"), false);
}

TEST(DiscordGuilds, HoldABoundedNumberOfMembersAndGuilds) {
    DiscordGuilds guilds;
    for (std::size_t count = 0; count <= kDiscordMembersMax; ++count) {
        guilds.put_member("1", std::to_string(count), std::vector<std::string>{}, kStart);
    }
    EXPECT_LE(guilds.sizes().members, kDiscordMembersMax);
    EXPECT_GE(guilds.sizes().members, kDiscordMembersMax / 2);
    for (std::size_t count = 0; count <= kDiscordGuildsMax; ++count) {
        guilds.put_guild(json(R"({"id":")" + std::to_string(count) + R"(","roles":[]})"), kStart);
    }
    EXPECT_EQ(guilds.sizes().guilds, kDiscordGuildsMax);
}

TEST(DiscordGuilds, HoldABoundedNumberOfChannels) {
    DiscordGuilds guilds;
    guilds.put_guild(json(R"({"id":"1","roles":[]})"), kStart);
    for (std::size_t count = 0; count <= kDiscordChannelsMax; ++count) {
        guilds.put_no_channel("1", std::to_string(count), kStart);
    }
    EXPECT_EQ(guilds.sizes().channels, kDiscordChannelsMax);
}

// Questions over a scripted REST.
struct Asking {
    Asking() {
        config.bot_id = "100";
        config.token = SecretString("t");
        config.api_base = "http://discord.test/api/v10";
    }
    DiscordConfig config;
    FakeClock clock;
    ScriptedDiscord wire;
    DiscordGuilds guilds;
    DiscordRest rest{
        {.config = config, .wire = wire, .clock = clock, .wait = [this](Duration span) {
             clock.advance(span);
         }}};
    DiscordViews views{guilds, rest, clock};
};

void answer_all(ScriptedDiscord& wire) {
    wire.answer(
        "GET /guilds/1",
        json_answer(200, R"({"id":"1","owner_id":"9","roles":[{"id":"1","permissions":"1024"}]})"));
    wire.answer(
        "GET /channels/10",
        json_answer(200, R"({"id":"10","guild_id":"1","type":0,"permission_overwrites":[]})"));
    wire.answer("GET /channels/11", json_answer(200, R"({"id":"11","guild_id":"2","type":0})"));
    wire.answer(
        "GET /channels/31",
        json_answer(200, R"({"id":"31","guild_id":"1","type":12,"parent_id":"10"})"));
    wire.answer("GET /guilds/1/members/7", json_answer(200, R"({"roles":[]})"));
    wire.answer("GET /guilds/1/members/6", json_answer(500, ""));
    wire.answer("GET /channels/31/thread-members/7", json_answer(200, R"({"user_id":"7"})"));
}

TEST(DiscordViews, FetchWhatIsMissingOnce) {
    Asking asking;
    answer_all(asking.wire);
    EXPECT_EQ(asking.views.find(ask("10")), true);
    EXPECT_EQ(asking.wire.calls().size(), 3u);
    EXPECT_EQ(asking.views.find(ask("10")), true);
    EXPECT_EQ(asking.wire.calls().size(), 3u);
    EXPECT_EQ(asking.views.find(ask("31")), true);
    EXPECT_EQ(asking.wire.calls().size(), 5u);
}

TEST(DiscordViews, SayNoForWhoIsNoMember) {
    Asking asking;
    answer_all(asking.wire);
    EXPECT_EQ(asking.views.find(ask("10", "55")), false);
    EXPECT_EQ(asking.guilds.view(ask("10", "55"), asking.clock.monotonic()).can_view, false);
}

TEST(DiscordViews, DoNotKnowWhenDiscordFails) {
    Asking asking;
    answer_all(asking.wire);
    EXPECT_EQ(asking.views.find(ask("10", "6")), std::nullopt);
    ViewQuestion not_an_id = ask("10", "../x");
    EXPECT_EQ(asking.views.find(not_an_id), std::nullopt);
}

TEST(DiscordViews, SayNoForAChannelOfAnotherGuild) {
    Asking asking;
    answer_all(asking.wire);
    EXPECT_EQ(asking.views.find(ask("11")), false);
    EXPECT_EQ(asking.views.find(ask("404")), false);
}

}  // namespace
}  // namespace interlock
