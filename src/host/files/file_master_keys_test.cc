#include "host/files/file_master_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/errors.h"
#include "codec/error_json.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

class MasterKeyFile : public ::testing::Test {
protected:
    void write(const std::string& path_text, const std::string& text) {
        std::ofstream(path_text) << text;
        chmod(path_text.c_str(), 0600);
    }
    bool exists(const std::string& path_text) { return std::filesystem::exists(path_text); }

    TempFolder folder;
    std::string path = folder / "master.key";
    FileMasterKeys keys{path};
};

TEST_F(MasterKeyFile, IsNotMadeByLooking) {
    EXPECT_FALSE(keys.load()->has_value());
    EXPECT_FALSE(exists(path));
}

TEST_F(MasterKeyFile, IsMadeOnceAndForItsOwnerOnly) {
    const auto made = keys.create();
    ASSERT_TRUE(made);
    EXPECT_EQ(made->current.reveal().size(), kMasterKeyBytes);
    struct stat found;
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    EXPECT_EQ(keys.create()->current.reveal(), made->current.reveal());
    EXPECT_EQ((*keys.load())->current.reveal(), made->current.reveal());
}

TEST_F(MasterKeyFile, TwoFoldersHaveTwoKeys) {
    FileMasterKeys other(folder / "other.key");
    EXPECT_NE(keys.create()->current.reveal(), other.create()->current.reveal());
}

TEST_F(MasterKeyFile, ReplacementIsThereBesideItUntilItTakesItsPlace) {
    const auto first = keys.create();
    const auto both = keys.begin_rotation();
    ASSERT_TRUE(both);
    ASSERT_TRUE(both->next);
    EXPECT_EQ(both->current.reveal(), first->current.reveal());
    // What a crash leaves behind is read by the next start, and gone on with.
    FileMasterKeys after(path);
    EXPECT_EQ((*after.load())->next->reveal(), both->next->reveal());
    EXPECT_EQ(after.begin_rotation()->next->reveal(), both->next->reveal());
    const auto ended = after.end_rotation();
    ASSERT_TRUE(ended);
    EXPECT_FALSE(ended->next);
    EXPECT_EQ(ended->current.reveal(), both->next->reveal());
    EXPECT_FALSE(exists(path + ".next"));
}

TEST_F(MasterKeyFile, EndingWithoutABeginningChangesNothing) {
    const auto first = keys.create();
    EXPECT_EQ(keys.end_rotation()->current.reveal(), first->current.reveal());
}

TEST_F(MasterKeyFile, ReplacesNothingThatIsNotThere) {
    EXPECT_EQ(keys.begin_rotation().error(), errors::master_key_missing);
    EXPECT_FALSE(exists(path + ".next"));
}

TEST_F(MasterKeyFile, RefusesAFileThatOthersMayRead) {
    ASSERT_TRUE(keys.create());
    chmod(path.c_str(), 0640);
    EXPECT_EQ(keys.load().error(), errors::invalid_config);
    EXPECT_EQ(keys.create().error(), errors::invalid_config);
}

TEST_F(MasterKeyFile, RefusesAndKeepsAFileThatHoldsNoKey) {
    for (const std::string& text :
         {std::string(),
          std::string("abc"),
          std::string(62, 'a'),
          std::string(66, 'a'),
          std::string(64, 'g')}) {
        write(path, text);
        EXPECT_EQ(keys.load().error(), errors::crypto_failed) << text;
        EXPECT_EQ(keys.create().error(), errors::crypto_failed) << text;
        std::ifstream in(path);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
    }
}

TEST_F(MasterKeyFile, ItsLossDuringAReplacementIsTold) {
    ASSERT_TRUE(keys.create());
    ASSERT_TRUE(keys.begin_rotation());
    std::filesystem::remove(path);
    EXPECT_EQ(keys.load().error(), errors::master_key_missing);
}

TEST_F(MasterKeyFile, ErrorsHoldNothingOfWhatStoodThere) {
    const auto bad = parse_master_key(SecretString("CANARYMARK"), "INTERLOCK_MASTER_KEY");
    ASSERT_FALSE(bad);
    EXPECT_EQ(to_text(encode(bad.error())).find("CANARYMARK"), std::string::npos);
}

}  // namespace
}  // namespace interlock
