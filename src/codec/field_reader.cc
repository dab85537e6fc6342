// Reading of objects field by field; see the header. Problems name what was found by its type, not
// by its value, because a value may be a secret.
#include "codec/field_reader.h"

#include "base/errors.h"

namespace interlock {
namespace {

std::string expected_but_found(std::string_view expected, const Json& json) {
    return "expected " + std::string(expected) + ", found " + std::string(json.type_word());
}

}  // namespace

FieldReader::FieldReader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (json_.is_object()) {
        asked_.resize(json_.members().size());
        return;
    }
    problems_.push_back(
        {path_.empty() ? "document" : path_, expected_but_found("an object", json_)});
}

const Json* FieldReader::take(std::string_view key) {
    if (!json_.is_object()) {
        return nullptr;
    }
    const Json::Object& members = json_.members();
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i].first == key) {
            asked_[i] = true;
            return &members[i].second;
        }
    }
    return nullptr;
}

std::string FieldReader::path_of(std::string_view key) const {
    if (path_.empty() || key.empty()) {
        return path_ + std::string(key);
    }
    return path_ + "." + std::string(key);
}

void FieldReader::add_problem(std::string_view key, std::string problem) {
    // For a value that is no object, the one problem is already noted.
    if (json_.is_object() && problems_.size() < kFieldProblemsMax) {
        problems_.push_back({path_of(key), std::move(problem)});
    }
}

void FieldReader::require_if(bool condition, bool present, std::string_view key) {
    if (condition && !present) {
        add_problem(key, "is required here");
    }
}

void FieldReader::absorb(const Error& error) {
    if (error.problems.empty()) {
        add_problem("", error.message);
        return;
    }
    for (const FieldProblem& problem : error.problems) {
        if (problems_.size() < kFieldProblemsMax) {
            problems_.push_back(problem);
        }
    }
}

void FieldReader::reject_unknown() {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        if (!asked_[i]) {
            add_problem(json_.members()[i].first, "is not a known field");
        }
    }
}

Error FieldReader::take_error() {
    const FieldProblem& first = problems_.front();
    std::string message = first.path + ": " + first.problem;
    if (problems_.size() > 1) {
        message = std::to_string(problems_.size()) + " problems; the first: " + message;
    }
    return Error{&errors::invalid_request, std::move(message), {}, std::move(problems_)};
}

std::string FieldReader::required_text(std::string_view key, TextBounds bounds) {
    if (const Json* value = take(key); value == nullptr || value->is_null()) {
        add_problem(key, "is required");
        return {};
    }
    return optional_text(key, bounds).value_or(std::string());
}

std::optional<std::string> FieldReader::optional_text(std::string_view key, TextBounds bounds) {
    auto text = optional<std::string>(key);
    if (text && (text->size() < bounds.length_min || text->size() > bounds.length_max)) {
        add_problem(
            key,
            "must have " + std::to_string(bounds.length_min) + " to " +
                std::to_string(bounds.length_max) + " bytes, found " +
                std::to_string(text->size()));
        return std::nullopt;
    }
    return text;
}

std::int64_t FieldReader::required_integer(
    std::string_view key, std::int64_t min, std::int64_t max) {
    if (const Json* value = take(key); value == nullptr || value->is_null()) {
        add_problem(key, "is required");
        return min;
    }
    return optional_integer_or(key, min, max, min);
}

std::int64_t FieldReader::optional_integer_or(
    std::string_view key, std::int64_t min, std::int64_t max, std::int64_t otherwise) {
    const auto value = optional<std::int64_t>(key);
    if (value && (*value < min || *value > max)) {
        add_problem(key, "must lie between " + std::to_string(min) + " and " + std::to_string(max));
        return otherwise;
    }
    return value.value_or(otherwise);
}

std::size_t FieldReader::required_word_index(
    std::string_view key, std::span<const std::string_view> words) {
    if (const Json* value = take(key); value == nullptr || value->is_null()) {
        add_problem(key, "is required");
        return 0;
    }
    return optional_word_index(key, words).value_or(0);
}

std::optional<std::size_t> FieldReader::optional_word_index(
    std::string_view key, std::span<const std::string_view> words) {
    const auto text = optional<std::string>(key);
    if (!text) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == *text) {
            return i;
        }
    }
    std::string problem = "must be one of";
    for (std::size_t i = 0; i < words.size(); ++i) {
        problem += (i == 0 ? " " : ", ") + std::string(words[i]);
    }
    add_problem(key, std::move(problem));
    return std::nullopt;
}

const Json::Array& FieldReader::required_array(std::string_view key, std::size_t count_max) {
    static const Json::Array kNone;
    if (const Json* value = take(key); value == nullptr || value->is_null()) {
        add_problem(key, "is required");
        return kNone;
    }
    const Json::Array* items = optional_array(key, count_max);
    return items == nullptr ? kNone : *items;
}

const Json::Array* FieldReader::optional_array(std::string_view key, std::size_t count_max) {
    const Json* value = take(key);
    if (value == nullptr || value->is_null()) {
        return nullptr;
    }
    if (!value->is_array()) {
        add_problem(key, expected_but_found("an array", *value));
        return nullptr;
    }
    if (value->items().size() > count_max) {
        add_problem(
            key,
            "may hold at most " + std::to_string(count_max) + " items, found " +
                std::to_string(value->items().size()));
        return nullptr;
    }
    return &value->items();
}

const Json* FieldReader::required_object(std::string_view key) {
    if (const Json* value = take(key); value == nullptr || value->is_null()) {
        add_problem(key, "is required");
        return nullptr;
    }
    return optional_object(key);
}

const Json* FieldReader::optional_object(std::string_view key) {
    const Json* value = take(key);
    if (value == nullptr || value->is_null()) {
        return nullptr;
    }
    if (!value->is_object()) {
        add_problem(key, expected_but_found("an object", *value));
        return nullptr;
    }
    return value;
}

std::expected<bool, std::string> read_value(const Json& json, bool*) {
    if (!json.is_bool()) {
        return std::unexpected(expected_but_found("true or false", json));
    }
    return json.as_bool();
}

std::expected<std::int64_t, std::string> read_value(const Json& json, std::int64_t*) {
    if (!json.is_number()) {
        return std::unexpected(expected_but_found("an integer", json));
    }
    const auto value = json.as_int64();
    if (!value) {
        return std::unexpected(std::string("expected an integer of at most 64 bits"));
    }
    return *value;
}

std::expected<std::string, std::string> read_value(const Json& json, std::string*) {
    if (!json.is_string()) {
        return std::unexpected(expected_but_found("a string", json));
    }
    return json.as_string();
}

// A decimal is a string on our wire; a number is as exact, since it keeps its text.
std::expected<Decimal, std::string> read_value(const Json& json, Decimal*) {
    if (!json.is_string() && !json.is_number()) {
        return std::unexpected(expected_but_found("a decimal number", json));
    }
    const auto value = Decimal::parse(json.is_string() ? json.as_string() : json.number_text());
    if (!value) {
        return std::unexpected(value.error().message);
    }
    return *value;
}

std::expected<Timestamp, std::string> read_value(const Json& json, Timestamp*) {
    if (!json.is_string()) {
        return std::unexpected(expected_but_found("a time as a string", json));
    }
    const auto value = parse_timestamp(json.as_string());
    if (!value) {
        return std::unexpected(value.error().message);
    }
    return *value;
}

std::expected<Json, std::string> read_value(const Json& json, Json*) {
    return json;
}

}  // namespace interlock
