// Responders and streams: how answers leave the handler's thread.
#include "net/http_stream.h"

#include "base/check.h"
#include "net/http_connection.h"
#include "net/http_format.h"
#include "net/web_socket_channel.h"

namespace interlock {
namespace {

// The handler's end of a stream. Dropping it ends the stream properly.
class ResponseStream final : public HttpStream {
public:
    explicit ResponseStream(std::shared_ptr<StreamChannel> channel)
        : channel_(std::move(channel)) {}
    ~ResponseStream() override { channel_->close(); }

    bool write(std::string bytes) override { return channel_->write(std::move(bytes)); }
    void close() override { channel_->close(); }
    bool is_open() const override { return channel_->is_open(); }
    void on_peer_closed(std::function<void()> call) override {
        channel_->on_peer_closed(std::move(call));
    }

private:
    const std::shared_ptr<StreamChannel> channel_;
};

class ConnectionResponder final : public HttpResponder {
public:
    ConnectionResponder(
        std::shared_ptr<HttpConnection> connection, std::uint64_t request, UpgradeOffer offer)
        : connection_(std::move(connection)), request_(request), offer_(std::move(offer)) {}

    ~ConnectionResponder() override {
        if (!is_used_.exchange(true)) {
            deliver(fault_response(HttpFault::internal));
        }
    }

    void send(HttpResponse response) override {
        CHECK(!is_used_.exchange(true));
        deliver(std::move(response));
    }

    std::shared_ptr<HttpStream> start_stream(HttpResponse head) override {
        CHECK(!is_used_.exchange(true));
        auto channel = std::make_shared<StreamChannel>(connection_, request_);
        // Always through the queue, so that the pieces written next cannot overtake the head.
        connection_->loop().deliver({connection_, request_, StreamStart{std::move(head), channel}});
        return std::make_shared<ResponseStream>(std::move(channel));
    }

    std::shared_ptr<WebSocket> accept_web_socket(std::shared_ptr<WebSocketPeer> peer) override {
        CHECK(!is_used_.exchange(true));
        HttpLoop& loop = connection_->loop();
        if (offer_.refusal != 0) {
            loop.shared().bad_requests.fetch_add(1, std::memory_order_relaxed);
            deliver(upgrade_refusal(offer_.refusal));
            return nullptr;
        }
        auto channel = std::make_shared<WebSocketChannel>(connection_, request_, std::move(peer));
        SocketStart start{.accept_key = std::move(offer_.accept_key), .channel = channel};
        if (!loop.deliver({connection_, request_, std::move(start)})) {
            return nullptr;
        }
        return make_web_socket(std::move(channel));
    }

private:
    void deliver(HttpResponse response) {
        HttpLoop& loop = connection_->loop();
        if (loop.runs_here()) {
            connection_->take({nullptr, request_, std::move(response)});
        } else {
            loop.deliver({connection_, request_, std::move(response)});
        }
    }

    const std::shared_ptr<HttpConnection> connection_;
    const std::uint64_t request_;
    UpgradeOffer offer_;
    std::atomic<bool> is_used_{false};
};

}  // namespace

StreamChannel::StreamChannel(std::shared_ptr<HttpConnection> connection, std::uint64_t request)
    : connection_(std::move(connection)), request_(request) {}

void StreamChannel::deliver(decltype(LoopDelivery::what) what) {
    connection_->loop().deliver({connection_, request_, std::move(what)});
}

bool StreamChannel::write(std::string bytes) {
    // Held while queueing, so that pieces arrive in the order in which they were counted.
    const std::lock_guard lock(mutex_);
    if (!is_open_) {
        return false;
    }
    if (bytes.empty()) {
        return true;
    }
    const std::size_t unsent = unsent_bytes_.fetch_add(bytes.size()) + bytes.size();
    if (unsent > connection_->loop().shared().limits.stream_unsent_bytes_max) {
        is_open_ = false;
        deliver(StreamEnd{.is_complete = false});
        return false;
    }
    deliver(StreamBytes{std::move(bytes)});
    return true;
}

void StreamChannel::close() {
    std::function<void()> dropped;  // May own the stream; released after the lock.
    const std::lock_guard lock(mutex_);
    dropped.swap(on_lost_);
    is_closed_ = true;
    if (is_open_.exchange(false)) {
        deliver(StreamEnd{.is_complete = true});
    }
}

void StreamChannel::on_peer_closed(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) {
        return;
    }
    if (is_peer_lost_) {
        deliver(std::move(call));
    } else {
        on_lost_ = std::move(call);
    }
}

void StreamChannel::lose_peer() {
    std::function<void()> call;
    {
        const std::lock_guard lock(mutex_);
        is_open_ = false;
        is_peer_lost_ = true;
        call.swap(on_lost_);
    }
    if (call) {
        call();
    }
}

HttpResponderPtr make_responder(
    std::shared_ptr<HttpConnection> connection, std::uint64_t request, UpgradeOffer offer) {
    return std::make_shared<ConnectionResponder>(std::move(connection), request, std::move(offer));
}

}  // namespace interlock
