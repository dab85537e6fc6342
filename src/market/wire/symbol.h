// A market's symbol ("BTCUSDT"): 1 to 20 upper-case letters and digits, held inline so that facts
// and orders copy without allocating. The venue's own spelling, where it differs, stays in its
// adapter.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind asset_not_allowed{
    "asset_not_allowed",
    403,
    false,
    "Leave the named markets out, or ask the account owner to allow them (set_asset_list)."};
}  // namespace errors

class Symbol {
public:
    static constexpr std::size_t kLengthMax = 20;
    constexpr Symbol() = default;
    // Accepts any case and drops '/', '-', '_' and ':' ("btc/usdt" is "BTCUSDT").
    static Result<Symbol> parse(std::string_view text);
    std::string_view text() const { return {text_, length_}; }
    bool empty() const { return length_ == 0; }
    friend bool operator==(const Symbol&, const Symbol&) = default;
    friend auto operator<=>(const Symbol& a, const Symbol& b) { return a.text() <=> b.text(); }

private:
    char text_[kLengthMax] = {};
    std::uint8_t length_ = 0;
};

}  // namespace interlock

template <>
struct std::hash<interlock::Symbol> {
    std::size_t operator()(const interlock::Symbol& symbol) const noexcept {
        return std::hash<std::string_view>{}(symbol.text());
    }
};
