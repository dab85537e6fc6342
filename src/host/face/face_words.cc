#include "host/face/face_words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace interlock {
namespace {

constexpr std::string_view kTenantPath = "/api/{tenant_id}";

// As a caller of that tenant writes it.
std::string_view route_of(const Operation& operation) {
    std::string_view path = operation.path;
    if (path.starts_with(kTenantPath)) {
        path.remove_prefix(kTenantPath.size());
    }
    return path;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_path(char c) {
    return is_word(c) || c == '/' || c == '-' || c == '{' || c == '}';
}

template <class Belongs>
std::string_view run_of(std::string_view text, Belongs belongs) {
    std::size_t length = 0;
    while (length < text.size() && belongs(text[length])) {
        ++length;
    }
    return text.substr(0, length);
}

// Of that method; of any when none is named.
const Operation* find_route(
    const OperationTable& table, std::string_view path, std::string_view method) {
    for (const Operation& operation : table.all()) {
        const bool is_method = method.empty() || operation.method == method;
        if (operation.tool && is_method && route_of(operation) == path) {
            return &operation;
        }
    }
    return nullptr;
}

// A method before the path belongs to it.
std::string_view method_before(std::string_view text) {
    for (const std::string_view method : {"GET", "POST", "PUT", "DELETE"}) {
        if (text.ends_with(' ') && text.substr(0, text.size() - 1).ends_with(method)) {
            return method;
        }
    }
    return {};
}

constexpr std::string_view kCommandBegins = "`interlock ";

// The sentences of an answer that tell its caller what to do. What it quotes, as records of the
// ledger do, stays as it is.
struct Advice {
    const OperationTable& table;
    FaceWords words;
    bool is_changed = false;

    void in_answer(Json& answer) {
        say(answer, "next");
        in_blocked(answer);
        each(answer, "strategies", [&](Json& one) { in_blocked(one); });
        Json* const report = answer.find("report");
        if (Json* state = report == nullptr ? nullptr : report->find("state")) {
            in_blocked(*state);
        }
        if (Json* error = answer.find("error")) {
            in_error(*error);
        }
        each(answer, "errors", [&](Json& error) { in_error(error); });
    }

private:
    void say(Json& object, std::string_view key) {
        Json* text = object.find(key);
        if (text == nullptr || !text->is_string()) {
            return;
        }
        std::string said = words(table, text->as_string());
        is_changed = is_changed || said != text->as_string();
        *text = Json(std::move(said));
    }
    void in_blocked(Json& holder) {
        if (Json* blocked = holder.find("blocked")) {
            say(*blocked, "next");
        }
    }
    void in_error(Json& error) {
        say(error, "message");
        say(error, "next_step");
        each(error, "problems", [&](Json& problem) { say(problem, "problem"); });
    }
    template <class Do>
    static void each(Json& holder, std::string_view key, Do act) {
        Json* list = holder.find(key);
        if (list != nullptr && list->is_array()) {
            std::ranges::for_each(list->items(), act);
        }
    }
};

}  // namespace

bool names_a_command(std::string_view body) {
    return body.find(kCommandBegins) != std::string_view::npos;
}

std::string in_call_words(std::string text) {
    if (!names_a_command(text)) {
        return text;
    }
    // What stands after a command, up to its closing mark, is the name that the call takes.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kCalls{{
        {"`interlock kill off`", "POST /kill with active false"},
        {"`interlock trading on`", "POST /trading with enabled true"},
        {"`interlock trading on --account ", "POST /trading with enabled true and account_id "},
        {"`interlock trading resume`", "POST /recovery/resume"},
        {"`interlock account`", "GET /account"},
        {"`interlock key confirm`", "POST /keys/{key_id}/confirm"},
    }};
    for (const auto& [command, call] : kCalls) {
        for (std::size_t at = text.find(command); at != text.npos; at = text.find(command, at)) {
            const std::size_t end = command.ends_with('`') ? at + command.size() - 1
                                                           : text.find('`', at + command.size());
            if (end == text.npos) {
                break;
            }
            text.erase(end, 1);
            text.replace(at, command.ends_with('`') ? command.size() - 1 : command.size(), call);
            at += call.size();
        }
    }
    return text;
}

std::string in_remote_words(const OperationTable& table, std::string_view text) {
    return in_route_words(table, in_call_words(std::string(text)));
}

std::string in_tool_words(const OperationTable& table, std::string_view given) {
    const std::string in_calls = in_call_words(std::string(given));
    std::string_view text = in_calls;
    std::string spoken;
    while (!text.empty()) {
        const bool begins = text.front() == '/' && (spoken.empty() || !is_path(spoken.back()));
        const std::string_view path = begins ? run_of(text, is_path) : std::string_view();
        const std::string_view method = begins ? method_before(spoken) : std::string_view();
        const Operation* operation = begins ? find_route(table, path, method) : nullptr;
        if (operation == nullptr) {
            spoken += text.front();
            text.remove_prefix(1);
            continue;
        }
        spoken.resize(spoken.size() - (method.empty() ? 0 : method.size() + 1));
        spoken += tool_name(*operation);
        text.remove_prefix(path.size());
    }
    return spoken;
}

std::string in_route_words(const OperationTable& table, std::string_view text) {
    std::string spoken;
    while (!text.empty()) {
        const std::string_view word = run_of(text, is_word);
        if (word.empty()) {
            spoken += text.front();
            text.remove_prefix(1);
            continue;
        }
        // A word of the language is no call.
        const bool may_be = word.find('_') != std::string_view::npos && !word.starts_with("py_") &&
                            !spoken.ends_with('/');
        const Operation* by_tool = may_be ? table.find_tool(word) : nullptr;
        const Operation* operation = by_tool != nullptr ? by_tool
                                     : may_be           ? table.find(word)
                                                        : nullptr;
        if (operation != nullptr) {
            spoken += operation->method + " " + std::string(route_of(*operation));
        } else {
            spoken += word;
        }
        text.remove_prefix(word.size());
    }
    return spoken;
}

Error spoken(Error error, const OperationTable& table, FaceWords words) {
    error.message = words(table, error.message);
    error.next_step = words(table, error.next());
    for (FieldProblem& problem : error.problems) {
        problem.problem = words(table, problem.problem);
    }
    return error;
}

std::string spoken_answer(const std::string& body, const OperationTable& table, FaceWords words) {
    if (words(table, body) == body) {
        return body;  // Nearly every answer: no call is named anywhere in it.
    }
    Result<Json> json = parse_json(body);
    if (!json) {
        return body;
    }
    Advice advice{table, words};
    advice.in_answer(*json);
    return advice.is_changed ? to_text(*json) : body;
}

}  // namespace interlock
