// Typed ids. Two ids of different things never mix; an id is never a bare string in a signature.
//
// Every id obeys one alphabet so that it can stand in a path, a log line and a SQL row unescaped:
// 1 to 128 visible ASCII characters without '"', '\\', '/', '%', '?' and '#'.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kIdLengthMax = 128;

// True when `text` may be the text of an id.
bool is_id_text(std::string_view text);

// The error parse() gives; `name` is the field's wire name.
std::unexpected<Error> bad_id(std::string_view name, std::string_view text);

template <class Tag>
class Id {
public:
    Id() = default;  // Empty: "none"; parse() never yields it.

    // For ids that the program itself made or that were validated when first stored.
    static Id trusted(std::string text) {
        Id id;
        id.text_ = std::move(text);
        return id;
    }

    static Result<Id> parse(std::string_view text) {
        if (!is_id_text(text)) {
            return bad_id(Tag::name, text);
        }
        return trusted(std::string(text));
    }

    const std::string& text() const { return text_; }
    bool empty() const { return text_.empty(); }

    friend bool operator==(const Id&, const Id&) = default;
    friend auto operator<=>(const Id&, const Id&) = default;

private:
    std::string text_;
};

}  // namespace interlock

template <class Tag>
struct std::hash<interlock::Id<Tag>> {
    std::size_t operator()(const interlock::Id<Tag>& id) const noexcept {
        return std::hash<std::string>{}(id.text());
    }
};
