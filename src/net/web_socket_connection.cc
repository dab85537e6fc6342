// What a connection does once it is a WebSocket: its bytes are frames, and an idle one holds as
// little memory as it can.
#include <algorithm>

#include "net/http_connection.h"
#include "net/web_socket_channel.h"
#include "net/web_socket_session.h"
#include "net/web_socket_upgrade.h"

namespace interlock {
namespace {

constexpr std::size_t kIdleFrameBytes = 1024;       // Held by every idle WebSocket.
constexpr std::size_t kMessageBytes = 16 * 1024;    // While a message is arriving ...
constexpr std::size_t kBusyFrameBytes = 64 * 1024;  // ... and when it comes fast.

}  // namespace

void HttpConnection::begin_web_socket(SocketStart start) {
    if (has_peer_ended_) {
        close();
        start.channel->end(close_codes::broken, {});
        return;
    }
    const NetClock::time_point now = NetClock::now();
    append_upgrade_answer(out_, start.accept_key);
    phase_ = Phase::web_socket;
    parser_.reset();
    release_body();
    if (!is_known()) {
        end_answer();
    }
    if (!is_writing_) {
        std::string().swap(sending_);
    }
    session_ =
        std::make_unique<WebSocketSession>(std::move(start.channel), loop_->shared().limits, now);
    if (is_stopping_) {
        session_->close(
            {.code = close_codes::going_away, .reason = "going away", .drops_waiting = false}, now);
    }
}

// Only queued here: what is delivered together leaves in one write.
void HttpConnection::take_web_socket(LoopDelivery delivery) {
    if (auto* message = std::get_if<SocketMessage>(&delivery.what)) {
        session_->send(std::move(*message));
    } else if (auto* close = std::get_if<SocketClose>(&delivery.what)) {
        session_->close(*close, NetClock::now());
    }
    pump_soon();  // All that a SocketResume needs.
}

void HttpConnection::pump_soon() {
    if (!std::exchange(is_pump_due_, true)) {
        loop_->pump_later(shared_from_this());
    }
}

void HttpConnection::pump_now() {
    is_pump_due_ = false;
    if (phase_ != Phase::closed) {
        pump();
    }
}

void HttpConnection::pump_web_socket() {
    is_pumping_ = true;
    if (in_begin_ < in_end_) {
        in_begin_ += session_->read(
            std::string_view(in_).substr(in_begin_, in_end_ - in_begin_), NetClock::now());
    }
    flush();
    is_pumping_ = false;
    if (phase_ == Phase::closed) {
        return;
    }
    if (session_->is_finished()) {
        has_refused_ = session_->is_deaf();
        session_.reset();
        phase_ = Phase::closing;
    } else if (has_peer_ended_ && in_begin_ == in_end_) {
        close();  // Without a close frame, or we would be finished.
        return;
    }
    settle();
}

void HttpConnection::read_more_frames() {
    // Bytes that are left were held back by a pause, even if that is over: the pump of its end is
    // on the way.
    if (session_->is_paused() || in_begin_ < in_end_) {
        return;
    }
    const bool was_full = in_end_ > 0 && in_end_ == in_.size();
    in_begin_ = 0;
    in_end_ = 0;
    std::size_t wanted = session_->is_in_message() ? kMessageBytes : kIdleFrameBytes;
    if (was_full) {
        wanted = std::max(wanted, std::min(in_.size() * 4, kBusyFrameBytes));
    }
    if (in_.size() != wanted) {
        std::string(wanted, '\0').swap(in_);
    }
    is_reading_ = true;
    start_read(in_);
}

void HttpConnection::expire_web_socket() {
    const NetClock::time_point now = NetClock::now();
    if ((is_writing_ && now >= write_deadline_) || !session_->tick(now)) {
        close();
        return;
    }
    pump();
}

}  // namespace interlock
