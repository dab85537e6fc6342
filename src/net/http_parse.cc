// The parsers stand on Beast's basic_parser, which reads the grammar; what is stricter than the
// grammar (see the header) is checked here. The one file that includes Beast.
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

// A declared length is only a claim; memory is taken as the bytes come.
constexpr std::uint64_t kBodyReserveMax = 16 * 1024;

std::string_view view_of(BeastText text) {
    return {text.data(), text.size()};
}

// What requests and responses share: fields into headers, body bytes into a string. A request or
// response parser adds its start line.
template <bool is_request>
class Reader : public http::basic_parser<is_request> {
public:
    explicit Reader(HttpParseLimits limits) {
        // The size of the head is checked before it is offered.
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
        if (limits.body_bytes_max == std::numeric_limits<std::size_t>::max()) {
            this->body_limit(boost::none);
        } else {
            this->body_limit(limits.body_bytes_max);
        }
        this->eager(true);
    }

    std::vector<HttpHeader> headers;
    std::string body;
    std::optional<HttpFault> refusal;  // Set beside the error code when the reason is ours.

protected:
    void refuse(HttpFault fault, error_code& error) {
        refusal = fault;
        error = http::error::bad_field;
    }

    void on_field_impl(
        http::field field, BeastText name, BeastText value, error_code& error) override {
        if (this->is_header_done()) {
            return;  // A trailer. It must not pass for a header that was checked.
        }
        if (headers.size() == kHeaderCountMax) {
            refuse(HttpFault::headers_too_large, error);
            return;
        }
        check_framing(field, view_of(value), error);
        headers.emplace_back(view_of(name), view_of(value));
    }

    void on_body_init_impl(
        const boost::optional<std::uint64_t>& length, error_code& error) override {
        error = {};
        body.reserve(static_cast<std::size_t>(std::min(length.value_or(0), kBodyReserveMax)));
    }

    std::size_t on_body_impl(BeastText bytes, error_code& error) override {
        error = {};
        body.append(bytes.data(), bytes.size());
        return bytes.size();
    }

    void on_chunk_header_impl(std::uint64_t, BeastText, error_code& error) override { error = {}; }

    std::size_t on_chunk_body_impl(std::uint64_t, BeastText bytes, error_code& error) override {
        return on_body_impl(bytes, error);
    }

    void on_header_impl(error_code& error) override { error = {}; }
    void on_finish_impl(error_code& error) override { error = {}; }

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

class RequestReader final : public Reader<true> {
public:
    using Reader::Reader;

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

class ResponseReader final : public Reader<false> {
public:
    using Reader::Reader;

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

bool has_folded_line(std::string_view head) {
    for (std::size_t at = head.find("\r\n"); at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
        if (head[at + 2] == ' ' || head[at + 2] == '\t') {
            return true;
        }
    }
    return false;
}

// True when some part of a head line or a chunk line is still missing and no error was found.
bool wants_more(const error_code& error) {
    return !error || error == http::error::need_more;
}

}  // namespace

struct HttpRequestParser::State {
    explicit State(HttpParseLimits with) : limits(with) {}

    ParseStep fail(std::size_t consumed, HttpFault why) {
        fault = why;
        return {consumed, ParseStatus::failed};
    }

    ParseStep fail(std::size_t consumed, const error_code& error) {
        if (reader->refusal) {
            return fail(consumed, *reader->refusal);
        }
        const bool is_body = error == http::error::body_limit;
        return fail(consumed, is_body ? HttpFault::body_too_large : HttpFault::invalid_http);
    }

    // Consumes the whole head or nothing of it.
    ParseStep read_head(std::string_view bytes) {
        const std::optional<std::size_t> end = scanner.find_end(bytes);
        if (end.value_or(bytes.size()) > limits.header_bytes_max) {
            const bool has_line = bytes.substr(0, limits.header_bytes_max).contains("\r\n");
            return fail(0, has_line ? HttpFault::headers_too_large : HttpFault::uri_too_long);
        }
        if (!end) {
            return {0, ParseStatus::need_more};
        }
        const std::string_view head = bytes.substr(0, *end);
        if (has_folded_line(head)) {
            return fail(0, HttpFault::invalid_http);
        }
        reader.emplace(limits);
        error_code error;
        reader->put(boost::asio::const_buffer(head.data(), head.size()), error);
        if (error) {
            return fail(0, error);
        }
        continue_asked = reader->expects_continue && bytes.size() == *end && !reader->is_done();
        return {*end, reader->is_done() ? ParseStatus::complete : ParseStatus::need_more};
    }

    ParseStep read_body(std::string_view bytes) {
        error_code error;
        const std::size_t consumed =
            reader->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
        if (!wants_more(error)) {
            return fail(consumed, error);
        }
        if (reader->is_done()) {
            return {consumed, ParseStatus::complete};
        }
        // What is left over is an unfinished chunk line or trailer.
        if (bytes.size() - consumed > limits.header_bytes_max) {
            return fail(consumed, HttpFault::headers_too_large);
        }
        return {consumed, ParseStatus::need_more};
    }

    const HttpParseLimits limits;
    HeadScanner scanner;
    std::optional<RequestReader> reader;  // Present once the head is in.
    std::optional<HttpFault> fault;
    bool continue_asked = false;
};

HttpRequestParser::HttpRequestParser(HttpParseLimits limits)
    : state_(std::make_unique<State>(limits)) {}
HttpRequestParser::~HttpRequestParser() = default;

ParseStep HttpRequestParser::feed(std::string_view bytes) {
    CHECK(!state_->fault && !(state_->reader && state_->reader->is_done()));
    std::size_t consumed = 0;
    if (!state_->reader) {
        // Some clients end a body with one line break too many; RFC 9112 section 2.2 lets it pass.
        while (bytes.substr(consumed).starts_with("\r\n")) {
            consumed += 2;
            state_->scanner = {};
        }
        const ParseStep head = state_->read_head(bytes.substr(consumed));
        consumed += head.consumed;
        if (head.status != ParseStatus::need_more || !state_->reader) {
            return {consumed, head.status};
        }
    }
    if (consumed == bytes.size()) {
        return {consumed, ParseStatus::need_more};
    }
    const ParseStep body = state_->read_body(bytes.substr(consumed));
    return {consumed + body.consumed, body.status};
}

ParsedRequest HttpRequestParser::take() {
    CHECK(state_->reader && state_->reader->is_done());
    RequestReader& reader = *state_->reader;
    ParsedRequest parsed;
    parsed.request.method = std::move(reader.method);
    parsed.request.target = std::move(reader.target);
    parsed.request.headers = std::move(reader.headers);
    parsed.request.body = std::move(reader.body);
    parsed.keep_alive = reader.keep_alive();
    parsed.http_1_0 = reader.http_1_0;
    state_->reader.reset();
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

    ParseStep read_head(std::string_view bytes) {
        const std::optional<std::size_t> end = scanner.find_end(bytes);
        if (end.value_or(bytes.size()) > limits.header_bytes_max) {
            return fail(0, "its headers are too large");
        }
        if (!end) {
            return {0, ParseStatus::need_more};
        }
        reader.emplace(limits);
        reader->skip(to_head);
        error_code error;
        reader->put(boost::asio::const_buffer(bytes.data(), *end), error);
        if (error == http::error::body_limit) {
            return fail(0, "its body is too large");
        }
        if (error || has_folded_line(bytes.substr(0, *end))) {
            return fail(0, "it is not well-formed HTTP");
        }
        if (reader->status < 200) {
            reader.reset();  // "100 Continue" and its like announce the real response.
            return {*end, ParseStatus::need_more};
        }
        response.status = reader->status;
        response.headers = std::move(reader->headers);
        return {*end, reader->is_done() ? ParseStatus::complete : ParseStatus::need_more};
    }

    ParseStep read_body(std::string_view bytes) {
        error_code error;
        const std::size_t consumed =
            reader->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
        response.body += reader->body;
        reader->body.clear();
        if (error == http::error::body_limit) {
            return fail(consumed, "its body is too large");
        }
        if (!wants_more(error)) {
            return fail(consumed, "its body is not well-formed HTTP");
        }
        if (!reader->is_done() && bytes.size() - consumed > limits.header_bytes_max) {
            return fail(consumed, "a chunk line is too long");
        }
        return {consumed, reader->is_done() ? ParseStatus::complete : ParseStatus::need_more};
    }

    const HttpParseLimits limits;
    const bool to_head;
    HeadScanner scanner;
    std::optional<ResponseReader> reader;
    HttpResponse response;
    std::string_view problem;
};

HttpResponseParser::HttpResponseParser(HttpParseLimits limits, bool to_head)
    : state_(std::make_unique<State>(limits, to_head)) {}
HttpResponseParser::~HttpResponseParser() = default;

ParseStep HttpResponseParser::feed(std::string_view bytes) {
    std::size_t consumed = 0;
    while (!state_->reader) {
        const ParseStep head = state_->read_head(bytes.substr(consumed));
        consumed += head.consumed;
        if (head.status != ParseStatus::need_more || head.consumed == 0) {
            return {consumed, head.status};
        }
    }
    if (consumed == bytes.size()) {
        return {consumed, ParseStatus::need_more};
    }
    const ParseStep body = state_->read_body(bytes.substr(consumed));
    return {consumed + body.consumed, body.status};
}

ParseStatus HttpResponseParser::feed_end() {
    if (state_->reader && state_->reader->need_eof()) {
        return ParseStatus::complete;
    }
    return state_->fail(0, "the connection ended in the middle of it").status;
}

bool HttpResponseParser::head_done() const {
    return state_->reader.has_value();
}
bool HttpResponseParser::keep_alive() const {
    return state_->reader->keep_alive();
}
HttpResponse& HttpResponseParser::response() {
    return state_->response;
}
std::string_view HttpResponseParser::problem() const {
    return state_->problem;
}

}  // namespace interlock
