// The life of a connection: read, hand over, answer, and close without losing the last answer.
#include "net/http_connection.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "net/forwarded.h"
#include "net/http_stream.h"
#include "net/web_socket_channel.h"
#include "net/web_socket_session.h"

namespace interlock {
namespace {

constexpr std::size_t kIdleInputBytes = 4 * 1024;   // Held by every idle connection.
constexpr std::size_t kHeadInputBytes = 16 * 1024;  // While a request is arriving ...
constexpr std::size_t kBusyInputBytes = 64 * 1024;  // ... that has a long body.
// Pipelined requests kept while one is being handled; then we stop reading.
constexpr std::size_t kReadAheadMax = 16 * 1024;
// Answers to pipelined requests gathered into one write.
constexpr std::size_t kGatherMax = 64 * 1024;
constexpr std::size_t kSocketOutputKept = 512;  // By each WebSocket, idle or not.
// How long we wait for the peer to read our last answer before the connection is torn down.
constexpr std::chrono::milliseconds kLingerTime{2'000};

void release_if_large(std::string& buffer, std::size_t kept_max) {
    buffer.clear();
    if (buffer.capacity() > kept_max) {
        std::string().swap(buffer);
    }
}

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<HttpLoop> loop, PeerInfo peer, Seat seat)
    : loop_(std::move(loop)),
      peer_(std::move(peer)),
      seat_(std::move(seat)),
      parser_(
          std::in_place,
          HttpParseLimits{
              .header_bytes_max = loop_->shared().limits.header_bytes_max,
              .body_bytes_max = loop_->shared().limits.body_bytes_max,
              .gate = this,
          }) {}

HttpConnection::~HttpConnection() {
    if (phase_ != Phase::closed) {
        loop_->shared().give_back(seat_);  // The loop ended before it could start us.
    }
}

void HttpConnection::start() {
    if (peer_.tls) {
        read_deadline_ = NetClock::now() + loop_->shared().limits.request_read_timeout;
        start_handshake();
        return;
    }
    phase_ = Phase::reading;
    pump();
}

void HttpConnection::start_refusal() {
    keep_alive_ = false;
    answer(fault_response(HttpFault::too_many_connections));
    pump();
}

void HttpConnection::on_handshake(bool is_ok) {
    if (phase_ == Phase::closed) {
        return;
    }
    if (!is_ok) {
        close();
        return;
    }
    phase_ = Phase::reading;
    pump();
}

void HttpConnection::on_read(ReadOutcome outcome, std::size_t count) {
    is_reading_ = false;
    if (phase_ == Phase::closed) {
        return;
    }
    if (outcome == ReadOutcome::failed) {
        close();
        return;
    }
    if (outcome == ReadOutcome::end) {
        has_peer_ended_ = true;
        // While a request is being handled this may be a caller that ended only its own side.
        if (is_lingering_ || phase_ == Phase::streaming) {
            close();
            return;
        }
    }
    in_end_ += count;
    pump();
}

// Parses and answers as long as there is something to parse and nobody to wait for. A handler that
// answers at once comes back here through take(), which then leaves the work to the loop below: no
// recursion however many requests were pipelined.
void HttpConnection::pump() {
    if (is_pumping_) {
        return;
    }
    if (phase_ == Phase::web_socket) {
        pump_web_socket();
        return;
    }
    is_pumping_ = true;
    bool is_held = true;
    while (is_held) {
        while (phase_ == Phase::reading && !is_paused_ && out_.size() < kGatherMax &&
               read_request()) {
        }
        is_held = phase_ == Phase::reading && !is_paused_ && out_.size() >= kGatherMax;
        flush();
        is_held = is_held && !is_writing_;
    }
    is_pumping_ = false;
    settle();
}

bool HttpConnection::read_request() {
    const ParseStep step =
        parser_->feed(std::string_view(in_).substr(in_begin_, in_end_ - in_begin_));
    in_begin_ += step.consumed;
    switch (step.status) {
        case ParseStatus::failed:
            answer_fault(parser_->fault());
            return false;
        case ParseStatus::complete:
            begin_answer();
            if (!loop_->may_handle(is_urgent_)) {
                phase_ = Phase::waiting;
                loop_->handle_later(shared_from_this(), is_known());
                return false;
            }
            dispatch();
            return true;
        case ParseStatus::need_more:
            break;
    }
    if (parser_->take_continue()) {
        out_ += kContinue;
    }
    if (!has_begun_ && (step.consumed > 0 || in_begin_ < in_end_)) {
        has_begun_ = true;
        read_deadline_ = NetClock::now() + loop_->shared().limits.request_read_timeout;
    }
    return false;
}

void HttpConnection::handle_now() {
    if (phase_ != Phase::waiting) {
        return;
    }
    is_pumping_ = true;  // An answer that comes at once is left to the pump below.
    dispatch();
    is_pumping_ = false;
    pump();
}

void HttpConnection::dispatch() {
    ParsedRequest parsed = parser_->take();
    has_begun_ = false;
    release_large();
    phase_ = Phase::handling;
    ++request_;
    keep_alive_ = parsed.keep_alive;
    is_http_1_0_ = parsed.http_1_0;
    is_head_ = parsed.request.method == "HEAD";
    loop_->shared().requests.fetch_add(1, std::memory_order_relaxed);
    UpgradeOffer offer = judge_upgrade(parsed.request, is_http_1_0_);
    is_upgrade_ = offer.refusal == 0;
    loop_->shared().handler(
        std::move(parsed.request), make_responder(shared_from_this(), request_, std::move(offer)));
}

void HttpConnection::take(LoopDelivery delivery) {
    if (auto* call = std::get_if<std::function<void()>>(&delivery.what)) {
        (*call)();
        return;
    }
    if (phase_ == Phase::closed || delivery.request != request_) {
        if (auto* start = std::get_if<SocketStart>(&delivery.what)) {
            start->channel->end(close_codes::broken, {});
        }
        return;
    }
    if (phase_ == Phase::web_socket) {
        take_web_socket(std::move(delivery));
        return;
    }
    if (phase_ == Phase::handling) {
        if (auto* response = std::get_if<HttpResponse>(&delivery.what)) {
            answer(*response);
        } else if (auto* start = std::get_if<StreamStart>(&delivery.what)) {
            begin_stream(std::move(*start));
        } else if (auto* socket = std::get_if<SocketStart>(&delivery.what)) {
            begin_web_socket(std::move(*socket));
            pump_soon();  // With what the face has queued right behind it.
            return;
        }
    } else if (phase_ == Phase::streaming) {
        if (auto* piece = std::get_if<StreamBytes>(&delivery.what)) {
            out_stream_bytes_ += piece->bytes.size();
            if (is_http_1_0_) {
                out_ += piece->bytes;
            } else {
                append_chunk(out_, piece->bytes);
            }
        } else if (auto* end = std::get_if<StreamEnd>(&delivery.what)) {
            if (!end->is_complete) {
                close();
                return;
            }
            end_stream();
        }
    }
    pump();
}

ResponseFraming HttpConnection::framing() {
    return {
        .keep_alive = keep_alive_,
        .http_1_0 = is_http_1_0_,
        .head_only = is_head_,
        .date = loop_->date(),
    };
}

void HttpConnection::answer(const HttpResponse& response) {
    const auto connection = response.header("Connection");
    keep_alive_ =
        keep_alive_ && !is_stopping_ && !(connection && equal_ignoring_case(*connection, "close"));
    append_response(out_, response, framing());
    finish_exchange();
    slow_down(response.status);
}

// A flood that is refused costs as much as one that is served, unless it is also slowed down. Those
// who heed Retry-After never notice.
void HttpConnection::slow_down(int status) {
    if (peer_.is_proxy) {
        return;  // It would slow down everybody behind the proxy; rates are kept by caller.
    }
    if (status != 401 && status != 429) {
        refusals_ = std::max(0, refusals_ - 1);
        return;
    }
    const HttpLimits& limits = loop_->shared().limits;
    if (refusals_ < limits.refusals_free) {
        ++refusals_;
        return;
    }
    const NetClock::time_point now = NetClock::now();
    if (phase_ == Phase::reading && !is_paused_ && !loop_->may_refuse_at_once(now)) {
        is_paused_ = true;
        loop_->resume_later(shared_from_this(), now + limits.refusal_pause);
    }
}

void HttpConnection::resume() {
    is_paused_ = false;
    if (phase_ != Phase::closed) {
        pump();
    }
}

void HttpConnection::answer_fault(HttpFault fault) {
    loop_->shared().bad_requests.fetch_add(1, std::memory_order_relaxed);
    has_refused_ = true;
    keep_alive_ = false;
    is_http_1_0_ = false;
    is_head_ = false;
    const bool is_refused = fault == HttpFault::body_too_large && refusal_;
    append_response(out_, is_refused ? *refusal_ : fault_response(fault), framing());
    finish_exchange();
}

void HttpConnection::begin_stream(StreamStart start) {
    if (is_stopping_ || has_peer_ended_) {
        close();
        start.channel->lose_peer();
        return;
    }
    keep_alive_ = keep_alive_ && !is_http_1_0_;
    append_stream_head(out_, start.head, framing());
    phase_ = Phase::streaming;
    release_body();
    if (!is_known()) {
        end_answer();  // Whoever listens without saying who he is makes room like the silent.
    }
    channel_ = std::move(start.channel);
    if (is_head_) {
        channel_->lose_peer();  // HEAD wants no body, so nobody listens to this stream.
        channel_.reset();
        finish_exchange();
    }
}

void HttpConnection::end_stream() {
    if (!is_http_1_0_) {
        out_ += kLastChunk;
    }
    channel_.reset();
    out_stream_bytes_ = 0;
    sending_stream_bytes_ = 0;
    finish_exchange();
}

void HttpConnection::finish_exchange() {
    phase_ = keep_alive_ && !is_stopping_ ? Phase::reading : Phase::closing;
    release_body();
    end_answer();
}

// After everything that could be done now is done: what are we waiting for, and until when?
void HttpConnection::settle() {
    if (phase_ == Phase::reading && has_peer_ended_ && !is_writing_) {
        phase_ = Phase::closing;  // Whatever is still unparsed can never become a request.
    }
    if (phase_ == Phase::closing && !is_lingering_ && !is_writing_) {
        linger();
    }
    if (phase_ == Phase::reading && !has_begun_) {
        const HttpLimits& limits = loop_->shared().limits;
        read_deadline_ = NetClock::now() +
                         (request_ == 0 ? limits.first_byte_timeout : limits.keep_alive_timeout);
    }
    read_more();
}

void HttpConnection::read_more() {
    if (is_reading_ || has_peer_ended_ || phase_ == Phase::handshake || phase_ == Phase::closed) {
        return;
    }
    if (phase_ == Phase::web_socket) {
        read_more_frames();
        return;
    }
    if (is_lingering_) {
        in_begin_ = in_end_;
    }
    const std::size_t unread = in_end_ - in_begin_;
    const bool is_parsing = phase_ == Phase::reading && !is_paused_ && out_.size() < kGatherMax;
    if (!is_parsing && unread >= kReadAheadMax) {
        return;  // The parser bounds what stays unread, but only while it is asked.
    }
    if (phase_ == Phase::handling && is_upgrade_) {
        return;  // So that a WebSocket begins with a buffer of its own size.
    }
    if (in_begin_ > 0) {
        std::memmove(in_.data(), in_.data() + in_begin_, unread);
        in_begin_ = 0;
        in_end_ = unread;
    }
    const bool is_idle = unread == 0 && !has_begun_;
    const std::size_t busy = body_bytes_held_ > kHeadInputBytes ? kBusyInputBytes : kHeadInputBytes;
    const std::size_t wanted = is_idle ? kIdleInputBytes : std::max(busy, 2 * unread);
    if (in_.size() < wanted) {
        in_.resize(wanted);
    } else if (is_idle && in_.size() > kIdleInputBytes) {
        std::string(kIdleInputBytes, '\0').swap(in_);
    }
    is_reading_ = true;
    start_read(std::span(in_).subspan(in_end_));
}

void HttpConnection::flush() {
    while (!is_writing_ && phase_ != Phase::closed) {
        if (session_) {
            session_->gather(out_, kGatherMax);
        }
        if (out_.empty()) {
            return;
        }
        sending_.swap(out_);
        sending_stream_bytes_ = std::exchange(out_stream_bytes_, 0);
        const std::optional<std::size_t> written = try_write(sending_);
        if (!written) {
            close();
            return;
        }
        sent_ = *written;
        if (sent_ == sending_.size()) {
            note_all_sent();
            continue;
        }
        is_writing_ = true;
        write_deadline_ = NetClock::now() + loop_->shared().limits.write_timeout;
        start_write(std::string_view(sending_).substr(sent_));
    }
}

void HttpConnection::note_all_sent() {
    release_if_large(sending_, session_ ? kSocketOutputKept : kGatherMax);
    sent_ = 0;
    if (session_) {
        session_->note_sent();
    }
    if (channel_) {
        channel_->note_sent(std::exchange(sending_stream_bytes_, 0));
    }
}

void HttpConnection::on_written(bool is_ok, std::size_t count) {
    if (phase_ == Phase::closed) {
        return;
    }
    if (!is_ok) {
        close();
        return;
    }
    sent_ += count;
    if (sent_ < sending_.size()) {
        write_deadline_ = NetClock::now() + loop_->shared().limits.write_timeout;
        start_write(std::string_view(sending_).substr(sent_));
        return;
    }
    is_writing_ = false;
    note_all_sent();
    pump();
}

// Closing a socket with unread input makes the kernel reset the connection, and the reset may
// overtake our answer (a 413 to a caller that is still sending). So we end our side, read and drop
// what still comes, and close when the peer has, or after a moment.
void HttpConnection::linger() {
    if (is_stopping_ || has_peer_ended_) {
        close();
        return;
    }
    is_lingering_ = true;
    read_deadline_ = NetClock::now() + kLingerTime;
    end_output(has_refused_);
}

void HttpConnection::begin_stop() {
    is_stopping_ = true;
    switch (phase_) {
        case Phase::handshake:
            close();
            return;
        case Phase::reading:
            phase_ = Phase::closing;
            break;
        case Phase::streaming: {
            const std::shared_ptr<StreamChannel> channel = channel_;
            end_stream();
            channel->lose_peer();
            break;
        }
        case Phase::web_socket:
            session_->close(
                {.code = close_codes::going_away, .reason = "going away", .drops_waiting = false},
                NetClock::now());
            break;
        case Phase::closing:
            if (is_lingering_) {
                close();
            }
            return;
        case Phase::waiting:
        case Phase::handling:
        case Phase::closed:
            return;
    }
    pump();
}

void HttpConnection::close() {
    if (phase_ == Phase::closed) {
        return;
    }
    phase_ = Phase::closed;
    close_transport();
    const std::shared_ptr<HttpConnection> self = shared_from_this();  // The map may hold the last.
    loop_->remove(*this);
    release_body();
    loop_->shared().give_back(seat_);
    if (const auto channel = std::exchange(channel_, nullptr)) {
        channel->lose_peer();
    }
    if (const auto session = std::exchange(session_, nullptr)) {
        session->lose();
    }
}

bool HttpConnection::is_overdue(NetClock::time_point now) const {
    if (phase_ == Phase::web_socket && session_->is_due(now)) {
        return true;
    }
    if (is_writing_) {
        return now >= write_deadline_;
    }
    switch (phase_) {
        case Phase::handshake:
        case Phase::reading:
        case Phase::closing:
            return now >= read_deadline_;
        case Phase::waiting:
        case Phase::handling:
        case Phase::streaming:
        case Phase::web_socket:
        case Phase::closed:
            return false;
    }
    return false;
}

void HttpConnection::expire() {
    if (!is_writing_ && phase_ == Phase::reading && has_begun_) {
        answer_fault(HttpFault::request_timeout);
        pump();
        return;
    }
    if (phase_ == Phase::web_socket) {
        expire_web_socket();
        return;
    }
    close();
}

}  // namespace interlock
