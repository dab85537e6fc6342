#include "host/mail/mail_message.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "base/text.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

const MailStamp kStamp{.from = "desk@interlock.example", .id = "mail_1", .at = FakeClock::kNoon};

Mail letter(std::string subject, std::string text) {
    return {.to = "ann@example.org", .subject = std::move(subject), .text = std::move(text)};
}

std::string body_of(const std::string& message) {
    return message.substr(message.find("\n\n") + 2);
}

// Undoes quoted-printable, the plain way.
std::string unquoted(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '=') {
            bytes += text[i];
        } else if (text[i + 1] == '\n') {
            i += 1;
        } else {
            bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        }
    }
    return bytes;
}

TEST(MailMessage, IsPlainTextWithItsHeaders) {
    EXPECT_EQ(
        compose_mail(letter("Activate", "Open http://x.example/a?b=c\n"), kStamp),
        "From: desk@interlock.example\n"
        "To: ann@example.org\n"
        "Subject: Activate\n"
        "Date: Sun, 15 Nov 2026 12:00:00 +0000\n"
        "Message-ID: <mail_1@interlock.example>\n"
        "Auto-Submitted: auto-generated\n"
        "MIME-Version: 1.0\n"
        "Content-Type: text/plain; charset=utf-8\n"
        "Content-Transfer-Encoding: 7bit\n"
        "\n"
        "Open http://x.example/a?b=c\n");
}

TEST(MailMessage, NamesTheDayOfTheWeek) {
    EXPECT_EQ(mail_date({0}), "Thu, 01 Jan 1970 00:00:00 +0000");
    EXPECT_EQ(mail_date({951'782'400'000'000}), "Tue, 29 Feb 2000 00:00:00 +0000");
}

TEST(MailMessage, QuotesABodyThatIsNotAscii) {
    const std::string text = "Grüße, 100 % = alles \n\ttab\n";
    const std::string message = compose_mail(letter("x", text), kStamp);
    EXPECT_NE(message.find("Content-Transfer-Encoding: quoted-printable\n"), std::string::npos);
    EXPECT_EQ(body_of(message), "Gr=C3=BC=C3=9Fe, 100 % =3D alles=20\n=09tab\n");
}

TEST(MailMessage, QuotesLinesThatAreTooLongToTravel) {
    const std::string message = compose_mail(letter("x", std::string(901, 'a')), kStamp);
    for (const std::string_view line : split(message, '\n')) {
        EXPECT_LE(line.size(), 76U);
    }
    EXPECT_EQ(unquoted(body_of(message)), std::string(901, 'a') + "\n");
    const std::string fitting = std::string(900, 'a') + "\n";
    EXPECT_EQ(body_of(compose_mail(letter("x", fitting), kStamp)), fitting);
}

TEST(MailMessage, KnowsOneLineEndOnly) {
    EXPECT_EQ(body_of(compose_mail(letter("x", "a\r\nb\rc\n\rd"), kStamp)), "a\nb\nc\n\nd\n");
}

TEST(MailMessage, EncodesAHeaderThatIsNotAscii) {
    EXPECT_EQ(encode_mail_header("Grüße"), "=?UTF-8?B?R3LDvMOfZQ==?=");
    EXPECT_EQ(encode_mail_header("plain"), "plain");
}

TEST(MailMessage, EncodesAHeaderThatOnlyLooksEncoded) {
    EXPECT_EQ(
        encode_mail_header("=?UTF-8?B?eA==?="),
        "=?UTF-8?B?" + to_base64("=?UTF-8?B?eA==?=") + "?=");
}

TEST(MailMessage, CutsALongHeaderBetweenCharacters) {
    std::string subject;
    for (int i = 0; i < 50; ++i) {
        subject += "€";
    }
    const std::string header = encode_mail_header(subject);
    std::string decoded;
    for (std::string_view word : split(header, '\n')) {
        EXPECT_LE(word.size(), 76U);
        word = trim(word);
        const std::string part = from_base64(word.substr(10, word.size() - 12)).value();
        EXPECT_EQ(part.size() % 3, 0U);
        decoded += part;
    }
    EXPECT_EQ(decoded, subject);
}

TEST(MailMessage, GivesTheTextBackWhateverItHolds) {
    EXPECT_TRUE(rc::check([] {
        std::string text;
        const auto pieces =
            *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                "a",
                "=",
                " ",
                "\t",
                ".",
                "\n",
                "ü",
                "€",
                "=3D",
                "\x01",
                "long enough to need a break "));
        for (const std::string& piece : pieces) {
            text += piece;
        }
        const std::string message = compose_mail(letter("x", text), kStamp);
        const bool is_quoted = message.find("quoted-printable") != std::string::npos;
        const std::string body = is_quoted ? unquoted(body_of(message)) : body_of(message);
        const bool needs_end = !text.empty() && text.back() != '\n';
        RC_ASSERT(body == text + (needs_end ? "\n" : ""));
        for (const std::string_view line : split(message, '\n')) {
            RC_ASSERT(line.size() <= 900U);
        }
    }));
}

TEST(MailMessage, EndsLinesAsSmtpDoes) {
    EXPECT_EQ(with_crlf("a\n\nb\n"), "a\r\n\r\nb\r\n");
}

}  // namespace
}  // namespace interlock
