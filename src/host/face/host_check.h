// Which Host and Origin values a listener answers to. A page on another site can make a browser
// send requests to a loopback address under a name of its own (DNS rebinding); such requests carry
// that name, so a short list of our own names keeps them out.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace interlock {

// True for `localhost`, `127.0.0.1` and `[::1]` with any port or none, and for the names in
// `further`: one without a port matches any port, one with a port only that one. Names are compared
// without regard to case; anything malformed is refused.
bool is_allowed_host(std::string_view host, std::span<const std::string> further = {});

// The same for an Origin header: `http://` or `https://` and an allowed host, nothing behind it.
// The opaque origin `null` is refused.
bool is_allowed_origin(std::string_view origin, std::span<const std::string> further = {});

}  // namespace interlock
