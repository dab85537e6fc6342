// Heads are read by Beast's basic_parser; what is stricter than the grammar (see the header) is
// checked here, and bodies are read by http_body.h.
#include "net/http_parse.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/text.h"

namespace interlock {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using BeastText = boost::beast::string_view;

std::string_view view_of(BeastText text) {
    return {text.data(), text.size()};
}

bool has_folded_line(std::string_view head) {
    for (std::size_t at = head.find("\r\n"); at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
        if (head[at + 2] == ' ' || head[at + 2] == '\t') {
            return true;
        }
    }
    return false;
}

// What requests and responses share: fields into headers. Beast is told that there is no body, so
// it is done with the blank line; it is only ever offered a whole head.
template <bool is_request>
class HeadReader : public http::basic_parser<is_request> {
public:
    HeadReader() {
        // The size of the head is checked before it is offered.
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
        this->skip(true);
    }

    // True when `head` is in order.
    bool read(std::string_view head) {
        error_code error;
        this->put(boost::asio::const_buffer(head.data(), head.size()), error);
        return !error && this->is_done() && !has_folded_line(head);
    }

    HttpBodyReader body_reader(HttpParseLimits limits) const {
        if (this->chunked()) {
            return HttpBodyReader::of_chunks(limits);
        }
        return HttpBodyReader::of_length(this->content_length().value_or(0), limits);
    }

    std::vector<HttpHeader> headers;
    HttpFault fault = HttpFault::invalid_http;  // When read() says no.

protected:
    void refuse(HttpFault why, error_code& error) {
        fault = why;
        error = http::error::bad_field;
    }

    void on_field_impl(
        http::field field, BeastText name, BeastText value, error_code& error) override {
        if (headers.size() == kHeaderCountMax) {
            refuse(HttpFault::headers_too_large, error);
            return;
        }
        check_framing(field, view_of(value), error);
        headers.emplace_back(view_of(name), view_of(value));
    }

    void on_header_impl(error_code& error) override { error = {}; }
    void on_finish_impl(error_code& error) override { error = {}; }

    // Never called, since there is no body as far as Beast knows.
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(BeastText, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, BeastText, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, BeastText, error_code&) override { return 0; }

private:
    void check_framing(http::field field, std::string_view value, error_code& error) {
        if (field == http::field::content_length) {
            // Beast would accept "5, 5" and a repetition of the same length.
            if (has_length_ ||
                !std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; })) {
                refuse(HttpFault::invalid_http, error);
            }
            has_length_ = true;
        } else if (field == http::field::transfer_encoding) {
            // Beast would read "chunked, x" as a request without a body.
            if (!equal_ignoring_case(value, "chunked")) {
                refuse(HttpFault::invalid_http, error);
            }
        }
    }

    bool has_length_ = false;
};

class RequestReader final : public HeadReader<true> {
public:
    std::string method;
    std::string target;
    std::string authority;  // Of an absolute-form target: it stands above the Host header.
    bool http_1_0 = false;
    bool expects_continue = false;

protected:
    void on_request_impl(
        http::verb, BeastText verb, BeastText raw_target, int version, error_code& error) override {
        method = view_of(verb);
        http_1_0 = version == 10;
        if (raw_target.size() > kTargetBytesMax) {
            refuse(HttpFault::uri_too_long, error);
        } else if (method == "CONNECT" || !take_target(view_of(raw_target))) {
            refuse(HttpFault::invalid_http, error);
        }
    }

    void on_response_impl(int, BeastText, int, error_code& error) override {
        error = http::error::bad_version;
    }

    void on_header_impl(error_code& error) override {
        error = {};
        std::size_t hosts = 0;
        for (HttpHeader& header : headers) {
            if (equal_ignoring_case(header.first, "Host")) {
                ++hosts;
                if (!authority.empty()) {
                    header.second = authority;
                }
            } else if (equal_ignoring_case(header.first, "Expect")) {
                expects_continue = !http_1_0 && equal_ignoring_case(header.second, "100-continue");
            }
        }
        if (hosts > 1 || (hosts == 0 && !http_1_0) || (http_1_0 && chunked())) {
            refuse(HttpFault::invalid_http, error);
        }
    }

private:
    bool take_target(std::string_view raw) {
        const bool is_clean = std::ranges::all_of(raw, [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte > 0x20 && byte < 0x7f && c != '#';
        });
        if (!is_clean) {
            return false;
        }
        if (raw.starts_with('/')) {
            target = raw;
            return true;
        }
        const std::size_t colon = raw.find("://");
        if (colon == std::string_view::npos) {
            return false;
        }
        const std::string_view scheme = raw.substr(0, colon);
        if (!equal_ignoring_case(scheme, "http") && !equal_ignoring_case(scheme, "https")) {
            return false;
        }
        const std::string_view rest = raw.substr(colon + 3);
        const std::size_t authority_end = rest.find_first_of("/?");
        authority = rest.substr(0, authority_end);
        const std::string_view path = authority_end == std::string_view::npos
                                          ? std::string_view()
                                          : rest.substr(authority_end);
        target = path.starts_with('/') ? std::string(path) : "/" + std::string(path);
        return !authority.empty();
    }
};

class ResponseReader final : public HeadReader<false> {
public:
    int status = 0;

protected:
    void on_request_impl(http::verb, BeastText, BeastText, int, error_code& error) override {
        error = http::error::bad_method;
    }
    void on_response_impl(int code, BeastText, int, error_code& error) override {
        error = {};
        status = code;
    }
};

// Finds the end of the head in bytes that grow between calls, without searching twice.
class HeadScanner {
public:
    // One past the blank line, or nothing.
    std::optional<std::size_t> find_end(std::string_view bytes) {
        const std::size_t at = bytes.find("\r\n\r\n", searched_);
        if (at == std::string_view::npos) {
            searched_ = bytes.size() < 3 ? 0 : bytes.size() - 3;
            return std::nullopt;
        }
        searched_ = 0;
        return at + 4;
    }

private:
    std::size_t searched_ = 0;
};

}  // namespace

struct HttpRequestParser::State {
    explicit State(HttpParseLimits with) : limits(with) {}

    ParseStep fail(std::size_t consumed, HttpFault why) {
        fault = why;
        return {consumed, ParseStatus::failed};
    }

    // Consumes the whole head or nothing of it.
    ParseStep read_head(std::string_view bytes) {
        // Whoever speaks TLS to a plain port waits for an answer and never ends a line.
        if (!bytes.empty() && bytes.front() != '\r' &&
            (bytes.front() <= ' ' || bytes.front() == 0x7f)) {
            return fail(0, HttpFault::invalid_http);
        }
        const std::optional<std::size_t> end = scanner.find_end(bytes);
        if (end.value_or(bytes.size()) > limits.header_bytes_max) {
            const bool has_line = bytes.substr(0, limits.header_bytes_max).contains("\r\n");
            return fail(0, has_line ? HttpFault::headers_too_large : HttpFault::uri_too_long);
        }
        if (!end) {
            return {0, ParseStatus::need_more};
        }
        head.emplace();
        if (!head->read(bytes.substr(0, *end))) {
            return fail(0, head->fault);
        }
        request.method = std::move(head->method);
        request.target = std::move(head->target);
        request.headers = std::move(head->headers);
        HttpParseLimits allowed = limits;
        if (limits.gate != nullptr) {
            const auto allowance = limits.gate->allow(
                request,
                head->chunked() ? std::nullopt
                                : std::optional<std::uint64_t>(head->content_length().value_or(0)));
            if (allowance.fault) {
                return fail(0, *allowance.fault);
            }
            allowed.body_bytes_max = allowance.body_bytes_max;
        }
        body_reader.emplace(head->body_reader(allowed));
        continue_asked = head->expects_continue && bytes.size() == *end;
        return {*end, ParseStatus::need_more};
    }

    ParseStep read_body(std::string_view bytes) {
        const std::size_t before = request.body.size();
        const ParseStep step = body_reader->feed(bytes, request.body);
        if (step.status == ParseStatus::failed) {
            return fail(step.consumed, body_reader->fault());
        }
        const std::size_t more = request.body.size() - before;
        if (limits.gate != nullptr && more > 0 && !limits.gate->keep(more)) {
            return fail(step.consumed, HttpFault::too_many_bodies);
        }
        return step;
    }

    const HttpParseLimits limits;
    HeadScanner scanner;
    std::optional<RequestReader> head;
    std::optional<HttpBodyReader> body_reader;  // Present once the head is in.
    HttpRequest request;                        // What of it is here.
    std::optional<HttpFault> fault;
    bool continue_asked = false;
};

HttpRequestParser::HttpRequestParser(HttpParseLimits limits)
    : state_(std::make_unique<State>(limits)) {}
HttpRequestParser::~HttpRequestParser() = default;

ParseStep HttpRequestParser::feed(std::string_view bytes) {
    CHECK(!state_->fault);
    std::size_t consumed = 0;
    if (!state_->body_reader) {
        // Some clients end a body with one line break too many; RFC 9112 section 2.2 lets it pass.
        while (bytes.substr(consumed).starts_with("\r\n")) {
            consumed += 2;
            state_->scanner = {};
        }
        const ParseStep head = state_->read_head(bytes.substr(consumed));
        consumed += head.consumed;
        if (head.consumed == 0) {
            return {consumed, head.status};
        }
    }
    const ParseStep body = state_->read_body(bytes.substr(consumed));
    return {consumed + body.consumed, body.status};
}

ParsedRequest HttpRequestParser::take() {
    CHECK(state_->body_reader && state_->body_reader->is_complete());
    RequestReader& head = *state_->head;
    ParsedRequest parsed;
    parsed.request = std::exchange(state_->request, {});
    parsed.keep_alive = head.keep_alive();
    parsed.http_1_0 = head.http_1_0;
    state_->head.reset();
    state_->body_reader.reset();
    state_->continue_asked = false;
    return parsed;
}

HttpFault HttpRequestParser::fault() const {
    CHECK(state_->fault);
    return *state_->fault;
}

bool HttpRequestParser::take_continue() {
    return std::exchange(state_->continue_asked, false);
}

struct HttpResponseParser::State {
    State(HttpParseLimits with, bool answers_head) : limits(with), to_head(answers_head) {}

    ParseStep fail(std::size_t consumed, std::string_view why) {
        problem = why;
        return {consumed, ParseStatus::failed};
    }

    HttpBodyReader body_reader_of(const ResponseReader& read) const {
        if (to_head || read.status == 204 || read.status == 304) {
            return HttpBodyReader::of_length(0, limits);
        }
        if (!read.chunked() && !read.content_length()) {
            return HttpBodyReader::until_close(limits);
        }
        return read.body_reader(limits);
    }

    // Consumes the whole head or nothing of it.
    ParseStep read_head(std::string_view bytes) {
        const std::optional<std::size_t> end = scanner.find_end(bytes);
        if (end.value_or(bytes.size()) > limits.header_bytes_max) {
            return fail(0, "its headers are too large");
        }
        if (!end) {
            return {0, ParseStatus::need_more};
        }
        head.emplace();
        if (!head->read(bytes.substr(0, *end))) {
            return fail(0, "it is not well-formed HTTP");
        }
        if (head->status < 200) {
            return {*end, ParseStatus::need_more};  // "100 Continue" announces the real response.
        }
        response.status = head->status;
        response.headers = std::move(head->headers);
        body_reader.emplace(body_reader_of(*head));
        return {*end, ParseStatus::need_more};
    }

    ParseStep read_body(std::string_view bytes) {
        const ParseStep step = body_reader->feed(bytes, response.body);
        if (step.status == ParseStatus::failed) {
            return fail(
                step.consumed,
                body_reader->fault() == HttpFault::body_too_large
                    ? "its body is too large"
                    : "its body is not well-formed HTTP");
        }
        return step;
    }

    const HttpParseLimits limits;
    const bool to_head;
    HeadScanner scanner;
    std::optional<ResponseReader> head;
    std::optional<HttpBodyReader> body_reader;  // Present once the head is in.
    HttpResponse response;
    std::string_view problem;
};

HttpResponseParser::HttpResponseParser(HttpParseLimits limits, bool to_head)
    : state_(std::make_unique<State>(limits, to_head)) {}
HttpResponseParser::~HttpResponseParser() = default;

ParseStep HttpResponseParser::feed(std::string_view bytes) {
    std::size_t consumed = 0;
    while (!state_->body_reader) {
        const ParseStep head = state_->read_head(bytes.substr(consumed));
        consumed += head.consumed;
        if (head.consumed == 0) {
            return {consumed, head.status};
        }
    }
    const ParseStep body = state_->read_body(bytes.substr(consumed));
    return {consumed + body.consumed, body.status};
}

ParseStatus HttpResponseParser::feed_end() {
    if (state_->body_reader && state_->body_reader->ends_with_close()) {
        return ParseStatus::complete;
    }
    return state_->fail(0, "the connection ended in the middle of it").status;
}

bool HttpResponseParser::head_done() const {
    return state_->body_reader.has_value();
}

bool HttpResponseParser::keep_alive() const {
    return state_->head->keep_alive() && !state_->body_reader->ends_with_close();
}

HttpResponse& HttpResponseParser::response() {
    return state_->response;
}

std::string_view HttpResponseParser::problem() const {
    return state_->problem;
}

}  // namespace interlock
