// The alphabet of ids. The message of a bad id tells its length and where it breaks the rule, never
// the text itself: a credential pasted into the wrong field must not come back in an answer.
#include "base/ids.h"

#include "base/errors.h"

namespace interlock {
namespace {

bool is_id_character(char c) {
    if (c <= 0x20 || c >= 0x7f) {
        return false;
    }
    return std::string_view("\"\\/%?#").find(c) == std::string_view::npos;
}

}  // namespace

bool is_id_text(std::string_view text) {
    if (text.empty() || text.size() > kIdLengthMax) {
        return false;
    }
    for (const char c : text) {
        if (!is_id_character(c)) {
            return false;
        }
    }
    return true;
}

std::unexpected<Error> bad_id(std::string_view name, std::string_view text) {
    std::string message(name);
    if (text.empty() || text.size() > kIdLengthMax) {
        message += " must have 1 to " + std::to_string(kIdLengthMax) + " characters, found " +
                   std::to_string(text.size());
        return fail(errors::invalid_request, std::move(message));
    }
    std::size_t at = 0;
    while (at < text.size() && is_id_character(text[at])) {
        ++at;
    }
    message += " may hold only visible ASCII characters except \" \\ / % ? #, character " +
               std::to_string(at + 1) + " is another";
    return fail(errors::invalid_request, std::move(message));
}

}  // namespace interlock
