#include "app/command/answer_text.h"

#include <algorithm>
#include <utility>

#include "app/command/console.h"

namespace interlock {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

bool is_table(const Json& value) {
    return value.is_array() && !value.items().empty() &&
           std::ranges::all_of(value.items(), [](const Json& item) { return item.is_object(); });
}

std::string spaced(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return print_safe(name);
}

// What every row may have, in the order in which it is first met.
std::vector<std::string> columns_of(const Json& list) {
    std::vector<std::string> columns;
    for (const Json& item : list.items()) {
        for (const auto& [name, value] : item.members()) {
            if (std::ranges::find(columns, name) == columns.end()) {
                columns.push_back(name);
            }
        }
    }
    return columns;
}

void add_fields(const Json& answer, const std::string& before, Fields& fields) {
    for (const auto& [name, value] : answer.members()) {
        if (name == "blocked" && (value.is_object() || value.is_null())) {
            for (auto& field : blocked_fields(answer)) {
                fields.push_back(std::move(field));
            }
        } else if (value.is_object() && !value.members().empty() && before.empty()) {
            add_fields(value, spaced(name) + " ", fields);
        } else if (!is_table(value) && !(before.empty() && name == "message")) {
            fields.emplace_back(before + spaced(name), text_at(answer, name));
        }
    }
}

}  // namespace

const Json::Array& objects_at(const Json& answer, std::string_view key) {
    static const Json::Array kNone;
    const Json* const list = answer.find(key);
    return list != nullptr && is_table(*list) ? list->items() : kNone;
}

std::string table_at(
    const Json& answer,
    std::string_view key,
    const std::vector<std::string>& fields,
    const std::vector<std::string>& header) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& item : objects_at(answer, key)) {
        std::vector<std::string> row;
        for (const std::string& field : fields) {
            row.push_back(text_at(item, field));
        }
        rows.push_back(std::move(row));
    }
    return rows.empty() ? "" : render_table(header.empty() ? fields : header, rows);
}

std::string answer_text(const Json& answer) {
    if (!answer.is_object()) {
        return print_safe(to_pretty_text(answer), true) + "\n";
    }
    std::string text;
    if (const Json* const message = answer.find("message")) {
        text += print_safe(message->is_string() ? message->as_string() : to_text(*message)) + "\n";
    }
    Fields fields;
    add_fields(answer, "", fields);
    text += render_fields(fields);
    for (const auto& [name, value] : answer.members()) {
        if (is_table(value)) {
            const std::vector<std::string> columns = columns_of(value);
            std::vector<std::string> header;
            for (const std::string& column : columns) {
                header.push_back(spaced(column));
            }
            text += (text.empty() ? "" : "\n") + spaced(name) + "\n" +
                    table_at(answer, name, columns, header);
        }
    }
    return text.empty() ? "Done.\n" : text;
}

}  // namespace interlock
