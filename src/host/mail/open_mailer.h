// The mailer that the settings under [mail] ask for (docs/operations.md, "Mail").
#pragma once

#include <memory>
#include <string>

#include "host/mail/file_mailer.h"
#include "host/mail/smtp_mailer.h"

namespace interlock {

struct MailSettings {
    std::string delivery = "file";  // Or "smtp".
    std::string folder;             // Of "file".
    std::string from = "interlock@localhost";
    std::size_t files_max = kOutboxFilesMax;  // Of "file".
    SmtpSettings smtp;                        // Its `from` is the one above.
};

Result<std::unique_ptr<Mailer>> open_mailer(MailSettings settings, Clock& clock, IdSource& ids);

}  // namespace interlock
