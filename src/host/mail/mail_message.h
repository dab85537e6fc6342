// A letter as the text that travels (RFC 5322, 2045, 2047): headers and a body that every mail
// program shows as it was written, whatever its language.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "host/ports/mailer.h"

namespace interlock {

struct MailStamp {
    std::string from;  // A bare address.
    std::string id;    // Unique; becomes "<id@host of from>".
    Timestamp at;
};

// The whole message with '\n' at line ends. `mail` and `from` were checked before. Plain ASCII is
// left as it is, so that links can be read and copied; anything else is quoted-printable.
std::string compose_mail(const Mail& mail, const MailStamp& stamp);

// "Sun, 15 Nov 2026 12:00:00 +0000".
std::string mail_date(Timestamp at);

// A header's text: ASCII as it is, anything else as encoded words of whole characters.
std::string encode_mail_header(std::string_view text);

// '\n' becomes the line end of SMTP.
std::string with_crlf(std::string_view text);

}  // namespace interlock
