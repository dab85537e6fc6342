// The Model Context Protocol without a transport: versions 2025-11-25 and 2025-06-18.
//
// Handles the life of a session (initialize, ping, cancellation), cuts lists into pages and hands
// calls to the catalog. Holds no state of its own; a session's state is in McpSession.
#pragma once

#include <array>
#include <expected>
#include <string>
#include <string_view>

#include "app/mcp/mcp_catalog.h"

namespace interlock {

// Newest first.
inline constexpr std::array<std::string_view, 2> kMcpVersions = {"2025-11-25", "2025-06-18"};
bool is_mcp_version(std::string_view version);
// The offered version when we speak it, else our newest; the client decides whether that will do.
std::string_view negotiate_mcp_version(std::string_view offered);

inline constexpr std::size_t kMcpPageMax = 50;  // Entries of one list answer.

class McpServer {
public:
    // The catalog outlives the server.
    McpServer(McpCatalog& catalog, std::string server_version)
        : catalog_(catalog), server_version_(std::move(server_version)) {}

    struct Opened {
        McpSessionPtr session;
        Json result;
    };
    // Answers `initialize`, the first request of a client.
    std::expected<Opened, RpcError> initialize(const Json& params) const;

    struct Incoming {
        McpSessionPtr session;
        Principal principal;  // Who sends this very message.
        RpcRequest request;
        McpOutletPtr outlet;
    };
    // Handles one request; the outlet gets its answer, now or later.
    void handle(Incoming incoming) const;
    static void handle(McpSession& session, const RpcNotification& notification);
    static void handle(McpSession& session, const RpcResponse& response);

    // Ends a session: running requests are left without an answer.
    static void end(McpSession& session);

private:
    void dispatch(const McpExchangePtr& exchange, const RpcRequest& request) const;
    bool dispatch_list(const McpExchangePtr& exchange, const RpcRequest& request) const;
    bool dispatch_call(const McpExchangePtr& exchange, const RpcRequest& request) const;
    void subscribe(McpSession& session, McpExchange& exchange, const RpcRequest& request) const;
    Json capabilities() const;

    McpCatalog& catalog_;
    const std::string server_version_;
};

}  // namespace interlock
