#include "relay/face/relay_face.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "host/face/http_face.h"
#include "host/face/peer.h"
#include "net/web_socket.h"
#include "relay/rules/upgrade_token.h"
#include "relay/wire/frame_lines.h"

namespace interlock {
namespace {

constexpr std::string_view kPath = "/relay";
constexpr std::size_t kClaimedNameBytesMax = 128;  // Longer ones are not worth a line.
constexpr std::size_t kHostBytesMax = 260;         // A name of 253, a colon and a port.

// The services' view of a socket.
class FaceSocket final : public RelaySocket {
public:
    bool send(std::string lines) override { return socket_ && socket_->send(std::move(lines)); }
    bool send_urgent(std::string lines) override {
        return socket_ && socket_->send_urgent(std::move(lines));
    }
    void close(std::uint16_t code, std::string_view reason) override {
        if (socket_) {
            socket_->close(code, reason);
        }
    }
    // Called once, before any other thread has this.
    void set(std::shared_ptr<WebSocket> socket) { socket_ = std::move(socket); }
    WebSocket* get() { return socket_.get(); }

private:
    std::shared_ptr<WebSocket> socket_;
};

// Hears one gateway. On its connection's loop, but for what the lane tells it through `Flow`.
class GatewayPeer final : public WebSocketPeer {
public:
    GatewayPeer(
        RelayDesk& desk,
        std::atomic<std::uint64_t>& bad_frames,
        std::shared_ptr<SparseLines> fences)
        : desk_(desk),
          bad_frames_(bad_frames),
          fences_(std::move(fences)),
          flow_(std::make_shared<Flow>()) {}

    void begin(RelaySessionPtr session, std::shared_ptr<FaceSocket> socket) {
        session_ = std::move(session);
        socket_ = std::move(socket);
        flow_->socket = socket_;
    }

    void on_message(std::string_view payload, bool) override {
        for (std::string& line : lines_.take(payload)) {
            take(line);
        }
        if (!lines_.ok()) {
            socket_->close(kCloseProtocol, "a line is longer than its bound");
        }
        if (flow_->waiting.load() >= kSocketFramesMax && !flow_->is_paused.exchange(true)) {
            socket_->get()->pause_reading();
            flow_->resume_if_done();  // The lane may have been faster.
        }
    }

    // Acknowledgements that came together share a commit.
    void on_read_end() override { hand_on(); }

    void on_closed(std::uint16_t code, std::string_view reason) override {
        hand_on();
        log_debug(
            "relay_socket_closed",
            {{"instance_id", session_->caller.instance_id}, {"code", code}, {"reason", reason}});
        // Two processes with one instance fence each other every second, and neither knows why.
        const auto fence = code == kCloseFenced ? fences_->take() : std::nullopt;
        if (fence) {
            log_info(
                "relay_socket_fenced",
                {{"instance_id", session_->caller.instance_id},
                 {"gateway_id", session_->caller.gateway_id},
                 {"so_far", static_cast<std::int64_t>(*fence)}});
        }
        desk_.closed(session_);
    }

private:
    // How many frames the lane has yet to deal with.
    struct Flow {
        std::atomic<int> waiting{0};
        std::atomic<bool> is_paused{false};
        std::weak_ptr<FaceSocket> socket;

        void resume_if_done() {
            if (waiting.load() <= kSocketFramesMax / 2 && is_paused.exchange(false)) {
                if (const auto held = socket.lock()) {
                    held->get()->resume_reading();
                }
            }
        }
        void done(int frames) {
            waiting.fetch_sub(frames);
            resume_if_done();
        }
    };

    void take(std::string_view line) {
        auto frame = decode_gateway_frame(line);
        if (!frame) {
            bad_frames_.fetch_add(1);
            RelayDesk::answer_problem(session_, frame.error());
            return;
        }
        if (std::holds_alternative<IgnoredFrame>(*frame)) {
            return;
        }
        flow_->waiting.fetch_add(1);
        if (!std::holds_alternative<OutboundFrame>(*frame)) {
            frames_.push_back(*std::move(frame));
            if (frames_.size() >= static_cast<std::size_t>(kSocketFramesMax)) {
                hand_on();  // One message may hold any number of lines.
            }
            return;
        }
        hand_on();  // The frames before it enter the lane first.
        if (!desk_.take(session_, *std::move(frame), [flow = flow_] { flow->done(1); })) {
            refuse();
        }
    }

    void hand_on() {
        if (frames_.empty()) {
            return;
        }
        const int count = static_cast<int>(frames_.size());
        if (!desk_.take_all(session_, std::exchange(frames_, {}), [flow = flow_, count] {
                flow->done(count);
            })) {
            refuse();
        }
    }

    void refuse() { socket_->close(kCloseTryLater, "the connector is overloaded"); }

    RelayDesk& desk_;
    std::atomic<std::uint64_t>& bad_frames_;
    std::shared_ptr<SparseLines> fences_;
    std::shared_ptr<Flow> flow_;
    RelaySessionPtr session_;
    std::shared_ptr<FaceSocket> socket_;
    FrameLines lines_;
    std::vector<GatewayFrame>
        frames_;  // Of the read that is being heard; kSocketFramesMax at most.
};

// Accepts the upgrade only to close it with 4401: a client takes an HTTP status for a failed dial
// and dials again.
class RefusedPeer final : public WebSocketPeer {
public:
    void on_message(std::string_view, bool) override {}
    void on_closed(std::uint16_t, std::string_view) override {}
};

}  // namespace

std::string bearer_of(const HttpRequest& request) {
    constexpr std::string_view kScheme = "bearer ";
    std::string found;
    for (const auto& [name, value] : request.headers) {
        if (!equal_ignoring_case(name, "authorization")) {
            continue;
        }
        if (!found.empty() || value.size() <= kScheme.size() ||
            !equal_ignoring_case(std::string_view(value).substr(0, kScheme.size()), kScheme)) {
            return {};
        }
        found = value.substr(kScheme.size());
    }
    return found;
}

std::string dialled_base(const HttpRequest& request, std::string_view public_url) {
    const auto host = request.header("Host").value_or("");
    const bool is_host =
        !host.empty() && host.size() <= kHostBytesMax && std::ranges::all_of(host, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '.' || c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
        });
    if (!is_host) {
        return {};
    }
    const std::size_t scheme = public_url.find("://");
    if (scheme != std::string_view::npos &&
        equal_ignoring_case(public_url.substr(scheme + 3), host)) {
        return std::string(public_url);
    }
    return (request.tls ? "https://" : "http://") + std::string(host);
}

bool RelayFace::takes(const HttpRequest& request) {
    return request.path() == kPath || is_web_socket_upgrade(request);
}

void RelayFace::refuse(const HttpResponderPtr& responder, int status, std::string_view sentence) {
    counters_.refused.fetch_add(1);
    HttpResponse response =
        text_response(status, "application/json", to_text(Json::object({{"error", sentence}})));
    if (status == 503) {
        response.set("Retry-After", "1");
    }
    responder->send(std::move(response));
}

// A gateway only sees a code, so the log tells its owner why. The name is what it claims to be.
void RelayFace::log_refusal(const HttpRequest& request, std::string_view why) {
    const auto count = refusals_.take();
    if (!count) {
        return;
    }
    const auto token = read_upgrade_token(bearer_of(request));
    const bool is_name = token && token->gateway_id.size() <= kClaimedNameBytesMax &&
                         is_valid_utf8(token->gateway_id);
    log_info(
        "relay_dial_refused",
        {{"why", why},
         {"claims_to_be", is_name ? token->gateway_id : std::string()},
         {"peer", peer_of(request)},
         {"so_far", static_cast<std::int64_t>(*count)}});
}

HeadVerdict RelayFace::judge(const HttpRequest& head) const {
    const RelayDial dial = parts_.authenticate(bearer_of(head));
    const bool is_good = dial.verdict == RelayDial::Verdict::accepted;
    return {
        .holder = is_good ? holder_of(dial.caller.tenant_id) : "",
        .body_bytes_max = kStrangerBodyBytesMax};
}

void RelayFace::handle(const HttpRequest& request, const HttpResponderPtr& responder) {
    if (request.path() != kPath) {
        refuse(responder, 400, "Gateways connect to /relay; there is no WebSocket here.");
        return;
    }
    if (!is_web_socket_upgrade(request)) {
        refuse(responder, 400, "This is a WebSocket; dial it with an upgrade request.");
        return;
    }
    if (!parts_.is_ready()) {
        refuse(responder, 503, "The relay is not ready; dial again in a moment.");
        return;
    }
    const RelayDial dial = parts_.authenticate(bearer_of(request));
    switch (dial.verdict) {
        case RelayDial::Verdict::unavailable:
            refuse(responder, 503, "The relay cannot check credentials now; dial again.");
            return;
        case RelayDial::Verdict::expired:
            log_refusal(request, "token_expired");  // Or the clock of the gateway is behind.
            refuse(responder, 401, "The token has expired; dial again with a fresh one.");
            return;
        case RelayDial::Verdict::wrong:
            counters_.refused.fetch_add(1);
            log_refusal(request, "wrong_or_revoked");
            if (const auto socket = responder->accept_web_socket(std::make_shared<RefusedPeer>())) {
                socket->close(kCloseUnauthorised, "unauthorized");
            }
            return;
        case RelayDial::Verdict::accepted:
            break;
    }
    auto peer = std::make_shared<GatewayPeer>(parts_.desk, counters_.bad_frames, fences_);
    auto face_socket = std::make_shared<FaceSocket>();
    auto session = std::make_shared<RelaySession>();
    session->caller = dial.caller;
    session->socket = face_socket;
    session->media_base = dialled_base(request, parts_.public_url);
    peer->begin(session, face_socket);
    auto socket = responder->accept_web_socket(peer);
    if (!socket) {
        return;  // It was no proper upgrade and has its answer.
    }
    face_socket->set(std::move(socket));
    if (!parts_.desk.open(session)) {
        face_socket->close(kCloseTryLater, "the connector is overloaded");
        return;
    }
    counters_.accepted.fetch_add(1);
}

}  // namespace interlock
