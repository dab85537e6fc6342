// One table of everything that can be asked of the server. The HTTP routes, the MCP tools, the
// OpenAPI document and the authorisation matrix are all made from it, so none can drift.
//
// An operation's handler translates: JSON → contract type → service → JSON. It decides nothing and
// does not block; the reply may come from any thread, exactly once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/wire/principal.h"
#include "host/rules/access_policy.h"
#include "net/http_message.h"

namespace interlock {

// Told how many records of a ledger were looked at for a caller, who pays for them: reading far
// back costs the server what many requests do (kRecordsPerRequest).
using RecordCharge = std::function<void(const Principal&, std::int64_t records)>;

// What a face hands to a handler: the caller is authenticated and allowed.
struct ApiCall {
    Principal principal;  // kind internal with id "anyone" for operations open to anyone.
    TenantId tenant_id;   // Empty for operations of the host.
    std::map<std::string, std::string> path;   // Captured parameters but the tenant, decoded.
    std::map<std::string, std::string> query;  // Declared parameters only, decoded.
    Json body;                                 // Null when the operation takes none.
    // The raw request behind it; null on MCP. Only login and session handling look at it.
    const HttpRequest* http = nullptr;
    bool is_own_page = false;  // Its Origin is this server's own (host/face/own_origin.h).
    bool is_secure = false;    // Cookies of the answer travel over TLS only.
    const RecordCharge* charge = nullptr;  // Outlives every call; null: nobody counts.
};
void charge_records(const ApiCall& call, std::int64_t records);

struct ApiReply {
    int status = 200;
    std::string body;  // JSON text unless content_type says otherwise.
    std::string content_type = "application/json";
    std::vector<HttpHeader> headers;
    // The same for everyone for as long as the server runs: it goes out as it is. Finding words of
    // another face in half a megabyte takes the network thread as long as a thousand requests.
    bool is_document = false;
};
ApiReply json_reply(int status, const Json& json);

using ApiReplyTo = std::function<void(Result<ApiReply>)>;

struct QueryParameter {
    std::string name;
    std::string description;
    Json schema;  // JSON Schema of the decoded text; "integer" parameters are checked as such.
};

// The longest body of an operation unless it says less: a list of everything a tenant may have.
inline constexpr std::size_t kOperationBodyBytesMax = 1024 * 1024;
// Of a stranger, whatever the operation: an address, a password and a code.
inline constexpr std::size_t kStrangerBodyBytesMax = 4 * 1024;

// Whose budget of requests a call without a credential draws on; all are by the caller's address.
enum class AnonymousLane {
    ordinary,
    page,      // Files that are the same for everyone; generous.
    entrance,  // Login, activation, signup: each costs the server far more than the caller.
    none,      // Never limited: whoever watches over the server must not be told to come later.
};

struct ToolHints {
    bool read_only = false;
    bool destructive = false;
    bool idempotent = false;
    // What the tool is called over MCP; empty: as the operation, which works as its alias.
    std::string name = {};
};

struct Operation {
    std::string id;  // Stable; the OpenAPI operationId and, unless it has another, the tool's name.
    std::string method;
    std::string path;         // "/api/{tenant_id}/kill"
    std::string summary;      // One line.
    std::string description;  // For people and models: what it does, when to use it, how to retry.
    Access access;
    std::vector<QueryParameter> query = {};
    Json request_schema;                                 // Null: takes no body.
    Json answer_schema;                                  // Null: not JSON (metrics, pages).
    std::vector<std::string> answer_content_types = {};  // Besides JSON, for OpenAPI.
    std::vector<int> statuses = {200};                   // Success statuses, for OpenAPI.
    std::optional<ToolHints> tool = std::nullopt;        // Set: offered to agents over MCP.
    std::size_t body_bytes_max = kOperationBodyBytesMax;
    AnonymousLane lane = AnonymousLane::ordinary;
    std::function<void(ApiCall, ApiReplyTo)> handle;
};

// What it is called over MCP.
std::string tool_name(const Operation& operation);

class OperationTable {
public:
    // CHECKs that id and (method, path) are new.
    void add(Operation operation);
    const std::vector<Operation>& all() const { return operations_; }
    const Operation* find(std::string_view id) const;
    // By the tool's name, or by the operation's id as its alias; only what is a tool.
    const Operation* find_tool(std::string_view name) const;

private:
    std::vector<Operation> operations_;
};

}  // namespace interlock
