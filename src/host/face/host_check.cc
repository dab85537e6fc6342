#include "host/face/host_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kLoopbackNames = {"localhost", "127.0.0.1", "[::1]"};
constexpr std::size_t kPortDigitsMax = 5;

// "name[:port]" without its port; nothing when the port is none.
std::optional<std::string_view> name_of(std::string_view host) {
    const std::size_t bracket = host.rfind(']');
    const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon == std::string_view::npos) {
        return host;
    }
    const std::string_view port = host.substr(colon + 1);
    const bool is_port = !port.empty() && port.size() <= kPortDigitsMax &&
                         std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_port) {
        return std::nullopt;
    }
    return host.substr(0, colon);
}

}  // namespace

bool is_allowed_host(std::string_view host, std::span<const std::string> further) {
    const std::optional<std::string_view> name = name_of(host);
    if (!name || name->empty()) {
        return false;
    }
    for (const std::string_view known : kLoopbackNames) {
        if (equal_ignoring_case(*name, known)) {
            return true;
        }
    }
    return std::ranges::any_of(further, [&](const std::string& known) {
        return equal_ignoring_case(*name, known) || equal_ignoring_case(host, known);
    });
}

bool is_allowed_origin(std::string_view origin, std::span<const std::string> further) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (origin.starts_with(scheme)) {
            return is_allowed_host(origin.substr(scheme.size()), further);
        }
    }
    return false;
}

}  // namespace interlock
