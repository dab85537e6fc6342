// Reads a JSON object field by field and collects every problem with its path, so that a caller can
// correct a request in one go. Used by each contract's decode function; nobody else spells a key.
//
//     FieldReader in(json);
//     KillRequest request{.active = in.required<bool>("active"),
//                         .reason = in.required_text("reason", {.length_max = 500})};
//     in.reject_unknown();
//     return in.finish(std::move(request));
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/time.h"

namespace interlock {

// More problems than this are not collected; nobody corrects a request by reading further.
inline constexpr std::size_t kFieldProblemsMax = 100;

struct TextBounds {
    std::size_t length_min = 1;  // In bytes.
    std::size_t length_max = 4096;
};

class FieldReader {
public:
    // `path` prefixes the paths of problems ("plan.intents[0]"). A value that is no object is one
    // problem; every read then yields defaults.
    explicit FieldReader(const Json& json, std::string path = "");
    explicit FieldReader(const Json&&, std::string = "") = delete;  // The document must outlive us.

    // T: bool, std::int64_t, std::string, Decimal, Timestamp, Json, Id<Tag>.
    template <class T>
    T required(std::string_view key);
    // Absent or null gives nothing.
    template <class T>
    std::optional<T> optional(std::string_view key);
    template <class T>
    T optional_or(std::string_view key, T otherwise) {
        auto value = optional<T>(key);
        return value ? std::move(*value) : std::move(otherwise);
    }

    // Like required<T>, but null is a value (nothing) and only absence is a problem.
    template <class T>
    std::optional<T> required_nullable(std::string_view key);

    // Absent gives nothing, null a nothing inside: for fields where null says something itself.
    template <class T>
    std::optional<std::optional<T>> optional_nullable(std::string_view key) {
        using Nullable = std::optional<std::optional<T>>;
        const bool is_given = json_.find(key) != nullptr;
        auto value = optional<T>(key);
        return is_given ? Nullable(std::in_place, std::move(value)) : Nullable();
    }

    std::string required_text(std::string_view key, TextBounds bounds = {});
    std::optional<std::string> optional_text(std::string_view key, TextBounds bounds = {});
    std::int64_t required_integer(std::string_view key, std::int64_t min, std::int64_t max);
    std::int64_t optional_integer_or(
        std::string_view key, std::int64_t min, std::int64_t max, std::int64_t otherwise);

    // One of a fixed set of words; the index into `words`.
    std::size_t required_word_index(std::string_view key, std::span<const std::string_view> words);
    std::optional<std::size_t> optional_word_index(
        std::string_view key, std::span<const std::string_view> words);

    // The array at `key` (empty and a problem when it is none or longer than `count_max`).
    const Json::Array& required_array(std::string_view key, std::size_t count_max);
    const Json::Array* optional_array(std::string_view key, std::size_t count_max);

    // A child object; null pointer when absent (and, for required, a problem).
    const Json* required_object(std::string_view key);
    const Json* optional_object(std::string_view key);

    void add_problem(std::string_view key, std::string problem);
    void require_if(bool condition, bool present, std::string_view key);
    // Takes over the problems of a nested decode.
    void absorb(const Error& error);

    // Every key that nobody asked for becomes a problem.
    void reject_unknown();

    std::string path_of(std::string_view key) const;
    bool ok() const { return problems_.empty(); }

    template <class T>
    Result<T> finish(T value) {
        if (problems_.empty()) {
            return value;
        }
        return std::unexpected(take_error());
    }

private:
    const Json* take(std::string_view key);
    Error take_error();

    const Json& json_;  // Outlives this reader.
    std::string path_;
    std::vector<bool> asked_;  // One flag per member of json_.
    std::vector<FieldProblem> problems_;
};

// How one JSON value is read as a T; the problem text on failure.
std::expected<bool, std::string> read_value(const Json& json, bool*);
std::expected<std::int64_t, std::string> read_value(const Json& json, std::int64_t*);
std::expected<std::string, std::string> read_value(const Json& json, std::string*);
std::expected<Decimal, std::string> read_value(const Json& json, Decimal*);
std::expected<Timestamp, std::string> read_value(const Json& json, Timestamp*);
std::expected<Json, std::string> read_value(const Json& json, Json*);
template <class Tag>
std::expected<Id<Tag>, std::string> read_value(const Json& json, Id<Tag>*) {
    if (!json.is_string()) {
        return std::unexpected("expected a string, found " + std::string(json.type_word()));
    }
    auto id = Id<Tag>::parse(json.as_string());
    if (!id) {
        return std::unexpected(std::move(id.error().message));
    }
    return *std::move(id);
}

template <class T>
std::optional<T> FieldReader::optional(std::string_view key) {
    const Json* value = take(key);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    auto read = read_value(*value, static_cast<T*>(nullptr));
    if (!read) {
        add_problem(key, std::move(read.error()));
        return std::nullopt;
    }
    return *std::move(read);
}

template <class T>
T FieldReader::required(std::string_view key) {
    const Json* value = take(key);
    if (value == nullptr) {
        add_problem(key, "is required");
        return T{};
    }
    auto read = read_value(*value, static_cast<T*>(nullptr));
    if (!read) {
        add_problem(key, std::move(read.error()));
        return T{};
    }
    return *std::move(read);
}

template <class T>
std::optional<T> FieldReader::required_nullable(std::string_view key) {
    const Json* value = take(key);
    if (value == nullptr) {
        add_problem(key, "is required (null is allowed)");
        return std::nullopt;
    }
    return optional<T>(key);  // Null is nothing.
}

}  // namespace interlock
