#include "app/mcp/mcp_streams.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace interlock {
namespace {

struct EventId {
    std::uint64_t stream = 0;
    std::uint64_t number = 0;
};

std::string to_text(const EventId& id) {
    return std::to_string(id.stream) + "-" + std::to_string(id.number);
}

std::optional<EventId> parse_event_id(std::string_view text) {
    EventId id;
    const char* const end = text.data() + text.size();
    const auto stream = std::from_chars(text.data(), end, id.stream);
    if (stream.ec != std::errc() || stream.ptr == end || *stream.ptr != '-') {
        return std::nullopt;
    }
    const auto number = std::from_chars(stream.ptr + 1, end, id.number);
    if (number.ec != std::errc() || number.ptr != end) {
        return std::nullopt;
    }
    return id;
}

// JSON text holds no line break, so one data line carries a message.
std::string event_text(const EventId& id, std::string_view message) {
    std::string text = "event: message\nid: " + to_text(id) + "\ndata: ";
    text += message;
    text += "\n\n";
    return text;
}

std::string empty_event_text(const EventId& id) {
    return "id: " + to_text(id) + "\nretry: " + std::to_string(kMcpRetryAfter.count()) +
           "\ndata: \n\n";
}

std::shared_ptr<HttpStream> connect(HttpResponder& responder, HttpResponse head) {
    head.status = 200;
    head.set("Content-Type", "text/event-stream");
    head.set("Cache-Control", "no-cache, no-transform");
    head.set("X-Accel-Buffering", "no");  // A buffering proxy would hold events back.
    return responder.start_stream(std::move(head));
}

}  // namespace

McpStreams::StreamId McpStreams::open(
    HttpResponder& responder, HttpResponse head, bool begin_with_empty_event) {
    const std::lock_guard lock(mutex_);
    const StreamId id = ++last_stream_;
    Stream& stream = streams_[id];
    stream.connection = connect(responder, std::move(head));
    if (begin_with_empty_event) {
        stream.connection->write(empty_event_text({id, last_event_}));
    }
    return id;
}

void McpStreams::send(StreamId stream, std::string_view message) {
    const std::lock_guard lock(mutex_);
    append(stream, message);
}

void McpStreams::append(StreamId id, std::string_view message) {
    const auto found = streams_.find(id);
    if (found == streams_.end() || found->second.is_finished) {
        return;
    }
    Stream& stream = found->second;
    Event event{id, ++last_event_, {}};
    event.text = event_text({id, event.number}, message);
    if (stream.connection && stream.connection->write(event.text)) {
        stream.newest_sent = event.number;
    } else {
        stream.connection.reset();  // The peer is gone; it may come back for the event.
    }
    event_bytes_ += event.text.size();
    ++stream.kept_events;
    events_.push_back(std::move(event));
    trim();
}

void McpStreams::trim() {
    while (events_.size() > kMcpReplayEventsMax || event_bytes_ > kMcpReplayBytesMax) {
        const Event& oldest = events_.front();
        Stream& stream = streams_.at(oldest.stream);
        stream.newest_lost = oldest.number;
        --stream.kept_events;
        const StreamId id = oldest.stream;
        event_bytes_ -= oldest.text.size();
        events_.pop_front();
        forget_if_done(id);
    }
}

void McpStreams::forget_if_done(StreamId id) {
    const auto found = streams_.find(id);
    if (found != streams_.end() && found->second.is_finished && found->second.kept_events == 0) {
        streams_.erase(found);
    }
}

void McpStreams::finish(StreamId id) {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) {
        return;
    }
    found->second.is_finished = true;
    if (const auto connection = std::exchange(found->second.connection, nullptr)) {
        connection->close();
    }
    forget_if_done(id);
}

void McpStreams::pause(StreamId id) {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) {
        return;
    }
    if (const auto connection = std::exchange(found->second.connection, nullptr)) {
        connection->close();
    }
}

void McpStreams::attach(StreamId id, std::shared_ptr<HttpStream> connection, std::uint64_t after) {
    Stream& stream = streams_.at(id);
    for (const Event& event : events_) {
        if (event.stream == id && event.number > after && connection->write(event.text)) {
            stream.newest_sent = std::max(stream.newest_sent, event.number);
        }
    }
    const auto older = std::exchange(stream.connection, std::move(connection));
    if (older) {
        older->close();
    }
}

void McpStreams::attach_standing(HttpResponder& responder, HttpResponse head) {
    const std::lock_guard lock(mutex_);
    attach(kStanding, connect(responder, std::move(head)), streams_.at(kStanding).newest_sent);
}

void McpStreams::send_standing(std::string_view message) {
    const std::lock_guard lock(mutex_);
    append(kStanding, message);
}

bool McpStreams::resume(
    HttpResponder& responder, HttpResponse head, std::string_view last_event_id) {
    const std::optional<EventId> last = parse_event_id(last_event_id);
    if (!last) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(last->stream);
    if (found == streams_.end() || last->number > last_event_ ||
        found->second.newest_lost > last->number) {
        return false;
    }
    attach(last->stream, connect(responder, std::move(head)), last->number);
    if (found->second.is_finished) {
        std::exchange(found->second.connection, nullptr)->close();
    }
    return true;
}

bool McpStreams::has_connection() const {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, stream] : streams_) {
        if (stream.connection && stream.connection->is_open()) {
            return true;
        }
    }
    return false;
}

void McpStreams::close_all() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, stream] : streams_) {
        if (const auto connection = std::exchange(stream.connection, nullptr)) {
            connection->close();
        }
    }
}

}  // namespace interlock
