#include "relay/wire/wire_reader.h"

#include "base/errors.h"

namespace interlock {

WireReader::WireReader(const Json& json) : json_(json) {
    if (!json.is_object()) {
        problem_ = "expected an object, found " + std::string(json.type_word());
    }
}

const Json* WireReader::find(std::string_view key) const {
    const Json* const value = json_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
}

void WireReader::add_problem(std::string_view key, std::string_view problem) {
    if (problem_.empty()) {
        problem_ = std::string(key) + " " + std::string(problem);
    }
}

Error WireReader::error() const {
    return Error{&errors::invalid_request, problem_ + ".", {}, {}};
}

std::string WireReader::text(std::string_view key, std::size_t bytes_max) {
    const Json* const value = find(key);
    if (value == nullptr) {
        return {};
    }
    auto text = id_text(*value);
    if (!text) {
        add_problem(key, "must be a string");
        return {};
    }
    if (text->size() > bytes_max) {
        add_problem(key, "is longer than " + std::to_string(bytes_max) + " bytes");
        return {};
    }
    return *std::move(text);
}

std::string WireReader::required_text(std::string_view key, std::size_t bytes_max) {
    std::string value = text(key, bytes_max);
    if (value.empty()) {
        add_problem(key, "is required");
    }
    return value;
}

bool WireReader::flag(std::string_view key) {
    const Json* const value = find(key);
    if (value == nullptr) {
        return false;
    }
    if (!value->is_bool()) {
        add_problem(key, "must be true or false");
        return false;
    }
    return value->as_bool();
}

std::optional<std::int64_t> WireReader::integer(std::string_view key) {
    const Json* const value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const auto number = value->is_number() ? value->as_int64() : std::nullopt;
    if (!number) {
        add_problem(key, "must be a whole number");
    }
    return number;
}

const Json* WireReader::object(std::string_view key) {
    const Json* const value = find(key);
    if (value != nullptr && !value->is_object()) {
        add_problem(key, "must be an object");
        return nullptr;
    }
    return value;
}

const Json::Array* WireReader::array(std::string_view key, std::size_t count_max) {
    const Json* const value = find(key);
    if (value == nullptr) {
        return nullptr;
    }
    if (!value->is_array()) {
        add_problem(key, "must be a list");
        return nullptr;
    }
    if (value->items().size() > count_max) {
        add_problem(key, "has more than " + std::to_string(count_max) + " entries");
        return nullptr;
    }
    return &value->items();
}

std::optional<std::string> id_text(const Json& json) {
    if (json.is_string()) {
        return json.as_string();
    }
    if (json.is_number() && json.number_text().find_first_of(".eE") == std::string::npos) {
        return json.number_text();
    }
    return std::nullopt;
}

void set_unless_empty(Json& object, std::string key, const std::string& value) {
    if (!value.empty()) {
        object.set(std::move(key), value);
    }
}

Json text_or_null(const std::string& value) {
    return value.empty() ? Json() : Json(value);
}

}  // namespace interlock
