#include "api/call_arguments.h"

#include <charconv>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "base/errors.h"

namespace interlock {
namespace {

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::string problem_with(const QueryParameter& parameter, const std::string& text) {
    const Json* type = parameter.schema.find("type");
    if (type != nullptr && type->is_string() && type->as_string() == "integer") {
        const auto value = integer_of(text);
        if (!value) {
            return "must be an integer";
        }
        const Json* min = parameter.schema.find("minimum");
        const Json* max = parameter.schema.find("maximum");
        if ((min != nullptr && *value < min->as_int64().value_or(*value)) ||
            (max != nullptr && *value > max->as_int64().value_or(*value))) {
            return "is outside its range";
        }
    }
    if (const Json* words = parameter.schema.find("enum")) {
        for (const Json& word : words->items()) {
            if (word.is_string() && word.as_string() == text) {
                return {};
            }
        }
        return "is none of the known words";
    }
    return {};
}

}  // namespace

Result<void> check_query(
    const Operation& operation, const std::map<std::string, std::string>& query) {
    Error error = fail(errors::invalid_request, "The query parameters are not valid.").error();
    for (const auto& [name, text] : query) {
        const QueryParameter* declared = nullptr;
        for (const QueryParameter& parameter : operation.query) {
            if (parameter.name == name) {
                declared = &parameter;
            }
        }
        std::string problem =
            declared == nullptr ? "is not a known parameter" : problem_with(*declared, text);
        if (!problem.empty()) {
            error.problems.push_back({name, std::move(problem)});
        }
    }
    if (error.problems.empty()) {
        return {};
    }
    return std::unexpected(std::move(error));
}

std::int64_t query_integer(const ApiCall& call, const std::string& name, std::int64_t otherwise) {
    const auto found = call.query.find(name);
    return found == call.query.end() ? otherwise : integer_of(found->second).value_or(otherwise);
}

Result<std::string> request_hash(const ApiCall& call, std::string_view operation_id) {
    TRY_ASSIGN(
        const std::string text,
        canonical_json(Json::object(
            {{"operation", std::string(operation_id)},
             {"tenant_id", call.tenant_id.text()},
             {"body", call.body}})));
    return sha256_hex(text);
}

}  // namespace interlock
