// From a platform's event to the instances that may have it.
#include "relay/service/relay_inbound.h"

#include <gtest/gtest.h>

#include "testing/relay_world.h"
#include "testing/silent_platform.h"

namespace interlock {
namespace {

// Knows who sees which channel; everything else of a platform is not asked here.
class SightPlatform final : public SilentPlatform {
public:
    SightPlatform() : SilentPlatform({"discord", "bot"}) {}

    std::optional<bool> cached_view(const ViewQuestion& question) const override {
        const auto found = cached.find(question.user_id + "@" + question.channel_id);
        return found == cached.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<bool> find_view(const ViewQuestion& question) override {
        asked.push_back(question.user_id + "@" + question.channel_id);
        const auto found = real.find(asked.back());
        return found == real.end() ? std::nullopt : std::optional(found->second);
    }

    std::map<std::string, bool> cached;
    std::map<std::string, bool> real;
    std::vector<std::string> asked;
};

struct InboundTest : testing::Test {
    InboundTest() {
        world.add_instance("i1");
        world.add_instance("i2");
        world.add_instance("x1", "t2");
        world.bind("ann", "i1", "discord");
        world.bind("bob", "i2", "discord");
        world.bind("eve", "x1", "discord");
        world.platforms[{"discord", "bot"}] = &discord;
        route("g1", "t1");
        route("g2", "t2");
        for (const char* user : {"ann", "bob", "eve"}) {
            discord.cached[std::string(user) + "@c1"] = true;
        }
    }
    void route(const std::string& guild, const std::string& tenant) {
        world.change([&](RelayTurn& turn) {
            world.state.routes.put(
                turn,
                row_key({"discord", "bot", guild}),
                {.platform = "discord",
                 .bot_id = "bot",
                 .discriminator = guild,
                 .tenant_id = TenantId::trusted(tenant),
                 .made_at = turn.now()});
        });
    }
    void claim(const std::string& instance, const std::string& channel) {
        world.change([&](RelayTurn& turn) {
            world.state.scopes.put(
                turn,
                row_key({"discord", "g1", channel}),
                {.platform = "discord",
                 .guild_id = "g1",
                 .channel_id = channel,
                 .instance_id = instance,
                 .tenant_id = TenantId::trusted("t1"),
                 .made_at = turn.now()});
            InstanceRow row = *world.state.instances.get(instance);
            row.principals = {{.platform = {}, .audience = PrincipalAudience::any, .allow = {}}};
            world.state.instances.put(turn, instance, row);
        });
    }
    static PlatformArrival guild_message(
        const std::string& user, const std::string& id, const std::string& guild = "g1") {
        PlatformArrival arrival = RelayWorld::message(user, id);
        arrival.bot = {"discord", "bot"};
        arrival.event.is_dm = false;
        arrival.event.discriminator = guild;
        arrival.event.event.source.platform = "discord";
        arrival.event.event.source.chat_id = "c1";
        arrival.event.event.source.chat_type = "group";
        arrival.event.event.source.scope_id = guild;
        return arrival;
    }
    std::size_t waiting(const std::string& instance) {
        return world.delivery.view(*world.state.instances.get(instance)).waiting;
    }
    Json why(const std::string& id) {
        const auto event = world.store.find_event(event_key_of({"discord", "bot"}, id));
        return *parse_json((*event)->why);
    }
    SightPlatform discord;
    RelayWorld world;
};

TEST_F(InboundTest, AnAuthorsMessageReachesHisOwnInstanceOnly) {  // relay-connector.md#layers
    const auto answer = world.submit(guild_message("ann", "m1"));
    ASSERT_TRUE(answer->has_value());
    EXPECT_TRUE((*answer)->is_stored);
    EXPECT_TRUE((*answer)->is_delivered);
    EXPECT_EQ(waiting("i1"), 1u);
    EXPECT_EQ(waiting("i2"), 0u);
    EXPECT_EQ(waiting("x1"), 0u);
}

TEST_F(InboundTest, TheSameEventTwiceIsDeliveredOnce) {  // I8
    world.submit(guild_message("ann", "m1"));
    const auto again = world.submit(guild_message("ann", "m1"));
    EXPECT_TRUE((*again)->is_stored);
    EXPECT_EQ(waiting("i1"), 1u);
    EXPECT_EQ(world.inbound.counters().at("discord").duplicates, 1);
}

TEST_F(InboundTest, ADuplicateIsKnownAfterARestartToo) {
    world.submit(RelayWorld::message("ann", "m1"));
    RelayWorld after(world.store.take_contents());
    after.submit(RelayWorld::message("ann", "m1"));
    EXPECT_EQ(after.inbound.counters().at("local").duplicates, 1);
}

// relay-connector.md#whose-a-message-is
TEST_F(InboundTest, TheTenantComesFromTheGuildAndNotFromTheAuthor) {
    world.submit(guild_message("ann", "m1", "g2"));
    EXPECT_EQ(waiting("i1"), 0u);
    EXPECT_EQ(waiting("x1"), 0u);
}

// relay-connector.md#whose-a-message-is
TEST_F(InboundTest, AnEventWithoutARouteIsDroppedCountedAndExplained) {
    const auto answer = world.submit(guild_message("ann", "m1", "g9"));
    EXPECT_TRUE((*answer)->is_stored);
    EXPECT_FALSE((*answer)->is_delivered);
    EXPECT_EQ(world.inbound.counters().at("discord").no_route, 1);
    EXPECT_EQ(why("m1").find("note")->as_string(), "no_route");
}

TEST_F(InboundTest, AnUnboundAuthorReachesNobody) {  // relay-connector.md#layers
    claim("i1", "c1");
    world.submit(guild_message("zed", "m1"));
    EXPECT_EQ(waiting("i1"), 0u);
    EXPECT_EQ(
        why("m1").find("decisions")->items()[0].find("steps")->items().back().as_string(),
        "unbound_author");
}

// relay-connector.md#layers
TEST_F(InboundTest, AScopeLetsAnotherLinkedUserThroughWhenItsOwnerSeesTheChannel) {
    claim("i1", "c1");
    world.submit(guild_message("bob", "m1"));
    EXPECT_EQ(waiting("i1"), 1u);
    EXPECT_EQ(waiting("i2"), 1u);
    discord.cached["ann@c1"] = false;
    world.submit(guild_message("bob", "m2"));
    EXPECT_EQ(waiting("i1"), 1u);
    EXPECT_EQ(waiting("i2"), 2u);
}

// relay-connector.md#facts-from-the-platform
TEST_F(InboundTest, WhatNobodyKnowsIsAskedAndTheChatKeepsItsOrder) {
    discord.cached.clear();
    discord.real["ann@c1"] = true;
    const auto first = world.submit(guild_message("ann", "m1"));
    const auto second = world.submit(guild_message("ann", "m2"));
    EXPECT_FALSE(first->has_value());
    EXPECT_FALSE(second->has_value());
    EXPECT_EQ(world.inbound.waiting_for_facts(), 2u);
    discord.cached["ann@c1"] = true;
    world.run_blocking();
    EXPECT_TRUE((*first)->is_delivered);
    EXPECT_TRUE((*second)->is_delivered);
    EXPECT_EQ(discord.asked, std::vector<std::string>{"ann@c1"});
    EXPECT_EQ(world.inbound.waiting_for_facts(), 0u);
    auto gateway = world.connect("i1");
    EXPECT_EQ(gateway.socket->take_inbound()[0].first, "text m1");
}

// The platform is not kept waiting for one chat's facts: beyond the bound its messages reach
// nobody.
// I5; relay-connector.md#facts-from-the-platform
TEST_F(InboundTest, AChatThatWaitsTooLongForItsFactsPaysItself) {
    discord.cached.clear();
    discord.real["ann@c1"] = true;
    std::vector<std::shared_ptr<std::optional<InboxAnswer>>> answers;
    for (std::size_t i = 0; i < kWaitingFactsPerChatMax + 2; ++i) {
        answers.push_back(world.submit(guild_message("ann", "m" + std::to_string(i))));
    }
    EXPECT_EQ(world.inbound.counters().at("discord").without_facts, 1);
    PlatformArrival elsewhere = RelayWorld::message("eve", "e1");
    elsewhere.bot = {"discord", "bot"};
    world.submit(std::move(elsewhere));
    EXPECT_EQ(waiting("x1"), 1u);  // Nobody else waits.
    discord.cached["ann@c1"] = true;
    world.run_blocking();
    for (const auto& answer : answers) {
        ASSERT_TRUE(*answer);
        EXPECT_TRUE((*answer)->is_stored);
        EXPECT_EQ((*answer)->is_delivered, answer != answers.back());
    }
    EXPECT_EQ(world.inbound.refused(), 0);
}

TEST_F(InboundTest, WhatCannotBeFoundOutCountsAsNo) {  // I5
    discord.cached.clear();
    const auto answer = world.submit(guild_message("ann", "m1"));
    world.run_blocking();
    EXPECT_FALSE((*answer)->is_delivered);
    EXPECT_EQ(waiting("i1"), 0u);
    EXPECT_EQ(
        why("m1").find("decisions")->items()[0].find("steps")->items().back().as_string(),
        "view_unknown");
}

TEST_F(InboundTest, AnswersOfABotLeaveInTheOrderOfItsArrivals) {  // relay/ports/chat_platform.h
    discord.cached.erase("ann@c1");
    discord.real["ann@c1"] = true;
    const auto slow = world.submit(guild_message("ann", "m1"));
    PlatformArrival elsewhere = guild_message("bob", "m2");
    elsewhere.event.event.source.chat_id = "c2";
    discord.cached["bob@c2"] = true;
    const auto quick = world.submit(std::move(elsewhere));
    EXPECT_EQ(waiting("i2"), 1u);
    EXPECT_FALSE(quick->has_value());
    world.run_blocking();
    EXPECT_TRUE(slow->has_value());
    EXPECT_TRUE(quick->has_value());
}

TEST_F(InboundTest, ADirectMessageGoesToTheChosenInstance) {  // relay-management.md#direct-messages
    world.bind("ann", "i2", "local");
    world.clock.advance(Duration::of_seconds(1));
    world.bind("ann", "i1", "local");
    world.submit(RelayWorld::message("ann", "m1"));
    EXPECT_EQ(waiting("i2"), 1u);
    world.change([&](RelayTurn& turn) {
        world.state.dm_defaults.put(
            turn,
            row_key({"local", "bot", "ann"}),
            {.platform = "local", .bot_id = "bot", .user_id = "ann", .instance_id = "i1"});
    });
    world.submit(RelayWorld::message("ann", "m2"));
    EXPECT_EQ(waiting("i1"), 1u);
    EXPECT_EQ(waiting("i2"), 1u);
}

TEST_F(InboundTest, WithoutAPolicyThePlatformsDefaultCounts) {  // relay-connector.md#policies
    claim("i1", "c1");
    world.inbound.set_require_address({"discord"});
    world.submit(guild_message("bob", "m1"));
    EXPECT_EQ(waiting("i1"), 0u);
    EXPECT_EQ(waiting("i2"), 1u);  // His own instance: owners are always heard.
    world.change([&](RelayTurn& turn) {
        InstanceRow row = *world.state.instances.get("i1");
        row.relevance = {
            {.platform = "discord",
             .require_address = false,
             .free_response_scopes = {},
             .allow_other_bots = false}};
        world.state.instances.put(turn, "i1", row);
    });
    world.submit(guild_message("bob", "m2"));
    EXPECT_EQ(waiting("i1"), 1u);
}

TEST_F(InboundTest, OurOwnBotsAreNeverHeard) {  // relay-connector.md#layers
    world.bind("our-bot", "i1", "discord");
    world.submit(guild_message("our-bot", "m1"));
    EXPECT_EQ(waiting("i1"), 0u);
}

TEST_F(InboundTest, ALinkCodeNeverReachesAnAgent) {  // relay-management.md#links
    world.bind("ann", "i1", "local");
    PlatformArrival arrival = RelayWorld::message("ann", "m1");
    arrival.event.event.text = "/link  abc-123 ";
    world.submit(std::move(arrival));
    ASSERT_EQ(world.words.size(), 1u);
    EXPECT_EQ(world.words[0].second.argument, "abc-123");
    EXPECT_EQ(world.words[0].first.user_id, "ann");
    EXPECT_EQ(waiting("i1"), 0u);
    EXPECT_TRUE(world.notices.empty());  // The console shows its user the answer by itself.

    PlatformArrival in_guild = guild_message("ann", "m2");
    in_guild.event.event.text = "/link abc-123";
    world.submit(std::move(in_guild));
    ASSERT_EQ(world.words.size(), 2u);
    EXPECT_FALSE(world.words[1].first.is_dm);
    EXPECT_EQ(waiting("i1"), 0u);
    ASSERT_EQ(world.notices.size(), 1u);
    EXPECT_EQ(world.notices[0].first, "c1");
}

TEST_F(InboundTest, OtherWordsAreTheConnectorsInDirectMessagesOnly) {
    world.bind("ann", "i1", "local");
    PlatformArrival direct = RelayWorld::message("ann", "m1");
    direct.event.event.text = "/whoami";
    world.submit(std::move(direct));
    ASSERT_EQ(world.words.size(), 1u);
    EXPECT_EQ(world.words[0].second.kind, PersonWordKind::whoami);
    EXPECT_EQ(waiting("i1"), 0u);
    PlatformArrival in_guild = guild_message("ann", "m2");
    in_guild.event.event.text = "/default";
    world.submit(std::move(in_guild));
    EXPECT_EQ(world.words.size(), 1u);
    EXPECT_EQ(waiting("i1"), 1u);
}

// relay-connector.md#whose-a-message-is: a link and an event each name one bot.
TEST_F(InboundTest, AMessageToOneBotNeverReachesTheAgentOfAnother) {
    world.bind("ann", "i1", "local");
    PlatformArrival other = RelayWorld::message("ann", "m1");
    other.bot.bot_id = "other";
    const auto answer = world.submit(std::move(other));
    EXPECT_FALSE((*answer)->is_delivered);
    EXPECT_EQ(waiting("i1"), 0u);
    world.submit(RelayWorld::message("ann", "m1"));
    EXPECT_EQ(waiting("i1"), 1u);
    const auto gateway = world.connect("i1");
    for (const ConnectorFrame& frame : gateway.socket->take_frames()) {
        if (const auto* inbound = std::get_if<InboundFrame>(&frame)) {
            EXPECT_EQ(inbound->event.bot_id, "bot");
        }
    }
}

// A claim names no bot; an instance that is linked at others only does not hear this one by it.
TEST_F(InboundTest, AClaimDoesNotCarryAnInstanceToAnotherBot) {
    const auto group_message = [](const std::string& id, const std::string& bot) {
        PlatformArrival arrival = guild_message("bob", id);
        arrival.bot = {"telegram", bot};
        arrival.event.event.source.platform = "telegram";
        arrival.event.event.source.scope_id.clear();
        arrival.event.event.source.chat_id = "g1";
        return arrival;
    };
    world.change([&](RelayTurn& turn) {
        for (const std::string bot : {"bot", "other"}) {
            world.state.routes.put(
                turn,
                row_key({"telegram", bot, "g1"}),
                {"telegram", bot, "g1", TenantId::trusted("t1"), turn.now()});
            world.state.bind(
                turn,
                {.platform = "telegram",
                 .bot_id = bot,
                 .user_id = "bob",
                 .instance_id = "i2",
                 .tenant_id = TenantId::trusted("t1"),
                 .user_name = {},
                 .made_by = "test",
                 .made_at = turn.now()});
        }
        world.state.scopes.put(
            turn,
            row_key({"telegram", "g1", "g1"}),
            {"telegram", "g1", "g1", "i1", TenantId::trusted("t1"), turn.now()});
        InstanceRow row = *world.state.instances.get("i1");
        row.principals = {{.platform = {}, .audience = PrincipalAudience::any, .allow = {}}};
        world.state.instances.put(turn, "i1", row);
    });
    world.bind("ann", "i1", "telegram");
    world.submit(group_message("m1", "bot"));
    EXPECT_EQ(waiting("i1"), 1u);
    world.submit(group_message("m2", "other"));
    EXPECT_EQ(waiting("i1"), 1u);
    const auto event = world.store.find_event(event_key_of({"telegram", "other"}, "m2"));
    EXPECT_NE((*event)->why.find("other_bot_only"), std::string::npos);
}

TEST_F(InboundTest, AStrangerIsMetAndToldHowToGetIn) {
    PlatformArrival arrival = RelayWorld::message("zoe", "m1");
    arrival.bot.platform = "telegram";
    const auto answer = world.submit(std::move(arrival));
    EXPECT_TRUE((*answer)->is_stored);
    ASSERT_EQ(world.met_strangers.size(), 1u);
    EXPECT_EQ(world.met_strangers[0].user_id, "zoe");
    EXPECT_TRUE(world.met_strangers[0].tenant_id.empty());
    EXPECT_EQ(
        world.notices,
        (std::vector<std::pair<std::string, std::string>>{{"dm:zoe", "Send /link CODE."}}));
    const auto event = world.store.find_event(event_key_of({"telegram", "bot"}, "m1"));
    EXPECT_NE((*event)->why.find(R"("user_id":"zoe")"), std::string::npos);
}

TEST_F(InboundTest, BotsAndWhoIsKnownAreNoStrangers) {
    PlatformArrival bot = guild_message("robot", "m1");
    bot.event.is_author_bot = true;
    world.submit(std::move(bot));
    world.submit(guild_message("our-bot", "m2"));
    world.submit(guild_message("ann", "m3"));
    EXPECT_TRUE(world.met_strangers.empty());
    EXPECT_TRUE(world.notices.empty());
    world.submit(guild_message("zoe", "m4"));
    ASSERT_EQ(world.met_strangers.size(), 1u);
    EXPECT_EQ(world.met_strangers[0].tenant_id.text(), "t1");
}

TEST_F(InboundTest, AGroupThatMovesIsNoMessageAndItsNewIdIsTold) {
    PlatformArrival arrival = guild_message("ann", "m1");
    arrival.event.moved_to = "g2";
    const auto answer = world.submit(std::move(arrival));
    EXPECT_TRUE((*answer)->is_stored);
    ASSERT_EQ(world.moves.size(), 1u);
    EXPECT_EQ(world.moves[0].from, "g1");
    EXPECT_EQ(world.moves[0].to, "g2");
    EXPECT_EQ(waiting("i1"), 0u);
}

// What became of a press is told as it was, whatever the gate allowed.
TEST_F(InboundTest, APressThatNobodyWaitsForIsDeliveredToNobody) {
    PlatformArrival arrival = guild_message("ann", "m1");
    arrival.event.event.prompt_response = PromptResponse{"p1", "yes", "", "77"};
    world.submit(std::move(arrival));
    const Json told = why("m1");
    EXPECT_EQ(told.find("note")->as_string(), "prompt_closed");
    EXPECT_TRUE(told.find("delivered")->items().empty());
    EXPECT_EQ(waiting("i1"), 0u);
}

// relay-management.md#direct-messages: nothing but his word gives his direct messages away, so he
// hears who asks for them however he speaks: in text, on the console, by a button, by a command.
TEST_F(InboundTest, WhoAsksForHisDirectMessagesIsToldHimHoweverHeSpeaks) {
    using Notices = std::vector<std::pair<std::string, std::string>>;
    const auto speak = [this](const std::string& id, const std::string& platform, int way) {
        PlatformArrival arrival = RelayWorld::message("ann", id);
        arrival.bot.platform = platform;
        if (way == 1) {
            arrival.event.prompt_button = "yes";
        } else if (way == 2) {
            arrival.forward = PassthroughForward{
                .platform = platform,
                .bot_id = "bot",
                .method = "POST",
                .path = "/",
                .headers = {},
                .body = "{}",
                .profile = {}};
        }
        world.submit(std::move(arrival));
        return std::exchange(world.notices, {});
    };
    world.bind("ann", "i1", "local");
    const Notices asked{{"dm:ann", "i2 asks to get your direct messages."}};
    for (const char* platform : {"local", "discord"}) {
        for (int way = 0; way < 3; ++way) {
            const std::string id = platform + std::to_string(way);
            world.wishes["ann"] = asked[0].second;
            EXPECT_EQ(speak(id, platform, way), asked) << id;
            EXPECT_TRUE(speak(id + "again", platform, way).empty()) << id;
        }
    }
    EXPECT_EQ(waiting("i1"), 12u);
}

// relay-connector.md#capabilities
TEST_F(InboundTest, ACapabilityIsKeptForEveryInstanceThatGotTheEvent) {
    PlatformArrival arrival = guild_message("ann", "m1");
    arrival.event.capability_kind = "discord.interaction_token";
    arrival.event.capability = SecretString("secret-token");
    arrival.forward = PassthroughForward{
        .platform = "discord",
        .bot_id = "bot",
        .method = "POST",
        .path = "/",
        .headers = {},
        .body = "{}",
        .profile = {}};
    world.submit(std::move(arrival));
    ASSERT_EQ(world.capabilities.size(), 1u);
    EXPECT_EQ(world.capabilities[0].instance_id, "i1");
    EXPECT_EQ(world.capabilities[0].value.reveal(), "secret-token");
    EXPECT_FALSE(world.capabilities[0].session_keys.empty());
    auto gateway = world.connect("i1");
    const auto frames = gateway.socket->take_frames();
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(std::get<PassthroughForwardFrame>(frames[1]).forward.body, "{}");
}

TEST_F(InboundTest, APressGoesToWhoeverAsked) {  // relay-connector.md#prompts
    world.bind("ann", "i2", "discord");
    world.on_press = [](RelayTurn&, const PressTry& press) -> Result<std::optional<PressOutcome>> {
        EXPECT_EQ(press.allowed, (std::vector<std::string>{"i1", "i2"}));
        PressOutcome outcome{.instance_id = "i2", .response = press.response, .is_first = true};
        outcome.response.label = "Yes";
        return std::optional(std::move(outcome));
    };
    PlatformArrival arrival = guild_message("ann", "m1");
    arrival.event.event.prompt_response = PromptResponse{"p1", "yes", "", "77"};
    world.submit(std::move(arrival));
    EXPECT_EQ(waiting("i1"), 0u);
    EXPECT_EQ(waiting("i2"), 1u);
}

TEST_F(InboundTest, TheRecordHoldsIdsAndDigestsAndNoText) {  // relay-connector.md#the-record
    world.submit(guild_message("ann", "m1"));
    const auto ledger = world.store.ledger().read_ledger(TenantId::trusted("t1"), 0, 10);
    ASSERT_EQ(ledger->size(), 1u);
    EXPECT_NE(ledger->front().canonical_json.find("discord/bot/m1"), std::string::npos);
    EXPECT_EQ(ledger->front().canonical_json.find("text m1"), std::string::npos);
}

TEST_F(InboundTest, TheCursorIsStoredWithTheEvent) {  // relay-connector.md#what-a-platform-is-told
    PlatformArrival arrival = guild_message("ann", "m1");
    arrival.cursor = "seq 5";
    world.submit(std::move(arrival));
    EXPECT_EQ(world.state.cursors.get("discord/bot")->cursor, "seq 5");
    world.inbound.note_cursor({"discord", "bot"}, "seq 6");
    world.settle();
    RelayWorld after(world.store.take_contents());
    EXPECT_EQ(after.state.cursors.get("discord/bot")->cursor, "seq 6");
}

// Arrivals that wait when the store fails are told so, in their order, and only once.
TEST_F(InboundTest, WhoWaitsWhenTheLaneIsLostIsToldToSendAgain) {
    discord.cached.clear();
    discord.real["ann@c1"] = true;
    const auto first = world.submit(guild_message("ann", "m1"));
    const auto second = world.submit(guild_message("ann", "m2"));
    ASSERT_FALSE(first->has_value());
    world.store.fail_next_commit();
    const auto third = world.submit(RelayWorld::message("ann", "m3"));
    for (const auto& answer : {first, second, third}) {
        ASSERT_TRUE(answer->has_value());
        EXPECT_FALSE((*answer)->is_stored);
    }
    EXPECT_EQ(world.inbound.waiting_for_facts(), 0u);
    first->reset();
    world.run_blocking();  // The facts come too late.
    EXPECT_FALSE(first->has_value());
}

TEST_F(InboundTest, WhatALostLaneNeverBeganIsAnsweredToo) {
    int answers = 0;
    const auto count = [&answers](const InboxAnswer& said) {
        EXPECT_FALSE(said.is_stored);
        ++answers;
    };
    world.store.fail_next_commit();
    world.inbound.submit(guild_message("ann", "m1"), count);
    world.lane.run_round(std::chrono::microseconds(0));
    ASSERT_TRUE(world.lane.is_lost());
    EXPECT_EQ(answers, 1);
    world.inbound.submit(guild_message("ann", "m2"), count);
    EXPECT_EQ(answers, 2);
}

TEST_F(InboundTest, WhatWaitsInALaneThatEndsIsAnswered) {
    discord.cached.clear();
    const auto waiting = world.submit(guild_message("ann", "m1"));
    auto queued = std::make_shared<std::optional<InboxAnswer>>();
    {
        RelayLane lane(world.store, world.clock);
        RelayInbound inbound(
            {.lane = lane,
             .state = world.state,
             .delivery = world.delivery,
             .platform = {},
             .run_blocking = {},
             .answer_word = {},
             .meet = {},
             .wish_for = {},
             .move_chat = {},
             .bind_capability = {},
             .press = {},
             .notify = {},
             .is_own_bot = {}});
        inbound.submit(RelayWorld::message("ann", "m2"), [queued](const InboxAnswer& said) {
            EXPECT_FALSE(queued->has_value());
            *queued = said;
        });
        EXPECT_FALSE(queued->has_value());
    }
    ASSERT_TRUE(queued->has_value());
    EXPECT_FALSE((*queued)->is_stored);
    EXPECT_FALSE(waiting->has_value());
    world.inbound.drop_waiting();
    ASSERT_TRUE(waiting->has_value());
    EXPECT_FALSE((*waiting)->is_stored);
}

}  // namespace
}  // namespace interlock
