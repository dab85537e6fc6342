// Where a message body ends and what is in it: a declared length, chunks, or everything until the
// peer closes. Without sockets, and the same result however the bytes arrive.
//
// Chunks are decoded here and not by Beast, whose chunk reader (1.81) trips over its own assertion
// when the last chunk "0 CR LF" and the following CR LF arrive in separate pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_format.h"

namespace interlock {

class HeadGate;  // net/http_parse.h

struct HttpParseLimits {
    std::size_t header_bytes_max = 16 * 1024;  // Also of one chunk's head line, and of trailers.
    std::size_t body_bytes_max = 1024 * 1024;
    HeadGate* gate = nullptr;  // Of requests; null: none. Outlives the parser.
};

enum class ParseStatus { need_more, complete, failed };

struct ParseStep {
    std::size_t consumed = 0;
    ParseStatus status = ParseStatus::need_more;
};

class HttpBodyReader {
public:
    static HttpBodyReader of_length(std::uint64_t length, HttpParseLimits limits);
    static HttpBodyReader of_chunks(HttpParseLimits limits);
    static HttpBodyReader until_close(HttpParseLimits limits);

    // Appends body bytes to `body`. What is not consumed must be offered again, with more behind.
    ParseStep feed(std::string_view bytes, std::string& body);

    bool ends_with_close() const { return part_ == Part::until_close; }
    bool is_complete() const { return part_ == Part::done; }
    HttpFault fault() const { return fault_; }  // After `failed`.

private:
    enum class Part { length, chunk_line, chunk_data, chunk_end, trailers, until_close, done };

    HttpBodyReader(Part part, std::uint64_t left, HttpParseLimits limits);

    std::size_t step(std::string_view bytes, std::string& body);
    std::size_t read_data(std::string_view bytes, std::string& body, Part next);
    std::size_t read_chunk_line(std::string_view bytes);
    std::size_t read_chunk_end(std::string_view bytes);
    std::size_t read_trailer(std::string_view bytes);
    std::optional<std::string_view> find_line(std::string_view bytes, std::size_t bytes_max);
    void fail(HttpFault fault);
    bool take_from_budget(std::uint64_t bytes);

    Part part_;
    std::uint64_t left_;  // Of the body or of the current chunk.
    std::size_t line_bytes_max_;
    std::uint64_t budget_;  // How much body may still come.
    std::size_t trailer_bytes_ = 0;
    bool has_failed_ = false;
    HttpFault fault_ = HttpFault::invalid_http;
};

}  // namespace interlock
