// The client on Beast's websocket stream, run step by step on a loop of its own. Besides
// http_parse.cc the only file that includes Beast.
#include "net/web_socket_client.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "base/check.h"
#include "base/errors.h"
#include "net/web_socket.h"
#include "net/web_url.h"

namespace interlock {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;
using Deadline = WebSocketClient::Deadline;

// What an idle client keeps for the next message.
constexpr std::size_t kKeptBytes = 64 * 1024;

using PlainStream = tcp::socket;
using TlsStream = asio::ssl::stream<tcp::socket>;

// A context must be complete before a stream is made from it: the stream takes a copy of its rules.
Result<void> prepare_tls(asio::ssl::context& context, const WebSocketTarget& target) {
    error_code error;
    context.set_default_verify_paths(error);
    if (!error && !target.ca_file.empty()) {
        context.load_verify_file(target.ca_file, error);
    }
    if (error || SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION) != 1) {
        return fail(
            errors::invalid_config,
            "The trusted certificates cannot be read: " + error.message() + ".");
    }
    context.set_verify_mode(asio::ssl::verify_peer);
    return {};
}

template <class Stream>
class BeastClient final : public WebSocketClient {
public:
    BeastClient(WebSocketTarget target, WebUrl url, asio::ssl::context tls)
        : target_(std::move(target)),
          url_(std::move(url)),
          tls_(std::move(tls)),
          stream_(make_stream()) {}

    Result<void> open() {
        const Deadline deadline = after(target_.connect_timeout);
        TRY(connect_any(deadline));
        TRY(start_tls(deadline));
        return shake_hands(deadline);
    }

    Result<std::optional<WebSocketMessage>> receive(Deadline deadline) override {
        if (closed_ && !read_outcome_) {
            return closed_error();
        }
        start_read();
        (void)run_until(deadline, [this] { return read_outcome_ || is_woken_; });
        if (!read_outcome_) {
            is_woken_ = false;
            return std::nullopt;
        }
        const error_code outcome = *std::exchange(read_outcome_, std::nullopt);
        if (outcome) {
            note_end(outcome);
            return closed_error();
        }
        WebSocketMessage message{
            .payload = beast::buffers_to_string(buffer_.data()), .is_text = stream_.got_text()};
        buffer_.consume(buffer_.size());
        if (buffer_.capacity() > kKeptBytes) {
            buffer_.shrink_to_fit();
        }
        return message;
    }

    Result<void> send(std::string_view text) override {
        if (closed_) {
            return closed_error();
        }
        stream_.text(true);
        const error_code outcome = perform(after(target_.write_timeout), [&](auto done) {
            stream_.async_write(asio::buffer(text.data(), text.size()), std::move(done));
        });
        if (outcome) {
            note_end(outcome);
            return closed_error();
        }
        return {};
    }

    void close(std::uint16_t code, std::string_view reason) override {
        if (closed_) {
            return;
        }
        const std::string payload = close_payload(code, reason);  // Cuts the reason to what fits.
        websocket::close_reason why(static_cast<websocket::close_code>(code));
        why.reason = payload.substr(2);
        (void)perform(after(target_.close_timeout), [&](auto done) {
            stream_.async_close(why, std::move(done));
        });
        closed_ = WebSocketClose{code, payload.substr(2)};
        drop();
    }

    const std::optional<WebSocketClose>& closed() const override { return closed_; }

    void wake() override {
        asio::post(context_, [this] { is_woken_ = true; });
    }

private:
    static constexpr bool kIsTls = std::is_same_v<Stream, TlsStream>;

    static Deadline after(std::chrono::milliseconds span) {
        return std::chrono::steady_clock::now() + span;
    }

    websocket::stream<Stream> make_stream() {
        if constexpr (kIsTls) {
            return websocket::stream<Stream>(context_, tls_);
        } else {
            return websocket::stream<Stream>(context_);
        }
    }

    tcp::socket& socket() {
        if constexpr (kIsTls) {
            return stream_.next_layer().next_layer();
        } else {
            return stream_.next_layer();
        }
    }

    // Runs what is under way until `is_done()`; false at the deadline. What is ready is always run,
    // even when the deadline has passed.
    template <class IsDone>
    bool run_until(Deadline deadline, IsDone is_done) {
        while (!is_done()) {
            if (context_.poll_one() > 0) {
                continue;
            }
            if (std::chrono::steady_clock::now() >= deadline) {
                return false;
            }
            context_.run_one_until(deadline);
        }
        return true;
    }

    // One step with an end. At its deadline the connection is dropped, which ends every operation.
    template <class Start>
    error_code perform(Deadline deadline, Start start) {
        std::optional<error_code> outcome;
        start([&outcome](const error_code& error, auto&&...) { outcome = error; });
        const auto is_done = [&outcome] { return outcome.has_value(); };
        if (!run_until(deadline, is_done)) {
            drop();
            (void)run_until(Deadline::max(), is_done);
            return asio::error::timed_out;
        }
        return *outcome;
    }

    void drop() {
        error_code ignored;
        socket().close(ignored);
    }

    std::unexpected<Error> unreachable(std::string_view what, const error_code& error) const {
        return fail(
            errors::unavailable,
            std::string(what) + " " + url_.host + " failed: " + error.message() + ".");
    }

    Result<void> connect_any(Deadline deadline) {
        std::vector<std::string> addresses{target_.pinned_address};
        if (target_.pinned_address.empty()) {
            TRY_ASSIGN(addresses, resolve_host(url_.host, url_.port));
        }
        error_code error = asio::error::host_not_found;
        for (const std::string& text : addresses) {
            const asio::ip::address address = asio::ip::make_address(text, error);
            if (error) {
                continue;
            }
            drop();
            error = perform(deadline, [&](auto done) {
                socket().async_connect(tcp::endpoint(address, url_.port), std::move(done));
            });
            if (!error) {
                socket().set_option(tcp::no_delay(true), error);
                return {};
            }
        }
        return unreachable("Connecting to", error);
    }

    Result<void> start_tls(Deadline deadline) {
        if constexpr (kIsTls) {
            TlsStream& tls = stream_.next_layer();
            error_code error;
            tls.set_verify_callback(asio::ssl::host_name_verification(url_.host), error);
            const bool is_address = !asio::ip::make_address(url_.host, error).is_unspecified();
            if (error || !is_address) {  // An address is no server name.
                SSL_set_tlsext_host_name(tls.native_handle(), url_.host.c_str());
            }
            error = perform(deadline, [&](auto done) {
                tls.async_handshake(asio::ssl::stream_base::client, std::move(done));
            });
            if (error) {
                return unreachable("The TLS handshake with", error);
            }
        }
        return {};
    }

    Result<void> shake_hands(Deadline deadline) {
        stream_.read_message_max(target_.message_bytes_max);
        stream_.set_option(
            websocket::stream_base::decorator([this](websocket::request_type& request) {
                for (const auto& [name, value] : target_.headers) {
                    request.set(
                        beast::string_view(name.data(), name.size()),
                        beast::string_view(value.data(), value.size()));
                }
            }));
        websocket::response_type response;
        const error_code error = perform(deadline, [&](auto done) {
            stream_.async_handshake(response, url_.authority(), url_.target, std::move(done));
        });
        if (error == websocket::error::upgrade_declined) {
            return fail(
                errors::web_socket_refused,
                url_.host + " answered " + std::to_string(response.result_int()) +
                    " instead of opening a WebSocket.");
        }
        if (error) {
            return unreachable("The WebSocket handshake with", error);
        }
        return {};
    }

    // One read is under way from the first receive() on: a cancelled one would spoil the stream.
    void start_read() {
        if (is_reading_ || read_outcome_) {
            return;
        }
        is_reading_ = true;
        stream_.async_read(buffer_, [this](const error_code& error, std::size_t) {
            is_reading_ = false;
            read_outcome_ = error;
        });
    }

    void note_end(const error_code& error) {
        if (closed_) {
            return;
        }
        const websocket::close_reason& why = stream_.reason();
        // A server may end the connection behind its close frame without the rest of the goodbye.
        if (error == websocket::error::closed || why.code != websocket::close_code::none) {
            closed_ = WebSocketClose{
                why.code == websocket::close_code::none ? close_codes::none : why.code,
                std::string(why.reason.data(), why.reason.size())};
        } else if (error == websocket::error::message_too_big) {
            closed_ = WebSocketClose{close_codes::too_large, "message too large"};
        } else {
            closed_ = WebSocketClose{close_codes::broken, error.message()};
        }
        drop();
    }

    std::unexpected<Error> closed_error() const {
        CHECK(closed_);
        return fail(
            errors::web_socket_closed,
            "The WebSocket to " + url_.host + " is closed (" + std::to_string(closed_->code) +
                (closed_->reason.empty() ? "" : ", " + closed_->reason) + ").");
    }

    const WebSocketTarget target_;
    const WebUrl url_;
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
    asio::ssl::context tls_;  // Unused by a plain stream.
    websocket::stream<Stream> stream_;
    beast::flat_buffer buffer_;
    bool is_reading_ = false;
    bool is_woken_ = false;
    std::optional<error_code> read_outcome_;
    std::optional<WebSocketClose> closed_;
};

template <class Stream>
Result<std::unique_ptr<WebSocketClient>> open_client(const WebSocketTarget& target, WebUrl url) {
    asio::ssl::context tls(asio::ssl::context::tls_client);
    if (url.is_tls()) {
        TRY(prepare_tls(tls, target));
    }
    auto client = std::make_unique<BeastClient<Stream>>(target, std::move(url), std::move(tls));
    TRY(client->open());
    return client;
}

}  // namespace

Result<std::unique_ptr<WebSocketClient>> WebSocketClient::connect(const WebSocketTarget& target) {
    TRY_ASSIGN(WebUrl url, parse_web_url(target.url));
    TRY(check_headers(target.headers));
    if (url.scheme != "ws" && url.scheme != "wss") {
        return fail(errors::invalid_request, "A WebSocket needs a URL of the scheme ws or wss.");
    }
    try {
        return url.is_tls() ? open_client<TlsStream>(target, std::move(url))
                            : open_client<PlainStream>(target, std::move(url));
    } catch (const boost::system::system_error& error) {  // No descriptor for an event loop.
        return fail(errors::unavailable, "Cannot connect: " + error.code().message() + ".");
    }
}

}  // namespace interlock
