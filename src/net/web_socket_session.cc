// The life of a WebSocket after its handshake.
#include "net/web_socket_session.h"

#include <algorithm>

namespace interlock {

WebSocketSession::WebSocketSession(
    std::shared_ptr<WebSocketChannel> channel, const HttpLimits& limits, TimePoint now)
    : channel_(std::move(channel)),
      limits_(limits),
      reader_(WebSocketRole::server, limits.web_socket_message_bytes_max),
      last_heard_(now),
      last_ping_(now) {}

std::size_t WebSocketSession::read(std::string_view bytes, TimePoint now) {
    last_heard_ = now;
    std::size_t consumed = 0;
    bool has_heard = false;
    while (!is_paused()) {
        if (is_deaf_ || is_close_heard_) {
            consumed = bytes.size();
            break;
        }
        const WebSocketReader::Step step = reader_.feed(bytes.substr(consumed));
        consumed += step.consumed;
        if (step.event == WebSocketReader::Event::need_more) {
            break;
        }
        has_heard = has_heard || step.event == WebSocketReader::Event::message;
        take_event(step.event, now);
    }
    if (has_heard) {
        channel_->end_read();
    }
    return consumed;
}

void WebSocketSession::take_event(WebSocketReader::Event event, TimePoint now) {
    switch (event) {
        case WebSocketReader::Event::need_more:
            break;
        case WebSocketReader::Event::message:
            if (is_open_) {
                channel_->hear(reader_.payload(), reader_.is_text());
            }
            break;
        case WebSocketReader::Event::ping:
            if (is_open_) {
                pong_ = reader_.payload();
            }
            count_control(now);
            break;
        case WebSocketReader::Event::pong:
            count_control(now);
            break;
        case WebSocketReader::Event::close: {
            is_close_heard_ = true;
            const WebSocketClose& heard = reader_.close();
            // Nothing that waits is of use to a peer that has said goodbye.
            close({.code = heard.code, .reason = heard.reason, .drops_waiting = true}, now);
            break;
        }
        case WebSocketReader::Event::failed:
            stop_listening(reader_.fault(), now);
            break;
    }
}

void WebSocketSession::count_control(TimePoint now) {
    if (now - controls_since_ >= std::chrono::seconds(1)) {
        controls_since_ = now;
        controls_ = 0;
    }
    if (++controls_ > kControlFramesPerSecondMax) {
        stop_listening({close_codes::policy, "too many control frames"}, now);
    }
}

void WebSocketSession::stop_listening(const WebSocketFault& fault, TimePoint now) {
    is_deaf_ = true;
    close({.code = fault.code, .reason = std::string(fault.reason), .drops_waiting = true}, now);
}

void WebSocketSession::send(SocketMessage message) {
    if (is_open_) {
        (message.is_urgent ? urgent_ : waiting_).push_back(std::move(message.text));
    }
}

void WebSocketSession::close(const SocketClose& close, TimePoint now) {
    if (close.drops_waiting) {
        urgent_.clear();
        waiting_.clear();
        pong_.reset();
        is_ping_waiting_ = false;
    }
    if (!std::exchange(is_open_, false)) {
        return;
    }
    close_deadline_ = now + limits_.web_socket_close_timeout;
    close_payload_ = close_payload(close.code, close.reason);
    channel_->end(close.code, close.reason);
}

void WebSocketSession::lose() {
    is_open_ = false;
    channel_->end(close_codes::broken, {});
}

void WebSocketSession::gather(std::string& out, std::size_t bytes_max) {
    if (is_close_gathered_) {
        return;
    }
    if (pong_) {
        append_frame(out, {.opcode = WebSocketOpcode::pong, .payload = *pong_});
        pong_.reset();
    }
    if (std::exchange(is_ping_waiting_, false)) {
        append_frame(out, {.opcode = WebSocketOpcode::ping, .payload = {}});
    }
    for (std::list<std::string>* queue : {&urgent_, &waiting_}) {
        while (!queue->empty() && out.size() < bytes_max) {
            const std::string& message = queue->front();
            append_frame(out, {.opcode = WebSocketOpcode::text, .payload = message});
            gathered_bytes_ += frame_size(message.size());
            queue->pop_front();
        }
    }
    if (has_close_waiting() && urgent_.empty() && waiting_.empty()) {
        append_frame(out, {.opcode = WebSocketOpcode::close, .payload = close_payload_});
        is_close_gathered_ = true;
    }
}

void WebSocketSession::note_sent() {
    is_close_sent_ = is_close_gathered_;
    channel_->note_sent(std::exchange(gathered_bytes_, 0));
}

bool WebSocketSession::is_due(TimePoint now) const {
    if (!is_open_) {
        return now >= close_deadline_;
    }
    // Nothing can be heard while the face does not want to hear.
    return !channel_->is_paused() &&
           (now >= std::max(last_heard(), last_ping_) + limits_.web_socket_ping_interval ||
            now >= last_heard() + limits_.web_socket_silence_max);
}

bool WebSocketSession::tick(TimePoint now) {
    if (!is_due(now)) {
        return true;
    }
    if (!is_open_ || now >= last_heard() + limits_.web_socket_silence_max) {
        return false;
    }
    last_ping_ = now;
    is_ping_waiting_ = true;
    return true;
}

}  // namespace interlock
