// A letter to a person: an activation link, an alert. What may be in one is said here, so that
// every way of sending it agrees, and nothing in it can become a header or a command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kMailAddressBytesMax = 254;
inline constexpr std::size_t kMailSubjectBytesMax = 200;
inline constexpr std::size_t kMailTextBytesMax = std::size_t{64} * 1024;

struct Mail {
    std::string to;       // One bare address: "name@host".
    std::string subject;  // One line, UTF-8.
    std::string text;     // UTF-8; lines end with '\n'.
};

// A bare address in ASCII that can stand in an SMTP command and a header as it is: no quotes, no
// spaces, no control characters, one '@'.
bool is_mail_address(std::string_view text);

// `invalid_request` names every part that is out of bounds or could smuggle a header.
Result<void> check_mail(const Mail& mail);

}  // namespace interlock
