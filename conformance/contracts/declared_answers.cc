#include "declared_answers.h"

#include <algorithm>

namespace interlock {
namespace {

const Json* find(const Json& schema, std::string_view key) {
    return schema.is_object() ? schema.find(key) : nullptr;
}

bool is_true(const Json* value) {
    return value != nullptr && value->is_bool() && value->as_bool();
}

bool is_of_type(const Json& value, const std::string& type) {
    return (type == "null" && value.is_null()) || (type == "string" && value.is_string()) ||
           (type == "boolean" && value.is_bool()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.as_int64().has_value()) ||
           (type == "array" && value.is_array()) || (type == "object" && value.is_object());
}

Json types_of(const Json& schema) {
    const Json* type = find(schema, "type");
    if (type == nullptr) {
        return Json::array();
    }
    return type->is_array() ? *type : Json::array({*type});
}

class Check {
public:
    void value(const Json& value, const Json& schema, const std::string& path) {
        if (is_true(&schema)) {
            return;
        }
        const Json types = types_of(schema);
        const bool fits =
            types.items().empty() || std::ranges::any_of(types.items(), [&](const Json& type) {
                return is_of_type(value, type.as_string());
            });
        if (!fits) {
            problems_.push_back(path + " is " + to_text(value) + ", not " + to_text(types));
            return;
        }
        if (const Json* one = find(schema, "const"); one != nullptr && *one != value) {
            problems_.push_back(path + " is not " + to_text(*one) + ": " + to_text(value));
        }
        if (const Json* words = find(schema, "enum")) {
            if (std::ranges::find(words->items(), value) == words->items().end()) {
                problems_.push_back(path + " is none of the words: " + to_text(value));
            }
        }
        if (value.is_object()) {
            members(value, schema, path);
        } else if (value.is_array()) {
            items(value, schema, path);
        }
    }
    std::vector<std::string> take() { return std::move(problems_); }

private:
    void members(const Json& object, const Json& schema, const std::string& path) {
        const Json* properties = find(schema, "properties");
        const Json* more = find(schema, "additionalProperties");
        for (const auto& [name, member] : object.members()) {
            const Json* declared = properties == nullptr ? nullptr : properties->find(name);
            if (declared == nullptr && more != nullptr && !(*more == Json(false))) {
                declared = more;
            }
            if (declared == nullptr) {
                problems_.push_back(path + "." + name + " is not declared");
            } else {
                value(member, *declared, path + "." + name);
            }
        }
        if (const Json* required = find(schema, "required")) {
            for (const Json& name : required->items()) {
                if (object.find(name.as_string()) == nullptr) {
                    problems_.push_back(path + "." + name.as_string() + " is missing");
                }
            }
        }
    }

    void items(const Json& list, const Json& schema, const std::string& path) {
        const Json* declared = find(schema, "items");
        if (declared == nullptr) {
            problems_.push_back(path + " has no declared items");
            return;
        }
        for (const Json& item : list.items()) {
            value(item, *declared, path + "[]");
        }
    }

    std::vector<std::string> problems_;
};

void look(const Json& schema, const std::string& path, std::vector<std::string>& found) {
    if (!schema.is_object()) {
        return;
    }
    const Json types = types_of(schema);
    const auto has = [&](std::string_view word) {
        return std::ranges::find(types.items(), Json(word)) != types.items().end();
    };
    const Json* properties = find(schema, "properties");
    const Json* more = find(schema, "additionalProperties");
    const bool is_free = is_true(more) && find(schema, "description") != nullptr;
    const bool is_map = more != nullptr && more->is_object();
    if (types.items().empty() && find(schema, "enum") == nullptr &&
        find(schema, "const") == nullptr) {
        found.push_back(path + " has no type");
    }
    if (has("object") && properties == nullptr && !is_map && !is_free) {
        found.push_back(path + " is an object without members");
    }
    if (has("array") && find(schema, "items") == nullptr) {
        found.push_back(path + " is a list without items");
    }
    if (properties != nullptr) {
        for (const auto& [name, member] : properties->members()) {
            look(member, path + "." + name, found);
        }
    }
    if (const Json* items = find(schema, "items")) {
        look(*items, path + "[]", found);
    }
    if (is_map) {
        look(*more, path + ".*", found);
    }
}

}  // namespace

std::vector<std::string> undeclared(const Json& answer, const Json& schema) {
    Check check;
    check.value(answer, schema, "answer");
    return check.take();
}

std::vector<std::string> holes(const Json& schema) {
    std::vector<std::string> found;
    look(schema, "answer", found);
    return found;
}

}  // namespace interlock
