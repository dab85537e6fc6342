// Fuzzes the reader of decimals: an accepted text has one canonical form, which reads back as the
// same value, and arithmetic on it never wraps.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/decimal.h"

namespace interlock {

void try_text(std::string_view text) {
    const auto value = Decimal::parse(text);
    if (!value) {
        CHECK(!value.error().message.empty());
        return;
    }
    const std::string canonical = to_text(*value);
    const auto again = Decimal::parse(canonical);
    CHECK(again && *again == *value);
    CHECK(to_text(*again) == canonical);
    CHECK(canonical.find_first_of("eE+") == std::string::npos);

    if (const auto sum = add(*value, Decimal(1)); sum) {
        CHECK(*sum > *value);
        const auto back = subtract(*sum, Decimal(1));
        CHECK(back && *back == *value);
    }
    const auto low = multiply_round_down(*value, *value);
    const auto high = multiply_round_up(*value, *value);
    if (low && high) {
        CHECK(!low->is_negative() && *low <= *high);
    }
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_text(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
