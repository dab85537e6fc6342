// Text forms of raw bytes: hex, base64 (with and without padding, url-safe), base32, constant-time
// comparison. Decoders refuse anything that the matching encoder would not have written.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view text);

std::string to_base64(std::string_view bytes);  // With '=' padding.
Result<std::string> from_base64(std::string_view text);
std::string to_base64url(std::string_view bytes);  // No padding.
Result<std::string> from_base64url(std::string_view text);

std::string to_base32(std::string_view bytes);           // RFC 4648 upper case, no padding.
std::string to_base32_lower(std::string_view bytes);     // The same in lower case.
Result<std::string> from_base32(std::string_view text);  // Either case, padding optional.

// Takes the same time whatever differs, for equal lengths.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace interlock
