// Letters to people: activation links, alerts. An adapter delivers them by SMTP or leaves them in a
// folder (adapters/mail); what may be in one is checked here, so that all adapters agree.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

namespace errors {
// The mail server said no for good; the same letter would be refused again.
inline constexpr ErrorKind mail_refused{
    "mail_refused", 502, false, "Check the address and the settings under [mail]."};
// Not delivered as far as we know. After a cut at the very end it may have been; a second copy does
// no harm.
inline constexpr ErrorKind mail_unavailable{
    "mail_unavailable", 503, true, "Send it again later; check the settings under [mail]."};
}  // namespace errors

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

class Mailer {
public:
    virtual ~Mailer() = default;
    // Any thread; may take as long as its timeouts say, so never from the engine or a network
    // thread. Success means that the next station has taken charge of the letter.
    virtual Result<void> send(const Mail& mail) = 0;
};

}  // namespace interlock
