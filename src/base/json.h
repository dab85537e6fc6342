// A JSON value that keeps the text of its numbers, so that a decimal is never a binary float.
//
// The parser refuses what could be read two ways: duplicate keys, nesting deeper than 32, invalid
// UTF-8, lone surrogates, anything after the document, NaN and friends. Objects keep the order in
// which they were written; canonical_json() in base/canonical_json.h sorts.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kJsonDepthMax = 32;
// Longer documents are refused unread. Callers with a tighter limit check it first.
inline constexpr std::size_t kJsonBytesMax = std::size_t{64} * 1024 * 1024;

class Json {
public:
    using Member = std::pair<std::string, Json>;
    using Array = std::vector<Json>;
    using Object = std::vector<Member>;

    // What array({...}) and object({...}) take: made from anything a Json is made from, and moved
    // out of, which the elements of a plain initializer list do not allow.
    struct ItemArgument;
    struct MemberArgument;

    Json();  // null
    // Out of line: inlined into every user they cost much compile time and draw false warnings.
    ~Json();
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(const Json& other);
    Json& operator=(Json&& other) noexcept;

    Json(std::nullptr_t) {}
    // Exactly bool: a pointer or a number must not slip in as true.
    template <std::same_as<bool> T>
    Json(T value) : value_(value) {}
    template <std::integral T>
        requires(!std::same_as<T, bool> && !std::same_as<T, char>)
    Json(T value) : value_(Number{std::to_string(value)}) {}
    Json(const char* text) : value_(std::string(text)) {}
    Json(std::string_view text) : value_(std::string(text)) {}
    Json(std::string text) : value_(std::move(text)) {}
    Json(Array items) : value_(std::move(items)) {}

    // A number from its text; CHECKs that the text is a JSON number.
    static Json number(std::string text);
    static Json array(std::initializer_list<ItemArgument> items = {});
    // CHECKs that no key is given twice.
    static Json object(std::initializer_list<MemberArgument> members = {});

    bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_bool() const { return std::holds_alternative<bool>(value_); }
    bool is_number() const { return std::holds_alternative<Number>(value_); }
    bool is_string() const { return std::holds_alternative<std::string>(value_); }
    bool is_array() const { return std::holds_alternative<Array>(value_); }
    bool is_object() const { return std::holds_alternative<Object>(value_); }
    std::string_view type_word() const;  // "null", "boolean", "number", ...

    // These CHECK the type; ask first, or read through FieldReader.
    bool as_bool() const;
    const std::string& number_text() const;
    const std::string& as_string() const;
    const Array& items() const;
    Array& items();
    const Object& members() const;
    Object& members();

    // The number as a 64-bit integer; nothing when it is not one or does not fit. "1.0" and "1e3"
    // are not integers here.
    std::optional<std::int64_t> as_int64() const;

    // Member of an object by key; null pointer when absent or when this is no object.
    const Json* find(std::string_view key) const;
    Json* find(std::string_view key);
    // Sets or replaces a member (object only).
    Json& set(std::string key, Json value);
    void push(Json value);  // Array only.

    friend bool operator==(const Json&, const Json&) = default;

private:
    struct Number {
        std::string text;
        friend bool operator==(const Number&, const Number&) = default;
    };
    std::variant<std::monostate, bool, Number, std::string, Array, Object> value_;
};

struct Json::ItemArgument {
    template <std::convertible_to<Json> T>
    ItemArgument(T&& from) : value(std::forward<T>(from)) {}
    mutable Json value;
};

struct Json::MemberArgument {
    MemberArgument(std::string name, Json held) : key(std::move(name)), value(std::move(held)) {}
    MemberArgument(Member member) : key(std::move(member.first)), value(std::move(member.second)) {}
    mutable std::string key;
    mutable Json value;
};

// Parses exactly one document. The error names the byte offset and what was wrong. A number far
// beyond the range of an IEEE double may be refused.
Result<Json> parse_json(std::string_view text);

// True for exactly the texts the JSON grammar allows for a number.
bool is_json_number(std::string_view text);

// Compact text in the order the value holds. Escapes only what JSON demands; bytes that are not
// UTF-8 become U+FFFD, so the result is always a JSON document.
std::string to_text(const Json& json);
// Two-space indented, for people.
std::string to_pretty_text(const Json& json);

// Appends `text` as a JSON string literal with quotes, under the same rules. False when bytes had
// to be replaced.
bool append_json_string(std::string& out, std::string_view text);

// True for well-formed UTF-8 (no overlongs, no surrogates).
bool is_valid_utf8(std::string_view text);
// Bytes of the well-formed UTF-8 character that begins at `at`; 0 when none does.
std::size_t utf8_length_at(std::string_view text, std::size_t at);

}  // namespace interlock
