#include "host/mail/file_mailer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

class OutboxFolder : public ::testing::Test {
protected:
    std::unique_ptr<FileMailer> open(std::size_t files_max = kOutboxFilesMax) {
        return *FileMailer::open(
            {.folder = folder_ / "outbox",
             .from = "desk@interlock.example",
             .clock = clock_,
             .ids = ids_,
             .files_max = files_max});
    }
    std::vector<std::filesystem::path> files() {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder_ / "outbox")) {
            found.push_back(entry.path());
        }
        return found;
    }
    static Mail letter() {
        return {.to = "ann@example.org", .subject = "Activate", .text = "Open http://x/a?b=c\n"};
    }

    TempFolder folder_;
    FakeClock clock_;
    FakeIdSource ids_;
};

TEST_F(OutboxFolder, HoldsALetterAsOneFile) {
    ASSERT_TRUE(open()->send(letter()));
    ASSERT_EQ(files().size(), 1U);
    const std::string name = files()[0].filename().string();
    EXPECT_TRUE(name.starts_with("2026-11-15T12-00-00.000Z_mail_")) << name;
    EXPECT_TRUE(name.ends_with(".eml")) << name;
    std::ostringstream text;
    text << std::ifstream(files()[0]).rdbuf();
    EXPECT_NE(text.str().find("To: ann@example.org\n"), std::string::npos);
    EXPECT_TRUE(text.str().ends_with("\n\nOpen http://x/a?b=c\n"));
}

TEST_F(OutboxFolder, IsForItsOwnerOnly) {
    ASSERT_TRUE(open()->send(letter()));
    struct stat found;
    ASSERT_EQ(stat(files()[0].c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    ASSERT_EQ(stat((folder_ / "outbox").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(OutboxFolder, KeepsLettersOfOneMomentApart) {
    const auto mailer = open();
    ASSERT_TRUE(mailer->send(letter()));
    ASSERT_TRUE(mailer->send(letter()));
    EXPECT_EQ(files().size(), 2U);
}

TEST_F(OutboxFolder, WritesNothingOfALetterThatCannotBeSent) {
    Mail mail = letter();
    mail.subject = "x\r\nBcc: eve@example.org";
    EXPECT_EQ(open()->send(mail).error(), errors::invalid_request);
    EXPECT_TRUE(files().empty());
}

TEST_F(OutboxFolder, RefusesALetterBeyondItsBoundUntilOneIsTakenAway) {
    const auto mailer = open(2);
    ASSERT_TRUE(mailer->send(letter()));
    ASSERT_TRUE(mailer->send(letter()));
    EXPECT_EQ(mailer->send(letter()).error(), errors::mail_unavailable);
    EXPECT_EQ(files().size(), 2U);
    std::filesystem::remove(files()[0]);
    EXPECT_TRUE(mailer->send(letter()));
}

TEST_F(OutboxFolder, SaysWhenItsFolderIsGone) {
    const auto mailer = open();
    std::filesystem::remove_all(folder_ / "outbox");
    EXPECT_EQ(mailer->send(letter()).error(), errors::io_failed);
}

TEST_F(OutboxFolder, RefusesASenderThatIsNoAddress) {
    const auto mailer = FileMailer::open(
        {.folder = folder_ / "outbox", .from = "desk", .clock = clock_, .ids = ids_});
    EXPECT_EQ(mailer.error(), errors::invalid_config);
}

}  // namespace
}  // namespace interlock
