// Appends the parts of a JSON document to a text in RFC 8785 form, in the order the caller names
// them; whoever wants canonical text names keys in canonical order. The tests of each user compare
// with what it stands in for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "base/result.h"

namespace interlock {

class CanonicalWriter {
public:
    // Appends to `out`, which outlives this.
    explicit CanonicalWriter(std::string& out) : out_(out) {}

    void open_object() { open('{'); }
    void close_object() { close('}'); }
    void open_array() { open('['); }
    void close_array() { close(']'); }
    // Before each element of an array that is itself an object or array.
    void next() { separate(); }
    void item(std::string_view text);
    void raw_item(std::string_view canonical);

    // Starts a member; its value follows. Keys are ours: plain characters only.
    void key(std::string_view name);

    void text(std::string_view name, std::string_view value);
    void decimal(std::string_view name, Decimal value);
    void decimal(std::string_view name, const std::optional<Decimal>& value);
    void integer(std::string_view name, std::int64_t value);
    void flag(std::string_view name, bool value);
    // A value that has its canonical text already.
    void raw(std::string_view name, std::string_view canonical);

    // What went wrong first, if anything did; the text is of no use then.
    const Result<void>& verdict() const { return verdict_; }

private:
    void open(char bracket) {
        out_ += bracket;
        is_first_ = true;
    }
    void close(char bracket) {
        out_ += bracket;
        is_first_ = false;
    }
    void separate();
    void append(std::string_view text);

    std::string& out_;
    bool is_first_ = true;
    Result<void> verdict_;
};

}  // namespace interlock
