// Fuzzes the reader of RFC 3339 times: an accepted time prints as a time that reads back as the
// same millisecond, and its day starts at or before it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/time.h"

namespace interlock {

void try_text(std::string_view text) {
    const auto at = parse_timestamp(text);
    if (!at) {
        CHECK(!at.error().message.empty());
        return;
    }
    const auto again = parse_timestamp(to_text(*at));
    CHECK(again);
    CHECK(again->microseconds / 1000 == at->microseconds / 1000);
    CHECK(to_text(*again) == to_text(*at));

    const Duration into_day = *at - utc_day_start(*at);
    CHECK(into_day >= Duration{} && into_day < Duration::of_days(1));
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_text(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
