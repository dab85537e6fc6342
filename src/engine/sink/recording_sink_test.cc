// Tests of the sink's two sides together, over a real Unix socket: what the plane may conclude from
// each way in which a send can end.
#include "engine/sink/recording_sink.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/errors.h"
#include "engine/sink/no_sink.h"
#include "engine/sink/sink_server.h"
#include "engine/system/system_clock.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

using namespace std::chrono_literals;

// Short, for answers that never come; nothing depends on how long exactly.
constexpr auto kSoon = 50ms;

// A sink on a thread of its own, from construction to destruction.
class RunningSink {
public:
    explicit RunningSink(const SinkServerOptions& options) : stop_(::eventfd(0, EFD_CLOEXEC)) {
        auto opened = SinkServer::open(options, clock_);
        EXPECT_TRUE(opened.has_value());
        server_ = *std::move(opened);
        thread_ = std::thread([this] { EXPECT_TRUE(server_->run(stop_).has_value()); });
    }
    ~RunningSink() {
        EXPECT_EQ(::eventfd_write(stop_, 1), 0);
        thread_.join();
        ::close(stop_);
    }

private:
    SystemClock clock_;
    int stop_;
    std::unique_ptr<SinkServer> server_;
    std::thread thread_;
};

SinkServerOptions options_in(const TempFolder& folder) {
    return {
        .socket_path = folder / "sock",
        .journal = {.path = folder / "journal"},
        .answer_delay = {},
        .drop_answers_every = 0};
}

OutboxItem effect_of(const std::string& id) {
    OutboxItem item;
    item.effect_id = EffectId::trusted(id);
    item.tenant_id = TenantId::trusted("demo");
    item.kind = "probe";
    item.json = "{}";
    return item;
}

TEST(RecordingSink, PerformsAnEffectAndFindsItAgain) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    RecordingSink sink(folder / "sock");
    const auto performed = sink.perform(effect_of("eff_1"));
    ASSERT_TRUE(performed.has_value());
    EXPECT_EQ(performed->receipt, "sink:1");
    const auto found = sink.find(EffectId::trusted("eff_1"));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->receipt, "sink:1");
    EXPECT_EQ(sink.count().value_or(SinkCounts{}), (SinkCounts{.performed = 1}));
}

TEST(RecordingSink, ASecondSendOfAnEffectIsRefused) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    RecordingSink sink(folder / "sock");
    ASSERT_TRUE(sink.perform(effect_of("eff_1")).has_value());
    const auto again = sink.perform(effect_of("eff_1"));
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().kind->code, errors::effect_refused.code);
}

TEST(RecordingSink, WhatNeverArrivedNoLongerCan) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    RecordingSink sink(folder / "sock");
    const auto found = sink.find(EffectId::trusted("eff_1"));
    ASSERT_TRUE(found.has_value());
    EXPECT_FALSE(found->has_value());
    EXPECT_FALSE(sink.perform(effect_of("eff_1")).has_value());
}

TEST(RecordingSink, WithoutASinkNothingLeavesAndNothingCanBeTold) {
    const TempFolder folder;
    RecordingSink sink(folder / "sock");
    const auto performed = sink.perform(effect_of("eff_1"));
    ASSERT_FALSE(performed.has_value());
    EXPECT_EQ(performed.error().kind->code, errors::effect_refused.code);
    const auto found = sink.find(EffectId::trusted("eff_1"));
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().kind->code, errors::unavailable.code);
}

TEST(RecordingSink, ALostAnswerIsUnknownUntilTheSinkIsAsked) {
    const TempFolder folder;
    SinkServerOptions options = options_in(folder);
    options.drop_answers_every = 1;
    const RunningSink running(options);
    RecordingSink impatient(folder / "sock", kSoon);
    const auto performed = impatient.perform(effect_of("eff_1"));
    ASSERT_FALSE(performed.has_value());
    EXPECT_EQ(performed.error().kind->code, errors::timed_out.code);
    RecordingSink sink(folder / "sock");
    const auto found = sink.find(EffectId::trusted("eff_1"));
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->has_value());
}

TEST(RecordingSink, ALateAnswerIsNotTakenForTheNextOnes) {
    const TempFolder folder;
    SinkServerOptions options = options_in(folder);
    options.answer_delay = Duration::of_milliseconds(200);
    const RunningSink running(options);
    RecordingSink sink(folder / "sock", kSoon);
    ASSERT_FALSE(sink.perform(effect_of("eff_1")).has_value());
    const auto found = sink.find(EffectId::trusted("eff_2"));
    ASSERT_TRUE(found.has_value());
    EXPECT_FALSE(found->has_value());
}

TEST(RecordingSink, ADelayedAnswerArrives) {
    const TempFolder folder;
    SinkServerOptions options = options_in(folder);
    options.answer_delay = Duration::of_milliseconds(5);
    const RunningSink running(options);
    RecordingSink sink(folder / "sock");
    EXPECT_TRUE(sink.perform(effect_of("eff_1")).has_value());
    EXPECT_TRUE(sink.perform(effect_of("eff_2")).has_value());
}

TEST(RecordingSink, ConnectsAgainAfterTheSinkWasRestarted) {
    const TempFolder folder;
    RecordingSink sink(folder / "sock");
    {
        const RunningSink running(options_in(folder));
        ASSERT_TRUE(sink.perform(effect_of("eff_1")).has_value());
    }
    const RunningSink running(options_in(folder));
    const auto found = sink.find(EffectId::trusted("eff_1"));
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->has_value());
}

TEST(RecordingSink, AnEffectLongerThanALineIsRefusedUnsent) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    RecordingSink sink(folder / "sock");
    OutboxItem effect = effect_of("eff_1");
    effect.json = std::string(kSinkLineBytesMax, 'x');
    const auto performed = sink.perform(effect);
    ASSERT_FALSE(performed.has_value());
    EXPECT_EQ(performed.error().kind->code, errors::effect_refused.code);
    EXPECT_EQ(sink.count().value_or(SinkCounts{.performed = -1}), SinkCounts{});
}

TEST(SinkServer, ListensOnASocketThatOnlyItsOwnerMayOpen) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    struct stat found{};
    ASSERT_EQ(::stat((folder / "sock").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
}

ClientSocket connect_to(const TempFolder& folder) {
    HttpTarget target;
    target.unix_socket_path = folder / "sock";
    auto socket = ClientSocket::connect(target, std::chrono::steady_clock::now() + kSinkTimeout);
    EXPECT_TRUE(socket.has_value());
    return *std::move(socket);
}

// What the sink answers to `bytes` until it closes or has answered one line; "" when it closed.
std::string answer_to(ClientSocket& socket, std::string_view bytes) {
    const SocketDeadline deadline = std::chrono::steady_clock::now() + kSinkTimeout;
    std::size_t written = 0;
    std::array<char, 4096> answer;
    if (!socket.write_all(bytes, deadline, written)) {
        return "";  // Closed while we were still writing.
    }
    const auto got = socket.read_some(answer, deadline);
    return got ? std::string(answer.data(), *got) : "";
}

TEST(SinkServer, ClosesAConnectionWhoseLineHasNoEnd) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    ClientSocket socket = connect_to(folder);
    EXPECT_EQ(answer_to(socket, std::string(2 * kSinkLineBytesMax, 'x')), "");
}

TEST(SinkServer, ClosesAConnectionThatSpeaksSomethingElse) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    ClientSocket socket = connect_to(folder);
    EXPECT_EQ(answer_to(socket, "GET / HTTP/1.1\r\n\r\n"), "");
}

TEST(SinkServer, TakesALineThatArrivesInPieces) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    ClientSocket socket = connect_to(folder);
    std::size_t written = 0;
    ASSERT_TRUE(
        socket.write_all(R"({"op":"co)", std::chrono::steady_clock::now() + kSinkTimeout, written));
    EXPECT_NE(answer_to(socket, "unt\"}\n"), "");
}

TEST(SinkServer, ClosesOneConnectionMoreThanItTakes) {
    const TempFolder folder;
    const RunningSink running(options_in(folder));
    std::vector<ClientSocket> taken;
    for (std::size_t i = 0; i < kSinkConnectionsMax; ++i) {
        taken.push_back(connect_to(folder));
        ASSERT_NE(answer_to(taken.back(), "{\"op\":\"count\"}\n"), "");
    }
    ClientSocket one_more = connect_to(folder);
    EXPECT_EQ(answer_to(one_more, "{\"op\":\"count\"}\n"), "");
    EXPECT_NE(answer_to(taken.front(), "{\"op\":\"count\"}\n"), "");
}

TEST(NoSink, RefusesEveryEffectAndCannotTell) {
    NoSink sink;
    const auto performed = sink.perform(effect_of("eff_1"));
    ASSERT_FALSE(performed.has_value());
    EXPECT_EQ(performed.error().kind->code, errors::no_effect_sink.code);
    EXPECT_FALSE(sink.find(EffectId::trusted("eff_1")).has_value());
}

}  // namespace
}  // namespace interlock
