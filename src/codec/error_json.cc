#include "codec/error_json.h"

#include "base/check.h"

namespace interlock {

Json encode(const Error& error) {
    Json json = Json::object({
        {"code", error.code()},
        {"message", error.message},
        {"retryable", error.retryable()},
        {"next_step", error.next()},
    });
    if (!error.problems.empty()) {
        Json problems = Json::array();
        for (const FieldProblem& problem : error.problems) {
            problems.push(Json::object({{"path", problem.path}, {"problem", problem.problem}}));
        }
        json.set("problems", std::move(problems));
    }
    return json;
}

Json encode_error_body(const Error& error) {
    return Json::object({{"error", encode(error)}});
}

Json error_item_schema() {
    auto schema = parse_json(R"({
        "type": "object",
        "required": ["code", "message", "retryable", "next_step"],
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "retryable": {"type": "boolean"},
            "next_step": {"type": "string"},
            "approval_id": {"type": "string"},
            "problems": {"type": "array", "items": {
                "type": "object",
                "required": ["path", "problem"],
                "properties": {"path": {"type": "string"}, "problem": {"type": "string"}}}}
        }})");
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json error_body_schema() {
    return Json::object({
        {"type", "object"},
        {"required", Json::array({"error"})},
        {"properties", Json::object({{"error", error_item_schema()}})},
    });
}

}  // namespace interlock
