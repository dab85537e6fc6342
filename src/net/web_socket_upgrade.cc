// Judging upgrade requests.
#include "net/web_socket_upgrade.h"

#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "base/json.h"
#include "base/platform_crypto.h"
#include "base/text.h"
#include "net/web_socket.h"

namespace interlock {
namespace {

constexpr std::string_view kVersion = "13";
constexpr std::size_t kKeyBytes = 16;
// Part of the protocol: proves that the answer was made by someone who knows WebSockets.
constexpr std::string_view kKeySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

// Whether a list header, possibly given several times, holds a word.
bool has_token(const HttpRequest& request, std::string_view name, std::string_view word) {
    for (const HttpHeader& header : request.headers) {
        if (header.first.size() != name.size() || !equal_ignoring_case(header.first, name)) {
            continue;
        }
        for (const std::string_view token : split(header.second, ',')) {
            if (equal_ignoring_case(trim(token), word)) {
                return true;
            }
        }
    }
    return false;
}

// The value of a header that must stand there exactly once.
std::optional<std::string_view> only_value(const HttpRequest& request, std::string_view name) {
    std::optional<std::string_view> value;
    for (const HttpHeader& header : request.headers) {
        if (equal_ignoring_case(header.first, name)) {
            if (value) {
                return std::nullopt;
            }
            value = trim(header.second);
        }
    }
    return value;
}

bool brings_body(const HttpRequest& request) {
    const auto length = request.header("Content-Length");
    return !request.body.empty() || request.header("Transfer-Encoding") ||
           (length && trim(*length) != "0");
}

}  // namespace

bool is_web_socket_upgrade(const HttpRequest& request) {
    return has_token(request, "Upgrade", "websocket") &&
           has_token(request, "Connection", "upgrade");
}

UpgradeOffer judge_upgrade(const HttpRequest& request, bool is_http_1_0) {
    if (!is_web_socket_upgrade(request) || request.method != "GET" || is_http_1_0 ||
        brings_body(request)) {
        return {};
    }
    const auto version = only_value(request, "Sec-WebSocket-Version");
    if (version != kVersion) {
        return {.refusal = version ? 426 : 400, .accept_key = {}};
    }
    const auto key = only_value(request, "Sec-WebSocket-Key");
    const auto key_bytes = key ? from_base64(*key) : Result<std::string>(std::string());
    if (!key_bytes || key_bytes->size() != kKeyBytes) {
        return {};
    }
    const auto digest = from_hex(sha1_hex(std::string(*key) + std::string(kKeySuffix)));
    CHECK(digest.has_value());
    return {.refusal = 0, .accept_key = to_base64(*digest)};
}

HttpResponse upgrade_refusal(int status) {
    CHECK(status == 400 || status == 426);
    const bool is_version = status == 426;
    std::string body = R"({"error":{"code":"invalid_upgrade","message":)";
    append_json_string(
        body,
        is_version ? "Only version 13 of the WebSocket protocol is spoken here."
                   : "The request is no proper WebSocket handshake.");
    body += R"(,"retryable":false,"next_step":)";
    append_json_string(
        body,
        is_version ? "Connect with Sec-WebSocket-Version 13."
                   : "Send GET over HTTP/1.1 without a body, with Connection: Upgrade, Upgrade: "
                     "websocket, Sec-WebSocket-Version and one Sec-WebSocket-Key of 16 bytes.");
    body += "}}";
    HttpResponse response = text_response(status, "application/json", std::move(body));
    response.set("Connection", "close");  // What follows on the connection may be frames.
    if (is_version) {
        response.set("Upgrade", "websocket");
        response.set("Sec-WebSocket-Version", std::string(kVersion));
    }
    return response;
}

void append_upgrade_answer(std::string& out, std::string_view accept_key) {
    out +=
        "HTTP/1.1 101 Switching Protocols\r\n"
        "Upgrade: websocket\r\n"
        "Connection: Upgrade\r\n"
        "Sec-WebSocket-Accept: ";
    out += accept_key;
    out += "\r\n\r\n";
}

}  // namespace interlock
