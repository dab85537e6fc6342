#include "app/mcp/mcp_exchange.h"

namespace interlock {

void McpExchange::progress(std::int64_t done, std::int64_t total) {
    if (start_.progress_token.is_null() || is_over()) {
        return;
    }
    start_.outlet->send(encode(RpcNotification{
        "notifications/progress",
        Json::object(
            {{"progressToken", start_.progress_token}, {"progress", done}, {"total", total}})}));
}

void McpExchange::log(McpLogLevel level, Json data) {
    if (!start_.session->wants_log(level) || is_over()) {
        return;
    }
    start_.outlet->send(encode(RpcNotification{
        "notifications/message",
        Json::object({{"level", to_word(level)}, {"data", std::move(data)}})}));
}

void McpExchange::ask_client(std::string method, Json params, McpSession::OnAnswer on_answer) {
    const std::optional<std::int64_t> id =
        start_.session->open_question(start_.request_id, start_.outlet, on_answer);
    if (!id) {
        on_answer(rpc_fail(kRpcServerError, "Too many questions to the client are open."));
        return;
    }
    start_.outlet->send(encode(RpcRequest{*id, std::move(method), std::move(params)}));
}

void McpExchange::answer(RpcOutcome outcome) {
    if (start_.session->finish(start_.request_id, start_.outlet)) {
        start_.outlet->finish(encode(RpcResponse{start_.request_id, std::move(outcome)}));
    }
}

}  // namespace interlock
