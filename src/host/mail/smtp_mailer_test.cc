#include "host/mail/smtp_mailer.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>

#include "base/bytes.h"
#include "base/errors.h"
#include "host/mail/open_mailer.h"
#include "host/mail/test_smtp_server.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

using Lines = std::vector<std::string>;

void write_certificate(
    const std::string& certificate_path, const std::string& key_path, const char* names) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("mail"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    ASSERT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
    BIO* file = BIO_new_file(certificate_path.c_str(), "w");
    ASSERT_EQ(PEM_write_bio_X509(file, certificate), 1);
    BIO_free(file);
    file = BIO_new_file(key_path.c_str(), "w");
    ASSERT_EQ(PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr), 1);
    BIO_free(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

class Smtp : public ::testing::Test {
protected:
    Smtp() {
        std::signal(SIGPIPE, SIG_IGN);  // As the server does; OpenSSL's sockets raise it.
    }

    SmtpSettings settings(std::uint16_t port, SmtpTls tls = SmtpTls::none) {
        SmtpSettings made;
        made.host = "127.0.0.1";
        made.port = port;
        made.tls = tls;
        made.from = "desk@interlock.example";
        made.ca_file = tls == SmtpTls::none ? "" : certificate_;
        return made;
    }
    SmtpSettings with_login(SmtpSettings made) {
        made.user = "desk";
        made.password = SecretString("canary-secret");
        return made;
    }
    Result<void> send(SmtpSettings made, const Mail& mail) {
        return (*SmtpMailer::open({.settings = std::move(made), .clock = clock_, .ids = ids_}))
            ->send(mail);
    }
    Result<void> send(SmtpSettings made) {
        return send(
            std::move(made), {.to = "ann@example.org", .subject = "Hello", .text = "A line.\n"});
    }
    // The error of a letter to a server that answers one verb with `reply`.
    Error refusal(const std::string& verb, std::string_view reply) {
        SmtpServer server({.replies = {{verb, std::string(reply)}}});
        SmtpSettings made = settings(server.port());
        if (reply == kSilence || reply == kNoEnd) {
            made.timeout = std::chrono::milliseconds(300);
        }
        const auto sent = send(std::move(made));
        EXPECT_FALSE(sent.has_value()) << verb << " " << reply;
        return sent ? Error{&errors::internal, {}, {}, {}} : sent.error();
    }
    SmtpServer::Script tls_script(bool is_implicit, const char* names = "IP:127.0.0.1") {
        write_certificate(certificate_, key_, names);
        return {.certificate_path = certificate_, .key_path = key_, .is_implicit = is_implicit};
    }
    static bool has(const Lines& lines, std::string_view begin) {
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.starts_with(begin);
        });
    }

    TempFolder folder_;
    const std::string certificate_ = folder_ / "cert.pem";
    const std::string key_ = folder_ / "key.pem";
    FakeClock clock_;
    FakeIdSource ids_;
};

TEST_F(Smtp, DeliversALetter) {
    SmtpServer server({});
    ASSERT_TRUE(send(settings(server.port())));
    const SmtpTalk talk = server.next_talk();
    EXPECT_EQ(
        talk.lines,
        (Lines{
            "EHLO interlock.example",
            "MAIL FROM:<desk@interlock.example>",
            "RCPT TO:<ann@example.org>",
            "DATA",
            "QUIT"}));
    EXPECT_TRUE(talk.data.starts_with("From: desk@interlock.example\r\nTo: ann@example.org\r\n"));
    EXPECT_TRUE(talk.data.ends_with("\r\n\r\nA line."));
}

TEST_F(Smtp, StuffsTheDotsOfALetter) {
    SmtpServer server({});
    ASSERT_TRUE(send(
        settings(server.port()), {"ann@example.org", "Dots", ".\n..two\nx\n.\nRCPT TO:<x@y>\n"}));
    const SmtpTalk talk = server.next_talk();
    EXPECT_TRUE(talk.data.ends_with("\r\n\r\n..\r\n...two\r\nx\r\n..\r\nRCPT TO:<x@y>"))
        << talk.data;
    EXPECT_EQ(talk.lines.back(), "QUIT");
    EXPECT_EQ(talk.lines.size(), 5U);
}

TEST_F(Smtp, SendsNoBareLineEndThatAServerCouldReadAsTheEnd) {
    SmtpServer server({});
    ASSERT_TRUE(send(
        settings(server.port()), {"ann@example.org", "x", "a\n.\r.\r\n.\rMAIL FROM:<eve@x>\r\n"}));
    const SmtpTalk talk = server.next_talk();
    for (std::size_t i = 0; i < talk.data.size(); ++i) {
        if (talk.data[i] == '\n') {
            EXPECT_TRUE(i > 0 && talk.data[i - 1] == '\r');
        }
        if (talk.data[i] == '\r') {
            EXPECT_EQ(talk.data[i + 1], '\n');
        }
    }
    EXPECT_EQ(talk.lines.size(), 5U);
}

TEST_F(Smtp, CarriesTheLargestLetter) {
    SmtpServer server({});
    std::string text;
    while (text.size() + 64 <= kMailTextBytesMax) {
        text += "." + std::string(62, 'x') + "\n";
    }
    ASSERT_TRUE(send(settings(server.port()), {"ann@example.org", "Large", text}));
    const SmtpTalk talk = server.next_talk();
    EXPECT_GT(talk.data.size(), text.size() + text.size() / 64);
}

TEST_F(Smtp, EncodesASubjectInUtf8) {
    SmtpServer server({});
    ASSERT_TRUE(send(settings(server.port()), {"ann@example.org", "Grüße", "x"}));
    EXPECT_NE(
        server.next_talk().data.find("Subject: =?UTF-8?B?R3LDvMOfZQ==?=\r\n"), std::string::npos);
}

TEST_F(Smtp, TalksToNobodyAboutALetterThatCannotBeSent) {
    SmtpServer server({});
    for (const Mail& mail :
         {Mail{"ann@example.org>\r\nRCPT TO:<eve@x", "x", "x"},
          Mail{"ann@example.org", "x\r\nBcc: eve@example.org", "x"}}) {
        EXPECT_EQ(send(settings(server.port()), mail).error(), errors::invalid_request);
    }
    EXPECT_FALSE(server.has_talks());
}

TEST_F(Smtp, LogsInWithPlain) {
    SmtpServer server({.replies = {{"EHLO", "250-mail.test\r\n250 AUTH PLAIN"}}});
    ASSERT_TRUE(send(with_login(settings(server.port()))));
    const SmtpTalk talk = server.next_talk();
    ASSERT_GE(talk.lines.size(), 3U);
    EXPECT_EQ(talk.lines[1], "AUTH PLAIN");
    EXPECT_EQ(talk.lines[2], to_base64(std::string("\0desk\0canary-secret", 19)));
}

TEST_F(Smtp, LogsInWithLogin) {
    SmtpServer server({.replies = {{"EHLO", "250-mail.test\r\n250 AUTH LOGIN"}}});
    ASSERT_TRUE(send(with_login(settings(server.port()))));
    const SmtpTalk talk = server.next_talk();
    ASSERT_GE(talk.lines.size(), 4U);
    EXPECT_EQ(talk.lines[1], "AUTH LOGIN");
    EXPECT_EQ(talk.lines[2], to_base64("desk"));
    EXPECT_EQ(talk.lines[3], to_base64("canary-secret"));
}

TEST_F(Smtp, UsesNoOtherWayToLogIn) {
    SmtpServer server({.replies = {{"EHLO", "250-mail.test\r\n250 AUTH CRAM-MD5 NTLM"}}});
    EXPECT_FALSE(send(with_login(settings(server.port()))));
    EXPECT_FALSE(has(server.next_talk().lines, "AUTH"));
}

TEST_F(Smtp, SaysThatALoginWasRefusedAndNotWithWhat) {
    SmtpServer server({.replies = {{"SECRET", "535 no: canary-secret"}}});
    const auto sent = send(with_login(settings(server.port())));
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error(), errors::mail_refused);
    EXPECT_NE(sent.error().message.find("login"), std::string::npos) << sent.error().message;
    EXPECT_EQ(sent.error().message.find("canary"), std::string::npos) << sent.error().message;
}

TEST_F(Smtp, MayTryALoginAgainThatWasRefusedForNow) {
    SmtpServer server({.replies = {{"SECRET", "454 later"}}});
    EXPECT_EQ(send(with_login(settings(server.port()))).error(), errors::mail_unavailable);
}

TEST_F(Smtp, IsRefusedForGoodByAFiveAtAnyStep) {
    for (const char* verb : {"GREETING", "MAIL", "RCPT", "DATA", "LETTER"}) {
        EXPECT_EQ(refusal(verb, "550 no"), errors::mail_refused) << verb;
    }
}

TEST_F(Smtp, MayTryAgainAfterAFourAtAnyStep) {
    for (const char* verb : {"GREETING", "MAIL", "RCPT", "DATA", "LETTER"}) {
        const Error error = refusal(verb, "451 not now");
        EXPECT_EQ(error, errors::mail_unavailable) << verb << " " << error.message;
        EXPECT_TRUE(error.retryable());
    }
}

TEST_F(Smtp, MayTryAgainWhenTheLineIsCutAtAnyStep) {
    for (const char* verb : {"GREETING", "EHLO", "MAIL", "RCPT", "DATA", "LETTER"}) {
        EXPECT_EQ(refusal(verb, kCut), errors::mail_unavailable) << verb;
    }
}

TEST_F(Smtp, WaitsForNoStepLongerThanItsTimeout) {
    for (const char* verb : {"GREETING", "EHLO", "MAIL", "RCPT", "DATA", "LETTER"}) {
        EXPECT_EQ(refusal(verb, kSilence), errors::mail_unavailable) << verb;
    }
}

TEST_F(Smtp, EndsATalkWhoseReplyNeverEnds) {
    EXPECT_EQ(refusal("EHLO", kNoEnd), errors::mail_unavailable);
}

TEST_F(Smtp, ReadsPastLinesThatAreNoReply) {
    for (const char* line : {"hello", "", "99 short", "2500 long", "\x01\x02"}) {
        EXPECT_EQ(refusal("RCPT", std::string(line) + "\r\n550 no"), errors::mail_refused) << line;
    }
}

TEST_F(Smtp, GreetsAnOldServerTheOldWay) {
    SmtpServer server({.replies = {{"EHLO", "502 what?"}}});
    ASSERT_TRUE(send(settings(server.port())));
    EXPECT_TRUE(has(server.next_talk().lines, "HELO interlock.example"));
}

TEST_F(Smtp, HasDeliveredALetterWhenOnlyTheFarewellFails) {
    for (const std::string_view farewell : {kCut, kSilence, std::string_view("500 no")}) {
        SmtpServer server({.replies = {{"QUIT", std::string(farewell)}}});
        SmtpSettings made = settings(server.port());
        made.timeout = std::chrono::seconds(3);
        EXPECT_TRUE(send(std::move(made))) << farewell;
    }
}

TEST_F(Smtp, FindsNobodyWhereNothingListens) {
    std::uint16_t port = 0;
    {
        SmtpServer server({});
        port = server.port();
    }
    const auto sent = send(settings(port));
    EXPECT_EQ(sent.error(), errors::mail_unavailable);
}

TEST_F(Smtp, EncryptsBeforeTheFirstCommand) {
    SmtpServer server(tls_script(true));
    const auto sent = send(with_login(settings(server.port(), SmtpTls::implicit)));
    ASSERT_TRUE(sent) << sent.error().message;
    const SmtpTalk talk = server.next_talk();
    EXPECT_TRUE(talk.in_tls_at_auth);
    EXPECT_TRUE(talk.in_tls_at_mail);
    EXPECT_FALSE(has(talk.lines, "STARTTLS"));
}

TEST_F(Smtp, EncryptsWithStarttlsBeforeItLogsIn) {
    SmtpServer server(tls_script(false));
    const auto sent = send(with_login(settings(server.port(), SmtpTls::starttls)));
    ASSERT_TRUE(sent) << sent.error().message;
    const SmtpTalk talk = server.next_talk();
    ASSERT_GE(talk.lines.size(), 3U);
    EXPECT_EQ(talk.lines[1], "STARTTLS");
    EXPECT_TRUE(talk.lines[2].starts_with("EHLO"));  // What was said in clear counts no more.
    EXPECT_TRUE(talk.in_tls_at_auth);
    EXPECT_TRUE(talk.in_tls_at_mail);
}

TEST_F(Smtp, SendsNothingToAServerThatWillNotEncrypt) {
    for (const char* reply : {"454 not now", "502 never"}) {
        SmtpServer::Script script = tls_script(false);
        script.replies["STARTTLS"] = reply;
        SmtpServer server(script);
        const auto sent = send(with_login(settings(server.port(), SmtpTls::starttls)));
        EXPECT_EQ(sent.error(), errors::mail_unavailable);
        const SmtpTalk talk = server.next_talk();
        EXPECT_FALSE(has(talk.lines, "AUTH"));
        EXPECT_FALSE(has(talk.lines, "MAIL"));
    }
    SmtpServer plain({});
    write_certificate(certificate_, key_, "IP:127.0.0.1");
    EXPECT_EQ(
        send(with_login(settings(plain.port(), SmtpTls::starttls))).error(),
        errors::mail_unavailable);
    EXPECT_FALSE(has(plain.next_talk().lines, "AUTH"));
}

TEST_F(Smtp, TrustsNoCertificateForAnotherHost) {
    SmtpServer server(tls_script(true, "DNS:other.example"));
    const auto sent = send(settings(server.port(), SmtpTls::implicit));
    EXPECT_EQ(sent.error(), errors::mail_unavailable);
    EXPECT_NE(sent.error().message.find("TLS"), std::string::npos) << sent.error().message;
    EXPECT_FALSE(has(server.next_talk().lines, "MAIL"));
}

TEST_F(Smtp, TrustsNoCertificateThatNobodyVouchesFor) {
    SmtpServer server(tls_script(true));
    SmtpSettings made = settings(server.port(), SmtpTls::implicit);
    made.ca_file = "";  // The system's authorities do not know it.
    EXPECT_EQ(send(std::move(made)).error(), errors::mail_unavailable);
}

TEST_F(Smtp, RefusesSettingsThatCannotWorkOrTellAPassword) {
    const auto problem = [](SmtpSettings made) {
        const auto checked = check_smtp_settings(made);
        return checked ? std::string("(none)")
                       : checked.error().message.substr(0, checked.error().message.find(' '));
    };
    const auto changed = [&](const std::function<void(SmtpSettings&)>& change) {
        SmtpSettings made = with_login(settings(25));
        change(made);
        return problem(std::move(made));
    };
    EXPECT_EQ(changed([](SmtpSettings&) {}), "(none)");
    for (const char* host : {"", "a b", "host/path", "user@host", "[::1]", "a\nb"}) {
        EXPECT_EQ(changed([&](SmtpSettings& made) { made.host = host; }), "mail.smtp_host") << host;
    }
    EXPECT_EQ(changed([](SmtpSettings& made) { made.port = 0; }), "mail.smtp_port");
    EXPECT_EQ(changed([](SmtpSettings& made) { made.from = "desk"; }), "mail.from");
    EXPECT_EQ(changed([](SmtpSettings& made) { made.user = "a\nb"; }), "mail.smtp_user");
    EXPECT_EQ(changed([](SmtpSettings& made) { made.user = ""; }), "mail.smtp_password");
    EXPECT_EQ(changed([](SmtpSettings& made) { made.host = "mail.example"; }), "mail.smtp_tls");
    const std::chrono::milliseconds over = kSmtpTimeoutMax + std::chrono::milliseconds(1);
    EXPECT_EQ(changed([](SmtpSettings& made) { made.timeout = kSmtpTimeoutMax; }), "(none)");
    EXPECT_EQ(
        changed([&](SmtpSettings& made) { made.timeout = over; }), "mail.smtp_timeout_seconds");
    EXPECT_EQ(
        changed([](SmtpSettings& made) { made.connect_timeout = {}; }),
        "mail.smtp_timeout_seconds");
}

TEST_F(Smtp, ReadsItsWordsForTls) {
    for (const SmtpTls tls : {SmtpTls::none, SmtpTls::starttls, SmtpTls::implicit}) {
        EXPECT_EQ(parse_smtp_tls(to_word(tls)).value(), tls);
    }
    EXPECT_EQ(parse_smtp_tls("ssl").error(), errors::invalid_config);
}

TEST_F(Smtp, IsOpenedAsTheSettingsSay) {
    SmtpServer server({});
    MailSettings made;
    made.delivery = "smtp";
    made.from = "desk@interlock.example";
    made.smtp = settings(server.port());
    made.smtp.from = "";
    const auto by_smtp = open_mailer(std::move(made), clock_, ids_);
    ASSERT_TRUE(by_smtp) << by_smtp.error().message;
    EXPECT_TRUE((*by_smtp)->send({"ann@example.org", "x", "x"}));
    MailSettings to_file;
    to_file.folder = folder_ / "outbox";
    const auto by_file = open_mailer(std::move(to_file), clock_, ids_);
    ASSERT_TRUE(by_file) << by_file.error().message;
    EXPECT_TRUE((*by_file)->send({"ann@example.org", "x", "x"}));
    EXPECT_FALSE(std::filesystem::is_empty(folder_ / "outbox"));
    MailSettings neither;
    neither.delivery = "pigeon";
    EXPECT_EQ(open_mailer(std::move(neither), clock_, ids_).error(), errors::invalid_config);
}

}  // namespace
}  // namespace interlock
