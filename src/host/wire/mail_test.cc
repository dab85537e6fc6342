#include "host/wire/mail.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace interlock {
namespace {

Mail letter() {
    return {.to = "ann@example.org", .subject = "Hello", .text = "One line.\n"};
}

std::vector<std::string> problems_of(const Mail& mail) {
    std::vector<std::string> paths;
    const auto checked = check_mail(mail);
    if (!checked) {
        for (const FieldProblem& problem : checked.error().problems) {
            paths.push_back(problem.path);
        }
    }
    return paths;
}

TEST(Mail, TakesPlainAddresses) {
    for (const char* address :
         {"a@b", "ann.lee+tag@mail.example.org", "o'neil@example.org", "x_1@1host.example"}) {
        EXPECT_TRUE(is_mail_address(address)) << address;
    }
}

TEST(Mail, RefusesAddressesThatAreNoneOrMoreThanThat) {
    for (const char* address :
         {"",
          "ann",
          "@example.org",
          "ann@",
          "ann@ex@ample.org",
          "ann@example..org",
          "ann@-example.org",
          ".ann@example.org",
          "an..n@example.org",
          "ann @example.org",
          "Ann <ann@example.org>",
          "\"ann\"@example.org",
          "ann@example.org,bob@example.org",
          "ann@example.org\r\nRCPT TO:<bob@example.org>",
          "ann@example.org\n",
          "ann@[127.0.0.1]",
          "\xc3\xa4@example.org"}) {
        EXPECT_FALSE(is_mail_address(address)) << address;
    }
}

TEST(Mail, BoundsAddresses) {
    const std::string host =
        std::string(60, 'a') + "." + std::string(60, 'b') + "." + std::string(60, 'c');
    const std::string tail = "@" + host + ".";
    const std::string fitting =
        "u" + tail + std::string(kMailAddressBytesMax - 1 - tail.size() - 10, 'd');
    EXPECT_TRUE(is_mail_address(std::string(64, 'u') + "@example.org"));
    EXPECT_FALSE(is_mail_address(std::string(65, 'u') + "@example.org"));
    EXPECT_TRUE(is_mail_address("u@" + std::string(63, 'h') + ".org"));
    EXPECT_FALSE(is_mail_address("u@" + std::string(64, 'h') + ".org"));
    EXPECT_TRUE(is_mail_address(std::string(10, 'u') + fitting)) << fitting.size();
    EXPECT_FALSE(is_mail_address(std::string(11, 'u') + fitting));
}

TEST(Mail, NamesEveryPartThatCannotBeSent) {
    EXPECT_TRUE(problems_of(letter()).empty());
    EXPECT_EQ(
        problems_of({.to = "x", .subject = "", .text = std::string(1, '\0')}),
        (std::vector<std::string>{"to", "subject", "text"}));
}

TEST(Mail, RefusesASubjectThatSmugglesAHeader) {
    for (const char* subject : {"a\r\nBcc: eve@example.org", "a\nb", "a\rb", "a\tb", "a\x7f"}) {
        Mail mail = letter();
        mail.subject = subject;
        EXPECT_EQ(problems_of(mail), std::vector<std::string>{"subject"}) << subject;
    }
}

TEST(Mail, BoundsSubjectAndText) {
    Mail mail = letter();
    mail.subject = std::string(kMailSubjectBytesMax, 's');
    mail.text = std::string(kMailTextBytesMax, 't');
    EXPECT_TRUE(problems_of(mail).empty());
    mail.subject += "s";
    mail.text += "t";
    EXPECT_EQ(problems_of(mail), (std::vector<std::string>{"subject", "text"}));
}

TEST(Mail, RefusesTextThatIsNotUtf8) {
    Mail mail = letter();
    mail.subject = "\xff";
    mail.text = "\xc3";
    EXPECT_EQ(problems_of(mail), (std::vector<std::string>{"subject", "text"}));
}

}  // namespace
}  // namespace interlock
