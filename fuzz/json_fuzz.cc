// Fuzzes the JSON reader: whatever it accepts must survive being written and read again, and the
// canonical text must be a fixed point, because that text is what we hash and sign.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/canonical_json.h"
#include "base/check.h"
#include "base/json.h"

namespace interlock {

void try_text(std::string_view text) {
    const auto json = parse_json(text);
    if (!json) {
        CHECK(!json.error().message.empty());
        return;
    }
    const auto again = parse_json(to_text(*json));
    CHECK(again && *again == *json);
    const auto from_pretty = parse_json(to_pretty_text(*json));
    CHECK(from_pretty && *from_pretty == *json);

    const auto canonical = canonical_json(*json);
    if (!canonical) {
        return;  // A number that has no canonical form.
    }
    const auto canonical_value = parse_json(*canonical);
    CHECK(canonical_value);
    const auto canonical_again = canonical_json(*canonical_value);
    CHECK(canonical_again && *canonical_again == *canonical);
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_text(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
