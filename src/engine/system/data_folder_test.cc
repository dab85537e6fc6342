#include "engine/system/data_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "base/errors.h"
#include "engine/system/random_id_source.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

struct DataFolderTest : ::testing::Test {
    TempFolder folder;
    std::string path = folder / "a/data";
    RandomIdSource ids;

    std::string file(const std::string& name) const { return path + "/" + name; }
    static unsigned mode_of(const std::string& of) {
        struct stat found{};
        EXPECT_EQ(stat(of.c_str(), &found), 0) << of;
        return found.st_mode & 0777u;
    }
    // Opens and closes it again, so that the lock is free and the files are there.
    void create() { ASSERT_TRUE(DataFolder::open(path, ids).has_value()); }
};

}  // namespace

TEST_F(DataFolderTest, IsMadeClosedToOthersWithItsParents) {
    const auto opened = DataFolder::open(path, ids);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_EQ(mode_of(path), 0700u);
    EXPECT_EQ(mode_of(file("ledger.key")), 0600u);
    EXPECT_EQ(mode_of(file("ledger.pub")), 0644u);
    EXPECT_EQ(mode_of(file("operator.token")), 0600u);
    EXPECT_EQ(opened->file("KILL"), file("KILL"));
}

TEST_F(DataFolderTest, ClosesFilesThatOthersCouldRead) {
    create();
    std::filesystem::create_directory(file("heads"));
    for (const std::string& name :
         {file("interlock.db"), file("interlock.db-wal"), file("heads/demo")}) {
        std::ofstream(name).close();
        ASSERT_EQ(chmod(name.c_str(), 0644), 0);
    }
    ASSERT_TRUE(DataFolder::open(path, ids).has_value());
    EXPECT_EQ(mode_of(file("interlock.db")), 0600u);
    EXPECT_EQ(mode_of(file("interlock.db-wal")), 0600u);
    EXPECT_EQ(mode_of(file("heads/demo")), 0600u);
    EXPECT_EQ(mode_of(file("ledger.pub")), 0644u);
}

TEST_F(DataFolderTest, RefusesAKeyThatOthersCouldReadInsteadOfClosingIt) {
    create();
    for (const char* name : {"ledger.key", "operator.token"}) {
        ASSERT_EQ(chmod(file(name).c_str(), 0640), 0);
        const auto opened = DataFolder::open(path, ids);
        ASSERT_FALSE(opened.has_value()) << name;
        EXPECT_NE(opened.error().message.find(name), std::string::npos);
        ASSERT_EQ(chmod(file(name).c_str(), 0600), 0);
    }
}

TEST_F(DataFolderTest, KeepsItsKeysAcrossOpenings) {
    create();
    const std::string token(read_operator_token(path).value().reveal());
    const std::string public_key = read_ledger_public_key(path).value();
    auto again = DataFolder::open(path, ids);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->operator_token().reveal(), token);
    EXPECT_EQ(again->seal_keys().first_public_key(), public_key);
    EXPECT_TRUE(token.starts_with("ilo_"));
    EXPECT_EQ(token.size(), 56u);
}

TEST_F(DataFolderTest, SignsWithTheKeyItPublishes) {
    auto opened = DataFolder::open(path, ids);
    ASSERT_TRUE(opened.has_value());
    const std::string signature = opened->seal_keys().sign("text");
    EXPECT_TRUE(ed25519_verify(read_ledger_public_key(path).value(), "text", signature));
}

TEST_F(DataFolderTest, LendsItsSigningKeyToToolsBesideTheServer) {
    auto holder = DataFolder::open(path, ids);
    ASSERT_TRUE(holder.has_value());
    const auto key = read_sealing_key(path);
    ASSERT_TRUE(key.has_value()) << key.error().message;
    EXPECT_EQ(key->pair.public_key, holder->seal_keys().first_public_key());
}

TEST_F(DataFolderTest, IsRefusedWhileHeldNamingTheHolder) {
    const auto holder = DataFolder::open(path, ids);
    ASSERT_TRUE(holder.has_value());
    const auto second = DataFolder::open(path, ids);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error(), errors::conflict);
    EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos)
        << second.error().message;
}

TEST_F(DataFolderTest, IsFreeAgainOnceItsHolderIsGone) {
    create();
    EXPECT_TRUE(DataFolder::open(path, ids).has_value());
}

TEST_F(DataFolderTest, AnEmptyFolderIsClosedToOthers) {
    std::filesystem::create_directories(path);
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    ASSERT_TRUE(DataFolder::open(path, ids).has_value());
    EXPECT_EQ(mode_of(path), 0700u);
}

TEST_F(DataFolderTest, AFilledFolderOpenToOthersIsRefused) {
    create();
    ASSERT_EQ(chmod(path.c_str(), 0750), 0);
    const auto opened = DataFolder::open(path, ids);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error(), errors::invalid_config);
    EXPECT_NE(opened.error().next().find("chmod 700"), std::string::npos);
}

TEST_F(DataFolderTest, AFileInItsPlaceIsRefused) {
    std::ofstream(folder / "file").close();
    EXPECT_EQ(DataFolder::open(folder / "file", ids).error(), errors::invalid_config);
}

TEST_F(DataFolderTest, AKeyFileOpenToTheGroupIsRefused) {
    create();
    ASSERT_EQ(chmod(file("ledger.key").c_str(), 0640), 0);
    EXPECT_EQ(DataFolder::open(path, ids).error(), errors::invalid_config);
}

TEST_F(DataFolderTest, ATokenFileOpenToOthersIsRefused) {
    create();
    ASSERT_EQ(chmod(file("operator.token").c_str(), 0604), 0);
    EXPECT_EQ(DataFolder::open(path, ids).error(), errors::invalid_config);
    EXPECT_EQ(read_operator_token(path).error(), errors::invalid_config);
}

TEST_F(DataFolderTest, ALostSigningKeyIsNotReplacedSilently) {
    create();
    std::filesystem::remove(file("ledger.key"));
    auto opened = DataFolder::open(path, ids);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_EQ(opened->seal_keys().current().epoch, -1);
    EXPECT_FALSE(std::filesystem::exists(file("ledger.key")));
}

TEST_F(DataFolderTest, ALostPublicKeyIsWrittenAnew) {
    create();
    const std::string before = read_ledger_public_key(path).value();
    std::filesystem::remove(file("ledger.pub"));
    create();
    EXPECT_EQ(read_ledger_public_key(path).value(), before);
}

TEST_F(DataFolderTest, KeysThatDoNotBelongTogetherAreRefused) {
    create();
    std::ofstream(file("ledger.pub")) << std::string(64, 'a') << "\n";
    EXPECT_EQ(DataFolder::open(path, ids).error(), errors::crypto_failed);
}

TEST_F(DataFolderTest, ADamagedKeyIsRefused) {
    create();
    std::ofstream(file("ledger.key")) << "not hex\n";
    EXPECT_EQ(DataFolder::open(path, ids).error(), errors::crypto_failed);
}

TEST_F(DataFolderTest, AFileThatIsNoTokenIsRefused) {
    create();
    std::ofstream(file("operator.token")) << "password\n";
    EXPECT_EQ(DataFolder::open(path, ids).error(), errors::invalid_config);
}

TEST_F(DataFolderTest, ToolsFindNothingInAFolderNoServerMade) {
    EXPECT_EQ(read_operator_token(path).error(), errors::not_found);
    EXPECT_EQ(read_ledger_public_key(path).error(), errors::not_found);
    EXPECT_EQ(read_sealing_key(path).error(), errors::not_found);
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace interlock
