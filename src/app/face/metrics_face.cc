#include "app/face/metrics_face.h"

#include "host/face/host_check.h"
#include "host/face/problem.h"

namespace interlock {
namespace {

HttpResponse answer(
    const HttpRequest& request, Metrics& metrics, const std::vector<std::string>& allowed_hosts) {
    if (!is_allowed_host(request.header("Host").value_or(""), allowed_hosts)) {
        return problem(
            fail(errors::host_not_allowed, "The Host header names no host of this listener.")
                .error());
    }
    if (request.path() != "/metrics") {
        return problem(fail(errors::no_such_route, "Only /metrics is here.").error());
    }
    if (request.method != "GET" && request.method != "HEAD") {
        HttpResponse refused = problem(
            fail(errors::method_not_allowed, "This path does not take this method.").error());
        refused.set("Allow", "GET, HEAD");
        return refused;
    }
    return text_response(200, kMetricsContentType, metrics.render());
}

}  // namespace

HttpHandler metrics_handler(Metrics& metrics, std::vector<std::string> allowed_hosts) {
    return [&metrics, hosts = std::move(allowed_hosts)](
               const HttpRequest& request, const HttpResponderPtr& responder) {
        HttpResponse response = answer(request, metrics, hosts);
        add_security_headers(response, request.tls);
        responder->send(std::move(response));
    };
}

}  // namespace interlock
