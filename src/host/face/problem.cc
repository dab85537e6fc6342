#include "host/face/problem.h"

#include "codec/error_json.h"

namespace interlock {

namespace {

HttpResponse problem_of(const Error& error, const Json& body) {
    HttpResponse response = text_response(error.http_status(), "application/json", to_text(body));
    if (error.retry_after_seconds > 0) {
        response.set("Retry-After", std::to_string(error.retry_after_seconds));
    }
    if (error.http_status() == 401) {
        response.set("WWW-Authenticate", "Bearer");
    }
    return response;
}

}  // namespace

HttpResponse problem(const Error& error) {
    return problem_of(error, encode_error_body(error));
}

HttpResponse problem(const Error& error, const Operation& operation) {
    return problem_of(error, error_body(error, operation));
}

Json error_body(const Error& error, const Operation& operation) {
    Json body = encode_error_body(error);
    // Who is not known to us gets one body everywhere, so that nothing can be learnt from it (I7).
    const bool is_known = error.http_status() != 401;
    if (is_known && operation.id.starts_with("py_")) {
        body.set("status", "error");
        body.set("errors", Json::array({encode(error)}));
        body.set("audit_ref", "");
    }
    return body;
}

HttpResponse to_response(ApiReply reply) {
    HttpResponse response = text_response(reply.status, reply.content_type, std::move(reply.body));
    for (HttpHeader& header : reply.headers) {
        // Not set(): a response may carry several cookies.
        response.headers.push_back(std::move(header));
    }
    return response;
}

void add_security_headers(HttpResponse& response, bool tls) {
    constexpr std::size_t kAddedMax = 8;
    response.headers.reserve(response.headers.size() + kAddedMax);
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.headers.emplace_back("X-Frame-Options", "DENY");
    response.headers.emplace_back("Referrer-Policy", "no-referrer");
    response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
    if (!response.header("Cache-Control")) {
        response.headers.emplace_back("Cache-Control", "no-store");
    }
    if (!response.header("Content-Security-Policy")) {
        response.headers.emplace_back(
            "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    }
    if (tls) {
        response.headers.emplace_back("Strict-Transport-Security", "max-age=31536000");
    }
}

}  // namespace interlock
