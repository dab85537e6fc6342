#include "relay/face/relay_media_http.h"

#include <algorithm>

#include "base/errors.h"
#include "host/face/http_face.h"
#include "host/face/problem.h"
#include "relay/rules/waiting_files.h"

namespace interlock {
namespace {

HttpResponse media_problem(const Error& error) {
    const int status = error.http_status() == 422 ? 400 : error.http_status();
    HttpResponse response = text_response(
        status,
        "application/json",
        to_text(Json::object(
            {{"error", error.message}, {"code", error.code()}, {"next", error.next()}})));
    if (status == 503 || status == 429) {
        response.set("Retry-After", std::to_string(std::max(1, error.retry_after_seconds)));
    }
    if (status == 401) {
        response.set("WWW-Authenticate", "Bearer");
    }
    return response;
}

void send(const HttpResponderPtr& responder, bool tls, HttpResponse response) {
    add_security_headers(response, tls);
    responder->send(std::move(response));
}

HttpResponse file_response(MediaUpload file) {
    HttpResponse response = text_response(200, file.content_type, std::move(file.bytes));
    // Whatever it claims to be, a browser must not run it under our name.
    response.set(
        "Content-Disposition",
        file.filename.empty() ? "attachment" : "attachment; filename=\"" + file.filename + "\"");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Cache-Control", "private, no-store");
    return response;
}

}  // namespace

bool RelayMediaHttp::takes(const HttpRequest& request) {
    const std::string_view path = request.path();
    return path == kMediaUploadPath || path.starts_with(std::string(kMediaUploadPath) + "/");
}

// Looks at the credential first: only a caller with a good one takes a place among the uploads.
HeadVerdict RelayMediaHttp::judge(const HttpRequest& head) const {
    const Result<RelayCaller> caller = authenticate_(head);
    if (!caller) {
        HttpResponse refusal = media_problem(caller.error());
        add_security_headers(refusal, head.tls);
        return {.body_bytes_max = kStrangerBodyBytesMax, .refusal = std::move(refusal)};
    }
    const bool is_upload = head.method == "POST" && head.path() == kMediaUploadPath;
    return {
        .holder = holder_of(caller->tenant_id),
        .body_bytes_max = is_upload ? kMediaBytesMax : kStrangerBodyBytesMax,
        .is_large = is_upload};
}

void RelayMediaHttp::handle(HttpRequest request, HttpResponderPtr responder) {
    const bool is_upload = request.path() == kMediaUploadPath;
    const std::string_view method = is_upload ? "POST" : "GET";
    if (request.method != method) {
        HttpResponse response = media_problem(
            fail(errors::method_not_allowed, "This path does not take this method.").error());
        response.set("Allow", std::string(method));
        send(responder, request.tls, std::move(response));
        return;
    }
    const Result<RelayCaller> caller = authenticate_(request);
    if (!caller) {
        send(responder, request.tls, media_problem(caller.error()));
        return;
    }
    if (is_upload) {
        upload(*caller, std::move(request), std::move(responder));
    } else {
        download(*caller, request, std::move(responder));
    }
}

void RelayMediaHttp::upload(
    const RelayCaller& caller, HttpRequest request, HttpResponderPtr responder) {
    MediaUpload upload{
        .content_type = safe_media_type(request.header("Content-Type").value_or("")),
        .filename = safe_file_name(request.header("X-Media-Filename").value_or("")),
        .bytes = std::move(request.body)};
    media_.store(
        caller,
        std::move(upload),
        [responder, tls = request.tls](const Result<StoredMedia>& stored) {
            send(
                responder,
                tls,
                stored ? text_response(
                             200,
                             "application/json",
                             to_text(Json::object({{"id", stored->id}, {"size", stored->bytes}})))
                       : media_problem(stored.error()));
        });
}

void RelayMediaHttp::download(
    const RelayCaller& caller, const HttpRequest& request, HttpResponderPtr responder) {
    const std::string id(request.path().substr(kMediaUploadPath.size() + 1));
    media_.fetch(caller, id, [responder, tls = request.tls](Result<MediaUpload> file) {
        send(responder, tls, file ? file_response(*std::move(file)) : media_problem(file.error()));
    });
}

}  // namespace interlock
