#include "app/wiring/mail_setup.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/errors.h"
#include "engine/system/durable_file.h"
#include "host/mail/open_mailer.h"

namespace interlock {
namespace {

constexpr std::size_t kPasswordBytesMax = 512;

Result<SecretString> read_password(const std::string& path) {
    struct stat found;
    if (stat(path.c_str(), &found) != 0) {
        return fail(errors::invalid_config, "mail.smtp_password_file: there is no " + path);
    }
    if ((found.st_mode & 077) != 0) {
        return fail(
            errors::invalid_config,
            "mail.smtp_password_file: " + path + " can be read by others",
            "Run chmod 600 on it, and change the password if others were there.");
    }
    TRY_ASSIGN(std::string text, read_small_file(path, kPasswordBytesMax));
    text.resize(std::min(text.size(), text.find_first_of("\r\n")));
    return SecretString(std::move(text));
}

}  // namespace

Result<std::unique_ptr<Mailer>> open_configured_mailer(
    const Config& config, Clock& clock, IdSource& ids, LetterRoom room) {
    MailSettings settings;
    settings.files_max = room == LetterRoom::half ? kOutboxFilesMax / 2 : kOutboxFilesMax;
    settings.delivery = config.mail_delivery;
    settings.folder =
        config.mail_folder.empty() ? config.data_folder + "/outbox" : config.mail_folder;
    settings.from = config.mail_from;
    if (config.mail_delivery == "smtp") {
        SmtpSettings& smtp = settings.smtp;
        smtp.host = config.mail_smtp_host;
        smtp.port = config.mail_smtp_port;
        TRY_ASSIGN(smtp.tls, parse_smtp_tls(config.mail_smtp_tls));
        smtp.user = config.mail_smtp_user;
        if (!config.mail_smtp_password_file.empty()) {
            TRY_ASSIGN(smtp.password, read_password(config.mail_smtp_password_file));
        }
        smtp.ca_file = config.mail_smtp_ca_file;
        smtp.timeout = std::chrono::seconds(config.mail_smtp_timeout_seconds);
        smtp.connect_timeout = smtp.timeout / 3;
    }
    return open_mailer(std::move(settings), clock, ids);
}

}  // namespace interlock
