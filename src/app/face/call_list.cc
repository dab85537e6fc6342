#include "app/face/call_list.h"

namespace interlock {
namespace {

Json callers_of(const Access& access) {
    Json callers = Json::array();
    if (access.host_operator) {
        callers.push("operator");
    }
    if (access.human) {
        callers.push("human");
    }
    if (access.agent || access.agent_with_any_scope) {
        callers.push("agent");
    }
    return callers;
}

Json call_of(const Operation& operation) {
    Json call = Json::object(
        {{"id", operation.id},
         {"method", operation.method},
         {"path", operation.path},
         {"summary", operation.summary},
         {"description", operation.description},
         {"callers", callers_of(operation.access)}});
    Json query = Json::array();
    for (const QueryParameter& parameter : operation.query) {
        query.push(Json::object(
            {{"name", parameter.name},
             {"description", parameter.description},
             {"schema", parameter.schema}}));
    }
    if (!query.items().empty()) {
        call.set("query", std::move(query));
    }
    if (!operation.request_schema.is_null()) {
        call.set("request", operation.request_schema);
    }
    return call;
}

}  // namespace

std::string call_list(const OperationTable& table) {
    std::string text;
    for (const Operation& operation : table.all()) {
        if (!operation.answer_schema.is_null()) {
            text += (text.empty() ? "[\n" : ",\n") + to_text(call_of(operation));
        }
    }
    return text + "\n]\n";
}

}  // namespace interlock
