// Routes as a tree of segments; a lookup visits each node at most once.
#include "net/router.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kRouteSegmentsExpected = 8;

struct Route {
    std::size_t id;
    std::vector<std::string> param_names;
};

bool is_parameter(std::string_view segment) {
    return segment.size() > 2 && segment.starts_with('{') && segment.ends_with('}');
}

bool may_be_parameter(std::string_view value) {
    return !value.empty() && value != "." && value != ".." &&
           value.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::string join(const std::set<std::string, std::less<>>& words) {
    std::string out;
    for (const std::string& word : words) {
        out += (out.empty() ? "" : ", ") + word;
    }
    return out;
}

}  // namespace

struct Router::Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
    std::unique_ptr<Node> parameter;
    std::map<std::string, Route, std::less<>> routes;  // By method.
};

// One lookup: walks literals first and remembers the methods of every pattern the path fits.
struct Router::Search {
    const Route* walk(const Node& node, std::size_t depth) {
        if (depth == segments.size()) {
            return finish(node);
        }
        if (const auto literal = node.literals.find(segments[depth]);
            literal != node.literals.end()) {
            if (const Route* route = walk(*literal->second, depth + 1)) {
                return route;
            }
        }
        if (node.parameter && may_be_parameter(segments[depth])) {
            values.push_back(segments[depth]);
            if (const Route* route = walk(*node.parameter, depth + 1)) {
                return route;
            }
            values.pop_back();
        }
        return nullptr;
    }

    const Route* finish(const Node& node) {
        auto route = node.routes.find(method);
        if (route == node.routes.end() && method == "HEAD") {
            route = node.routes.find("GET");
        }
        if (route != node.routes.end()) {
            return &route->second;
        }
        for (const auto& [name, unused] : node.routes) {
            allowed.insert(name);
            if (name == "GET") {
                allowed.insert("HEAD");
            }
        }
        return nullptr;
    }

    // Cuts the path into segments; false when it has too many or one that cannot be decoded.
    bool cut(std::string_view path) {
        segments.reserve(kRouteSegmentsExpected);
        for (std::size_t begin = 0; begin <= path.size();) {
            const std::size_t end = std::min(path.find('/', begin), path.size());
            std::string_view segment = path.substr(begin, end - begin);
            begin = end + 1;
            if (segments.size() == kRouteSegmentsMax) {
                return false;
            }
            if (segment.find('%') != std::string_view::npos) {
                decoded.reserve(kRouteSegmentsMax);  // What is in it is pointed to.
                std::optional<std::string> text = percent_decode(segment);
                if (!text) {
                    return false;
                }
                segment = decoded.emplace_back(*std::move(text));
            }
            segments.push_back(segment);
        }
        return true;
    }

    std::string_view method;
    std::vector<std::string_view> segments;
    std::vector<std::string> decoded;  // Of segments that are not what was sent.
    std::vector<std::string_view> values;
    std::set<std::string, std::less<>> allowed;
};

const std::string& Router::Match::param(std::string_view name) const {
    const auto found =
        std::ranges::find_if(params, [&](const auto& entry) { return entry.first == name; });
    CHECK(found != params.end());
    return found->second;
}

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::add(std::string method, std::string_view pattern, std::size_t id) {
    CHECK(pattern.starts_with('/') && pattern.size() <= kRoutePathBytesMax);
    const std::vector<std::string_view> segments = split(pattern.substr(1), '/');
    CHECK(segments.size() <= kRouteSegmentsMax);
    Route route{.id = id, .param_names = {}};
    Node* node = root_.get();
    for (const std::string_view segment : segments) {
        std::unique_ptr<Node>* next = nullptr;
        if (is_parameter(segment)) {
            std::string name(segment.substr(1, segment.size() - 2));
            CHECK(std::ranges::find(route.param_names, name) == route.param_names.end());
            route.param_names.push_back(std::move(name));
            next = &node->parameter;
        } else {
            CHECK(segment.find_first_of("{}%") == std::string_view::npos);
            next = &node->literals[std::string(segment)];
        }
        if (!*next) {
            *next = std::make_unique<Node>();
        }
        node = next->get();
    }
    const bool is_new = node->routes.emplace(std::move(method), std::move(route)).second;
    CHECK(is_new);
}

Router::Found Router::find(std::string_view method, std::string_view path) const {
    if (!path.starts_with('/') || path.size() > kRoutePathBytesMax) {
        return NotFound{};
    }
    Search search{.method = method, .segments = {}, .decoded = {}, .values = {}, .allowed = {}};
    if (!search.cut(path.substr(1))) {
        return NotFound{};
    }
    const Route* route = search.walk(*root_, 0);
    if (route == nullptr) {
        if (search.allowed.empty()) {
            return NotFound{};
        }
        return MethodNotAllowed{join(search.allowed)};
    }
    Match match{.id = route->id, .params = {}};
    for (std::size_t i = 0; i < route->param_names.size(); ++i) {
        match.params.emplace_back(route->param_names[i], search.values[i]);
    }
    return match;
}

}  // namespace interlock
