// /llms.txt is written by hand for a part: a tool or a route that it names has to exist, or a model
// that believes it goes astray at its first step.
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "api_world.h"

namespace interlock {
namespace {

// Served beside the table: the relay's WebSocket and MCP itself.
const std::set<std::string>& faces() {
    static const std::set<std::string> paths{"/relay", "/mcp"};
    return paths;
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::set<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_word(text[end])) {
            ++end;
        }
        words.insert(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

// Beginnings that only names of tools and operations have there; fields of the state have others.
bool is_named_as_a_tool(const std::string& word) {
    for (const std::string beginning :
         {"py_", "list_", "get_", "apply_", "bot_", "run_", "submit_"}) {
        if (word.size() > beginning.size() && word.starts_with(beginning)) {
            return true;
        }
    }
    return false;
}

struct Route {
    std::string method;  // Empty: none stands before it.
    std::string path;
};

// Paths as they stand in the text: behind a blank, a bracket or the server's own address.
std::vector<Route> routes_of(const std::string& text) {
    std::vector<Route> routes;
    for (std::size_t at = text.find('/'); at != std::string::npos; at = text.find('/', at + 1)) {
        const char before = at == 0 ? ' ' : text[at - 1];
        if (std::string_view(" \n(").find(before) == std::string_view::npos) {
            continue;
        }
        std::size_t end = at;
        while (end < text.size() &&
               (is_word(text[end]) || std::string_view("/{}<>-.").contains(text[end]))) {
            ++end;
        }
        std::string path = text.substr(at, end - at);
        while (!path.empty() && path.back() == '.') {
            path.pop_back();
        }
        Route route{.method = "", .path = path};
        for (const std::string method : {"GET ", "POST "}) {
            if (at >= method.size() &&
                text.compare(at - method.size(), method.size(), method) == 0) {
                route.method = method.substr(0, method.size() - 1);
            }
        }
        routes.push_back(std::move(route));
        at = end - 1;
    }
    return routes;
}

class Llms : public ::testing::Test {
protected:
    Llms() : text(world.send({.path = "/llms.txt"}).body) {
        EXPECT_TRUE(text.starts_with("# Interlock")) << text;
    }

    bool is_route(const Route& route) const {
        if (faces().contains(route.path)) {
            return true;
        }
        for (const Operation& operation : world.table().all()) {
            const bool is_it = operation.path == route.path ||
                               operation.path == "/api/{tenant_id}" + route.path ||
                               is_of_family(operation.path, route.path);
            if (is_it && (route.method.empty() || route.method == operation.method)) {
                return true;
            }
        }
        return false;
    }
    // "/api/{tenant_id}/tools/<name>" stands for all of them.
    static bool is_of_family(const std::string& path, const std::string& family) {
        const std::size_t open = family.find('<');
        return open != std::string::npos && path.starts_with(family.substr(0, open));
    }

    ApiWorld world;
    std::string text;
};

TEST_F(Llms, NamesOnlyToolsThatThereAre) {
    int seen = 0;
    for (const std::string& word : words_of(text)) {
        if (is_named_as_a_tool(word)) {
            EXPECT_TRUE(world.table().find_tool(word) != nullptr) << word;
            ++seen;
        }
    }
    EXPECT_GE(seen, 8) << "no tool was looked at";
}

TEST_F(Llms, NamesOnlyRoutesThatThereAre) {
    const std::vector<Route> routes = routes_of(text);
    for (const Route& route : routes) {
        EXPECT_TRUE(is_route(route)) << route.method << " " << route.path;
    }
    EXPECT_GE(routes.size(), 40u) << "no route was looked at";
    EXPECT_FALSE(is_route({.method = "GET", .path = "/no/such"}));
    EXPECT_FALSE(is_route({.method = "POST", .path = "/fills"}));
}

}  // namespace
}  // namespace interlock
