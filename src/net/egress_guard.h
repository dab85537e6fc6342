// The one way out to a URL that somebody other than the operator gave
// (relay-connector.md#8-the-egress-guard). Looks the host up, judges every address it has, and
// connects to exactly one that was judged, so that a name that points elsewhere a moment later
// changes nothing. No redirect is followed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/outbound_url.h"
#include "net/web_client.h"

namespace interlock {

class EgressGuard {
public:
    using Resolve = std::function<Result<std::vector<std::string>>(
        const std::string& host, std::uint16_t port)>;
    // Who gave the URL. An operator may mean addresses inside our own network.
    enum class Giver { stranger, host_operator };

    // `allowed` are private ranges that a stranger's URL may point into all the same.
    explicit EgressGuard(std::vector<Cidr> allowed = {}, Resolve resolve = resolve_host);

    // The address to connect to. `url_not_allowed` when the URL, or any address of its host, may
    // not be called; `unavailable` when the host cannot be found now. Blocks for as long as the
    // system's resolver does.
    Result<std::string> judge(const std::string& url, Giver giver) const;
    // Judges and calls. Whatever `call` pins is replaced.
    Result<HttpResponse> send(WebClient& client, WebCall call, Giver giver) const;

private:
    const std::vector<Cidr> allowed_;
    const Resolve resolve_;
};

}  // namespace interlock
