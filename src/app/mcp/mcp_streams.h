// The server-sent event streams of one session: one per streaming call and one standing stream for
// what belongs to no call. Every event has an id and stays in a bounded replay buffer, so a client
// whose connection broke fetches the rest with Last-Event-ID.
//
// Thread-safe: calls are answered from other threads than those that connections come in on.
// Writing to an HttpStream only queues bytes, so it happens under the lock, which keeps events in
// order.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.h"

namespace interlock {

// Per session. What is pushed out can no longer be replayed, and a client that asks for it is told.
inline constexpr std::size_t kMcpReplayEventsMax = 256;
inline constexpr std::size_t kMcpReplayBytesMax = 1024 * 1024;
// How long a client should wait before it comes back for the rest of a stream.
inline constexpr std::chrono::milliseconds kMcpRetryAfter{500};

class McpStreams {
public:
    using StreamId = std::uint64_t;

    // `head` is sent with status 200 and the event-stream headers added. Protocol 2025-11-25 begins
    // a call's stream with an empty event, so that a client can resume before the first message;
    // older clients would stumble over it.
    StreamId open(HttpResponder& responder, HttpResponse head, bool begin_with_empty_event);

    // Keeps the message and sends it when somebody is connected.
    void send(StreamId stream, std::string_view message);
    // Nothing more will come; closes the connection. The events remain for replay.
    void finish(StreamId stream);
    // Closes the connection only.
    void pause(StreamId stream);

    // The standing stream; a newer connection takes the place of an older one, and gets what was
    // sent while nobody was connected.
    void attach_standing(HttpResponder& responder, HttpResponse head);
    void send_standing(std::string_view message);

    // Replays what came after the event and connects to its stream. False, with the responder
    // unused, when the id is none of ours or later events were pushed out of the buffer.
    bool resume(HttpResponder& responder, HttpResponse head, std::string_view last_event_id);

    bool has_connection() const;
    void close_all();

private:
    static constexpr StreamId kStanding = 0;

    struct Stream {
        std::shared_ptr<HttpStream> connection;
        bool is_finished = false;
        std::size_t kept_events = 0;
        std::uint64_t newest_sent = 0;  // Number of its last event that went to a connection.
        std::uint64_t newest_lost = 0;  // Number of its last event pushed out of the buffer.
    };
    struct Event {
        StreamId stream = 0;
        std::uint64_t number = 0;
        std::string text;
    };

    void append(StreamId stream, std::string_view message);
    // Connects to the stream and writes its events after this number.
    void attach(StreamId id, std::shared_ptr<HttpStream> connection, std::uint64_t after);
    void trim();
    void forget_if_done(StreamId stream);

    mutable std::mutex mutex_;  // Guards all below.
    std::map<StreamId, Stream> streams_{{kStanding, {}}};
    std::deque<Event> events_;
    std::size_t event_bytes_ = 0;
    StreamId last_stream_ = kStanding;
    std::uint64_t last_event_ = 0;  // Counts over all streams of the session.
};

}  // namespace interlock
