#include "relay/platforms/telegram/telegram_platform.h"

#include <gtest/gtest.h>

#include <deque>

#include "relay/platforms/telegram/test_telegram.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

using Seen = FakeTelegram::Seen;
using Outcome = FakeTelegram::Outcome;

// Answers when the test says so, or at once.
class TestInbox final : public PlatformInbox {
public:
    void submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) override {
        std::unique_lock lock(mutex_);
        ids_.push_back(arrival.event.event_id);
        changed_.notify_all();
        if (holds_) {
            held_.push_back(std::move(done));
            return;
        }
        lock.unlock();
        done(answer_);
    }
    void note_cursor(const BotKey&, std::string) override {}

    void hold() {
        const std::lock_guard lock(mutex_);
        holds_ = true;
    }
    void set_answer(InboxAnswer answer) { answer_ = std::move(answer); }
    bool wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(
            lock, std::chrono::seconds(20), [&] { return ids_.size() >= count; });
    }
    // Answers the oldest.
    void release(bool is_stored) {
        std::function<void(InboxAnswer)> done;
        {
            const std::lock_guard lock(mutex_);
            done = std::move(held_.front());
            held_.pop_front();
        }
        done({.is_stored = is_stored, .is_delivered = is_stored, .notice = {}});
    }
    std::vector<std::string> ids() {
        const std::lock_guard lock(mutex_);
        return ids_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> ids_;
    std::deque<std::function<void(InboxAnswer)>> held_;
    bool holds_ = false;
    InboxAnswer answer_{.is_stored = true, .is_delivered = true, .notice = {}};
};

class TelegramTest : public ::testing::Test {
protected:
    ~TelegramTest() override {
        if (telegram_) {
            telegram_->stop();
        }
    }
    TelegramConfig config() {
        TelegramConfig config;
        config.bot_id = "123";
        config.token = SecretString(std::string(FakeTelegram::kToken));
        config.api_base = FakeTelegram::kBase;
        config.webhook_secret = SecretString("hook-secret");
        return config;
    }
    TelegramPlatform& open(TelegramConfig with) {
        telegram_ = std::make_unique<TelegramPlatform>(TelegramPlatform::Parts{
            .config = std::move(with),
            .http = fake_.http(),
            .clock = clock_,
            .wait = [this](Duration span) {
                const std::lock_guard lock(mutex_);
                waits_.push_back(span);
                clock_.advance(span);
                return true;
            }});
        return *telegram_;
    }
    TelegramPlatform& open() { return open(config()); }
    PlatformReply call(RelayAction action) {
        PlatformCall call;
        call.action = std::move(action);
        call.not_after = clock_.now() + Duration::of_minutes(5);
        return telegram_->call(call);
    }
    bool wait_for_health(const std::function<bool(const PlatformHealth&)>& is_right) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (std::chrono::steady_clock::now() < deadline) {
            if (is_right(telegram_->health())) {
                return true;
            }
            std::this_thread::yield();
        }
        return false;
    }
    static Json press(const std::string& id, const std::string& data) {
        return Json::object(
            {{"callback_query",
              Json::object(
                  {{"id", id},
                   {"from", Json::object({{"id", 42}, {"is_bot", false}, {"first_name", "Ann"}})},
                   {"message",
                    Json::object(
                        {{"message_id", 5},
                         {"chat", Json::object({{"id", 42}, {"type", "private"}})}})},
                   {"data", data}})}});
    }
    WebhookRequest webhook(Json update, std::int64_t id) {
        update.set("update_id", id);
        WebhookRequest request;
        request.headers = {{"x-telegram-bot-api-secret-token", "hook-secret"}};
        request.body = to_text(update);
        return request;
    }

    FakeClock clock_;
    FakeTelegram fake_;
    TestInbox inbox_;
    std::mutex mutex_;
    std::vector<Duration> waits_;
    std::unique_ptr<TelegramPlatform> telegram_;
};

TEST_F(TelegramTest, LearnsItsNameBeforeItFetches) {
    open().start(inbox_, "");
    ASSERT_TRUE(fake_.wait_for("getUpdates", 1));
    EXPECT_EQ(telegram_->identity().username, "fake_bot");
    EXPECT_EQ(
        to_text(fake_.calls("getUpdates")[0].fields),
        R"({"limit":100,"timeout":0,)"
        R"("allowed_updates":["message","channel_post","callback_query"]})");
}

// What it has to say of its health must not wait for somebody to write.
TEST_F(TelegramTest, AsksOnceWithoutWaitingAndThenWaits) {
    fake_.push(FakeTelegram::message("one", 1, 42));
    open().start(inbox_, "");
    ASSERT_TRUE(fake_.wait_for("getUpdates", 2));
    EXPECT_NE(
        to_text(fake_.calls("getUpdates")[0].fields).find(R"("timeout":0)"), std::string::npos);
    EXPECT_NE(
        to_text(fake_.calls("getUpdates")[1].fields).find(R"("timeout":25)"), std::string::npos);
}

TEST_F(TelegramTest, ConfirmsAnUpdateOnlyAfterItIsStored) {
    inbox_.hold();
    const std::int64_t first = fake_.push(FakeTelegram::message("one", 1, 42));
    const std::int64_t second = fake_.push(FakeTelegram::message("two", 2, 43));
    open().start(inbox_, "");
    ASSERT_TRUE(inbox_.wait_for(2));  // Another chat need not wait.
    EXPECT_EQ(fake_.calls("getUpdates").size(), 1u);
    EXPECT_EQ(fake_.unconfirmed(), (std::vector<std::int64_t>{first, second}));
    inbox_.release(true);
    inbox_.release(true);
    ASSERT_TRUE(fake_.wait_for("getUpdates", 2));
    EXPECT_EQ(fake_.calls("getUpdates")[1].fields.find("offset")->as_int64(), second + 1);
    EXPECT_TRUE(fake_.unconfirmed().empty());
}

TEST_F(TelegramTest, AMessageWaitsForTheOneBeforeItInItsChat) {
    inbox_.hold();
    fake_.push(FakeTelegram::message("one", 1));
    fake_.push(FakeTelegram::message("two", 2));
    open().start(inbox_, "");
    ASSERT_TRUE(inbox_.wait_for(1));
    inbox_.release(false);
    // The refused one comes again before its successor.
    ASSERT_TRUE(inbox_.wait_for(2));
    inbox_.release(true);
    ASSERT_TRUE(inbox_.wait_for(3));
    inbox_.release(true);
    ASSERT_TRUE(fake_.wait_for("getUpdates", 3));
    EXPECT_EQ(inbox_.ids(), (std::vector<std::string>{"100", "100", "101"}));
    EXPECT_TRUE(fake_.unconfirmed().empty());
}

TEST_F(TelegramTest, WhatWasStoredBehindARefusedOneIsNotHandedInAgain) {
    inbox_.hold();
    fake_.push(FakeTelegram::message("one", 1, 42));
    fake_.push(FakeTelegram::message("two", 2, 43));
    open().start(inbox_, "");
    ASSERT_TRUE(inbox_.wait_for(2));
    inbox_.release(false);
    inbox_.release(true);
    ASSERT_TRUE(inbox_.wait_for(3));
    EXPECT_EQ(fake_.unconfirmed().size(), 2u);
    inbox_.release(true);
    ASSERT_TRUE(fake_.wait_for("getUpdates", 3));
    EXPECT_EQ(inbox_.ids(), (std::vector<std::string>{"100", "101", "100"}));
    EXPECT_TRUE(fake_.unconfirmed().empty());
}

TEST_F(TelegramTest, StopDoesNotWaitForAnswersThatMayComeLater) {
    inbox_.hold();
    fake_.push(FakeTelegram::message("one", 1));
    open().start(inbox_, "");
    ASSERT_TRUE(inbox_.wait_for(1));
    telegram_->stop();
    telegram_.reset();
    inbox_.release(true);
    EXPECT_EQ(fake_.unconfirmed().size(), 1u);  // Known by its id when it comes again.
}

TEST_F(TelegramTest, UpdatesThatNeedNoDeliveryAreConfirmed) {
    fake_.push(Json::object({{"poll", Json::object()}}));
    fake_.push(Json::object({{"message", "not an object"}}));
    fake_.push(FakeTelegram::message("after", 3));
    open().start(inbox_, "");
    ASSERT_TRUE(inbox_.wait_for(1));
    ASSERT_TRUE(fake_.wait_for("getUpdates", 2));
    EXPECT_EQ(inbox_.ids(), (std::vector<std::string>{"102"}));
    EXPECT_TRUE(fake_.unconfirmed().empty());
}

TEST_F(TelegramTest, AWebhookThatIsSetBreaksThePollWithAClearSentence) {
    fake_.intercept([](const Seen& seen) -> std::optional<Outcome> {
        return seen.method == "getUpdates"
                   ? std::optional(FakeTelegram::refuse(
                         409, "Conflict: can't use getUpdates method while webhook is active"))
                   : std::nullopt;
    });
    open().start(inbox_, "");
    ASSERT_TRUE(fake_.wait_for("getUpdates", 3));  // It is tried again, in case it was removed.
    ASSERT_TRUE(wait_for_health([](const PlatformHealth& health) { return health.is_broken; }));
    EXPECT_NE(telegram_->health().detail.find("deleteWebhook"), std::string::npos);
    EXPECT_FALSE(telegram_->health().is_connected);
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(waits_.front(), kTelegramPauseMax);
}

TEST_F(TelegramTest, AWrongTokenIsBroken) {
    TelegramConfig wrong = config();
    wrong.token = SecretString("123:another-token-0123456789");
    open(std::move(wrong)).start(inbox_, "");
    ASSERT_TRUE(wait_for_health([](const PlatformHealth& health) { return health.is_broken; }));
    EXPECT_EQ(telegram_->health().detail.find("another-token"), std::string::npos);
}

TEST_F(TelegramTest, PausesLongerAfterEachFailureAndNotForEver) {
    fake_.intercept([count = 0](const Seen& seen) mutable -> std::optional<Outcome> {
        return seen.method == "getUpdates" && ++count <= 9
                   ? std::optional<Outcome>(std::unexpected(HttpFailure::not_sent))
                   : std::nullopt;
    });
    open().start(inbox_, "");
    ASSERT_TRUE(fake_.wait_for("getUpdates", 10));
    const std::lock_guard lock(mutex_);
    ASSERT_GE(waits_.size(), 9u);
    EXPECT_EQ(waits_[0], kTelegramPauseMin);
    EXPECT_EQ(waits_[1], Duration::of_seconds(2));
    EXPECT_EQ(waits_[8], kTelegramPauseMax);
}

// One message that we cannot read must not keep a bot deaf.
TEST_F(TelegramTest, AnUpdateThatCannotBeReadIsPassedOver) {
    const std::int64_t bad = fake_.push(FakeTelegram::message("bad", 1));
    fake_.push(FakeTelegram::message("good", 2));
    fake_.intercept([bad](const Seen& seen) -> std::optional<Outcome> {
        const Json* const offset = seen.fields.find("offset");
        return seen.method == "getUpdates" && (offset == nullptr || offset->as_int64() <= bad)
                   ? std::optional<Outcome>(PlatformHttpAnswer{
                         200, {}, R"({"ok":true,"result":[{"update_id":100,"a":1,"a":2}]})"})
                   : std::nullopt;
    });
    open().start(inbox_, "");
    ASSERT_TRUE(inbox_.wait_for(1));
    EXPECT_EQ(inbox_.ids(), (std::vector<std::string>{"101"}));
}

TEST_F(TelegramTest, ForgetsTheOffsetOnceEverythingIsConfirmed) {
    fake_.push(FakeTelegram::message("one", 1));
    fake_.intercept([](const Seen& seen) -> std::optional<Outcome> {
        return seen.fields.find("offset") != nullptr
                   ? std::optional(FakeTelegram::ok(Json::array()))
                   : std::nullopt;
    });
    open().start(inbox_, "");
    ASSERT_TRUE(fake_.wait_for("getUpdates", 3));
    EXPECT_NE(fake_.calls("getUpdates")[1].fields.find("offset"), nullptr);
    EXPECT_EQ(fake_.calls("getUpdates")[2].fields.find("offset"), nullptr);
}

TEST_F(TelegramTest, APressedButtonIsAnsweredAfterItIsStored) {
    inbox_.set_answer({.is_stored = true, .is_delivered = false, .notice = "Nobody is there."});
    fake_.push(press("cb1", "hp1:p1:yes"));
    fake_.push(press("cb2", "something else"));
    open().start(inbox_, "");
    ASSERT_TRUE(fake_.wait_for("answerCallbackQuery", 2));
    const auto calls = fake_.calls("answerCallbackQuery");
    EXPECT_EQ(to_text(calls[0].fields), R"({"callback_query_id":"cb1","text":"Nobody is there."})");
    EXPECT_EQ(to_text(calls[1].fields), R"({"callback_query_id":"cb2"})");
    EXPECT_EQ(inbox_.ids().size(), 1u);
}

TEST_F(TelegramTest, SetsItsWebhookWithItsSecret) {
    TelegramConfig with = config();
    with.public_url = "https://relay.test/webhooks/telegram/123";
    open(std::move(with)).start(inbox_, "");
    ASSERT_TRUE(fake_.wait_for("setWebhook", 1));
    EXPECT_EQ(
        to_text(fake_.calls("setWebhook")[0].fields),
        R"({"url":"https://relay.test/webhooks/telegram/123","secret_token":"hook-secret",)"
        R"("allowed_updates":["message","channel_post","callback_query"]})");
    ASSERT_TRUE(wait_for_health([](const PlatformHealth& health) { return health.is_connected; }));
    EXPECT_TRUE(fake_.calls("getUpdates").empty());
}

TEST_F(TelegramTest, AWebhookAnswersAPressInItsOwnAnswer) {
    TelegramConfig with = config();
    with.public_url = "https://relay.test/webhooks/telegram/123";
    with.username = "fake_bot";
    open(std::move(with));
    const WebhookAnswer answer = telegram_->receive(webhook(press("cb1", "hp1:p1:yes"), 7));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, R"({"callback_query_id":"cb1","method":"answerCallbackQuery"})");
    ASSERT_EQ(answer.arrivals.size(), 1u);
    EXPECT_EQ(answer.arrivals[0].event.event_id, "7");
    ASSERT_TRUE(answer.undelivered_body);
    EXPECT_EQ(
        answer.undelivered_body({.is_stored = true, .is_delivered = false, .notice = "Nobody."}),
        R"({"callback_query_id":"cb1","text":"Nobody.","method":"answerCallbackQuery"})");
}

TEST_F(TelegramTest, AWebhookIsAskedToWaitUntilTheNameIsKnown) {
    TelegramConfig with = config();
    with.public_url = "https://relay.test/webhooks/telegram/123";
    open(std::move(with));
    const auto answer = telegram_->receive(webhook(FakeTelegram::message("hi", 1), 7));
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.arrivals.empty());
}

TEST_F(TelegramTest, AGenuineWebhookIsTakenWhateverItHoldsAsLongAsItIsJson) {
    TelegramConfig with = config();
    with.public_url = "https://relay.test/webhooks/telegram/123";
    with.username = "fake_bot";
    open(std::move(with));
    WebhookRequest request = webhook(FakeTelegram::message("hi", 1), 7);
    request.body = "not json";
    EXPECT_EQ(telegram_->receive(request).status, 400);
    request.body = R"({"update_id":8,"message":5})";
    EXPECT_EQ(telegram_->receive(request).status, 200);
    EXPECT_TRUE(telegram_->receive(request).arrivals.empty());
    request.body = R"({"update_id":8,"poll":{}})";
    EXPECT_EQ(telegram_->receive(request).status, 200);
}

TEST_F(TelegramTest, MarkdownThatTelegramCannotParseIsSentPlainOnce) {
    fake_.intercept([](const Seen& seen) -> std::optional<Outcome> {
        return seen.fields.find("parse_mode") != nullptr
                   ? std::optional(
                         FakeTelegram::refuse(400, "Bad Request: can't parse entities: it is odd"))
                   : std::nullopt;
    });
    open();
    const PlatformReply reply = call(SendAction{"42", "*bold*", {}, {}});
    EXPECT_EQ(reply.outcome, CallOutcome::sent);
    const auto calls = fake_.calls("sendMessage");
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].fields.find("parse_mode")->as_string(), "MarkdownV2");
    EXPECT_EQ(calls[1].fields.find("parse_mode"), nullptr);
    EXPECT_EQ(calls[1].fields.find("text")->as_string(), "*bold*");
}

// Gateway clients tell their agents that the connector does this for Telegram.
TEST_F(TelegramTest, WhatAgentsWriteIsShownWithItsMarkup) {
    open();
    call(SendAction{"42", "**Done.** See `a_b`!", {}, {}});
    call(SendAction{"42", "my_own_name", {}, {}});
    const auto calls = fake_.calls("sendMessage");
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].fields.find("text")->as_string(), "*Done\\.* See `a_b`\\!");
    EXPECT_EQ(calls[0].fields.find("parse_mode")->as_string(), "MarkdownV2");
    EXPECT_EQ(calls[1].fields.find("text")->as_string(), "my_own_name");
    EXPECT_EQ(calls[1].fields.find("parse_mode"), nullptr);
}

TEST_F(TelegramTest, AnEditThatChangesNothingIsASuccess) {
    fake_.intercept([](const Seen&) -> std::optional<Outcome> {
        return FakeTelegram::refuse(400, "Bad Request: message is not modified: the same");
    });
    open();
    const PlatformReply reply = call(EditAction{"42", "7", "same", {}});
    EXPECT_EQ(reply.outcome, CallOutcome::sent);
    EXPECT_EQ(reply.message_id, "7");
    EXPECT_EQ(call(SendAction{"42", "same", {}, {}}).outcome, CallOutcome::not_sent);
}

TEST_F(TelegramTest, AQuestionThatWasCutMayBeAskedAgain) {
    fake_.intercept([](const Seen&) -> std::optional<Outcome> {
        return std::unexpected(HttpFailure::unknown);
    });
    open();
    const PlatformReply reply = call(GetChatInfoAction{"42"});
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_TRUE(reply.retry_after.has_value());
    EXPECT_EQ(call(ThreadCreateAction{"42", "t", {}}).outcome, CallOutcome::unknown);
}

TEST_F(TelegramTest, TellsAChatsNameAndANewTopicsId) {
    open();
    const PlatformReply info = call(GetChatInfoAction{"42"});
    ASSERT_TRUE(info.chat_info.has_value());
    EXPECT_EQ(info.chat_info->name, "Ann Lee");
    EXPECT_EQ(info.chat_info->type, "dm");
    EXPECT_EQ(call(ThreadCreateAction{"42", "t", {}}).thread_id, "77");
}

TEST_F(TelegramTest, KeepsToOneMessageASecondInAChatAfterAShortBurst) {
    open();
    const Timestamp before = clock_.now();
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(call(SendAction{"42", "text", {}, {}}).outcome, CallOutcome::sent);
    }
    EXPECT_EQ(clock_.now() - before, Duration::of_seconds(2));
    call(SendAction{"43", "text", {}, {}});
    EXPECT_EQ(clock_.now() - before, Duration::of_seconds(2));
}

TEST_F(TelegramTest, KeepsToThirtyMessagesASecond) {
    open();
    const Timestamp before = clock_.now();
    for (int i = 0; i < 90; ++i) {
        EXPECT_EQ(
            call(SendAction{std::to_string(1000 + i), "text", {}, {}}).outcome, CallOutcome::sent);
    }
    EXPECT_GE(clock_.now() - before, Duration::of_milliseconds(1990));
    EXPECT_LE(clock_.now() - before, Duration::of_milliseconds(2010));
}

FileQuestion file_question() {
    FileQuestion question;
    question.file.file_id = "f1";
    question.bytes_max = std::size_t{25} * 1024 * 1024;
    question.timeout = Duration::of_seconds(5);
    return question;
}

TEST_F(TelegramTest, DownloadsAFileWithoutLettingItsAddressOut) {
    open();
    const auto file = telegram_->download(file_question());
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->bytes, "bytes");
    EXPECT_EQ(file->filename, "file 1.jpg");
    EXPECT_EQ(to_text(fake_.calls("file")[0].fields), "\"photos/file%201.jpg\"");
}

TEST_F(TelegramTest, AFileThatIsTooLargeIsNotFetched) {
    fake_.intercept([](const Seen& seen) -> std::optional<Outcome> {
        return seen.method == "getFile" ? std::optional(FakeTelegram::ok(Json::object(
                                              {{"file_path", "a"}, {"file_size", 20'000'001}})))
                                        : std::nullopt;
    });
    open();
    EXPECT_EQ(telegram_->download(file_question()).error().code(), "body_too_large");
    EXPECT_TRUE(fake_.calls("file").empty());
}

TEST_F(TelegramTest, AFileThatTelegramDoesNotKnowIsNotFound) {
    fake_.intercept([](const Seen&) -> std::optional<Outcome> {
        return FakeTelegram::refuse(400, "Bad Request: invalid file_id");
    });
    open();
    EXPECT_EQ(telegram_->download(file_question()).error().code(), "not_found");
}

TEST_F(TelegramTest, TellsWhetherAnotherTryForAFileMayHelp) {
    std::string says = "Bad Request: file is too big";
    int status = 400;
    fake_.intercept(
        [&](const Seen&) -> std::optional<Outcome> { return FakeTelegram::refuse(status, says); });
    open();
    EXPECT_EQ(telegram_->download(file_question()).error().code(), "body_too_large");
    status = 500;
    says = "Internal Server Error";
    EXPECT_EQ(telegram_->download(file_question()).error().code(), "unavailable");
}

TEST_F(TelegramTest, AFileThatIsToldToBeTooLargeIsNotAskedFor) {
    open();
    FileQuestion question = file_question();
    question.file.size = 20'000'001;
    EXPECT_EQ(telegram_->download(question).error().code(), "body_too_large");
    EXPECT_TRUE(fake_.calls("getFile").empty());
}

}  // namespace
}  // namespace interlock
