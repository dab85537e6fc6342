#include "app/mcp/mcp_streams.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "app/mcp/sse_reader.h"
#include "testing/fake_http.h"

namespace interlock {
namespace {

std::vector<std::string> messages_in(const std::string& text) {
    std::vector<std::string> messages;
    SseReader reader;
    EXPECT_TRUE(reader.feed(text, [&](const SseEvent& event) {
        if (!event.data.empty()) {
            messages.push_back(event.data);
        }
    }));
    return messages;
}

std::string last_id_in(const std::string& text) {
    SseReader reader;
    EXPECT_TRUE(reader.feed(text, [](const SseEvent&) {}));
    return reader.last_event_id();
}

TEST(McpStreams, SendsMessagesAsEventsWithIds) {
    McpStreams streams;
    FakeResponder caller;
    const auto id = streams.open(caller, {}, false);
    streams.send(id, R"({"a":1})");
    streams.finish(id);
    EXPECT_EQ(caller.head.status, 200);
    EXPECT_EQ(caller.head.header("Content-Type"), "text/event-stream");
    EXPECT_EQ(caller.stream->text, "event: message\nid: 1-1\ndata: {\"a\":1}\n\n");
    EXPECT_TRUE(caller.stream->was_closed);
}

TEST(McpStreams, BeginsWithAnEmptyEventWhenAsked) {
    McpStreams streams;
    FakeResponder caller;
    streams.open(caller, {}, true);
    EXPECT_EQ(caller.stream->text, "id: 1-0\nretry: 500\ndata: \n\n");
}

TEST(McpStreams, TheRestOfAPausedStreamIsFetchedByItsLastEvent) {
    McpStreams streams;
    FakeResponder first;
    const auto id = streams.open(first, {}, true);
    streams.pause(id);
    EXPECT_TRUE(first.stream->was_closed);
    streams.send(id, "\"early\"");

    FakeResponder second;
    ASSERT_TRUE(streams.resume(second, {}, last_id_in(first.stream->text)));
    streams.send(id, "\"late\"");
    streams.finish(id);
    EXPECT_EQ(
        messages_in(second.stream->text), (std::vector<std::string>{"\"early\"", "\"late\""}));
    EXPECT_TRUE(second.stream->was_closed);
}

TEST(McpStreams, AFinishedStreamIsReplayedAndClosed) {
    McpStreams streams;
    FakeResponder first;
    const auto id = streams.open(first, {}, false);
    streams.send(id, "1");
    const std::string after_one = last_id_in(first.stream->text);
    first.stream->open = false;  // The peer is gone.
    streams.send(id, "2");
    streams.finish(id);

    FakeResponder second;
    ASSERT_TRUE(streams.resume(second, {}, after_one));
    EXPECT_EQ(messages_in(second.stream->text), (std::vector<std::string>{"2"}));
    EXPECT_TRUE(second.stream->was_closed);
}

TEST(McpStreams, ReplaysOnlyTheStreamOfTheEvent) {
    McpStreams streams;
    FakeResponder one;
    FakeResponder two;
    const auto first = streams.open(one, {}, true);
    const auto second = streams.open(two, {}, true);
    streams.send(first, "\"first\"");
    streams.send(second, "\"second\"");
    FakeResponder again;
    ASSERT_TRUE(streams.resume(again, {}, "1-0"));
    EXPECT_EQ(messages_in(again.stream->text), (std::vector<std::string>{"\"first\""}));
}

TEST(McpStreams, RefusesEventIdsItNeverGaveOut) {
    McpStreams streams;
    FakeResponder first;
    streams.send(streams.open(first, {}, false), "1");
    for (const char* id : {"", "x", "1", "1-", "-1", "1-x", "1-2", "7-1", "1-1 ", "-1-1"}) {
        FakeResponder caller;
        EXPECT_FALSE(streams.resume(caller, {}, id)) << id;
        EXPECT_EQ(caller.status(), 0) << id;
    }
}

TEST(McpStreams, RefusesToResumePastEventsThatWerePushedOut) {
    McpStreams streams;
    FakeResponder first;
    const auto id = streams.open(first, {}, false);
    for (std::size_t i = 0; i < kMcpReplayEventsMax + 1; ++i) {
        streams.send(id, "0");
    }
    FakeResponder too_early;
    EXPECT_FALSE(streams.resume(too_early, {}, "1-0"));
    FakeResponder in_time;
    ASSERT_TRUE(streams.resume(in_time, {}, "1-1"));
    EXPECT_EQ(messages_in(in_time.stream->text).size(), kMcpReplayEventsMax);
}

TEST(McpStreams, BoundsTheBytesKeptForReplay) {
    McpStreams streams;
    FakeResponder first;
    const auto id = streams.open(first, {}, false);
    const std::string large(kMcpReplayBytesMax / 2, '1');
    streams.send(id, large);
    streams.send(id, large);
    streams.send(id, "2");
    FakeResponder again;
    EXPECT_FALSE(streams.resume(again, {}, "1-0"));
    ASSERT_TRUE(streams.resume(again, {}, "1-2"));
    EXPECT_EQ(messages_in(again.stream->text), (std::vector<std::string>{"2"}));
}

TEST(McpStreams, AFinishedStreamIsForgottenWhenItsEventsAre) {
    McpStreams streams;
    FakeResponder first;
    const auto id = streams.open(first, {}, false);
    streams.send(id, "1");
    streams.finish(id);
    for (std::size_t i = 0; i < kMcpReplayEventsMax; ++i) {
        streams.send_standing("0");
    }
    FakeResponder again;
    EXPECT_FALSE(streams.resume(again, {}, "1-1"));
    streams.send(id, "after the end");  // Goes nowhere and harms nothing.
}

TEST(McpStreams, ANewerStandingConnectionTakesThePlaceOfTheOlder) {
    McpStreams streams;
    FakeResponder older;
    FakeResponder newer;
    streams.attach_standing(older, {});
    streams.attach_standing(newer, {});
    EXPECT_TRUE(older.stream->was_closed);
    streams.send_standing("1");
    EXPECT_TRUE(messages_in(older.stream->text).empty());
    EXPECT_EQ(messages_in(newer.stream->text), (std::vector<std::string>{"1"}));
}

TEST(McpStreams, WhatWasSaidToNobodyIsToldToTheFirstWhoListens) {
    McpStreams streams;
    streams.send_standing("1");
    FakeResponder first;
    streams.attach_standing(first, {});
    EXPECT_EQ(messages_in(first.stream->text), (std::vector<std::string>{"1"}));
    FakeResponder second;
    streams.attach_standing(second, {});
    EXPECT_TRUE(messages_in(second.stream->text).empty());  // Told once is told.
}

TEST(McpStreams, KnowsWhetherSomebodyIsConnected) {
    McpStreams streams;
    EXPECT_FALSE(streams.has_connection());
    FakeResponder caller;
    streams.attach_standing(caller, {});
    EXPECT_TRUE(streams.has_connection());
    streams.close_all();
    EXPECT_FALSE(streams.has_connection());
    EXPECT_TRUE(caller.stream->was_closed);
}

// However often the connection breaks, the client that resumes sees every message once, in order.
TEST(McpStreams, BrokenConnectionsLoseAndRepeatNothing) {
    EXPECT_TRUE(rc::check([](const std::vector<bool>& breaks) {
        RC_PRE(breaks.size() < kMcpReplayEventsMax);
        McpStreams streams;
        auto caller = std::make_unique<FakeResponder>();
        const auto id = streams.open(*caller, {}, true);
        std::vector<std::string> seen;
        std::string last_id;
        const auto collect = [&] {
            for (std::string& message : messages_in(caller->stream->text)) {
                seen.push_back(std::move(message));
            }
            if (const std::string got = last_id_in(caller->stream->text); !got.empty()) {
                last_id = got;
            }
        };
        std::vector<std::string> sent;
        for (std::size_t i = 0; i < breaks.size(); ++i) {
            if (breaks[i]) {
                caller->stream->open = false;
            }
            sent.push_back(std::to_string(i));
            streams.send(id, sent.back());
            if (!caller->stream->open) {
                collect();
                caller = std::make_unique<FakeResponder>();
                RC_ASSERT(streams.resume(*caller, {}, last_id));
            }
        }
        collect();
        RC_ASSERT(seen == sent);
    }));
}

}  // namespace
}  // namespace interlock
