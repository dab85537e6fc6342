#include "app/mcp/operation_tool.h"

#include <algorithm>

#include "base/errors.h"
#include "base/text.h"
#include "codec/error_json.h"
#include "host/face/call_arguments.h"
#include "host/face/problem.h"

namespace interlock {
namespace {

bool is_object_schema(const Json& schema) {
    const Json* type = schema.find("type");
    return type != nullptr && *type == Json("object");
}

// The member that must be there for what follows, made when it is not.
Json& member(Json& object, const std::string& key, Json otherwise) {
    if (object.find(key) == nullptr) {
        object.set(key, std::move(otherwise));
    }
    return *object.find(key);
}

Json input_schema(const Operation& operation) {
    Json schema = operation.request_schema.is_null()
                      ? Json::object({{"type", "object"}, {"additionalProperties", false}})
                      : operation.request_schema;
    Json required = Json::array();
    Json& properties = member(schema, "properties", Json::object());
    for (const std::string& name : path_parameters(operation)) {
        if (properties.find(name) == nullptr) {
            properties.set(
                name,
                Json::object({{"type", "string"}, {"description", "The " + name + " to act on."}}));
        }
        required.push(name);
    }
    for (const QueryParameter& parameter : operation.query) {
        Json property = parameter.schema;
        property.set("description", parameter.description);
        properties.set(parameter.name, std::move(property));
    }
    if (const Json* of_body = schema.find("required")) {
        for (const Json& name : of_body->items()) {
            if (std::ranges::find(required.items(), name) == required.items().end()) {
                required.push(name);
            }
        }
    }
    if (!required.items().empty()) {
        schema.set("required", std::move(required));
    }
    return schema;
}

// Patterns cost a model much and tell it little; the server holds requests to them all the same.
void drop_what_models_do_not_read(Json& schema) {
    if (schema.is_array()) {
        for (Json& item : schema.items()) {
            drop_what_models_do_not_read(item);
        }
        return;
    }
    if (!schema.is_object()) {
        return;
    }
    const bool is_schema = schema.find("type") != nullptr;
    std::erase_if(schema.members(), [&](const auto& member) {
        const bool is_dropped =
            member.first == "pattern" || member.first == "minLength" || member.first == "writeOnly";
        return is_schema && is_dropped && !member.second.is_object();
    });
    for (auto& [name, value] : schema.members()) {
        drop_what_models_do_not_read(value);
    }
}

// "py_get_canonical_state": "Get canonical state".
std::string title_of(std::string_view name) {
    if (name.starts_with("py_")) {
        name.remove_prefix(3);
    }
    std::string title(name);
    std::ranges::replace(title, '_', ' ');
    if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') {
        title.front() = static_cast<char>(title.front() - 'a' + 'A');
    }
    return title;
}

// Models write numbers and booleans where a path or query wants text.
std::optional<std::string> text_of(const Json& value) {
    if (value.is_string()) {
        return value.as_string();
    }
    if (value.is_number()) {
        return value.number_text();
    }
    if (value.is_bool()) {
        return value.as_bool() ? "true" : "false";
    }
    return std::nullopt;
}

bool is_body_field(const Operation& operation, const std::string& name) {
    const Json* properties = operation.request_schema.find("properties");
    return properties != nullptr && properties->find(name) != nullptr;
}

bool is_query_name(const Operation& operation, const std::string& name) {
    return std::ranges::any_of(
        operation.query, [&](const QueryParameter& known) { return known.name == name; });
}

Json error_result(const Operation& operation, const Error& error) {
    return tool_text_result(to_text(error_body(error, operation)), true);
}

}  // namespace

std::vector<std::string> path_parameters(const Operation& operation) {
    std::vector<std::string> names;
    for (const std::string_view part : split(operation.path, '/')) {
        if (part.size() > 2 && part.front() == '{' && part.back() == '}') {
            std::string name(part.substr(1, part.size() - 2));
            if (name != "tenant_id") {
                names.push_back(std::move(name));
            }
        }
    }
    return names;
}

McpTool tool_of(const Operation& operation) {
    const ToolHints hints = operation.tool.value_or(ToolHints{});
    Json input = input_schema(operation);
    drop_what_models_do_not_read(input);
    const bool is_more = !operation.description.empty();
    return McpTool{
        .name = tool_name(operation),
        .title = title_of(tool_name(operation)),
        .description = operation.summary + (is_more ? " " + operation.description : ""),
        .input_schema = std::move(input),
        // Answers are declared in /openapi.json and /ai/tools.json. Here they would cost every
        // conversation more than the calls themselves.
        .output_schema = Json(),
        .annotations = Json::object(
            {{"readOnlyHint", hints.read_only},
             {"destructiveHint", hints.destructive},
             {"idempotentHint", hints.idempotent},
             // What changes something here may reach a venue or a chat out there.
             {"openWorldHint", !hints.read_only}}),
    };
}

Result<ToolArguments> split_arguments(const Operation& operation, const Json& arguments) {
    Error error = fail(errors::invalid_request, "The arguments are not valid.").error();
    const std::vector<std::string> in_path = path_parameters(operation);
    ToolArguments out;
    const bool has_body = !operation.request_schema.is_null();
    if (has_body) {
        out.body = Json::object();
    }
    for (const auto& [name, value] : arguments.members()) {
        const bool is_path = std::ranges::find(in_path, name) != in_path.end();
        const bool is_query = is_query_name(operation, name);
        if (has_body && ((!is_path && !is_query) || is_body_field(operation, name))) {
            out.body.set(name, value);
        } else if (!is_path && !is_query) {
            error.problems.push_back({name, "is not a known argument"});
        }
        if ((!is_path && !is_query) || (value.is_null() && is_query)) {
            continue;  // An optional argument given as null is one not given.
        }
        if (std::optional<std::string> text = text_of(value)) {
            (is_path ? out.path : out.query)[name] = *std::move(text);
        } else {
            error.problems.push_back(
                {name, "expected a string, found " + std::string(value.type_word())});
        }
    }
    for (const std::string& name : in_path) {
        if (!out.path.contains(name) && arguments.find(name) == nullptr) {
            error.problems.push_back({name, "is required"});
        }
    }
    if (Result<void> checked = check_query(operation, out.query); !checked) {
        std::ranges::move(checked.error().problems, std::back_inserter(error.problems));
    }
    if (!error.problems.empty()) {
        return std::unexpected(std::move(error));
    }
    return out;
}

Json tool_result(const Operation& operation, const Result<ApiReply>& reply) {
    if (!reply) {
        return error_result(operation, reply.error());
    }
    if (reply->status >= 400) {
        return tool_text_result(reply->body, true);
    }
    Json result = tool_text_result(reply->body);
    if (!is_object_schema(operation.answer_schema)) {
        return result;
    }
    // Clients check a success against the output schema, so one without it would be refused there.
    const Result<Json> body = parse_json(reply->body);
    if (!body || !body->is_object()) {
        return error_result(
            operation,
            fail(errors::internal, "The answer of " + operation.id + " is not a JSON object.")
                .error());
    }
    result.set("structuredContent", *body);
    return result;
}

}  // namespace interlock
