// POST /relay/media and GET /relay/media/{id}: files of gateways. Like the rest of the relay's wire
// they stand beside the operation table, and errors are {"error", "code", "next"}.
// docs/contracts/relay-connector.md#media
//
// Handlers run on a network thread and do not block; answers come from the lane or a worker.
#pragma once

#include <functional>
#include <string>

#include "net/head_verdict.h"
#include "net/http_message.h"
#include "relay/service/relay_media.h"

namespace interlock {

inline constexpr std::string_view kMediaUploadPath = "/relay/media";

class RelayMediaHttp {
public:
    // Whose credential a request carries, from our record of it. Any thread.
    using Authenticate = std::function<Result<RelayCaller>(const HttpRequest&)>;

    // `media` outlives it.
    RelayMediaHttp(RelayMedia& media, Authenticate authenticate)
        : media_(media), authenticate_(std::move(authenticate)) {}

    // By its path; another method on such a path is answered 405 here.
    static bool takes(const HttpRequest& request);
    HeadVerdict judge(const HttpRequest& head) const;
    void handle(HttpRequest request, HttpResponderPtr responder);

private:
    void upload(const RelayCaller& caller, HttpRequest request, HttpResponderPtr responder);
    void download(
        const RelayCaller& caller, const HttpRequest& request, HttpResponderPtr responder);

    RelayMedia& media_;
    const Authenticate authenticate_;
};

}  // namespace interlock
