#include "app/mcp/mcp_catalog.h"

namespace interlock {

Json encode(const McpTool& tool) {
    Json json = Json::object(
        {{"name", tool.name},
         {"title", tool.title},
         {"description", tool.description},
         {"inputSchema", tool.input_schema}});
    if (!tool.output_schema.is_null()) {
        json.set("outputSchema", tool.output_schema);
    }
    if (!tool.annotations.is_null()) {
        json.set("annotations", tool.annotations);
    }
    return json;
}

Json encode(const McpResource& resource) {
    return Json::object(
        {{"uri", resource.uri},
         {"name", resource.name},
         {"description", resource.description},
         {"mimeType", resource.mime_type}});
}

Json encode_template(const McpResource& resource) {
    return Json::object(
        {{"uriTemplate", resource.uri},
         {"name", resource.name},
         {"description", resource.description},
         {"mimeType", resource.mime_type}});
}

Json encode(const McpPrompt& prompt) {
    Json arguments = Json::array();
    for (const McpPromptArgument& argument : prompt.arguments) {
        arguments.push(Json::object(
            {{"name", argument.name},
             {"description", argument.description},
             {"required", argument.required}}));
    }
    return Json::object(
        {{"name", prompt.name},
         {"description", prompt.description},
         {"arguments", std::move(arguments)}});
}

Json text_content(std::string text) {
    return Json::object({{"type", "text"}, {"text", std::move(text)}});
}

Json tool_text_result(std::string text, bool is_error) {
    return Json::object(
        {{"content", Json::array({text_content(std::move(text))})}, {"isError", is_error}});
}

std::unexpected<RpcError> no_such_resource(const std::string& uri) {
    return rpc_fail(
        kRpcResourceNotFound, "There is no such resource.", Json::object({{"uri", uri}}));
}

void McpCatalog::read_resource(McpExchangePtr exchange, std::string uri) {
    exchange->answer(no_such_resource(uri));
}

void McpCatalog::get_prompt(McpExchangePtr exchange, std::string, Json) {
    exchange->answer(rpc_fail(kRpcInvalidParams, "There is no such prompt."));
}

void McpCatalog::complete(McpExchangePtr exchange, Json) {
    exchange->answer(rpc_fail(kRpcInvalidParams, "Nothing can be completed here."));
}

}  // namespace interlock
