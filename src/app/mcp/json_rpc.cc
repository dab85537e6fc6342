#include "app/mcp/json_rpc.h"

#include <optional>
#include <utility>

namespace interlock {
namespace {

std::unexpected<RpcRefusal> refuse(Json id, int code, std::string message) {
    return std::unexpected(RpcRefusal{std::move(id), RpcError{code, std::move(message), nullptr}});
}

// A misspelt field must not lose the id under which the caller waits for its answer.
Json readable_id(const Json& json) {
    const Json* id = json.find("id");
    return id != nullptr && is_rpc_id(*id) ? *id : Json();
}

std::expected<RpcMessage, RpcRefusal> decode_call(const Json& json, const Json& method) {
    const Json* id = json.find("id");
    if (id != nullptr && !is_rpc_id(*id)) {
        return refuse(nullptr, kRpcInvalidRequest, "The id must be a string or an integer.");
    }
    if (!method.is_string() || method.as_string().empty()) {
        return refuse(readable_id(json), kRpcInvalidRequest, "The method must be a text.");
    }
    Json params = Json::object();
    if (const Json* given = json.find("params")) {
        if (!given->is_object()) {
            return refuse(readable_id(json), kRpcInvalidParams, "The params must be an object.");
        }
        params = *given;
    }
    if (id != nullptr) {
        return RpcRequest{*id, method.as_string(), std::move(params)};
    }
    return RpcNotification{method.as_string(), std::move(params)};
}

std::optional<RpcError> decode_error(const Json& json) {
    const Json* code = json.find("code");
    const Json* message = json.find("message");
    if (code == nullptr || !code->is_number() || message == nullptr || !message->is_string()) {
        return std::nullopt;
    }
    const std::optional<std::int64_t> number = code->as_int64();
    if (!number || std::cmp_less(*number, INT32_MIN) || std::cmp_greater(*number, INT32_MAX)) {
        return std::nullopt;
    }
    const Json* data = json.find("data");
    return RpcError{
        static_cast<int>(*number), message->as_string(), data != nullptr ? *data : Json()};
}

std::expected<RpcMessage, RpcRefusal> decode_response(const Json& json) {
    const Json* id = json.find("id");
    const Json* result = json.find("result");
    const Json* error = json.find("error");
    if (result != nullptr && error != nullptr) {
        return refuse(
            nullptr, kRpcInvalidRequest, "A response has a result or an error, not both.");
    }
    if (result != nullptr) {
        if (id == nullptr || !is_rpc_id(*id)) {
            return refuse(nullptr, kRpcInvalidRequest, "The id must be a string or an integer.");
        }
        if (!result->is_object()) {
            return refuse(nullptr, kRpcInvalidRequest, "The result must be an object.");
        }
        return RpcResponse{*id, *result};
    }
    std::optional<RpcError> decoded = decode_error(*error);
    if (!decoded) {
        return refuse(nullptr, kRpcInvalidRequest, "The error must have a code and a message.");
    }
    return RpcResponse{readable_id(json), std::unexpected(*std::move(decoded))};
}

}  // namespace

bool is_rpc_id(const Json& json) {
    return json.is_string() || (json.is_number() && json.as_int64());
}

std::expected<RpcMessage, RpcRefusal> decode_rpc(std::string_view text) {
    const Result<Json> parsed = parse_json(text);
    if (!parsed) {
        return refuse(
            nullptr, kRpcParseError, "The message cannot be read: " + parsed.error().message);
    }
    const Json& json = *parsed;
    if (json.is_array()) {
        return refuse(
            nullptr, kRpcInvalidRequest, "Batches are not supported; send one message at a time.");
    }
    const Json* version = json.find("jsonrpc");
    if (version == nullptr || *version != Json("2.0")) {
        return refuse(
            readable_id(json), kRpcInvalidRequest, "Expected an object with \"jsonrpc\": \"2.0\".");
    }
    if (const Json* method = json.find("method")) {
        return decode_call(json, *method);
    }
    if (json.find("result") != nullptr || json.find("error") != nullptr) {
        return decode_response(json);
    }
    return refuse(
        readable_id(json), kRpcInvalidRequest, "Expected a method, a result or an error.");
}

Json encode(const RpcRequest& request) {
    return Json::object(
        {{"jsonrpc", "2.0"},
         {"id", request.id},
         {"method", request.method},
         {"params", request.params}});
}

Json encode(const RpcNotification& notification) {
    return Json::object(
        {{"jsonrpc", "2.0"}, {"method", notification.method}, {"params", notification.params}});
}

Json encode(const RpcResponse& response) {
    Json json = Json::object({{"jsonrpc", "2.0"}, {"id", response.id}});
    if (response.outcome) {
        json.set("result", *response.outcome);
        return json;
    }
    const RpcError& error = response.outcome.error();
    Json encoded = Json::object({{"code", error.code}, {"message", error.message}});
    if (!error.data.is_null()) {
        encoded.set("data", error.data);
    }
    json.set("error", std::move(encoded));
    return json;
}

}  // namespace interlock
