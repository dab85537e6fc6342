#include "relay/platforms/console/console_platform.h"

#include <gtest/gtest.h>

#include <thread>

#include "testing/fake_clock.h"

namespace interlock {
namespace {

class HeldInbox final : public PlatformInbox {
public:
    void submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) override {
        arrivals.push_back(std::move(arrival));
        if (holds) {
            held.push_back(std::move(done));
        } else {
            done({.is_stored = stores, .is_delivered = stores, .notice = {}});
        }
    }
    void note_cursor(const BotKey&, std::string) override {}

    bool stores = true;
    bool holds = false;
    std::vector<PlatformArrival> arrivals;
    std::vector<std::function<void(InboxAnswer)>> held;
};

class ConsoleTest : public ::testing::Test {
protected:
    ConsoleTest() { console().start(inbox_, ""); }
    ~ConsoleTest() override {
        if (console_) {
            console_->stop();
        }
    }
    ConsolePlatform& console() { return *console_; }
    PlatformReply call(RelayAction action, std::string thread_id = {}) {
        PlatformCall call;
        call.action = std::move(action);
        call.thread_id = std::move(thread_id);
        call.not_after = clock_.now() + Duration::of_seconds(10);
        return console().call(call);
    }
    PlatformReply send(std::string chat_id, std::string text) {
        return call(SendAction{std::move(chat_id), std::move(text), {}, {}});
    }
    std::string ask() {
        PromptAction prompt;
        prompt.chat_id = "dm:alice";
        prompt.content = "Go on?";
        prompt.prompt_id = "p7";
        prompt.options = {{"yes", "Yes", {}}, {"no", "No", "danger"}};
        return call(prompt).message_id;
    }

    FakeClock clock_;
    HeldInbox inbox_;
    std::unique_ptr<ConsolePlatform> console_ = std::make_unique<ConsolePlatform>(
        ConsolePlatform::Parts{.clock = clock_, .messages_max = 5, .chats_max = 3});
};

TEST_F(ConsoleTest, ADirectMessageSpeaksToTheBotAndHasNoDiscriminator) {
    EXPECT_EQ(console().say("alice", "dm:alice", "hello").value(), "m1");
    ASSERT_EQ(inbox_.arrivals.size(), 1u);
    const PlatformEvent& event = inbox_.arrivals[0].event;
    EXPECT_TRUE(event.is_dm);
    EXPECT_TRUE(event.addresses_bot);
    EXPECT_EQ(event.discriminator, "");
    EXPECT_EQ(event.event_id, "m1");
    EXPECT_EQ(event.event.source.chat_type, "dm");
    EXPECT_EQ(event.event.source.user_id, "alice");
    EXPECT_EQ(event.event.source.platform, "local");
}

TEST_F(ConsoleTest, ARoomIsRoutedByItsNameAndTheBotIsSpokenToByItsOwn) {
    console().say("alice", "kitchen", "hello all").value();
    console().say("alice", "kitchen", "hello @Interlock").value();
    const std::string own = send("kitchen", "yes?").message_id;
    console().say(ConsoleSay{"alice", "kitchen", "this", {}, own}).value();
    ASSERT_EQ(inbox_.arrivals.size(), 3u);
    EXPECT_EQ(inbox_.arrivals[0].event.discriminator, "kitchen");
    EXPECT_FALSE(inbox_.arrivals[0].event.addresses_bot);
    EXPECT_TRUE(inbox_.arrivals[1].event.addresses_bot);
    EXPECT_TRUE(inbox_.arrivals[2].event.addresses_bot);
    EXPECT_TRUE(inbox_.arrivals[2].event.event.reply_to->is_own);
    EXPECT_EQ(inbox_.arrivals[2].event.event.reply_to_message_id, own);
}

TEST_F(ConsoleTest, NobodySpeaksInTheConversationOfOthers) {
    EXPECT_EQ(console().say("bob", "dm:alice", "hi").error().code(), "invalid_request");
    EXPECT_EQ(console().say("", "room", "hi").error().code(), "invalid_request");
    EXPECT_EQ(console().say("bob", "room", "").error().code(), "invalid_request");
    EXPECT_EQ(console().say("bob", "room", "\xff").error().code(), "invalid_request");
    EXPECT_TRUE(inbox_.arrivals.empty());
}

TEST_F(ConsoleTest, TheSameCallsGiveTheSameIds) {
    EXPECT_EQ(console().say("alice", "dm:alice", "one").value(), "m1");
    EXPECT_EQ(send("dm:alice", "two").message_id, "m2");
    EXPECT_EQ(send("kitchen", "three").message_id, "m3");
    EXPECT_EQ(console().say("bob", "dm:bob", "four").value(), "m4");
}

TEST_F(ConsoleTest, APressCarriesWhichQuestionAndWhichAnswer) {
    const std::string prompt = ask();
    EXPECT_EQ(console().press({"alice", "dm:alice", prompt, "no"}).value(), "p1");
    EXPECT_EQ(console().press({"alice", "dm:alice", prompt, "no"}).value(), "p2");
    ASSERT_EQ(inbox_.arrivals.size(), 2u);
    const PlatformEvent& event = inbox_.arrivals[0].event;
    EXPECT_EQ(event.event_id, "p1");
    EXPECT_EQ(event.event.message_id, "p1");
    EXPECT_EQ(event.event.text, "/no");
    EXPECT_EQ(event.event.type, MessageType::command);
    ASSERT_TRUE(event.event.prompt_response.has_value());
    EXPECT_EQ(event.event.prompt_response->prompt_id, "p7");
    EXPECT_EQ(event.event.prompt_response->option_id, "no");
    EXPECT_EQ(event.event.prompt_response->label, "No");
    EXPECT_EQ(event.event.prompt_response->prompt_message_id, prompt);
}

TEST_F(ConsoleTest, OnlyButtonsThatAreThereCanBePressed) {
    const std::string prompt = ask();
    EXPECT_EQ(console().press({"alice", "dm:alice", prompt, "maybe"}).error().code(), "not_found");
    EXPECT_EQ(console().press({"alice", "dm:alice", "m99", "no"}).error().code(), "not_found");
    EXPECT_EQ(console().press({"bob", "dm:alice", prompt, "no"}).error().code(), "invalid_request");
    EXPECT_TRUE(inbox_.arrivals.empty());
}

TEST_F(ConsoleTest, ObserversSeeMessagesAndTheirChanges) {
    std::vector<std::string> seen;
    ASSERT_TRUE(console().observe("test", [&](const ConsoleMessage& message, bool is_edited) {
        seen.push_back(message.message_id + ":" + message.text + (is_edited ? ":edited" : ""));
    }));
    const std::string id = send("kitchen", "one").message_id;
    call(EditAction{"kitchen", id, "two", {}});
    console().say("alice", "kitchen", "hi").value();
    console().stop_observing("test");
    send("kitchen", "three");
    EXPECT_EQ(seen, (std::vector<std::string>{"m1:one", "m1:two:edited"}));
}

TEST_F(ConsoleTest, ObserversAreBounded) {
    for (std::size_t i = 0; i < kConsoleObserversMax; ++i) {
        EXPECT_TRUE(console().observe(std::to_string(i), [](const ConsoleMessage&, bool) {}));
    }
    EXPECT_FALSE(console().observe("one more", [](const ConsoleMessage&, bool) {}));
    EXPECT_TRUE(console().observe("3", [](const ConsoleMessage&, bool) {}));
}

TEST_F(ConsoleTest, OnlyMessagesOfTheBotAreEdited) {
    const std::string said = console().say("alice", "kitchen", "mine").value();
    const PlatformReply reply = call(EditAction{"kitchen", said, "yours", {}});
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "not_found");
    EXPECT_EQ(console().find("kitchen", said)->text, "mine");
}

TEST_F(ConsoleTest, ReactionsAreSetOnceAndTakenAway) {
    const std::string said = console().say("alice", "kitchen", "mine").value();
    call(ReactAction{"kitchen", said, "+1", false, {}});
    call(ReactAction{"kitchen", said, "+1", false, {}});
    call(ReactAction{"kitchen", said, "-1", false, {}});
    EXPECT_EQ(console().find("kitchen", said)->reactions, (std::vector<std::string>{"+1", "-1"}));
    call(ReactAction{"kitchen", said, "+1", true, {}});
    EXPECT_EQ(console().find("kitchen", said)->reactions, (std::vector<std::string>{"-1"}));
}

TEST_F(ConsoleTest, ThreadsAreMadeUsedAndRenamed) {
    const std::string thread = call(ThreadCreateAction{"kitchen", "soup", {}}).thread_id;
    EXPECT_EQ(thread, "t1");
    EXPECT_EQ(console().thread_name(thread), "soup");
    ThreadRenameAction rename{"kitchen", thread, "stew", false, "salad", {}};
    EXPECT_EQ(call(rename).code, "conflict");
    rename.only_if_current_name = "soup";
    EXPECT_EQ(call(rename).outcome, CallOutcome::sent);
    EXPECT_EQ(console().thread_name(thread), "stew");
    const std::string id = call(SendAction{"kitchen", "hot", {}, {}}, thread).message_id;
    EXPECT_EQ(console().find("kitchen", id)->thread_id, thread);
    console().say(ConsoleSay{"alice", "kitchen", "good", thread, {}}).value();
    EXPECT_EQ(inbox_.arrivals.back().event.event.source.thread_id, thread);
    EXPECT_EQ(
        console().say(ConsoleSay{"alice", "kitchen", "good", "t9", {}}).error().code(),
        "not_found");
}

TEST_F(ConsoleTest, TypingAndChatInfoAreTold) {
    call(TypingAction{"kitchen", false, {}});
    call(TypingAction{"kitchen", false, {}});
    EXPECT_EQ(console().typings("kitchen"), 2u);
    EXPECT_EQ(call(GetChatInfoAction{"kitchen"}).chat_info->type, "group");
    EXPECT_EQ(call(GetChatInfoAction{"dm:alice"}).chat_info->type, "dm");
}

TEST_F(ConsoleTest, ForgetsTheOldestMessagesAndChats) {
    for (int i = 0; i < 7; ++i) {
        send("kitchen", "text " + std::to_string(i));
    }
    ASSERT_EQ(console().messages("kitchen").size(), 5u);
    EXPECT_EQ(console().messages("kitchen").front().text, "text 2");
    for (const char* const room : {"a", "b", "c"}) {
        send(room, "hi");
    }
    EXPECT_TRUE(console().messages("kitchen").empty());
    EXPECT_EQ(console().messages("a").size(), 1u);
}

TEST_F(ConsoleTest, ACutShowsTheMessageAndTellsNobody) {
    console().set_fault(ConsoleFault::cuts);
    EXPECT_EQ(send("kitchen", "hello").outcome, CallOutcome::unknown);
    EXPECT_EQ(console().messages("kitchen").size(), 1u);
    console().set_fault(ConsoleFault::fails);
    EXPECT_EQ(send("kitchen", "hello").outcome, CallOutcome::unknown);
    EXPECT_EQ(console().messages("kitchen").size(), 1u);
}

TEST_F(ConsoleTest, NothingIsSaidBeforeStartOrAfterStop) {
    console().stop();
    EXPECT_EQ(console().say("alice", "kitchen", "hi").error().code(), "unavailable");
    EXPECT_EQ(console().send_again("m1").error().code(), "unavailable");
    console().start(inbox_, "");
    EXPECT_TRUE(console().say("alice", "kitchen", "hi").has_value());
}

TEST_F(ConsoleTest, AnAnswerMayComeAfterThePlatformIsGone) {
    inbox_.holds = true;
    bool was_told = false;
    console()
        .say(
            ConsoleSay{"alice", "kitchen", "hi", {}, {}},
            [&](const std::string&, const InboxAnswer&) { was_told = true; })
        .value();
    console().stop();
    console_.reset();
    inbox_.held.at(0)({.is_stored = false, .is_delivered = false, .notice = {}});
    EXPECT_TRUE(was_told);
}

TEST_F(ConsoleTest, AnAnswerMayMakeItsCallerSayMore) {
    console()
        .say(
            ConsoleSay{"alice", "kitchen", "one", {}, {}},
            [&](const std::string&, const InboxAnswer&) {
                console().say("alice", "kitchen", "two").value();
            })
        .value();
    ASSERT_EQ(inbox_.arrivals.size(), 2u);
    EXPECT_EQ(inbox_.arrivals[1].event.event.text, "two");
}

TEST_F(ConsoleTest, TellsWhatChangedSinceAndNothingElse) {
    console().say("alice", "dm:alice", "hello").value();
    const std::string first = send("dm:alice", "one").message_id;
    const std::string second = send("dm:alice", "two").message_id;
    send("kitchen", "elsewhere");
    const std::vector<ConsoleMessage> all = console().changes("dm:alice", 0, 10);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[2].message_id, second);
    call(EditAction{"dm:alice", first, "one, better", {}});
    const std::vector<ConsoleMessage> later = console().changes("dm:alice", all[2].change, 10);
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later[0].message_id, first);
    EXPECT_EQ(later[0].text, "one, better");
    EXPECT_TRUE(console().changes("dm:alice", later[0].change, 10).empty());
    EXPECT_EQ(console().changes("dm:alice", 0, 2).size(), 2U);
}

TEST(Console, APrefixKeepsTheIdsOfTwoProcessesApart) {
    FakeClock clock;
    HeldInbox inbox;
    ConsolePlatform console({.clock = clock, .id_prefix = "a7-"});
    console.start(inbox, "");
    EXPECT_EQ(console.say("alice", "dm:alice", "hello").value(), "a7-m1");
    ASSERT_EQ(inbox.arrivals.size(), 1U);
    EXPECT_EQ(inbox.arrivals[0].event.event_id, "a7-m1");
    console.stop();
}

TEST_F(ConsoleTest, SeveralPeopleSpeakAtOnceAndArriveInTheOrderOfTheirIds) {
    std::vector<std::thread> people;
    for (int i = 0; i < 4; ++i) {
        people.emplace_back([&, user = "user" + std::to_string(i)] {
            for (int n = 0; n < 50; ++n) {
                console().say(user, "kitchen", "text").value();
            }
        });
    }
    for (std::thread& person : people) {
        person.join();
    }
    ASSERT_EQ(inbox_.arrivals.size(), 200u);
    for (std::size_t i = 0; i < inbox_.arrivals.size(); ++i) {
        EXPECT_EQ(inbox_.arrivals[i].event.event_id, "m" + std::to_string(i + 1));
    }
}

}  // namespace
}  // namespace interlock
