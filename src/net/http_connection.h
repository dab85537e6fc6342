// One connection of the HTTP server as a state machine, without sockets: bytes come in through
// on_read(), go out through start_write(), and a derived class moves them (TCP, Unix, TLS).
//
//     handshake -> reading -> waiting -> handling -> reading -> ... one request at a time, in order
//                     |          |-> streaming -> reading
//                     |          `-> web_socket -> closing          frames until the end
//                     `----------------`-> closing -> closed        closing: last answer, then
//                     linger
//
// Everything here runs on the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/http_loop.h"
#include "net/http_parse.h"

namespace interlock {

class WebSocketSession;

struct PeerInfo {
    Listener listener = Listener::tcp;
    bool tls = false;
    bool is_loopback = false;
    // Trusted: its connections carry the requests of many callers, so that what one of them does
    // must not be held against the connection.
    bool is_proxy = false;
    std::string address;
    std::string group;  // base/peer_group.h
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection>, private HeadGate {
public:
    // `seat` goes back where it was taken on close.
    HttpConnection(std::shared_ptr<HttpLoop> loop, PeerInfo peer, Seat seat);
    ~HttpConnection() override;
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    HttpLoop& loop() { return *loop_; }

    void start();
    void start_refusal();  // Says 503 and closes.
    void take(LoopDelivery delivery);
    void resume();      // The pause that the loop was asked for is over.
    void handle_now();  // It is the turn of the request that waits.
    void pump_now();    // All that was delivered together is here.
    void begin_stop();
    void close();  // At once, without another byte.

    bool is_overdue(NetClock::time_point now) const;
    void expire();

protected:
    enum class ReadOutcome { bytes, end, failed };

    // The transport. Each start_… calls its on_… later, never from inside.
    virtual void start_handshake() = 0;
    virtual void start_read(std::span<char> into) = 0;
    virtual void start_write(std::string_view bytes) = 0;
    // Writes what goes without waiting; nothing when the peer is gone. 0 is always a valid answer.
    virtual std::optional<std::size_t> try_write(std::string_view bytes) = 0;
    // Tells the peer that nothing more will come; reading stays possible. `is_peer_sending`: the
    // peer may be in the middle of a request and must be able to go on.
    virtual void end_output(bool is_peer_sending) = 0;
    virtual void close_transport() = 0;

    void on_handshake(bool is_ok);
    void on_read(ReadOutcome outcome, std::size_t count);
    void on_written(bool is_ok, std::size_t count);

private:
    enum class Phase {
        handshake,
        reading,
        waiting,
        handling,
        streaming,
        web_socket,
        closing,
        closed
    };

    // In http_connection_gate.cc: what the parser asks, and what follows from it.
    Allowance allow(HttpRequest& head, std::optional<std::uint64_t> length) override;
    bool keep(std::size_t count) override;
    void know(const std::string& holder);
    bool is_known() const;
    void release_large();
    void release_body();
    void begin_answer();
    void end_answer();

    void pump();
    bool read_request();
    void dispatch();
    void answer(const HttpResponse& response);
    void answer_fault(HttpFault fault);
    void slow_down(int status);
    void begin_stream(StreamStart start);
    void end_stream();
    void finish_exchange();
    void settle();
    void read_more();
    void flush();
    void note_all_sent();
    void linger();
    ResponseFraming framing();

    // In web_socket_connection.cc.
    void begin_web_socket(SocketStart start);
    void take_web_socket(LoopDelivery delivery);
    void pump_soon();
    void pump_web_socket();
    void read_more_frames();
    void expire_web_socket();

    const std::shared_ptr<HttpLoop> loop_;
    const PeerInfo peer_;
    const Seat seat_;  // In HttpShared, which the loop keeps.
    Phase phase_ = Phase::handshake;
    bool is_pumping_ = false;
    bool is_stopping_ = false;
    bool is_lingering_ = false;
    bool has_refused_ = false;  // We closed on a request that may still be arriving.
    bool is_paused_ = false;    // Was refused too often: what has arrived waits.
    int refusals_ = 0;          // Less the other answers; at least 0.

    std::optional<HttpRequestParser> parser_;  // None once the connection is a WebSocket.
    std::string in_;  // in_[in_begin_, in_end_) has arrived and is not parsed yet.
    std::size_t in_begin_ = 0;
    std::size_t in_end_ = 0;
    bool is_reading_ = false;      // A read is under way into in_ behind in_end_.
    bool has_peer_ended_ = false;  // The peer sends nothing more; it may still read.
    bool has_begun_ = false;       // Part of a request has arrived.
    // Of the request that is arriving or being answered.
    bool is_urgent_ = false;
    std::optional<HttpResponse> refusal_;      // To a larger body than may be.
    std::optional<std::string> large_holder_;  // Has a place among the large bodies.
    BodyOwner owner_;
    std::size_t body_bytes_held_ = 0;
    NetClock::time_point read_deadline_{};

    std::uint64_t request_ = 0;  // Counts requests; the current one in handling and streaming.
    bool keep_alive_ = true;
    bool is_http_1_0_ = false;
    bool is_head_ = false;
    bool is_upgrade_ = false;  // The request in handling may become a WebSocket.
    std::shared_ptr<StreamChannel> channel_;
    std::unique_ptr<WebSocketSession> session_;
    bool is_pump_due_ = false;

    std::string out_;      // Waits until what is being sent is gone.
    std::string sending_;  // Being written; must not move meanwhile.
    std::size_t sent_ = 0;
    bool is_writing_ = false;
    std::size_t out_stream_bytes_ = 0;      // Of the stream's own bytes, how many are in out_ ...
    std::size_t sending_stream_bytes_ = 0;  // ... and in sending_.
    NetClock::time_point write_deadline_{};
};

}  // namespace interlock
