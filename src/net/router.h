// Finds what a method and a path mean: patterns such as "/api/{tenant_id}/kill" give an id and the
// decoded parameters.
//
// A literal segment beats a parameter. A path that exists with other methods is told apart from one
// that does not exist. A HEAD request finds the GET route when there is none of its own.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace interlock {

inline constexpr std::size_t kRoutePathBytesMax = 2048;
inline constexpr std::size_t kRouteSegmentsMax = 32;

class Router {
public:
    struct Match {
        std::size_t id = 0;
        std::vector<std::pair<std::string, std::string>> params;  // In the pattern's order.

        // CHECKs that the pattern has such a parameter.
        const std::string& param(std::string_view name) const;
    };
    struct NotFound {};
    struct MethodNotAllowed {
        std::string allow;  // For the Allow header: "GET, HEAD, POST".
    };
    using Found = std::variant<Match, NotFound, MethodNotAllowed>;

    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    // CHECKs the pattern (starts with '/', parameters fill a segment and have distinct names) and
    // that method and pattern are new.
    void add(std::string method, std::string_view pattern, std::size_t id);

    // `path` as it was sent, without the query. Segments are decoded before they are compared. A
    // parameter never holds "", ".", "..", '/' or NUL: such a path is not found, and neither is one
    // over the bounds above.
    Found find(std::string_view method, std::string_view path) const;

private:
    struct Node;
    struct Search;

    std::unique_ptr<Node> root_;
};

}  // namespace interlock
