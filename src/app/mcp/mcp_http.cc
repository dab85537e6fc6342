#include "app/mcp/mcp_http.h"

#include <mutex>
#include <utility>

#include "base/match.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::string_view kSessionHeader = "Mcp-Session-Id";
constexpr std::string_view kVersionHeader = "MCP-Protocol-Version";
constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kStreamType = "text/event-stream";

HttpResponse json_response(int status, const Json& json) {
    HttpResponse response = text_response(status, kJsonType, to_text(json));
    response.set("Cache-Control", "no-store");
    return response;
}

// A refusal of the HTTP request itself, in the shape that MCP clients expect.
HttpResponse refusal(int status, int code, std::string message, const Json& id = nullptr) {
    return json_response(status, encode(RpcResponse{id, rpc_fail(code, std::move(message))}));
}

// Whether a comma-separated header of media types holds this one, or a wildcard for it.
bool accepts(const HttpRequest& request, std::string_view type) {
    const std::string_view family = type.substr(0, type.find('/'));
    for (const auto& [name, value] : request.headers) {
        if (!equal_ignoring_case(name, "Accept")) {
            continue;
        }
        for (const std::string_view range : split(value, ',')) {
            const std::string_view media = trim(range.substr(0, range.find(';')));
            if (equal_ignoring_case(media, type) || media == "*/*" ||
                equal_ignoring_case(media, std::string(family) + "/*")) {
                return true;
            }
        }
    }
    return false;
}

bool has_json_body(const HttpRequest& request) {
    const std::string_view type = request.header("Content-Type").value_or("");
    return equal_ignoring_case(trim(type.substr(0, type.find(';'))), kJsonType);
}

// Absent means a client of the time before the header: it is judged by its session alone.
bool speaks_known_version(const HttpRequest& request) {
    const auto version = request.header(kVersionHeader);
    return !version || is_mcp_version(*version);
}

HttpResponse session_head(const McpClient& client) {
    HttpResponse head;
    head.set(std::string(kSessionHeader), client.id);
    return head;
}

// The way back of one POST. Becomes an event stream with the first message before the answer.
//
// The lock guards the choice between the two and is never held while a plain answer is sent: that
// may make the network layer handle the connection's next request on the spot.
class PostOutlet final : public McpOutlet {
public:
    PostOutlet(McpClientPtr client, HttpResponderPtr responder)
        : client_(std::move(client)), responder_(std::move(responder)) {}

    void send(const Json& message) override {
        const std::lock_guard lock(mutex_);
        if (!is_finished_) {
            client_->streams.send(stream(), to_text(message));
        }
    }

    void pause() override {
        const std::lock_guard lock(mutex_);
        if (!is_finished_) {
            client_->streams.pause(stream());
        }
    }

    void finish(const std::optional<Json>& response) override {
        {
            const std::lock_guard lock(mutex_);
            if (std::exchange(is_finished_, true)) {
                return;
            }
            if (stream_ || !response) {
                finish_stream(response);
                return;
            }
        }
        HttpResponse out = json_response(200, *response);
        out.set(std::string(kSessionHeader), client_->id);
        responder_->send(std::move(out));
    }

private:
    McpStreams::StreamId stream() {
        if (!stream_) {
            const bool can_resume = client_->session->protocol_version() >= "2025-11-25";
            stream_ = client_->streams.open(*responder_, session_head(*client_), can_resume);
        }
        return *stream_;
    }

    // A cancelled call must not be answered, yet its POST must end: a stream that holds nothing
    // says just that. It has no event to resume from, for nothing will come.
    void finish_stream(const std::optional<Json>& response) {
        if (!stream_) {
            stream_ = client_->streams.open(*responder_, session_head(*client_), false);
        }
        if (response) {
            client_->streams.send(*stream_, to_text(*response));
        }
        client_->streams.finish(*stream_);
    }

    const McpClientPtr client_;
    const HttpResponderPtr responder_;
    std::mutex mutex_;  // Guards all below.
    std::optional<McpStreams::StreamId> stream_;
    bool is_finished_ = false;
};

bool calls_operation(const RpcMessage& message) {
    const auto* const request = std::get_if<RpcRequest>(&message);
    return request != nullptr &&
           (request->method == "tools/call" || request->method == "resources/read");
}

void end_client(McpClient& client) {
    McpServer::end(*client.session);
    client.streams.close_all();
}

}  // namespace

void McpHttp::handle(HttpRequest request, Principal principal, HttpResponderPtr responder) {
    if (request.method == "POST") {
        post(std::move(request), principal, std::move(responder));
    } else if (request.method == "GET") {
        get(request, principal, *responder);
    } else if (request.method == "DELETE") {
        end(request, principal, *responder);
    } else {
        HttpResponse response = refusal(405, kRpcServerError, "Use POST, GET or DELETE.");
        response.set("Allow", "GET, POST, DELETE");
        responder->send(std::move(response));
    }
}

std::expected<void, HttpResponse> McpHttp::admit(const Principal& principal) const {
    if (!parts_.admit) {
        return {};
    }
    const Result<void> admitted = parts_.admit(principal);
    if (admitted) {
        return {};
    }
    HttpResponse response =
        refusal(admitted.error().http_status(), kRpcServerError, admitted.error().message);
    response.set("Retry-After", std::to_string(admitted.error().retry_after_seconds));
    return std::unexpected(std::move(response));
}

std::expected<McpClientPtr, HttpResponse> McpHttp::client_of(
    const HttpRequest& request, const Principal& principal) {
    if (!speaks_known_version(request)) {
        return std::unexpected(refusal(
            400,
            kRpcInvalidRequest,
            "This server speaks MCP 2025-11-25 and 2025-06-18, not the version in "
            "MCP-Protocol-Version."));
    }
    const auto id = request.header(kSessionHeader);
    if (!id) {
        return std::unexpected(
            refusal(400, kRpcInvalidRequest, "Send initialize first, then its Mcp-Session-Id."));
    }
    McpClientPtr client = sessions_.find(*id, principal, parts_.clock.monotonic());
    if (!client) {
        return std::unexpected(
            refusal(404, kRpcSessionNotFound, "There is no such session; send initialize again."));
    }
    return client;
}

void McpHttp::post(HttpRequest request, const Principal& principal, HttpResponderPtr responder) {
    if (!accepts(request, kJsonType) || !accepts(request, kStreamType)) {
        responder->send(refusal(
            406,
            kRpcInvalidRequest,
            "The Accept header must list application/json and text/event-stream."));
        return;
    }
    if (!has_json_body(request)) {
        responder->send(
            refusal(415, kRpcInvalidRequest, "The Content-Type must be application/json."));
        return;
    }
    auto message = decode_rpc(request.body);
    if (!message) {
        const RpcRefusal& why = message.error();
        responder->send(refusal(400, why.error.code, why.error.message, why.id));
        return;
    }
    if (!calls_operation(*message)) {
        if (auto admitted = admit(principal); !admitted) {
            responder->send(std::move(admitted.error()));
            return;
        }
    }
    auto* const rpc_request = std::get_if<RpcRequest>(&*message);
    if (rpc_request != nullptr && rpc_request->method == "initialize" &&
        !request.header(kSessionHeader)) {
        initialize(*rpc_request, principal, *responder);
        return;
    }
    auto client = client_of(request, principal);
    if (!client) {
        responder->send(std::move(client.error()));
        return;
    }
    if (rpc_request != nullptr) {
        parts_.server.handle(McpServer::Incoming{
            .session = (*client)->session,
            .principal = principal,
            .request = std::move(*rpc_request),
            .outlet = std::make_shared<PostOutlet>(*client, std::move(responder)),
        });
        end_if_dead(**client);
        return;
    }
    if (const auto* notification = std::get_if<RpcNotification>(&*message)) {
        McpServer::handle(*(*client)->session, *notification);
    } else {
        McpServer::handle(*(*client)->session, std::get<RpcResponse>(*message));
    }
    responder->send(HttpResponse{202, {}, ""});
}

void McpHttp::initialize(
    const RpcRequest& request, const Principal& principal, HttpResponder& responder) {
    auto opened = parts_.server.initialize(request.params);
    if (!opened) {
        responder.send(
            json_response(200, encode(RpcResponse{request.id, std::unexpected(opened.error())})));
        return;
    }
    const auto client = std::make_shared<McpClient>();
    client->id = parts_.ids.new_id("mcp");
    client->owner = principal;
    client->session = std::move(opened->session);
    const McpSessionTable::Added added = sessions_.add(client, parts_.clock.monotonic());
    for (const McpClientPtr& removed : added.removed) {
        end_client(*removed);
    }
    if (!added.is_added && sessions_.is_ended(principal)) {
        responder.send(refusal(401, kRpcServerError, "This access key has ended.", request.id));
        return;
    }
    if (!added.is_added) {
        HttpResponse response = refusal(
            503, kRpcServerError, "Too many MCP sessions are busy; end one or wait.", request.id);
        response.set("Retry-After", "5");
        responder.send(std::move(response));
        return;
    }
    HttpResponse response =
        json_response(200, encode(RpcResponse{request.id, std::move(opened->result)}));
    response.set(std::string(kSessionHeader), client->id);
    responder.send(std::move(response));
}

void McpHttp::get(
    const HttpRequest& request, const Principal& principal, HttpResponder& responder) {
    if (!accepts(request, kStreamType)) {
        responder.send(
            refusal(406, kRpcInvalidRequest, "The Accept header must list text/event-stream."));
        return;
    }
    if (auto admitted = admit(principal); !admitted) {
        responder.send(std::move(admitted.error()));
        return;
    }
    const auto client = client_of(request, principal);
    if (!client) {
        responder.send(client.error());
        return;
    }
    const auto last_event_id = request.header("Last-Event-ID");
    if (!last_event_id) {
        (*client)->streams.attach_standing(responder, session_head(**client));
    } else if (!(*client)->streams.resume(responder, session_head(**client), *last_event_id)) {
        responder.send(
            refusal(400, kRpcInvalidRequest, "The events after this Last-Event-ID are not kept."));
    }
    end_if_dead(**client);
}

void McpHttp::end(
    const HttpRequest& request, const Principal& principal, HttpResponder& responder) {
    const auto client = client_of(request, principal);
    if (!client) {
        responder.send(client.error());
        return;
    }
    // Two may try at once; the first has removed it, and both are right that it is gone.
    if (const McpClientPtr removed = sessions_.remove((*client)->id, principal)) {
        end_client(*removed);
    }
    responder.send(HttpResponse{204, {}, ""});
}

void McpHttp::announce_update(
    const std::string& uri, const std::function<bool(const Principal&)>& concerns) {
    const std::string text = to_text(
        encode(RpcNotification{"notifications/resources/updated", Json::object({{"uri", uri}})}));
    for (const McpClientPtr& client : sessions_.all()) {
        if (client->session->is_subscribed(uri) && concerns(client->owner)) {
            client->streams.send_standing(text);
        }
    }
}

void McpHttp::close_of(const KeyId& key_id) {
    Principal owner;
    owner.kind = PrincipalKind::agent;
    owner.id = key_id.text();
    for (const McpClientPtr& client : sessions_.end_owner(owner)) {
        end_client(*client);
    }
}

void McpHttp::end_if_dead(McpClient& client) {
    if (sessions_.is_ended(client.owner)) {
        end_client(client);
    }
}

void McpHttp::end_all() {
    for (const McpClientPtr& client : sessions_.remove_all()) {
        end_client(*client);
    }
}

}  // namespace interlock
