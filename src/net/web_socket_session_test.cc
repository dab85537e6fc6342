// One accepted socket without a network and with a clock of the test: the order of what goes out,
// pings and silence, and the steps of closing.
#include "net/web_socket_session.h"

#include <gtest/gtest.h>

#include "net/web_socket_test_peer.h"

namespace interlock {
namespace {

using std::chrono::seconds;

class WebSocketSessions : public testing::Test {
protected:
    // What goes out now, as a client hears it, with a blank between; note_sent() follows.
    std::string gathered(std::size_t bytes_max = 64 * 1024) {
        std::string bytes;
        session_.gather(bytes, bytes_max);
        session_.note_sent();
        WebSocketReader reader(WebSocketRole::client, 1 << 20);
        std::string heard;
        std::string_view left = bytes;
        while (!left.empty()) {
            const auto step = reader.feed(left);
            left.remove_prefix(step.consumed);
            heard += heard.empty() ? "" : " ";
            heard += name_of(reader, step.event);
        }
        return heard;
    }

    static std::string name_of(WebSocketReader& reader, WebSocketReader::Event event) {
        switch (event) {
            case WebSocketReader::Event::message:
                return reader.payload();
            case WebSocketReader::Event::ping:
                return "ping";
            case WebSocketReader::Event::pong:
                return "pong:" + reader.payload();
            case WebSocketReader::Event::close:
                return "close:" + std::to_string(reader.close().code);
            default:
                return "?";
        }
    }

    void hear(WebSocketOpcode opcode, std::string_view payload) {
        const std::string bytes = client_frame(opcode, payload);
        EXPECT_EQ(session_.read(bytes, now_), bytes.size());
    }

    void close(bool drops_waiting) {
        session_.close({.code = 4000, .reason = "r", .drops_waiting = drops_waiting}, now_);
    }

    // Lets time pass; false when the connection is to be dropped.
    bool pass(seconds span) {
        now_ += span;
        return session_.tick(now_);
    }

    const HttpLimits limits_;
    WebSocketSession::TimePoint now_{std::chrono::hours(1)};
    std::shared_ptr<NotingPeer> peer_ = std::make_shared<NotingPeer>();
    std::shared_ptr<WebSocketChannel> channel_ =
        std::make_shared<WebSocketChannel>(nullptr, 0, peer_);
    WebSocketSession session_{channel_, limits_, now_};
};

TEST_F(WebSocketSessions, GatherControlThenUrgentThenOrdinaryMessages) {
    session_.send({.text = "a", .is_urgent = false});
    session_.send({.text = "u", .is_urgent = true});
    session_.send({.text = "b", .is_urgent = false});
    session_.send({.text = "v", .is_urgent = true});
    hear(WebSocketOpcode::ping, "x");
    EXPECT_EQ(gathered(), "pong:x u v a b");
    EXPECT_EQ(gathered(), "");
}

TEST_F(WebSocketSessions, GatherWholeMessagesUpToTheBound) {
    const std::string large(100, 'l');
    session_.send({.text = large, .is_urgent = false});
    session_.send({.text = "next", .is_urgent = false});
    EXPECT_EQ(gathered(50), large);
    EXPECT_EQ(gathered(50), "next");
}

TEST_F(WebSocketSessions, AnswerOnlyTheNewestPing) {
    hear(WebSocketOpcode::ping, "1");
    hear(WebSocketOpcode::ping, "2");
    EXPECT_EQ(gathered(), "pong:2");
}

TEST_F(WebSocketSessions, PingAfterThirtySecondsOfSilence) {
    EXPECT_TRUE(pass(seconds(29)));
    EXPECT_EQ(gathered(), "");
    EXPECT_TRUE(pass(seconds(1)));
    EXPECT_EQ(gathered(), "ping");
    EXPECT_TRUE(pass(seconds(29)));
    EXPECT_EQ(gathered(), "");
    EXPECT_TRUE(pass(seconds(1)));
    EXPECT_EQ(gathered(), "ping");
}

TEST_F(WebSocketSessions, EndAfterSeventyFiveSecondsOfSilence) {
    EXPECT_TRUE(pass(seconds(74)));
    EXPECT_FALSE(pass(seconds(1)));
}

TEST_F(WebSocketSessions, LiveOnWithEveryByte) {
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(pass(seconds(74)));
        EXPECT_EQ(session_.read("\x8a", now_), 1U);  // Not even a whole frame at first.
        EXPECT_EQ(session_.read(client_frame(WebSocketOpcode::pong, "").substr(1), now_), 5U);
    }
}

TEST_F(WebSocketSessions, AreNeverOverdueWhilePaused) {
    channel_->pause_reading();
    EXPECT_FALSE(session_.is_due(now_ + std::chrono::hours(1)));
    EXPECT_EQ(session_.read(client_frame(WebSocketOpcode::text, "kept"), now_), 0U);
    EXPECT_EQ(peer_->count(), 0U);
}

TEST_F(WebSocketSessions, SendWhatWaitsBeforeTheCloseFrame) {
    session_.send({.text = "a", .is_urgent = false});
    close(false);
    EXPECT_EQ(peer_->close(), (HeardClose{4000, "r"}));
    EXPECT_EQ(gathered(), "a close:4000");
    EXPECT_FALSE(session_.is_finished());
    hear(WebSocketOpcode::close, close_payload(4000, ""));
    EXPECT_TRUE(session_.is_finished());
    EXPECT_EQ(gathered(), "");
}

TEST_F(WebSocketSessions, DropWhatWaitsWhenTold) {
    session_.send({.text = "a", .is_urgent = false});
    session_.send({.text = "u", .is_urgent = true});
    close(true);
    EXPECT_EQ(gathered(), "close:4000");
}

TEST_F(WebSocketSessions, EndWhenTheCloseIsNotAnswered) {
    close(false);
    EXPECT_EQ(gathered(), "close:4000");
    EXPECT_TRUE(pass(seconds(9)));
    hear(WebSocketOpcode::text, "chatter");  // Is no answer.
    EXPECT_FALSE(pass(seconds(1)));
}

TEST_F(WebSocketSessions, AreFinishedOnlyWhenTheAnswerToACloseIsOut) {
    hear(WebSocketOpcode::close, close_payload(1000, "bye"));
    EXPECT_EQ(peer_->close(), (HeardClose{1000, "bye"}));
    EXPECT_FALSE(session_.is_finished());
    EXPECT_EQ(gathered(), "close:1000");
    EXPECT_TRUE(session_.is_finished());
}

TEST_F(WebSocketSessions, CountControlFramesBySeconds) {
    for (int second = 0; second < 3; ++second) {
        for (int i = 0; i < kControlFramesPerSecondMax; ++i) {
            hear(WebSocketOpcode::pong, "");
        }
        EXPECT_FALSE(session_.is_deaf());
        now_ += seconds(1);
    }
    for (int i = 0; i <= kControlFramesPerSecondMax; ++i) {
        hear(WebSocketOpcode::ping, "");
    }
    EXPECT_TRUE(session_.is_deaf());
    EXPECT_EQ(gathered(), "close:1008");
    EXPECT_EQ(peer_->close().code, 1008);
}

TEST_F(WebSocketSessions, TellOnceThatTheMessagesOfAReadHaveAllBeenGiven) {
    const std::string one = client_frame(WebSocketOpcode::text, "one");
    const std::string two = client_frame(WebSocketOpcode::text, "two");
    const std::string three = client_frame(WebSocketOpcode::text, "three");
    const std::string first = one + two + three.substr(0, 4);
    EXPECT_EQ(session_.read(first, now_), first.size());
    EXPECT_EQ(peer_->read_ends(), std::vector<std::size_t>{2});
    const std::string rest = three.substr(4) + client_frame(WebSocketOpcode::ping, "x");
    EXPECT_EQ(session_.read(rest, now_), rest.size());
    EXPECT_EQ(peer_->read_ends(), (std::vector<std::size_t>{2, 3}));
    hear(WebSocketOpcode::ping, "y");  // No message, so nothing to tell.
    EXPECT_EQ(peer_->read_ends(), (std::vector<std::size_t>{2, 3}));
}

TEST_F(WebSocketSessions, TellNothingOfAReadThatEndedWithAClose) {
    const std::string bytes =
        client_frame(WebSocketOpcode::text, "one") + client_frame(WebSocketOpcode::close, "");
    EXPECT_EQ(session_.read(bytes, now_), bytes.size());
    EXPECT_EQ(peer_->count(), 1U);
    EXPECT_TRUE(peer_->read_ends().empty());
}

}  // namespace
}  // namespace interlock
