#include "app/face/openapi.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "codec/error_json.h"

namespace interlock {
namespace {

struct FailureStatus {
    int status;
    std::string_view meaning;
};

// Every refusal has the same body, whatever its status.
constexpr std::array<FailureStatus, 13> kFailures{{
    {400, "The request is not well-formed."},
    {401, "No valid credential for this tenant."},
    {403, "The caller may not do this."},
    {404, "Not found."},
    {405, "The method is not taken here."},
    {409, "The state of things does not allow it."},
    {413, "The body is too large."},
    {414, "The path is too long."},
    {422, "The request is understood but not valid."},
    {423, "The kill switch is on."},
    {429, "Too many requests; see Retry-After."},
    {431, "The headers are too large."},
    {503, "Overloaded or shutting down; see Retry-After."},
}};

Json parameter(
    const std::string& name, std::string_view place, const std::string& text, Json schema) {
    return Json::object({
        {"name", name},
        {"in", place},
        {"required", place == "path"},
        {"description", text},
        {"schema", std::move(schema)},
    });
}

Json parameters_of(const Operation& operation) {
    Json parameters = Json::array();
    for (const std::string_view segment : split(operation.path, '/')) {
        if (segment.size() > 2 && segment.front() == '{') {
            parameters.push(parameter(
                std::string(segment.substr(1, segment.size() - 2)),
                "path",
                "Part of the path.",
                Json::object({{"type", "string"}, {"minLength", 1}, {"maxLength", 128}})));
        }
    }
    for (const QueryParameter& query : operation.query) {
        parameters.push(parameter(query.name, "query", query.description, query.schema));
    }
    return parameters;
}

Json content_of(Json schema) {
    return Json::object({{"application/json", Json::object({{"schema", std::move(schema)}})}});
}

// Pages and their files: to a program they are text.
Json text_content_of(const std::vector<std::string>& content_types) {
    Json content = Json::object();
    for (const std::string& content_type : content_types) {
        content.set(content_type, Json::object({{"schema", Json::object({{"type", "string"}})}}));
    }
    return content;
}

Json responses_of(const Operation& operation) {
    Json responses = Json::object();
    for (const int status : operation.statuses) {
        Json response = Json::object({{"description", operation.summary}});
        Json content = text_content_of(operation.answer_content_types);
        if (!operation.answer_schema.is_null()) {
            const Json json = content_of(operation.answer_schema);
            content.set("application/json", *json.find("application/json"));
        }
        if (!content.members().empty()) {
            response.set("content", std::move(content));
        }
        responses.set(std::to_string(status), std::move(response));
    }
    for (const FailureStatus& failure : kFailures) {
        const std::string status = std::to_string(failure.status);
        if (responses.find(status) == nullptr) {
            responses.set(
                status,
                Json::object(
                    {{"description", failure.meaning},
                     {"content",
                      content_of(Json::object({{"$ref", "#/components/schemas/Error"}}))}}));
        }
    }
    return responses;
}

Json security_of(const Access& access) {
    Json security = Json::array();
    if (access.anyone) {
        return security;
    }
    if (access.agent || access.agent_with_any_scope) {
        security.push(Json::object({{"access_key", Json::array()}}));
        security.push(Json::object({{"bearer", Json::array()}}));
    } else {
        security.push(Json::object({{"bearer", Json::array()}}));
    }
    if (access.human) {
        security.push(Json::object({{"session_cookie", Json::array()}}));
    }
    return security;
}

Json security_schemes() {
    return Json::object({
        {"access_key",
         Json::object({{"type", "apiKey"}, {"in", "header"}, {"name", "X-Access-Key"}})},
        {"bearer", Json::object({{"type", "http"}, {"scheme", "bearer"}})},
        {"session_cookie",
         Json::object({{"type", "apiKey"}, {"in", "cookie"}, {"name", "interlock_session"}})},
    });
}

}  // namespace

Json openapi_document(const OperationTable& table, std::string_view version) {
    Json paths = Json::object();
    for (const Operation& operation : table.all()) {
        Json entry = Json::object({
            {"operationId", operation.id},
            {"summary", operation.summary},
            {"description", operation.description},
            {"parameters", parameters_of(operation)},
        });
        if (!operation.request_schema.is_null()) {
            entry.set(
                "requestBody",
                Json::object(
                    {{"required", true}, {"content", content_of(operation.request_schema)}}));
        }
        entry.set("responses", responses_of(operation));
        entry.set("security", security_of(operation.access));
        if (paths.find(operation.path) == nullptr) {
            paths.set(operation.path, Json::object());
        }
        paths.find(operation.path)->set(to_lower(operation.method), std::move(entry));
    }
    return Json::object({
        {"openapi", "3.1.0"},
        {"info",
         Json::object(
             {{"title", "Interlock"},
              {"version", version},
              {"summary", "What autonomous agents may do, once, on the record, until stopped."},
              {"license", Json::object({{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}})}})},
        {"servers", Json::array({Json::object({{"url", "/"}})})},
        {"paths", std::move(paths)},
        {"components",
         Json::object(
             {{"securitySchemes", security_schemes()},
              {"schemas", Json::object({{"Error", error_body_schema()}})}})},
    });
}

}  // namespace interlock
