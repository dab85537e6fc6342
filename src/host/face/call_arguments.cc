#include "host/face/call_arguments.h"

#include <charconv>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/redaction.h"

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

// Looks for ids with the shape of a key, in a body as deep as it goes.
class IdDoor {
public:
    explicit IdDoor(bool must_pass) : must_pass_(must_pass) {}

    void judge(std::string path, Json& value, bool is_id) {
        if (value.is_string() && is_id) {
            judge_text(path, value);
        } else if (value.is_array()) {
            for (Json& item : value.items()) {
                judge(path, item, is_id);
            }
        } else if (value.is_object()) {
            for (auto& [name, member] : value.members()) {
                if (const auto kind = known_secret(name)) {
                    refuse(path.empty() ? "body" : path, *kind);
                    continue;
                }
                judge(path.empty() ? name : path + "." + name, member, is_identifier_name(name));
            }
        }
    }

    void refuse(std::string path, std::string_view kind) {
        error_.problems.push_back(
            {std::move(path), "has the shape of a secret (" + std::string(kind) + ")"});
    }

    Result<void> verdict() {
        if (error_.problems.empty()) {
            return {};
        }
        return std::unexpected(std::move(error_));
    }

private:
    void judge_text(const std::string& path, Json& value) {
        constexpr std::size_t kDigestLength = 16;
        const auto kind = known_secret(value.as_string());
        if (kind && must_pass_) {
            value = Json("hidden_" + sha256_hex(value.as_string()).substr(0, kDigestLength));
        } else if (kind) {
            refuse(path, *kind);
        }
    }

    bool must_pass_;
    Error error_ =
        fail(
            errors::looks_like_secret,
            "An id or a field's name looks like a key or a token. Ids are kept for ever, "
            "so nothing was done.")
            .error();
};

bool is_asked_secret(const Operation& operation, const std::string& name) {
    const Json* properties = operation.request_schema.find("properties");
    const Json* declared = properties == nullptr ? nullptr : properties->find(name);
    return declared != nullptr && (declared->find("writeOnly") != nullptr || is_secret_name(name));
}

}  // namespace

Result<void> judge_secrets(const Operation& operation, ApiCall& call) {
    // Nobody is kept from stopping because of an id.
    const bool is_stop = operation.id.ends_with("kill_switch") || operation.id == "stop";
    IdDoor door(is_stop);
    for (const auto* parameters : {&call.path, &call.query}) {
        for (const auto& [name, text] : *parameters) {
            const auto kind = is_secret_name(name) ? std::nullopt : known_secret(text);
            if (kind) {
                door.refuse(name, *kind);
            }
        }
    }
    if (!call.body.is_object()) {
        door.judge("body", call.body, true);
        return door.verdict();
    }
    for (auto& member : call.body.members()) {
        if (is_asked_secret(operation, member.first)) {
            continue;
        }
        // As an object of one member, so that it is judged by its name, too.
        Json alone = Json::object();
        alone.members().push_back(std::move(member));
        door.judge("", alone, false);
        mask_secrets(alone, SecretDepth::full);
        member = std::move(alone.members().front());
    }
    return door.verdict();
}

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
