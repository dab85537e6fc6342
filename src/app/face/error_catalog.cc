#include "app/face/error_catalog.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"

namespace interlock {

Json error_catalog() {
    std::vector<const ErrorKind*> kinds(error_kinds().begin(), error_kinds().end());
    std::ranges::sort(
        kinds, {}, [](const ErrorKind* kind) { return std::pair(kind->code, kind->http_status); });
    Json errors = Json::array();
    for (const ErrorKind* kind : kinds) {
        errors.push(Json::object(
            {{"code", kind->code},
             {"status", kind->http_status},
             {"retryable", kind->retryable},
             {"next_step", kind->next_step}}));
    }
    return Json::object({{"errors", std::move(errors)}});
}

Json error_catalog_schema() {
    auto schema = parse_json(R"({
        "type": "object",
        "required": ["errors"],
        "properties": {"errors": {"type": "array", "items": {
            "type": "object",
            "required": ["code", "status", "retryable", "next_step"],
            "properties": {
                "code": {"type": "string"},
                "status": {"type": "integer"},
                "retryable": {"type": "boolean"},
                "next_step": {"type": "string"}}}}}})");
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace interlock
