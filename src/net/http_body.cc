// Reads bodies. RFC 9112 section 7.1 for chunks, strictly: CR LF only, no sign, no prefix, no
// space.
#include "net/http_body.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace interlock {
namespace {

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

// The size at the start of a chunk line, behind which only an extension may follow.
std::optional<std::uint64_t> chunk_size_of(std::string_view line) {
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    const bool is_whole = end == line.data() + line.size() || *end == ';';
    if (error != std::errc() || !is_whole) {
        return std::nullopt;
    }
    return size;
}

// Trailers are read past, not used; but one that speaks of framing is an attempt at something.
bool is_harmless_trailer(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || line.starts_with(' ') ||
        line.starts_with('\t')) {
        return false;
    }
    const std::string_view name = line.substr(0, colon);
    return !equal_ignoring_case(name, "Content-Length") &&
           !equal_ignoring_case(name, "Transfer-Encoding");
}

}  // namespace

HttpBodyReader::HttpBodyReader(Part part, std::uint64_t left, HttpParseLimits limits)
    : part_(part),
      left_(left),
      line_bytes_max_(limits.header_bytes_max),
      budget_(limits.body_bytes_max) {}

HttpBodyReader HttpBodyReader::of_length(std::uint64_t length, HttpParseLimits limits) {
    HttpBodyReader reader(length == 0 ? Part::done : Part::length, length, limits);
    if (!reader.take_from_budget(length)) {
        reader.fail(HttpFault::body_too_large);
    }
    return reader;
}

HttpBodyReader HttpBodyReader::of_chunks(HttpParseLimits limits) {
    return HttpBodyReader(Part::chunk_line, 0, limits);
}

HttpBodyReader HttpBodyReader::until_close(HttpParseLimits limits) {
    return HttpBodyReader(Part::until_close, 0, limits);
}

ParseStep HttpBodyReader::feed(std::string_view bytes, std::string& body) {
    std::size_t consumed = 0;
    while (!has_failed_ && part_ != Part::done) {
        const std::size_t count = step(bytes.substr(consumed), body);
        consumed += count;
        if (count == 0) {
            break;
        }
    }
    if (has_failed_) {
        return {consumed, ParseStatus::failed};
    }
    return {consumed, part_ == Part::done ? ParseStatus::complete : ParseStatus::need_more};
}

// Consumes something, or nothing when more bytes are needed.
std::size_t HttpBodyReader::step(std::string_view bytes, std::string& body) {
    switch (part_) {
        case Part::length:
            return read_data(bytes, body, Part::done);
        case Part::chunk_data:
            return read_data(bytes, body, Part::chunk_end);
        case Part::chunk_line:
            return read_chunk_line(bytes);
        case Part::chunk_end:
            return read_chunk_end(bytes);
        case Part::trailers:
            return read_trailer(bytes);
        case Part::until_close:
            if (!take_from_budget(bytes.size())) {
                fail(HttpFault::body_too_large);
                return 0;
            }
            body += bytes;
            return bytes.size();
        case Part::done:
            break;
    }
    return 0;
}

std::size_t HttpBodyReader::read_data(std::string_view bytes, std::string& body, Part next) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
    body += bytes.substr(0, count);
    left_ -= count;
    if (left_ == 0) {
        part_ = next;
    }
    return count;
}

std::size_t HttpBodyReader::read_chunk_line(std::string_view bytes) {
    const std::optional<std::string_view> line = find_line(bytes, line_bytes_max_);
    if (!line) {
        return 0;
    }
    const std::optional<std::uint64_t> size = chunk_size_of(*line);
    if (!size) {
        fail(HttpFault::invalid_http);
        return 0;
    }
    if (!take_from_budget(*size)) {
        fail(HttpFault::body_too_large);
        return 0;
    }
    left_ = *size;
    part_ = *size == 0 ? Part::trailers : Part::chunk_data;
    return line->size() + 2;
}

std::size_t HttpBodyReader::read_chunk_end(std::string_view bytes) {
    if (bytes.size() < 2) {
        return 0;
    }
    if (!bytes.starts_with("\r\n")) {
        fail(HttpFault::invalid_http);
        return 0;
    }
    part_ = Part::chunk_line;
    return 2;
}

std::size_t HttpBodyReader::read_trailer(std::string_view bytes) {
    const std::optional<std::string_view> line = find_line(bytes, line_bytes_max_ - trailer_bytes_);
    if (!line) {
        return 0;
    }
    if (line->empty()) {
        part_ = Part::done;
        return 2;
    }
    if (!is_harmless_trailer(*line)) {
        fail(HttpFault::invalid_http);
        return 0;
    }
    trailer_bytes_ += line->size();
    return line->size() + 2;
}

// The line at the start of `bytes` without its end; nothing when it is incomplete or refused.
std::optional<std::string_view> HttpBodyReader::find_line(
    std::string_view bytes, std::size_t bytes_max) {
    const std::size_t end = bytes.find('\n');
    // With its CR a line may be one byte longer than its bound.
    if (std::min(end, bytes.size()) > bytes_max + 1) {
        fail(HttpFault::headers_too_large);
        return std::nullopt;
    }
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view line = bytes.substr(0, end == 0 ? 0 : end - 1);
    if (end == 0 || bytes[end - 1] != '\r' || std::ranges::any_of(line, is_control)) {
        fail(HttpFault::invalid_http);
        return std::nullopt;
    }
    return line;
}

void HttpBodyReader::fail(HttpFault fault) {
    has_failed_ = true;
    fault_ = fault;
}

bool HttpBodyReader::take_from_budget(std::uint64_t bytes) {
    if (bytes > budget_) {
        return false;
    }
    budget_ -= bytes;
    return true;
}

}  // namespace interlock
