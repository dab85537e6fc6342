#include "app/wiring/mail_setup.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/errors.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

class MailSetup : public ::testing::Test {
protected:
    MailSetup() { config_.data_folder = folder_.path().string(); }

    void use_smtp() {
        config_.mail_delivery = "smtp";
        config_.mail_from = "desk@interlock.example";
        config_.mail_smtp_host = "mail.example";
        config_.mail_smtp_user = "desk";
        config_.mail_smtp_password_file = folder_ / "password";
        std::ofstream(config_.mail_smtp_password_file) << "canary-secret\n";
        chmod(config_.mail_smtp_password_file.c_str(), 0600);
    }
    std::string problem() {
        const auto mailer = open_configured_mailer(config_, clock_, ids_);
        return mailer ? "(none)" : mailer.error().message;
    }

    TempFolder folder_;
    Config config_;
    FakeClock clock_;
    FakeIdSource ids_;
};

TEST_F(MailSetup, LeavesLettersInTheDataFolderUnlessToldOtherwise) {
    const auto mailer = open_configured_mailer(config_, clock_, ids_);
    ASSERT_TRUE(mailer) << mailer.error().message;
    ASSERT_TRUE((*mailer)->send({"ann@example.org", "Hello", "x"}));
    EXPECT_FALSE(std::filesystem::is_empty(folder_ / "outbox"));
}

TEST_F(MailSetup, UsesTheFolderItIsGiven) {
    config_.mail_folder = folder_ / "letters";
    ASSERT_EQ(problem(), "(none)");
    EXPECT_TRUE(std::filesystem::is_directory(folder_ / "letters"));
}

TEST_F(MailSetup, ReadsThePasswordFromItsFile) {
    use_smtp();
    EXPECT_EQ(problem(), "(none)");
}

TEST_F(MailSetup, RefusesAPasswordFileThatOthersCanRead) {
    use_smtp();
    chmod(config_.mail_smtp_password_file.c_str(), 0640);
    EXPECT_NE(problem().find("can be read by others"), std::string::npos) << problem();
}

TEST_F(MailSetup, NamesTheKeyThatIsWrong) {
    use_smtp();
    config_.mail_smtp_password_file = folder_ / "absent";
    EXPECT_TRUE(problem().starts_with("mail.smtp_password_file")) << problem();
    config_.mail_smtp_password_file = "";
    EXPECT_TRUE(problem().starts_with("mail.smtp_password")) << problem();
    use_smtp();
    config_.mail_smtp_host = "";
    EXPECT_TRUE(problem().starts_with("mail.smtp_host")) << problem();
    use_smtp();
    config_.mail_smtp_tls = "none";
    EXPECT_TRUE(problem().starts_with("mail.smtp_tls")) << problem();
    EXPECT_EQ(problem().find("canary"), std::string::npos);
}

TEST_F(MailSetup, RefusesAPasswordThatIsTooLong) {
    use_smtp();
    std::ofstream(config_.mail_smtp_password_file) << std::string(513, 'x');
    EXPECT_NE(problem(), "(none)");
}

}  // namespace
}  // namespace interlock
