// One running request as the catalog sees it: who asks, and the way back. The catalog may report
// progress, log, ask the client a question, and answers exactly once, from any thread.
//
// Once the request is over (answered, cancelled, session ended) everything here does nothing: the
// client is told no more, while whatever the request has set in motion goes its way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/mcp/mcp_session.h"
#include "engine/wire/principal.h"

namespace interlock {

class McpExchange {
public:
    struct Start {
        McpSessionPtr session;
        McpOutletPtr outlet;
        Json request_id;
        Json progress_token = nullptr;  // Null: the client wants no progress.
        Principal principal;
    };
    // The request must have begun in the session.
    explicit McpExchange(Start start) : start_(std::move(start)) {}

    const Principal& principal() const { return start_.principal; }
    const McpSession& session() const { return *start_.session; }
    bool is_over() const { return !start_.session->is_running(start_.request_id, start_.outlet); }

    // Nothing unless the client gave a token. `done` must grow from call to call.
    void progress(std::int64_t done, std::int64_t total);
    // Nothing when the client asked for graver messages only.
    void log(McpLogLevel level, Json data);
    // Sends a request to the client on this exchange's stream. `on_answer` is dropped when the
    // exchange ends first, and gets an error at once when too many questions are open.
    void ask_client(std::string method, Json params, McpSession::OnAnswer on_answer);
    // Ends the connection but not the request.
    void pause() { start_.outlet->pause(); }

    void answer(RpcOutcome outcome);

private:
    const Start start_;
};
using McpExchangePtr = std::shared_ptr<McpExchange>;

}  // namespace interlock
