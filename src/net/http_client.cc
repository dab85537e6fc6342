// The blocking client: one socket, one exchange at a time.
#include "net/http_client.h"

#include <array>
#include <limits>
#include <optional>

#include "base/errors.h"
#include "net/client_socket.h"
#include "net/http_format.h"
#include "net/http_parse.h"

namespace interlock {
namespace {

constexpr std::size_t kResponseHeaderBytesMax = 64 * 1024;
constexpr std::size_t kResponseBodyBytesMax = 64 * 1024 * 1024;
constexpr std::size_t kReadBytes = 64 * 1024;

using OnBytes = std::function<bool(const HttpResponse& head, std::string_view bytes)>;

class BlockingHttpClient final : public HttpClient {
public:
    BlockingHttpClient(HttpTarget target, std::chrono::milliseconds timeout)
        : target_(std::move(target)), timeout_(timeout), buffer_(kReadBytes, '\0') {}

    Result<HttpResponse> send(const HttpRequest& request) override {
        return exchange(request, nullptr);
    }

    Result<HttpResponse> send_streaming(
        const HttpRequest& request, const OnBytes& on_bytes) override {
        return exchange(request, &on_bytes);
    }

private:
    Result<HttpResponse> exchange(const HttpRequest& request, const OnBytes* on_bytes) {
        std::string bytes;
        append_request(bytes, request, host());
        TRY(send_bytes(bytes));
        HttpResponseParser parser(
            {
                .header_bytes_max = kResponseHeaderBytesMax,
                .body_bytes_max = on_bytes != nullptr ? std::numeric_limits<std::size_t>::max()
                                                      : kResponseBodyBytesMax,
            },
            request.method == "HEAD");
        Result<bool> reusable = receive(parser, on_bytes);
        if (!reusable.value_or(false)) {
            socket_.reset();
        }
        TRY(reusable);
        return std::move(parser.response());
    }

    std::string host() const {
        const bool is_v6 = target_.host.contains(':');
        const std::string name = is_v6 ? "[" + target_.host + "]" : target_.host;
        return target_.port == 0 ? name : name + ":" + std::to_string(target_.port);
    }

    // A connection kept from before may have been closed by the server meanwhile. As long as not a
    // single byte went out, the request cannot have been acted on and may go out anew.
    Result<void> send_bytes(std::string_view bytes) {
        deadline_ = std::chrono::steady_clock::now() + timeout_;
        if (socket_ && socket_->is_stale()) {
            socket_.reset();
        }
        const bool is_kept = socket_.has_value();
        std::size_t written = 0;
        if (is_kept) {
            Result<void> sent = socket_->write_all(bytes, deadline_, written);
            if (sent) {
                return {};
            }
            socket_.reset();
            if (written > 0) {
                return sent;
            }
        }
        TRY_ASSIGN(ClientSocket socket, ClientSocket::connect(target_, deadline_));
        TRY(socket.write_all(bytes, deadline_, written));
        socket_.emplace(std::move(socket));
        return {};
    }

    // True when the connection can carry another request.
    Result<bool> receive(HttpResponseParser& parser, const OnBytes* on_bytes) {
        std::string unread;
        while (true) {
            TRY_ASSIGN(const std::size_t count, socket_->read_some(buffer_, deadline_));
            unread.append(buffer_, 0, count);
            const ParseStep step =
                count == 0 ? ParseStep{0, parser.feed_end()} : parser.feed(unread);
            unread.erase(0, step.consumed);
            if (step.status == ParseStatus::failed) {
                return fail(
                    errors::unavailable,
                    "The response cannot be used: " + std::string(parser.problem()) + ".");
            }
            if (on_bytes != nullptr && parser.head_done()) {
                const std::string piece = std::exchange(parser.response().body, {});
                if (!piece.empty() && !(*on_bytes)(parser.response(), piece)) {
                    return false;
                }
                deadline_ = std::chrono::steady_clock::now() + timeout_;  // Bounds the silence.
            }
            if (step.status == ParseStatus::complete) {
                return count > 0 && parser.keep_alive() && unread.empty();
            }
        }
    }

    const HttpTarget target_;
    const std::chrono::milliseconds timeout_;
    std::string buffer_;
    std::optional<ClientSocket> socket_;
    SocketDeadline deadline_{};
};

}  // namespace

std::unique_ptr<HttpClient> HttpClient::create(
    HttpTarget target, std::chrono::milliseconds timeout) {
    return std::make_unique<BlockingHttpClient>(std::move(target), timeout);
}

}  // namespace interlock
