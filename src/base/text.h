// Small things std lacks for text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);                       // ASCII only.
bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII only.
// Undoes %XX (and, in queries, '+'); nothing on a malformed escape or an encoded NUL.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);
std::string percent_encode(std::string_view text);

}  // namespace interlock
