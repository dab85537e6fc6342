#include "app/mcp/mcp_bridge_link.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::string_view kSessionHeader = "Mcp-Session-Id";
constexpr std::size_t kAnswerBytesMax = kSseEventBytesMax;

bool is_event_stream(const HttpResponse& head) {
    return head.header("Content-Type").value_or("").starts_with("text/event-stream");
}

// A message stands on one line of the client's input; JSON text needs no line break.
std::optional<std::string> one_line(const std::string& text) {
    const Result<Json> json = parse_json(text);
    return json ? std::optional(to_text(*json)) : std::nullopt;
}

bool answers(const std::string& line, const Json& awaited_id) {
    const auto message = decode_rpc(line);
    const auto* response = message ? std::get_if<RpcResponse>(&*message) : nullptr;
    return response != nullptr && !awaited_id.is_null() && response->id == awaited_id;
}

// What the server says in the body of a refusal, in its own words.
std::string message_in(const Json& body) {
    const Json* error = body.find("error");
    const Json* message = error != nullptr ? error->find("message") : nullptr;
    return message != nullptr && message->is_string() ? message->as_string()
                                                      : "The server refused the request.";
}

}  // namespace

McpSessionCard McpBridgeSession::card() const {
    const std::lock_guard lock(mutex_);
    return card_;
}

void McpBridgeSession::opened(
    const RpcRequest& initialize, const HttpResponse& response, const Json& result) {
    const Json* version = result.find("protocolVersion");
    const std::lock_guard lock(mutex_);
    initialize_ = initialize;
    card_.id = response.header(kSessionHeader).value_or("");
    card_.version = version != nullptr && version->is_string() ? version->as_string() : "";
    ++card_.generation;
}

HttpRequest McpBridgeSession::request(std::string method, const McpSessionCard& card) const {
    HttpRequest request;
    request.method = std::move(method);
    request.target = "/mcp";
    request.headers = {{"Accept", "application/json, text/event-stream"}};
    if (!access_key_.empty()) {
        request.headers.emplace_back(
            "Authorization", "Bearer " + std::string(access_key_.reveal()));
    }
    if (request.method == "POST") {
        request.headers.emplace_back("Content-Type", "application/json");
    }
    if (!card.id.empty()) {
        request.headers.emplace_back(kSessionHeader, card.id);
        request.headers.emplace_back("MCP-Protocol-Version", card.version);
    }
    return request;
}

Result<void> McpBridgeSession::renew(std::uint64_t generation) {
    const std::lock_guard renewing(renewing_);
    std::optional<RpcRequest> initialize;
    {
        const std::lock_guard lock(mutex_);
        if (card_.generation != generation) {
            return {};
        }
        initialize = initialize_;
    }
    if (!initialize || is_ended()) {
        return fail(errors::unavailable, "There is no session.");
    }
    const auto client = HttpClient::create(target_, kBridgeStreamSilenceMax);
    HttpRequest hello = request("POST", {});
    hello.body = to_text(encode(*initialize));
    TRY_ASSIGN(const HttpResponse response, client->send(hello));
    const auto message = decode_rpc(response.body);
    const auto* answer = message ? std::get_if<RpcResponse>(&*message) : nullptr;
    if (response.status != 200 || answer == nullptr || !answer->outcome) {
        return fail(errors::unavailable, "The server would not open a session.");
    }
    opened(*initialize, response, *answer->outcome);
    HttpRequest ready = request("POST", card());
    ready.body = to_text(encode(RpcNotification{"notifications/initialized"}));
    TRY(client->send(ready));
    return {};
}

void McpBridgeSession::end() {
    is_ended_ = true;
    const std::lock_guard renewing(renewing_);
    const McpSessionCard last = card();
    if (last.id.empty()) {
        return;
    }
    const auto client = HttpClient::create(target_, kBridgeStreamSilenceMax);
    if (const auto response = client->send(request("DELETE", last)); !response) {
        log_warn("mcp_session_not_ended", {{"reason", response.error().message}});
    }
}

void McpBridgeSession::note_cancelled(const Json& request_id) {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(request_id);
    if (cancelled_.size() > kBridgeCancelledMax) {
        cancelled_.pop_front();
    }
}

void McpBridgeSession::forget_cancelled(const Json& request_id) {
    const std::lock_guard lock(mutex_);
    std::erase(cancelled_, request_id);
}

bool McpBridgeSession::was_cancelled(const Json& request_id) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(cancelled_, request_id) != cancelled_.end();
}

McpBridgeLink::McpBridgeLink(McpBridgeSession& session, OnMessage on_message)
    : session_(session),
      on_message_(std::move(on_message)),
      client_(HttpClient::create(session.target(), kBridgeCallSilenceMax)) {}

Result<McpBridgeLink::Reply> McpBridgeLink::exchange(
    const HttpRequest& request, const Json& awaited_id) {
    Reply reply;
    SseReader events;
    const auto on_event = [&](const SseEvent& event) {
        const std::optional<std::string> line =
            event.data.empty() ? std::nullopt : one_line(event.data);
        if (line) {
            reply.is_answered = reply.is_answered || answers(*line, awaited_id);
            on_message_(*line);
        }
    };
    bool is_too_long = false;
    Result<HttpResponse> head =
        client_->send_streaming(request, [&](const HttpResponse& response, std::string_view bytes) {
            if (is_event_stream(response)) {
                is_too_long = !events.feed(bytes, on_event);
            } else {
                reply.body += bytes;
                is_too_long = reply.body.size() > kAnswerBytesMax;
            }
            return !is_too_long;
        });
    reply.last_event_id = events.last_event_id();
    if (is_too_long) {
        return fail(errors::unavailable, "The answer is too long to be handed on.");
    }
    // A stream that broke after it began can be resumed, whatever the reason.
    if (!head && reply.last_event_id.empty()) {
        return std::unexpected(std::move(head).error());
    }
    if (head) {
        reply.head = *std::move(head);
    } else {
        reply.head.set("Content-Type", "text/event-stream");
    }
    return reply;
}

Result<McpBridgeLink::Reply> McpBridgeLink::post(const std::string& text, const Json& awaited_id) {
    McpSessionCard card = session_.card();
    HttpRequest request = session_.request("POST", card);
    request.body = text;
    TRY_ASSIGN(Reply reply, exchange(request, awaited_id));
    if (reply.head.status == 404 && !card.id.empty() && !session_.is_ended()) {
        // The server no longer knows the session, so it has not looked at the message: sending it
        // in a new one repeats nothing.
        TRY(session_.renew(card.generation));
        card = session_.card();
        request = session_.request("POST", card);
        request.body = text;
        TRY_ASSIGN(reply, exchange(request, awaited_id));
    }
    if (!awaited_id.is_null() && is_event_stream(reply.head)) {
        return resume(std::move(reply), awaited_id);
    }
    return reply;
}

// The server may end a stream before the answer and expects the client to come back for it.
Result<McpBridgeLink::Reply> McpBridgeLink::resume(Reply reply, const Json& awaited_id) {
    for (int i = 0; i < kBridgeResumesMax && !reply.is_answered && !reply.last_event_id.empty();
         ++i) {
        HttpRequest request = session_.request("GET", session_.card());
        request.headers.emplace_back("Last-Event-ID", reply.last_event_id);
        const std::string before = std::move(reply.last_event_id);
        TRY_ASSIGN(reply, exchange(request, awaited_id));
        if (!is_event_stream(reply.head)) {
            break;
        }
        if (reply.last_event_id.empty()) {
            reply.last_event_id = before;
        }
    }
    if (!reply.is_answered) {
        return fail(errors::unavailable, "The server ended the call without an answer.");
    }
    return reply;
}

void McpBridgeLink::answer_error(const Json& id, std::string message, Json data) {
    if (session_.was_cancelled(id)) {
        return;
    }
    on_message_(to_text(
        encode(RpcResponse{id, rpc_fail(kRpcServerError, std::move(message), std::move(data))})));
}

void McpBridgeLink::answer(const RpcRequest& request, const Result<Reply>& reply) {
    if (!reply) {
        answer_error(
            request.id,
            reply.error().message +
                " Is the Interlock server running? If the call may have been "
                "carried out, repeat it with the same idempotency key.");
        return;
    }
    if (reply->is_answered) {
        return;
    }
    const std::optional<std::string> line = one_line(reply->body);
    if (line && answers(*line, request.id)) {
        on_message_(*line);
        return;
    }
    const Json body = parse_json(reply->body).value_or(Json());
    answer_error(
        request.id, message_in(body) + " (HTTP " + std::to_string(reply->head.status) + ")", body);
}

void McpBridgeLink::initialize(const RpcRequest& request) {
    HttpRequest hello = session_.request("POST", {});
    hello.body = to_text(encode(request));
    const Result<Reply> reply = exchange(hello, request.id);
    if (reply && reply->head.status == 200) {
        const auto message = decode_rpc(reply->body);
        const auto* response = message ? std::get_if<RpcResponse>(&*message) : nullptr;
        if (response != nullptr && response->outcome) {
            session_.opened(request, reply->head, *response->outcome);
        }
    }
    answer(request, reply);
}

void McpBridgeLink::call(const RpcRequest& request) {
    if (session_.was_cancelled(request.id)) {
        return;  // While it waited for its turn.
    }
    answer(request, post(to_text(encode(request)), request.id));
}

Result<void> McpBridgeLink::tell(const std::string& text) {
    TRY_ASSIGN(const Reply reply, post(text, nullptr));
    if (reply.head.status >= 400) {
        return fail(errors::unavailable, message_in(parse_json(reply.body).value_or(Json())));
    }
    return {};
}

void follow_standing_stream(
    McpBridgeSession& session,
    const McpBridgeLink::OnMessage& on_message,
    const std::function<bool()>& pause) {
    const auto client = HttpClient::create(session.target(), kBridgeStreamSilenceMax);
    std::string last_event_id;
    std::uint64_t generation = 0;
    do {
        const McpSessionCard card = session.card();
        if (card.id.empty()) {
            continue;
        }
        if (card.generation != generation) {
            generation = card.generation;
            last_event_id.clear();  // It named an event of another session.
        }
        HttpRequest request = session.request("GET", card);
        if (!last_event_id.empty()) {
            request.headers.emplace_back("Last-Event-ID", last_event_id);
        }
        SseReader events;
        const auto response =
            client->send_streaming(request, [&](const HttpResponse& head, std::string_view bytes) {
                return !is_event_stream(head) || events.feed(bytes, [&](const SseEvent& event) {
                    if (const auto line = one_line(event.data)) {
                        on_message(*line);
                    }
                });
            });
        if (!events.last_event_id().empty()) {
            last_event_id = events.last_event_id();
        }
        if (response && response->status == 405) {
            return;
        }
        if (response && response->status == 400) {
            last_event_id.clear();  // Too old to be replayed; begin with what is new.
        }
        if (response && response->status == 404 && !session.is_ended()) {
            if (const auto renewed = session.renew(card.generation); !renewed) {
                log_warn("mcp_session_lost", {{"reason", renewed.error().message}});
            }
        }
    } while (pause() && !session.is_ended());
}

}  // namespace interlock
