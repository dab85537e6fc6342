// Money with its meaning in the type. A Price, a Quantity and a Notional never mix, and each
// carries the asset(s) it is counted in: base units read as quote units have cost other systems
// real money.
//
// The only product is price × quantity. Mixing assets is an Error, checked at run time; mixing
// kinds does not compile.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/decimal.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind asset_mismatch{
    "asset_mismatch", 422, false, "Use amounts of the same asset, or convert them first."};
}  // namespace errors

// An asset's code ("BTC", "USDT"): 1 to 20 characters A–Z, 0–9, held inline so that money copies
// without allocating.
class Asset {
public:
    static constexpr std::size_t kLengthMax = 20;
    constexpr Asset() = default;
    static Result<Asset> parse(std::string_view text);
    std::string_view text() const { return {text_, length_}; }
    friend bool operator==(const Asset&, const Asset&) = default;
    friend auto operator<=>(const Asset& a, const Asset& b) { return a.text() <=> b.text(); }

private:
    char text_[kLengthMax] = {};
    std::uint8_t length_ = 0;
};

struct Quantity {
    Decimal amount;
    Asset asset;  // The base asset.
};

struct Notional {
    Decimal amount;
    Asset asset;  // The quote asset.
};

struct Price {
    Decimal amount;  // Quote units for one base unit.
    Asset base;
    Asset quote;
};

Result<Quantity> add(const Quantity& a, const Quantity& b);
Result<Quantity> subtract(const Quantity& a, const Quantity& b);
Result<Notional> add(const Notional& a, const Notional& b);
Result<Notional> subtract(const Notional& a, const Notional& b);
Result<Notional> multiply_round_down(const Price& price, const Quantity& quantity);
Result<Notional> multiply_round_up(const Price& price, const Quantity& quantity);

// Comparison needs the same asset; anything else is a bug in the caller's reasoning.
Result<std::strong_ordering> compare(const Quantity& a, const Quantity& b);
Result<std::strong_ordering> compare(const Notional& a, const Notional& b);
Result<std::strong_ordering> compare(const Price& a, const Price& b);

}  // namespace interlock
