// Writes heads, chunks and the server's own answers.
#include "net/http_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::array<bool, 256> kTokenBytes = [] {
    std::array<bool, 256> allowed{};
    for (const unsigned char c : std::string_view(
             "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~")) {
        allowed[c] = true;
    }
    return allowed;
}();

bool is_token(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return kTokenBytes[static_cast<unsigned char>(c)];
    });
}

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

// A value may hold text that came from outside; a line break in it would start a header of the
// outsider's choice, so control characters become spaces.
void append_header(std::string& out, std::string_view name, std::string_view value) {
    CHECK(is_token(name));
    out += name;
    out += ": ";
    const std::size_t begin = out.size();
    out += value;
    std::replace_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), is_control, ' ');
    out += "\r\n";
}

template <class Integer>
void append_integer(std::string& out, Integer value, int base = 10) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    out.append(digits.data(), end);
}

bool is_framing_header(std::string_view name) {
    if (name.front() != 'C' && name.front() != 'c' && name.front() != 'T' && name.front() != 't' &&
        name.front() != 'D' && name.front() != 'd') {
        return false;
    }
    return equal_ignoring_case(name, "Content-Length") ||
           equal_ignoring_case(name, "Transfer-Encoding") ||
           equal_ignoring_case(name, "Connection") || equal_ignoring_case(name, "Date");
}

void append_head(std::string& out, const HttpResponse& response, const ResponseFraming& framing) {
    CHECK(response.status >= 200 && response.status <= 999);
    out += "HTTP/1.1 ";
    append_integer(out, response.status);
    out += ' ';
    out += reason_phrase(response.status);
    out += "\r\nDate: ";
    out += framing.date;
    out += "\r\n";
    if (!framing.keep_alive) {
        out += "Connection: close\r\n";
    } else if (framing.http_1_0) {
        out += "Connection: keep-alive\r\n";
    }
    for (const HttpHeader& header : response.headers) {
        CHECK(!header.first.empty());
        if (!is_framing_header(header.first)) {
            append_header(out, header.first, header.second);
        }
    }
}

bool has_no_body(int status) {
    return status == 204 || status == 304;
}

struct FaultText {
    int status;
    std::string_view code;
    std::string_view message;
    bool retryable;
    std::string_view next_step;
};

FaultText text_of(HttpFault fault) {
    switch (fault) {
        case HttpFault::invalid_http:
            return {
                400,
                "invalid_http",
                "The request is not well-formed HTTP/1.1.",
                false,
                "Send one request line, one Host, and either Content-Length or chunked."};
        case HttpFault::request_timeout:
            return {
                408,
                "request_timeout",
                "The request did not arrive completely in time.",
                true,
                "Open a new connection and send the whole request again."};
        case HttpFault::body_too_large:
            return {
                413,
                "body_too_large",
                "The body is larger than this server accepts.",
                false,
                "Send a smaller request."};
        case HttpFault::uri_too_long:
            return {
                414,
                "uri_too_long",
                "The request target is longer than this server accepts.",
                false,
                "Move what is long from the target into the body."};
        case HttpFault::headers_too_large:
            return {
                431,
                "headers_too_large",
                "The headers are larger or more numerous than this server accepts.",
                false,
                "Send fewer or shorter headers."};
        case HttpFault::too_many_connections:
            return {
                503,
                "too_many_connections",
                "All connections of this server are in use.",
                true,
                "Wait for Retry-After seconds, then connect again."};
        case HttpFault::too_many_bodies:
            return {
                503,
                "too_many_bodies",
                "The server holds as many bytes of requests as it can, or as may be yours.",
                true,
                "Wait for Retry-After seconds, then send fewer or smaller requests at a time."};
        case HttpFault::internal:
            return {
                500,
                "internal",
                "The request was not answered because of an error of ours.",
                false,
                "Report this with the log lines around it."};
    }
    CHECK(false);
    return {};
}

struct Reason {
    int status;
    std::string_view phrase;
};
// Sorted by status; phrases as RFC 9110 and 6585 spell them.
constexpr std::array kReasons = {
    Reason{200, "OK"},
    Reason{201, "Created"},
    Reason{202, "Accepted"},
    Reason{204, "No Content"},
    Reason{301, "Moved Permanently"},
    Reason{302, "Found"},
    Reason{303, "See Other"},
    Reason{304, "Not Modified"},
    Reason{307, "Temporary Redirect"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{406, "Not Acceptable"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{410, "Gone"},
    Reason{412, "Precondition Failed"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Content"},
    Reason{426, "Upgrade Required"},
    Reason{428, "Precondition Required"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{502, "Bad Gateway"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
};

}  // namespace

void append_response(
    std::string& out, const HttpResponse& response, const ResponseFraming& framing) {
    append_head(out, response, framing);
    if (has_no_body(response.status)) {
        out += "\r\n";
        return;
    }
    out += "Content-Length: ";
    append_integer(out, response.body.size());
    out += "\r\n\r\n";
    if (!framing.head_only) {
        out += response.body;
    }
}

void append_stream_head(
    std::string& out, const HttpResponse& head, const ResponseFraming& framing) {
    append_head(out, head, framing);
    out += framing.http_1_0 ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n";
}

void append_chunk(std::string& out, std::string_view bytes) {
    CHECK(!bytes.empty());  // An empty chunk is the last one.
    append_integer(out, bytes.size(), 16);
    out += "\r\n";
    out += bytes;
    out += "\r\n";
}

void append_request(std::string& out, const HttpRequest& request, std::string_view host) {
    out += request.method;
    out += ' ';
    out += request.target;
    out += " HTTP/1.1\r\n";
    if (!request.header("Host")) {
        append_header(out, "Host", host);
    }
    for (const HttpHeader& header : request.headers) {
        if (!equal_ignoring_case(header.first, "Content-Length") &&
            !equal_ignoring_case(header.first, "Transfer-Encoding")) {
            append_header(out, header.first, header.second);
        }
    }
    if (!request.body.empty() || (request.method != "GET" && request.method != "HEAD")) {
        out += "Content-Length: ";
        append_integer(out, request.body.size());
        out += "\r\n";
    }
    out += "\r\n";
    out += request.body;
}

std::string_view reason_phrase(int status) {
    const auto* const found = std::ranges::lower_bound(kReasons, status, {}, &Reason::status);
    return found != kReasons.end() && found->status == status ? found->phrase : "Status";
}

std::string http_date(std::int64_t unix_seconds) {
    const std::time_t at = unix_seconds;
    std::tm parts{};
    CHECK(gmtime_r(&at, &parts) != nullptr);
    // Not strftime: day and month names must be English whatever the locale.
    static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array kMonths = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto two_digits = [](int value) {
        return std::string{
            static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
    };
    std::string out = kDays[static_cast<std::size_t>(parts.tm_wday)];
    out += ", " + two_digits(parts.tm_mday) + " ";
    out += kMonths[static_cast<std::size_t>(parts.tm_mon)];
    out += " " + std::to_string(parts.tm_year + 1900) + " " + two_digits(parts.tm_hour) + ":";
    out += two_digits(parts.tm_min) + ":" + two_digits(parts.tm_sec) + " GMT";
    return out;
}

HttpResponse fault_response(HttpFault fault) {
    const FaultText text = text_of(fault);
    std::string body = R"({"error":{"code":)";
    append_json_string(body, text.code);
    body += R"(,"message":)";
    append_json_string(body, text.message);
    body +=
        text.retryable ? R"(,"retryable":true,"next_step":)" : R"(,"retryable":false,"next_step":)";
    append_json_string(body, text.next_step);
    body += "}}";
    HttpResponse response = text_response(text.status, "application/json", std::move(body));
    if (text.status == 503) {
        response.set("Retry-After", "1");
    }
    return response;
}

}  // namespace interlock
