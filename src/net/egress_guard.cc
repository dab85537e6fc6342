#include "net/egress_guard.h"

#include "base/errors.h"

namespace interlock {

EgressGuard::EgressGuard(std::vector<Cidr> allowed, Resolve resolve)
    : allowed_(std::move(allowed)), resolve_(std::move(resolve)) {}

Result<std::string> EgressGuard::judge(const std::string& url, Giver giver) const {
    const bool is_stranger = giver == Giver::stranger;
    TRY_ASSIGN(
        const OutboundUrl parts,
        is_stranger ? judge_outbound_url(url, allowed_) : parse_outbound_url(url));
    // What the client could not call later is refused now.
    if (const auto callable = parse_web_url(url); !callable) {
        return fail(errors::url_not_allowed, callable.error().message);
    }
    TRY_ASSIGN(const std::vector<std::string> addresses, resolve_(parts.host, parts.port));
    if (addresses.empty()) {
        return fail(errors::unavailable, "The host " + parts.host + " has no address.");
    }
    // Every one has to be allowed: a name that points both inside and outside is a trick.
    for (const std::string& text : addresses) {
        const auto address = parse_ip(text);
        if (!address || (is_stranger && !may_connect(*address, allowed_))) {
            return fail(
                errors::url_not_allowed,
                "The host " + parts.host + " has an address inside a network.");
        }
    }
    return addresses.front();
}

Result<HttpResponse> EgressGuard::send(WebClient& client, WebCall call, Giver giver) const {
    TRY_ASSIGN(call.pinned_address, judge(call.url, giver));
    return client.send(call);
}

}  // namespace interlock
