// JSON Schema in few words, for answers: every member is named, so that one that is not declared
// shows in the tests.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace interlock::schema {

inline Json typed(std::string_view type, std::string_view about = {}) {
    Json json = Json::object({{"type", type}});
    if (!about.empty()) {
        json.set("description", about);
    }
    return json;
}
inline Json text(std::string_view about = {}) {
    return typed("string", about);
}
inline Json boolean(std::string_view about = {}) {
    return typed("boolean", about);
}
inline Json integer(std::string_view about = {}) {
    return typed("integer", about);
}
inline Json number(std::string_view about = {}) {
    return typed("number", about);
}
inline Json moment(std::string_view about = {}) {
    Json json = text(about);
    json.set("format", "date-time");
    return json;
}

// The same, or null.
inline Json or_null(Json json) {
    if (Json* words = json.find("enum")) {
        words->push(Json());
    }
    if (const Json* type = json.find("type")) {
        Json both = type->is_array() ? *type : Json::array({*type});
        both.push("null");
        json.set("type", std::move(both));
    }
    return json;
}

inline Json words(std::initializer_list<std::string_view> list, std::string_view about = {}) {
    Json json = text(about);
    Json values = Json::array();
    for (const std::string_view word : list) {
        values.push(word);
    }
    json.set("enum", std::move(values));
    return json;
}

inline Json list(Json items, std::string_view about = {}) {
    Json json = typed("array", about);
    json.set("items", std::move(items));
    return json;
}

// An object whose members have names of their own, all of one kind.
inline Json map(Json values, std::string_view about = {}) {
    Json json = typed("object", about);
    json.set("additionalProperties", std::move(values));
    return json;
}

// What is written as it came, whatever it is.
inline Json free(std::string_view about = {}) {
    Json json = typed("object", about);
    json.set("additionalProperties", true);
    return json;
}

// Any value at all.
inline Json any(std::string_view about = {}) {
    Json json = free(about);
    json.set("type", Json::array({"string", "number", "boolean", "array", "object", "null"}));
    json.set("items", true);
    return json;
}

// A name that ends with '?' may be missing.
using Members = std::vector<std::pair<std::string_view, Json>>;
inline Json object(Members members, std::string_view about = {}) {
    Json json = typed("object", about);
    Json required = Json::array();
    Json properties = Json::object();
    for (auto& [name, member] : members) {
        const bool is_optional = name.ends_with('?');
        const std::string key(name.substr(0, name.size() - (is_optional ? 1 : 0)));
        if (!is_optional) {
            required.push(key);
        }
        properties.set(key, std::move(member));
    }
    json.set("required", std::move(required));
    json.set("properties", std::move(properties));
    return json;
}

}  // namespace interlock::schema
