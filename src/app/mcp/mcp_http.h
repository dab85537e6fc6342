// MCP's Streamable HTTP endpoint: POST a message, GET the standing stream or the rest of a broken
// one, DELETE the session.
//
// A request is answered as plain JSON unless something is to be said before the answer (progress, a
// log line, a question to the client); the response then turns into an event stream. Whoever stands
// in front has authenticated the caller and checked Host and Origin.
#pragma once

#include <functional>
#include <string_view>

#include "app/mcp/mcp_server.h"
#include "app/mcp/mcp_session_table.h"
#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"
#include "net/http_message.h"

namespace interlock {

class McpHttp {
public:
    struct Parts {  // All outlive this object and every call that it has begun.
        const McpServer& server;
        Clock& clock;
        IdSource& ids;
        // May refuse a request of this caller (rate limit); empty: never. Not asked for messages
        // that call an operation: those are counted by the catalog.
        std::function<Result<void>(const Principal&)> admit = {};
    };
    explicit McpHttp(Parts parts, McpSessionLimits limits = {})
        : parts_(std::move(parts)), sessions_(limits) {}
    // A running request and its session hold each other; ending them lets go of both.
    ~McpHttp() { end_all(); }
    McpHttp(const McpHttp&) = delete;
    McpHttp& operator=(const McpHttp&) = delete;

    // On a network thread; does not block.
    void handle(HttpRequest request, Principal principal, HttpResponderPtr responder);

    // Tells every client that subscribed to the resource and that `concerns` holds for.
    void announce_update(
        const std::string& uri, const std::function<bool(const Principal&)>& concerns);

    // Ends all sessions and closes their streams, so that a server can stop.
    void end_all();
    // The same for those of one access key, which was revoked or replaced: running calls go on but
    // are told to nobody. From any thread; the directory has forgotten the key before. A request
    // that was let in just before finds its session, or the one it opens, ended.
    void close_of(const KeyId& key_id);
    std::size_t session_count() const { return sessions_.size(); }

private:
    void post(HttpRequest request, const Principal& principal, HttpResponderPtr responder);
    void get(const HttpRequest& request, const Principal& principal, HttpResponder& responder);
    void end(const HttpRequest& request, const Principal& principal, HttpResponder& responder);
    void initialize(
        const RpcRequest& request, const Principal& principal, HttpResponder& responder);
    std::expected<void, HttpResponse> admit(const Principal& principal) const;
    std::expected<McpClientPtr, HttpResponse> client_of(
        const HttpRequest& request, const Principal& principal);
    // After a stream may have been opened: the key can have ended since its session was found.
    void end_if_dead(McpClient& client);

    Parts parts_;
    McpSessionTable sessions_;
};

}  // namespace interlock
