// Where this server is, in the eyes of a browser. One answer for everything that depends on it:
// which pages may change something, which names the server goes by, whether a cookie may travel in
// clear.
//
// Without `http.public_url` the server is wherever the request found it: scheme and Host. With one
// it is there too, whatever a proxy in between makes of scheme and Host.
#pragma once

#include <string>
#include <string_view>

#include "net/http_message.h"

namespace interlock {

class OwnOrigin {
public:
    OwnOrigin() = default;  // No public address.
    // An http or https URL, perhaps with a path; what is no such URL counts as none.
    explicit OwnOrigin(std::string_view public_url);

    const std::string& public_origin() const { return origin_; }  // "https://desk.example", or "".
    const std::string& public_host() const { return host_; }      // As a browser sends it; or "".

    // True when the request says that it comes from a page of this very server: exactly one
    // `Origin`, equal to the public one or to scheme and `Host`.
    bool is_same_origin(const HttpRequest& request) const;
    // Whether what this caller is given may travel over TLS only.
    bool is_secure(const HttpRequest& request) const { return is_https_ || request.tls; }

private:
    std::string origin_;
    std::string host_;
    bool is_https_ = false;
};

}  // namespace interlock
