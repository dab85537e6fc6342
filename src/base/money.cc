// Money arithmetic: the amounts are Decimal's, what is added here is the check that the assets
// agree.
#include "base/money.h"

#include <algorithm>

#include "base/errors.h"

namespace interlock {
namespace {

std::unexpected<Error> mismatch(const Asset& a, const Asset& b) {
    return fail(
        errors::asset_mismatch,
        "amounts of " + std::string(a.text()) + " and " + std::string(b.text()) + " do not mix");
}

template <class Amount>
Result<Amount> combine(
    const Amount& a, const Amount& b, Result<Decimal> (*operation)(Decimal, Decimal)) {
    if (a.asset != b.asset) {
        return mismatch(a.asset, b.asset);
    }
    TRY_ASSIGN(const Decimal amount, operation(a.amount, b.amount));
    return Amount{amount, a.asset};
}

template <class Amount>
Result<std::strong_ordering> compare_amounts(const Amount& a, const Amount& b) {
    if (a.asset != b.asset) {
        return mismatch(a.asset, b.asset);
    }
    return a.amount <=> b.amount;
}

Result<Notional> multiply(
    const Price& price, const Quantity& quantity, Result<Decimal> (*operation)(Decimal, Decimal)) {
    if (price.base != quantity.asset) {
        return mismatch(price.base, quantity.asset);
    }
    TRY_ASSIGN(const Decimal amount, operation(price.amount, quantity.amount));
    return Notional{amount, price.quote};
}

}  // namespace

Result<Asset> Asset::parse(std::string_view text) {
    const bool allowed = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
    if (text.empty() || text.size() > kLengthMax || !allowed) {
        return fail(
            errors::invalid_request,
            "an asset's code must have 1 to " + std::to_string(kLengthMax) +
                " characters from A-Z and 0-9");
    }
    Asset asset;
    std::copy(text.begin(), text.end(), asset.text_);
    asset.length_ = static_cast<std::uint8_t>(text.size());
    return asset;
}

Result<Quantity> add(const Quantity& a, const Quantity& b) {
    return combine(a, b, add);
}

Result<Quantity> subtract(const Quantity& a, const Quantity& b) {
    return combine(a, b, subtract);
}

Result<Notional> add(const Notional& a, const Notional& b) {
    return combine(a, b, add);
}

Result<Notional> subtract(const Notional& a, const Notional& b) {
    return combine(a, b, subtract);
}

Result<Notional> multiply_round_down(const Price& price, const Quantity& quantity) {
    return multiply(price, quantity, multiply_round_down);
}

Result<Notional> multiply_round_up(const Price& price, const Quantity& quantity) {
    return multiply(price, quantity, multiply_round_up);
}

Result<std::strong_ordering> compare(const Quantity& a, const Quantity& b) {
    return compare_amounts(a, b);
}

Result<std::strong_ordering> compare(const Notional& a, const Notional& b) {
    return compare_amounts(a, b);
}

Result<std::strong_ordering> compare(const Price& a, const Price& b) {
    if (a.base != b.base) {
        return mismatch(a.base, b.base);
    }
    if (a.quote != b.quote) {
        return mismatch(a.quote, b.quote);
    }
    return a.amount <=> b.amount;
}

}  // namespace interlock
