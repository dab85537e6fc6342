// An operation of the table as an MCP tool: its schemas and hints, its arguments taken apart into
// path, query and body, and its reply put together as a tool result.
#pragma once

#include "app/mcp/mcp_catalog.h"
#include "host/face/operation.h"

namespace interlock {

// The tenant is the key's own and no argument; all other path parameters and the query parameters
// stand beside the body's fields.
McpTool tool_of(const Operation& operation);

// Path, query and body of a call. Every problem with path and query is named at once; the body is
// left to the operation's own decoder, as over HTTP.
struct ToolArguments {
    std::map<std::string, std::string> path;
    std::map<std::string, std::string> query;
    Json body;
};
Result<ToolArguments> split_arguments(const Operation& operation, const Json& arguments);

// A failure is a result with isError, so that the model reads it; never a protocol error.
Json tool_result(const Operation& operation, const Result<ApiReply>& reply);

// "{seq}" → "seq"; the tenant is left out.
std::vector<std::string> path_parameters(const Operation& operation);

}  // namespace interlock
