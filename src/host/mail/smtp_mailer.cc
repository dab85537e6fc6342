#include "host/mail/smtp_mailer.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/errors.h"
#include "base/text.h"
#include "host/mail/mail_message.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kTlsWords{"none", "starttls", "implicit"};
constexpr std::size_t kLoginBytesMax = 512;

using EasyPtr = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using ListPtr = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

std::unexpected<Error> bad_setting(std::string_view key, std::string_view problem) {
    return fail(errors::invalid_config, "mail." + std::string(key) + " " + std::string(problem));
}

// A name or an address of version 4: nothing that could end the host of a URL.
bool is_host_text(std::string_view text) {
    return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.';
    });
}

bool is_this_machine(std::string_view host) {
    return host == "127.0.0.1" || equal_ignoring_case(host, "localhost");
}

bool is_login_text(std::string_view text) {
    return text.size() <= kLoginBytesMax && std::all_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
           });
}

bool is_timeout(std::chrono::milliseconds span) {
    return span.count() > 0 && span <= kSmtpTimeoutMax;
}

struct Unsent {
    std::string_view bytes;
};

std::size_t give_bytes(char* into, std::size_t size, std::size_t count, void* from) {
    std::string_view& left = static_cast<Unsent*>(from)->bytes;
    const std::size_t given = std::min(size * count, left.size());
    std::memcpy(into, left.data(), given);
    left.remove_prefix(given);
    return given;
}

void set_server(CURL* easy, const SmtpSettings& settings) {
    const std::string scheme = settings.tls == SmtpTls::implicit ? "smtps://" : "smtp://";
    // The path is the name we greet with; the default would tell this machine's own.
    const std::string url = scheme + settings.host + ":" + std::to_string(settings.port) + "/" +
                            settings.from.substr(settings.from.find('@') + 1);
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");  // Whatever the environment says.
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(
        easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.connect_timeout.count()));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(settings.timeout.count()));
    // The timeout above ends with the letter; this one also bounds the goodbye.
    curl_easy_setopt(
        easy,
        CURLOPT_SERVER_RESPONSE_TIMEOUT,
        static_cast<long>(std::chrono::ceil<std::chrono::seconds>(settings.timeout).count()));
    if (settings.tls == SmtpTls::starttls) {
        curl_easy_setopt(easy, CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL));
    }
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!settings.ca_file.empty()) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, settings.ca_file.c_str());
        curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    }
}

void set_login(CURL* easy, const SmtpSettings& settings) {
    if (settings.user.empty()) {
        return;
    }
    curl_easy_setopt(easy, CURLOPT_USERNAME, settings.user.c_str());
    std::string password(settings.password.reveal());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, password.c_str());
    wipe(password);
    curl_easy_setopt(easy, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN");
}

// What libcurl says of a failure, with the server's last number. The server's own words are left
// out: they are not ours to repeat and may quote the letter.
Result<void> verdict(CURLcode outcome, long reply) {
    if (outcome == CURLE_OK) {
        return {};
    }
    const std::string why = std::string(curl_easy_strerror(outcome)) +
                            (reply > 0 ? " (last reply " + std::to_string(reply) + ")" : "");
    const bool is_about_tls =
        outcome == CURLE_USE_SSL_FAILED || outcome == CURLE_PEER_FAILED_VERIFICATION ||
        outcome == CURLE_SSL_CONNECT_ERROR || outcome == CURLE_SSL_CACERT_BADFILE;
    if (is_about_tls) {
        return fail(
            errors::mail_unavailable,
            "There is no trusted TLS connection to the mail server: " + why + ".",
            "Check mail.smtp_tls, mail.smtp_port and the server's certificate.");
    }
    const bool is_for_good = reply >= 500 && reply < 600 && outcome != CURLE_OPERATION_TIMEDOUT;
    if (is_for_good && outcome == CURLE_LOGIN_DENIED) {
        return fail(
            errors::mail_refused,
            "The mail server refused the login: " + why + ".",
            "Check mail.smtp_user and the password.");
    }
    if (is_for_good) {
        return fail(errors::mail_refused, "The mail server refused the letter: " + why + ".");
    }
    return fail(errors::mail_unavailable, "The letter was not delivered: " + why + ".");
}

}  // namespace

std::string_view to_word(SmtpTls tls) {
    return kTlsWords[static_cast<std::size_t>(tls)];
}

Result<SmtpTls> parse_smtp_tls(std::string_view word) {
    const auto found = std::find(kTlsWords.begin(), kTlsWords.end(), word);
    if (found == kTlsWords.end()) {
        return bad_setting("smtp_tls", "must be none, starttls or implicit");
    }
    return static_cast<SmtpTls>(found - kTlsWords.begin());
}

Result<void> check_smtp_settings(const SmtpSettings& settings) {
    if (!is_host_text(settings.host)) {
        return bad_setting("smtp_host", "must be a host name or an address");
    }
    if (settings.port == 0) {
        return bad_setting("smtp_port", "must be from 1 to 65535");
    }
    if (!is_mail_address(settings.from)) {
        return bad_setting("from", "must be one plain e-mail address");
    }
    if (!is_login_text(settings.user)) {
        return bad_setting("smtp_user", "must be one line of at most 512 bytes");
    }
    if (!is_login_text(settings.password.reveal()) ||
        settings.user.empty() != settings.password.empty()) {
        return bad_setting("smtp_password", "belongs to mail.smtp_user: give both or neither");
    }
    if (!settings.user.empty() && settings.tls == SmtpTls::none &&
        !is_this_machine(settings.host)) {
        return bad_setting("smtp_tls", "must not be none when a password goes to another machine");
    }
    if (!is_timeout(settings.connect_timeout) || !is_timeout(settings.timeout)) {
        return bad_setting("smtp_timeout_seconds", "must be above 0 and at most 300");
    }
    return {};
}

Result<std::unique_ptr<SmtpMailer>> SmtpMailer::open(Parts parts) {
    TRY(check_smtp_settings(parts.settings));
    return std::unique_ptr<SmtpMailer>(new SmtpMailer(std::move(parts)));
}

Result<void> SmtpMailer::send(const Mail& mail) {
    TRY(check_mail(mail));
    const SmtpSettings& settings = parts_.settings;
    const std::string letter = with_crlf(compose_mail(
        mail, {.from = settings.from, .id = parts_.ids.new_id("mail"), .at = parts_.clock.now()}));
    const EasyPtr easy(curl_easy_init(), &curl_easy_cleanup);
    const ListPtr to(
        curl_slist_append(nullptr, ("<" + mail.to + ">").c_str()), &curl_slist_free_all);
    if (!easy || !to) {
        return fail(errors::mail_unavailable, "There is no memory for a letter.");
    }
    set_server(easy.get(), settings);
    set_login(easy.get(), settings);
    Unsent unsent{letter};
    curl_easy_setopt(easy.get(), CURLOPT_MAIL_FROM, ("<" + settings.from + ">").c_str());
    curl_easy_setopt(easy.get(), CURLOPT_MAIL_RCPT, to.get());
    curl_easy_setopt(easy.get(), CURLOPT_READFUNCTION, give_bytes);
    curl_easy_setopt(easy.get(), CURLOPT_READDATA, &unsent);
    curl_easy_setopt(easy.get(), CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(letter.size()));
    curl_easy_setopt(easy.get(), CURLOPT_UPLOAD, 1L);
    const CURLcode outcome = curl_easy_perform(easy.get());
    long reply = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &reply);
    return verdict(outcome, reply);
}

}  // namespace interlock
