// Sends letters to people: by SMTP, or into a folder (host/mail).
#pragma once

#include "base/result.h"
#include "host/wire/mail.h"

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

class Mailer {
public:
    virtual ~Mailer() = default;
    // Any thread; may take as long as its timeouts say, so never from the engine or a network
    // thread. `invalid_request` when check_mail() refuses the letter. Success means that the next
    // station has taken charge of it.
    virtual Result<void> send(const Mail& mail) = 0;
};

}  // namespace interlock
