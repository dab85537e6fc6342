#include "app/mcp/mcp_server.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"

namespace interlock {
namespace {

std::unexpected<RpcError> no_such_method(const std::string& method) {
    return rpc_fail(kRpcMethodNotFound, "There is no method " + method + ".");
}

std::expected<std::string, RpcError> text_param(const Json& params, std::string_view key) {
    const Json* value = params.find(key);
    if (value == nullptr || !value->is_string()) {
        return rpc_fail(
            kRpcInvalidParams, "The params need \"" + std::string(key) + "\", a string.");
    }
    return value->as_string();
}

// Absent means empty: the suite and several clients call tools without `arguments`.
std::expected<Json, RpcError> arguments_param(const Json& params) {
    const Json* value = params.find("arguments");
    if (value == nullptr) {
        return Json::object();
    }
    if (!value->is_object()) {
        return rpc_fail(kRpcInvalidParams, "The arguments must be an object.");
    }
    return *value;
}

std::expected<Json, RpcError> progress_token(const Json& params) {
    const Json* meta = params.find("_meta");
    const Json* token = meta != nullptr ? meta->find("progressToken") : nullptr;
    if (token == nullptr) {
        return Json();
    }
    if (!is_rpc_id(*token)) {
        return rpc_fail(kRpcInvalidParams, "The progressToken must be a string or an integer.");
    }
    return *token;
}

// A cursor names its list and the entry to go on with. Clients must not read it, hence the base64.
std::string cursor_text(std::string_view list, std::size_t begin) {
    return to_base64url(std::string(list) + ":" + std::to_string(begin));
}

std::optional<std::size_t> cursor_position(std::string_view list, const std::string& cursor) {
    const Result<std::string> text = from_base64url(cursor);
    const std::string prefix = std::string(list) + ":";
    if (!text || !text->starts_with(prefix)) {
        return std::nullopt;
    }
    std::size_t begin = 0;
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data() + prefix.size(), end, begin);
    if (read.ec != std::errc() || read.ptr != end) {
        return std::nullopt;
    }
    return begin;
}

template <class Entry, class Encode>
RpcOutcome page(
    std::string_view list,
    const std::vector<Entry>& entries,
    const Json& params,
    Encode encode_entry) {
    std::size_t begin = 0;
    if (const Json* cursor = params.find("cursor")) {
        const auto position =
            cursor->is_string() ? cursor_position(list, cursor->as_string()) : std::nullopt;
        // Past the end also when the list became shorter (a right was withdrawn).
        if (!position || *position > entries.size()) {
            return rpc_fail(kRpcInvalidParams, "The cursor is not one that this list gave out.");
        }
        begin = *position;
    }
    const std::size_t end = std::min(entries.size(), begin + kMcpPageMax);
    Json shown = Json::array();
    for (std::size_t i = begin; i < end; ++i) {
        shown.push(encode_entry(entries[i]));
    }
    Json result = Json::object({{std::string(list), std::move(shown)}});
    if (end < entries.size()) {
        result.set("nextCursor", cursor_text(list, end));
    }
    return result;
}

RpcOutcome set_level(McpSession& session, const Json& params) {
    const auto word = text_param(params, "level");
    const std::optional<McpLogLevel> level = word ? parse_mcp_log_level(*word) : std::nullopt;
    if (!level) {
        return rpc_fail(
            kRpcInvalidParams,
            "The level must be debug, info, notice, warning, error, critical, alert or emergency.");
    }
    session.set_log_level(*level);
    return Json::object();
}

}  // namespace

bool is_mcp_version(std::string_view version) {
    return std::ranges::find(kMcpVersions, version) != kMcpVersions.end();
}

std::string_view negotiate_mcp_version(std::string_view offered) {
    const auto found = std::ranges::find(kMcpVersions, offered);
    return found != kMcpVersions.end() ? *found : kMcpVersions.front();
}

Json McpServer::capabilities() const {
    const McpFeatures features = catalog_.features();
    Json json = Json::object({{"tools", Json::object({{"listChanged", false}})}});
    if (features.resources) {
        json.set(
            "resources",
            Json::object({{"subscribe", features.subscriptions}, {"listChanged", false}}));
    }
    if (features.prompts) {
        json.set("prompts", Json::object({{"listChanged", false}}));
    }
    if (features.logging) {
        json.set("logging", Json::object());
    }
    if (features.completions) {
        json.set("completions", Json::object());
    }
    return json;
}

std::expected<McpServer::Opened, RpcError> McpServer::initialize(const Json& params) const {
    auto offered = text_param(params, "protocolVersion");
    if (!offered) {
        return std::unexpected(std::move(offered).error());
    }
    const Json* wanted = params.find("capabilities");
    if (wanted == nullptr || !wanted->is_object()) {
        return rpc_fail(kRpcInvalidParams, "The params need \"capabilities\", an object.");
    }
    const Json* client = params.find("clientInfo");
    if (client == nullptr || !client->is_object()) {
        return rpc_fail(kRpcInvalidParams, "The params need \"clientInfo\", an object.");
    }
    const std::string version(negotiate_mcp_version(*offered));
    Json result = Json::object(
        {{"protocolVersion", version},
         {"capabilities", capabilities()},
         {"serverInfo",
          Json::object(
              {{"name", "interlock"}, {"title", "Interlock"}, {"version", server_version_}})}});
    if (std::string instructions = catalog_.instructions(); !instructions.empty()) {
        result.set("instructions", std::move(instructions));
    }
    return Opened{
        std::make_shared<McpSession>(McpSession::Terms{version, *wanted}), std::move(result)};
}

void McpServer::handle(Incoming incoming) const {
    const RpcRequest& request = incoming.request;
    const auto refuse = [&](int code, std::string message) {
        incoming.outlet->finish(
            encode(RpcResponse{request.id, rpc_fail(code, std::move(message))}));
    };
    const auto token = progress_token(request.params);
    if (!token) {
        refuse(token.error().code, token.error().message);
        return;
    }
    switch (incoming.session->begin(request.id, incoming.outlet)) {
        case McpSession::Begin::begun:
            break;
        case McpSession::Begin::id_in_use:
            refuse(kRpcInvalidRequest, "A request with this id is still running.");
            return;
        case McpSession::Begin::too_many:
            refuse(
                kRpcServerError,
                "Too many requests are running in this session; wait for one to end.");
            return;
    }
    const auto exchange = std::make_shared<McpExchange>(McpExchange::Start{
        .session = incoming.session,
        .outlet = incoming.outlet,
        .request_id = request.id,
        .progress_token = *token,
        .principal = std::move(incoming.principal),
    });
    if (request.method == "resources/subscribe" || request.method == "resources/unsubscribe") {
        subscribe(*incoming.session, *exchange, request);
    } else if (request.method == "logging/setLevel" && catalog_.features().logging) {
        exchange->answer(set_level(*incoming.session, request.params));
    } else {
        dispatch(exchange, request);
    }
}

void McpServer::subscribe(
    McpSession& session, McpExchange& exchange, const RpcRequest& request) const {
    if (!catalog_.features().subscriptions) {
        exchange.answer(no_such_method(request.method));
        return;
    }
    auto uri = text_param(request.params, "uri");
    if (!uri) {
        exchange.answer(std::unexpected(std::move(uri).error()));
        return;
    }
    if (request.method == "resources/unsubscribe") {
        session.unsubscribe(*uri);
    } else if (!session.subscribe(*uri)) {
        exchange.answer(rpc_fail(kRpcServerError, "This session has too many subscriptions."));
        return;
    }
    exchange.answer(Json::object());
}

void McpServer::dispatch(const McpExchangePtr& exchange, const RpcRequest& request) const {
    if (request.method == "ping") {
        exchange->answer(Json::object());
    } else if (request.method == "initialize") {
        exchange->answer(rpc_fail(kRpcInvalidRequest, "This session is already initialized."));
    } else if (!dispatch_list(exchange, request) && !dispatch_call(exchange, request)) {
        exchange->answer(no_such_method(request.method));
    }
}

bool McpServer::dispatch_list(const McpExchangePtr& exchange, const RpcRequest& request) const {
    const McpFeatures features = catalog_.features();
    const Principal& principal = exchange->principal();
    const std::string& method = request.method;
    const auto plain = [](const auto& entry) { return encode(entry); };
    if (method == "tools/list") {
        exchange->answer(page("tools", catalog_.tools(principal), request.params, plain));
    } else if (method == "resources/list" && features.resources) {
        exchange->answer(page("resources", catalog_.resources(principal), request.params, plain));
    } else if (method == "resources/templates/list" && features.resources) {
        exchange->answer(page(
            "resourceTemplates",
            catalog_.resource_templates(principal),
            request.params,
            encode_template));
    } else if (method == "prompts/list" && features.prompts) {
        exchange->answer(page("prompts", catalog_.prompts(principal), request.params, plain));
    } else {
        return false;
    }
    return true;
}

bool McpServer::dispatch_call(const McpExchangePtr& exchange, const RpcRequest& request) const {
    const McpFeatures features = catalog_.features();
    const std::string& method = request.method;
    const bool is_prompt = method == "prompts/get" && features.prompts;
    if (method == "completion/complete" && features.completions) {
        catalog_.complete(exchange, request.params);
        return true;
    }
    const bool is_read = method == "resources/read" && features.resources;
    if (!is_prompt && !is_read && method != "tools/call") {
        return false;
    }
    auto subject = text_param(request.params, is_read ? "uri" : "name");
    auto arguments = arguments_param(request.params);
    if (!subject || !arguments) {
        exchange->answer(std::unexpected(!subject ? subject.error() : arguments.error()));
    } else if (is_read) {
        catalog_.read_resource(exchange, *std::move(subject));
    } else if (is_prompt) {
        catalog_.get_prompt(exchange, *std::move(subject), *std::move(arguments));
    } else {
        catalog_.call_tool(exchange, *std::move(subject), *std::move(arguments));
    }
    return true;
}

void McpServer::handle(McpSession& session, const RpcNotification& notification) {
    // Everything else a client may notify us of needs no reaction here.
    if (notification.method != "notifications/cancelled") {
        return;
    }
    const Json* request_id = notification.params.find("requestId");
    if (request_id == nullptr || !is_rpc_id(*request_id)) {
        return;
    }
    // Ends the client's wait, nothing more: a turn that was accepted is carried out and recorded
    // all the same. Whoever wants to know how it ended repeats the call under the same key.
    if (const McpOutletPtr outlet = session.cancel(*request_id)) {
        outlet->finish(std::nullopt);
    }
}

void McpServer::handle(McpSession& session, const RpcResponse& response) {
    session.settle_question(response);
}

void McpServer::end(McpSession& session) {
    for (const McpOutletPtr& outlet : session.finish_all()) {
        outlet->finish(std::nullopt);
    }
}

}  // namespace interlock
