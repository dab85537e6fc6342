// The two ends that a handler holds: the responder of one request and, for server-sent events, the
// stream. Both may be used from any thread; they only queue work for the connection's loop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "net/http_loop.h"
#include "net/http_message.h"
#include "net/web_socket_upgrade.h"

namespace interlock {

// What the connection and the handler's stream object share.
class StreamChannel : public std::enable_shared_from_this<StreamChannel> {
public:
    StreamChannel(std::shared_ptr<HttpConnection> connection, std::uint64_t request);

    bool write(std::string bytes);
    void close();
    bool is_open() const { return is_open_.load(); }
    void on_peer_closed(std::function<void()> call);

    // From the connection, on its loop.
    void note_sent(std::size_t bytes) { unsent_bytes_.fetch_sub(bytes); }
    void lose_peer();

private:
    void deliver(decltype(LoopDelivery::what) what);

    const std::shared_ptr<HttpConnection> connection_;
    const std::uint64_t request_;
    std::atomic<bool> is_open_{true};
    std::atomic<std::size_t> unsent_bytes_{0};
    std::mutex mutex_;
    std::function<void()> on_lost_;  // Guarded by mutex_, as are the flags below.
    bool is_peer_lost_ = false;
    bool is_closed_ = false;  // By the handler; nobody wants to be called any more.
};

HttpResponderPtr make_responder(
    std::shared_ptr<HttpConnection> connection, std::uint64_t request, UpgradeOffer offer);

}  // namespace interlock
