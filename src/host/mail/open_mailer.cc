#include "host/mail/open_mailer.h"

#include <utility>

#include "base/errors.h"

namespace interlock {

Result<std::unique_ptr<Mailer>> open_mailer(MailSettings settings, Clock& clock, IdSource& ids) {
    if (settings.delivery == "file") {
        return FileMailer::open(
            {.folder = std::move(settings.folder),
             .from = std::move(settings.from),
             .clock = clock,
             .ids = ids,
             .files_max = settings.files_max});
    }
    if (settings.delivery == "smtp") {
        settings.smtp.from = std::move(settings.from);
        return SmtpMailer::open({.settings = std::move(settings.smtp), .clock = clock, .ids = ids});
    }
    return fail(errors::invalid_config, "mail.delivery must be file or smtp");
}

}  // namespace interlock
