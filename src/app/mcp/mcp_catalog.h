// What a server offers over MCP: tools, resources, prompts. The real catalog is made from the
// operation table; another one serves what the official conformance suite calls for. Both share the
// protocol logic in mcp_server.
#pragma once

#include <string>
#include <vector>

#include "app/mcp/mcp_exchange.h"

namespace interlock {

struct McpTool {
    std::string name;  // 1 to 128 of A–Z, a–z, 0–9, '_', '.' and '-'.
    std::string title;
    std::string description;
    Json input_schema;             // An object schema.
    Json output_schema = nullptr;  // An object schema, or null: the answer is not structured.
    Json annotations = nullptr;
};

// With a uri, or (as a template) with an RFC 6570 pattern in its place.
struct McpResource {
    std::string uri;
    std::string name;
    std::string description;
    std::string mime_type;
};

struct McpPromptArgument {
    std::string name;
    std::string description;
    bool required = true;
};

struct McpPrompt {
    std::string name;
    std::string description;
    std::vector<McpPromptArgument> arguments;
};

Json encode(const McpTool& tool);
Json encode(const McpResource& resource);
Json encode_template(const McpResource& resource);
Json encode(const McpPrompt& prompt);

// One content item of a tool's answer or of a prompt.
Json text_content(std::string text);
// The answer of a tool that has nothing but text to say.
Json tool_text_result(std::string text, bool is_error = false);
// The error for a uri that names nothing.
std::unexpected<RpcError> no_such_resource(const std::string& uri);

// Optional parts of the protocol; what is not offered is answered as an unknown method.
struct McpFeatures {
    bool resources = false;
    bool subscriptions = false;
    bool prompts = false;
    bool logging = false;
    bool completions = false;
};

// Called on network threads, several at once; must not block. Each exchange is answered exactly
// once, from any thread.
class McpCatalog {
public:
    virtual ~McpCatalog() = default;

    virtual McpFeatures features() const = 0;
    virtual std::string instructions() const { return ""; }

    // The lists in a fixed order: pages are cut from them.
    virtual std::vector<McpTool> tools(const Principal& principal) = 0;
    virtual std::vector<McpResource> resources(const Principal&) { return {}; }
    virtual std::vector<McpResource> resource_templates(const Principal&) { return {}; }
    virtual std::vector<McpPrompt> prompts(const Principal&) { return {}; }

    virtual void call_tool(McpExchangePtr exchange, std::string name, Json arguments) = 0;
    virtual void read_resource(McpExchangePtr exchange, std::string uri);
    virtual void get_prompt(McpExchangePtr exchange, std::string name, Json arguments);
    virtual void complete(McpExchangePtr exchange, Json params);
};

}  // namespace interlock
