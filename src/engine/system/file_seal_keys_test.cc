#include "engine/system/file_seal_keys.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

struct FileSealKeysTest : ::testing::Test {
    TempFolder folder;
    std::string path = folder / "data";
    FileThread thread;

    void SetUp() override { std::filesystem::create_directory(path); }
    std::unique_ptr<FileSealKeys> open() {
        auto keys = FileSealKeys::open(path, thread);
        EXPECT_TRUE(keys.has_value()) << (keys ? "" : keys.error().message);
        return keys ? *std::move(keys) : nullptr;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path + "/" + name, std::ios::binary);
        std::ostringstream bytes;
        bytes << file.rdbuf();
        return bytes.str();
    }
};

TEST_F(FileSealKeysTest, BeginsWithAKeyAndTheNextOneBesideIt) {
    const auto keys = open();
    EXPECT_EQ(keys->current().epoch, 0);
    EXPECT_EQ(keys->current().public_key, to_hex(keys->first_public_key()));
    EXPECT_TRUE(keys->next_public_key());
    EXPECT_TRUE(read("ledger.key").starts_with("0 "));
    EXPECT_TRUE(read("ledger.key.next").starts_with("1 "));
    EXPECT_FALSE(keys->is_from_before());
}

// What was stolen after the key moved on does not sign what came before.
TEST_F(FileSealKeysTest, AKeyThatMovedOnIsNowhereInTheFolder) {
    const auto keys = open();
    const std::string old_seed = read("ledger.key").substr(2, 64);
    const std::string next = *keys->next_public_key();
    keys->advance();
    EXPECT_EQ(keys->current().public_key, next);
    EXPECT_EQ(keys->current().epoch, 1);
    thread.drain();
    for (const auto& file : std::filesystem::directory_iterator(path)) {
        EXPECT_FALSE(read(file.path().filename()).contains(old_seed)) << file.path();
    }
    EXPECT_TRUE(read("ledger.key").starts_with("1 "));
    EXPECT_TRUE(read("ledger.key.next").starts_with("2 "));
    EXPECT_TRUE(keys->next_public_key());
}

TEST_F(FileSealKeysTest, ACrashBeforeTheKeyWasPutInPlaceIsFinishedAtStart) {
    std::string next;
    {
        const auto keys = open();
        next = *keys->next_public_key();
    }
    // The record that names the next key was committed, and then the power went.
    const auto keys = open();
    EXPECT_EQ(keys->current().epoch, 0);
    ASSERT_TRUE(keys->settle({1, next}).value());
    EXPECT_EQ(keys->current().public_key, next);
    EXPECT_TRUE(read("ledger.key").starts_with("1 "));
}

TEST_F(FileSealKeysTest, ACrashWhileTheOldKeyWasOverwrittenIsFinishedAtStart) {
    std::string next;
    {
        const auto keys = open();
        next = *keys->next_public_key();
    }
    std::ofstream(path + "/ledger.key", std::ios::binary) << std::string(67, '\0');
    const auto keys = open();
    EXPECT_EQ(keys->current().epoch, -1);
    EXPECT_TRUE(keys->settle({1, next}).value());
    EXPECT_EQ(keys->current().epoch, 1);
}

TEST_F(FileSealKeysTest, AnotherKeyThanTheChainNamesIsLost) {
    const auto keys = open();
    EXPECT_FALSE(keys->settle({1, std::string(64, 'a')}).value());
    ASSERT_TRUE(keys->begin_anew(7));
    EXPECT_EQ(keys->current().epoch, 7);
    EXPECT_NE(keys->current().public_key, to_hex(keys->first_public_key()));
}

TEST_F(FileSealKeysTest, AFolderWithoutItsKeyOpensAndKnowsThatItIsLost) {
    {
        open();
    }
    std::filesystem::remove(path + "/ledger.key");
    std::filesystem::remove(path + "/ledger.key.next");
    const auto keys = open();
    EXPECT_EQ(keys->current().epoch, -1);
    EXPECT_FALSE(keys->settle({0, to_hex(keys->first_public_key())}).value());
}

TEST_F(FileSealKeysTest, AKeyOfAnOlderVersionIsTheFirstOne) {
    const std::string seed(64, '3');
    {
        std::ofstream(path + "/ledger.key") << seed << "\n";
        const auto pair = ed25519_from_seed(*from_hex(seed));
        std::ofstream(path + "/ledger.pub") << to_hex(pair->public_key) << "\n";
    }
    std::filesystem::permissions(path + "/ledger.key", std::filesystem::perms(0600));
    const auto keys = open();
    EXPECT_EQ(keys->current().epoch, 0);
    EXPECT_TRUE(keys->is_from_before());
    keys->advance();
    EXPECT_FALSE(keys->is_from_before());
    thread.drain();
}

// Only a key that nobody could have made after it was destroyed makes chains without seals pass.
TEST_F(FileSealKeysTest, AnotherKeyInTheOldFormIsRefused) {
    {
        open();
    }
    std::ofstream(path + "/ledger.key") << std::string(64, '4') << "\n";
    const auto keys = FileSealKeys::open(path, thread);
    ASSERT_FALSE(keys.has_value());
    EXPECT_EQ(keys.error(), errors::crypto_failed);
}

}  // namespace
}  // namespace interlock
