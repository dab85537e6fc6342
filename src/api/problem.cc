#include "api/problem.h"

#include "contracts/error_json.h"

namespace interlock {

HttpResponse problem(const Error& error) {
    HttpResponse response =
        text_response(error.http_status(), "application/json", to_text(encode_error_body(error)));
    if (error.retry_after_seconds > 0) {
        response.set("Retry-After", std::to_string(error.retry_after_seconds));
    }
    if (error.http_status() == 401) {
        response.set("WWW-Authenticate", "Bearer");
    }
    return response;
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
