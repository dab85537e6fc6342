#include "market/wire/market_fields.h"

namespace interlock {

Symbol read_stored_symbol(FieldReader& in, std::string_view key) {
    const std::string text = in.required_text(key, {.length_max = Symbol::kLengthMax});
    if (text.empty()) {
        return {};
    }
    const auto symbol = Symbol::parse(text);
    if (!symbol || symbol->text() != text) {
        in.add_problem(key, "expected a symbol of upper-case letters and digits");
        return {};
    }
    return *symbol;
}

Asset read_stored_asset(FieldReader& in, std::string_view key) {
    const std::string text = in.required_text(key, {.length_max = Asset::kLengthMax});
    if (text.empty()) {
        return {};
    }
    const auto asset = Asset::parse(text);
    if (!asset || asset->text() != text) {
        in.add_problem(key, "expected an asset of upper-case letters and digits");
        return {};
    }
    return *asset;
}

Timestamp read_stored_time(FieldReader& in, std::string_view key) {
    return {in.required_integer(key, -kStoredMicrosecondsMax, kStoredMicrosecondsMax)};
}

}  // namespace interlock
