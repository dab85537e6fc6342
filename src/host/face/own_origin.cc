#include "host/face/own_origin.h"

#include <optional>

#include "base/text.h"
#include "net/web_url.h"

namespace interlock {

OwnOrigin::OwnOrigin(std::string_view public_url) {
    const auto url = parse_web_url(public_url);
    if (!url || (url->scheme != "http" && url->scheme != "https")) {
        return;
    }
    host_ = to_lower(url->authority());  // Without the scheme's own port, as browsers write it.
    origin_ = url->scheme + "://" + host_;
    is_https_ = url->is_tls();
}

bool OwnOrigin::is_same_origin(const HttpRequest& request) const {
    std::optional<std::string_view> origin;
    for (const auto& [name, value] : request.headers) {
        if (equal_ignoring_case(name, "origin")) {
            if (origin) {
                return false;
            }
            origin = value;
        }
    }
    if (!origin) {
        return false;
    }
    if (!origin_.empty() && equal_ignoring_case(*origin, origin_)) {
        return true;
    }
    const auto host = request.header("host");
    if (!host || host->empty()) {
        return false;
    }
    const std::string own = std::string(request.tls ? "https://" : "http://") + std::string(*host);
    return equal_ignoring_case(*origin, own);
}

}  // namespace interlock
