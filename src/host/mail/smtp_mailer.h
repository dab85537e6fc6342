// Hands letters to a mail server by SMTP, through libcurl: STARTTLS or TLS from the first byte,
// AUTH PLAIN or LOGIN, and an end to every wait. One connection for each letter.
//
// Encryption is never given up silently: with `starttls` a server that does not offer it gets no
// letter, certificates are always checked, and a password leaves in clear for this machine only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/secret_string.h"
#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"
#include "host/ports/mailer.h"

namespace interlock {

enum class SmtpTls { none, starttls, implicit };
std::string_view to_word(SmtpTls tls);
Result<SmtpTls> parse_smtp_tls(std::string_view word);

inline constexpr std::chrono::milliseconds kSmtpTimeoutMax{300'000};

struct SmtpSettings {
    std::string host;
    std::uint16_t port = 587;
    SmtpTls tls = SmtpTls::starttls;
    std::string user;  // Empty: no login.
    SecretString password;
    std::string from;
    std::string ca_file;  // Trusted instead of the system's authorities; empty: those.
    std::chrono::milliseconds connect_timeout{10'000};
    // Of a whole letter. A server that has it and does not answer our goodbye is given as long
    // again, in whole seconds.
    std::chrono::milliseconds timeout{30'000};
};

// `invalid_config` says which setting under [mail] is wrong.
Result<void> check_smtp_settings(const SmtpSettings& settings);

class SmtpMailer final : public Mailer {
public:
    struct Parts {
        SmtpSettings settings;
        Clock& clock;
        IdSource& ids;
    };
    static Result<std::unique_ptr<SmtpMailer>> open(Parts parts);

    Result<void> send(const Mail& mail) override;

private:
    explicit SmtpMailer(Parts parts) : parts_(std::move(parts)) {}

    const Parts parts_;
};

}  // namespace interlock
