// What the server remembers of one client between its messages: the agreed version, the requests
// that are running, the questions put to the client, its subscriptions and its log level.
//
// Messages of a client arrive on network threads and answers on the engine thread, so the state is
// guarded by a mutex (ADR 0005 allows it in the faces). No callback runs while it is held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/mcp/json_rpc.h"
#include "app/mcp/mcp_outlet.h"

namespace interlock {

inline constexpr std::size_t kMcpRunningRequestsMax = 64;  // Per session.
inline constexpr std::size_t kMcpQuestionsMax = 32;        // Open questions to one client.
inline constexpr std::size_t kMcpSubscriptionsMax = 256;   // Per session.

// Severities of notifications/message, mildest first.
enum class McpLogLevel { debug, info, notice, warning, error, critical, alert, emergency };
std::optional<McpLogLevel> parse_mcp_log_level(std::string_view word);
std::string_view to_word(McpLogLevel level);

class McpSession {
public:
    struct Terms {
        std::string protocol_version;
        Json client_capabilities = Json::object();
    };
    explicit McpSession(Terms terms) : terms_(std::move(terms)) {}

    const std::string& protocol_version() const { return terms_.protocol_version; }
    // "sampling", "elicitation", "roots".
    bool client_can(std::string_view capability) const;

    enum class Begin { begun, id_in_use, too_many };
    Begin begin(const Json& request_id, McpOutletPtr outlet);
    // An id may be used again once its request is over, so a request is known by id and outlet.
    bool is_running(const Json& request_id, const McpOutletPtr& outlet) const;
    bool is_busy() const;  // Runs any request.
    // Each takes the request out of the running ones, and only the first succeeds: the answer, the
    // cancellation or the end of the session.
    bool finish(const Json& request_id, const McpOutletPtr& outlet);
    McpOutletPtr cancel(const Json& request_id);
    // Ends every running request; the caller finishes the outlets.
    std::vector<McpOutletPtr> finish_all();

    using OnAnswer = std::function<void(RpcOutcome)>;
    // The id of a new question to the client, asked on behalf of a running request; nothing when
    // that request is over or too many questions are open.
    std::optional<std::int64_t> open_question(
        const Json& request_id, const McpOutletPtr& outlet, OnAnswer on_answer);
    // Calls whoever asked. An answer to no open question is ignored.
    void settle_question(const RpcResponse& response);

    // False at the bound.
    bool subscribe(const std::string& uri);
    void unsubscribe(const std::string& uri);
    bool is_subscribed(const std::string& uri) const;

    void set_log_level(McpLogLevel level);
    bool wants_log(McpLogLevel level) const;

private:
    struct Question {
        McpOutletPtr outlet;  // Of the request that asks.
        OnAnswer on_answer;
    };
    using Questions = std::map<std::int64_t, Question>;

    McpOutletPtr take(const Json& request_id, const McpOutlet* outlet);
    bool runs(const Json& request_id, const McpOutletPtr& outlet) const;

    const Terms terms_;
    mutable std::mutex mutex_;                     // Guards all below.
    std::map<std::string, McpOutletPtr> running_;  // By the JSON text of the request's id.
    Questions questions_;
    std::int64_t last_question_ = 0;
    std::set<std::string> subscriptions_;
    McpLogLevel log_level_ = McpLogLevel::info;
};
using McpSessionPtr = std::shared_ptr<McpSession>;

}  // namespace interlock
