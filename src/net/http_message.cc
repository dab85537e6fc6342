// Lookups on HTTP messages: header names without regard to case, the parts of a target.
#include "net/http_message.h"

#include "base/text.h"

namespace interlock {
namespace {

std::optional<std::string_view> find_header(
    const std::vector<HttpHeader>& headers, std::string_view name) {
    for (const HttpHeader& header : headers) {
        if (equal_ignoring_case(header.first, name)) {
            return header.second;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
    return find_header(headers, name);
}

std::string_view HttpRequest::path() const {
    return std::string_view(target).substr(0, target.find('?'));
}

std::string_view HttpRequest::query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string::npos ? std::string_view()
                                     : std::string_view(target).substr(mark + 1);
}

std::optional<std::string> HttpRequest::query_value(std::string_view name) const {
    std::string_view rest = query();
    while (!rest.empty()) {
        const std::size_t end = rest.find('&');
        const std::string_view pair = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        const std::size_t equals = pair.find('=');
        const auto key = percent_decode(pair.substr(0, equals), true);
        if (key != name) {
            continue;
        }
        return equals == std::string_view::npos ? std::string()
                                                : percent_decode(pair.substr(equals + 1), true);
    }
    return std::nullopt;
}

void HttpResponse::set(std::string name, std::string value) {
    for (HttpHeader& header : headers) {
        if (equal_ignoring_case(header.first, name)) {
            header.second = std::move(value);
            return;
        }
    }
    headers.emplace_back(std::move(name), std::move(value));
}

std::optional<std::string_view> HttpResponse::header(std::string_view name) const {
    return find_header(headers, name);
}

HttpResponse text_response(int status, std::string_view content_type, std::string body) {
    HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
    response.headers.emplace_back("Content-Type", content_type);
    return response;
}

}  // namespace interlock
