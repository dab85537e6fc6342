// JSON-RPC 2.0 messages as MCP uses them: requests, notifications and responses, one per document.
//
// Narrower than the general rules where MCP is: an id is a string or a 64-bit integer, params are
// an object, and batches do not exist (removed in protocol 2025-06-18).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

namespace interlock {

inline constexpr int kRpcParseError = -32700;
inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcMethodNotFound = -32601;
inline constexpr int kRpcInvalidParams = -32602;
inline constexpr int kRpcInternalError = -32603;
inline constexpr int kRpcServerError = -32000;       // Overload, a server that cannot be reached.
inline constexpr int kRpcSessionNotFound = -32001;   // As the official SDK numbers it.
inline constexpr int kRpcResourceNotFound = -32002;  // MCP's own.

struct RpcError {
    int code = kRpcInternalError;
    std::string message;
    Json data = nullptr;  // Left out when null.

    friend bool operator==(const RpcError&, const RpcError&) = default;
};

// A result, or the error that takes its place.
using RpcOutcome = std::expected<Json, RpcError>;
inline std::unexpected<RpcError> rpc_fail(int code, std::string message, Json data = nullptr) {
    return std::unexpected(RpcError{code, std::move(message), std::move(data)});
}

struct RpcRequest {
    Json id;  // String or integer.
    std::string method;
    Json params = Json::object();
};

struct RpcNotification {
    std::string method;
    Json params = Json::object();
};

struct RpcResponse {
    Json id;  // Null only in an error about a message whose id could not be read.
    RpcOutcome outcome;
};

using RpcMessage = std::variant<RpcRequest, RpcNotification, RpcResponse>;

// Why a document is no message, and the id to answer it under (null when it has none).
struct RpcRefusal {
    Json id;
    RpcError error;
};

std::expected<RpcMessage, RpcRefusal> decode_rpc(std::string_view text);

bool is_rpc_id(const Json& json);

Json encode(const RpcRequest& request);
Json encode(const RpcNotification& notification);
Json encode(const RpcResponse& response);

}  // namespace interlock
