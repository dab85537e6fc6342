#include "market/wire/symbol.h"

#include <string>

#include "base/errors.h"

namespace interlock {

Result<Symbol> Symbol::parse(std::string_view text) {
    Symbol symbol;
    for (const char c : text) {
        if (c == '/' || c == '-' || c == '_' || c == ':') {
            continue;
        }
        const bool lower = c >= 'a' && c <= 'z';
        const bool fits = lower || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!fits || symbol.length_ == kLengthMax) {
            return fail(
                errors::invalid_request, "A symbol is 1 to 20 letters and digits, like BTCUSDT.");
        }
        symbol.text_[symbol.length_++] = lower ? static_cast<char>(c - 'a' + 'A') : c;
    }
    if (symbol.empty()) {
        return fail(
            errors::invalid_request, "A symbol is 1 to 20 letters and digits, like BTCUSDT.");
    }
    return symbol;
}

}  // namespace interlock
