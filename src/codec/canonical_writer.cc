#include "codec/canonical_writer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/canonical_json.h"
#include "base/errors.h"

namespace interlock {
namespace {

// Up to here every integer is an IEEE double of its own and prints as it is written.
constexpr std::int64_t kPlainIntegerMax = std::int64_t{1} << 53;

}  // namespace

void CanonicalWriter::separate() {
    if (!is_first_) {
        out_ += ',';
    }
    is_first_ = false;
}

// In one piece: rows and records are mostly keys.
void CanonicalWriter::key(std::string_view name) {
    constexpr std::size_t kShort = 60;
    if (name.size() > kShort) {
        separate();
        out_ += '"';
        out_ += name;
        out_ += "\":";
        return;
    }
    std::array<char, kShort + 4> piece;  // NOLINT: every byte that is used is written.
    char* end = piece.data();
    if (!is_first_) {
        *end++ = ',';
    }
    is_first_ = false;
    *end++ = '"';
    end = std::copy(name.begin(), name.end(), end);
    *end++ = '"';
    *end++ = ':';
    out_.append(piece.data(), end);
}

void CanonicalWriter::append(std::string_view text) {
    if (!append_json_string(out_, text) && verdict_) {
        verdict_ = fail(errors::invalid_json, "a text is not UTF-8 and has no canonical form");
    }
}

void CanonicalWriter::item(std::string_view text) {
    separate();
    append(text);
}

void CanonicalWriter::raw_item(std::string_view canonical) {
    separate();
    out_ += canonical;
}

void CanonicalWriter::text(std::string_view name, std::string_view value) {
    key(name);
    append(value);
}

void CanonicalWriter::decimal(std::string_view name, Decimal value) {
    key(name);
    if (value.is_zero()) {
        out_ += "\"0\"";  // Most amounts of most facts.
        return;
    }
    out_ += '"';
    out_ += to_text(value);
    out_ += '"';
}

void CanonicalWriter::decimal(std::string_view name, const std::optional<Decimal>& value) {
    if (value) {
        decimal(name, *value);
    } else {
        raw(name, "null");
    }
}

void CanonicalWriter::integer(std::string_view name, std::int64_t value) {
    key(name);
    if (value > -kPlainIntegerMax && value < kPlainIntegerMax) {
        std::array<char, 24> buffer{};
        const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
        out_.append(buffer.data(), end.ptr);
        return;
    }
    if (auto canonical = canonical_json(Json(value))) {
        out_ += *canonical;
    } else if (verdict_) {
        verdict_ = std::unexpected(std::move(canonical).error());
    }
}

void CanonicalWriter::flag(std::string_view name, bool value) {
    raw(name, value ? "true" : "false");
}

void CanonicalWriter::raw(std::string_view name, std::string_view canonical) {
    key(name);
    out_ += canonical;
}

}  // namespace interlock
