#include "relay/files/file_media_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

const std::string kOne = "med_aaaaaaaaaaaaaaaaaaaaaaaaaa";
const std::string kTwo = "med_bbbbbbbbbbbbbbbbbbbbbbbbbb";

class FileMediaFolderTest : public ::testing::Test {
protected:
    TempFolder temp_;
    FileMediaFolder folder_ = FileMediaFolder::open(temp_ / "media").value();
};

TEST_F(FileMediaFolderTest, GivesBackTheBytesItWasGiven) {
    const std::string bytes("\0\xff\n bytes", 9);
    ASSERT_TRUE(folder_.write(kOne, bytes));
    EXPECT_EQ(folder_.read(kOne).value(), bytes);
    EXPECT_EQ(folder_.read(kTwo).error().code(), errors::not_found.code);
}

TEST_F(FileMediaFolderTest, KeepsFilesFromOtherUsers) {
    ASSERT_TRUE(folder_.write(kOne, "x"));
    struct stat found;
    ASSERT_EQ(stat(((temp_ / "media") + "/" + kOne).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    ASSERT_EQ(stat((temp_ / "media").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700u);
}

TEST_F(FileMediaFolderTest, RefusesNamesThatAreNotIds) {
    for (const std::string name : {"", "x", "../secret", "med_../../aaaaaaaaaaaaaaaaaaaaa"}) {
        EXPECT_FALSE(folder_.write(name, "x")) << name;
        EXPECT_FALSE(folder_.read(name)) << name;
        EXPECT_FALSE(folder_.remove(name)) << name;
    }
}

TEST_F(FileMediaFolderTest, TakesTheLargestFileAndNoLarger) {
    EXPECT_TRUE(folder_.write(kOne, std::string(kMediaBytesMax, 'x')));
    EXPECT_EQ(folder_.read(kOne).value().size(), kMediaBytesMax);
    EXPECT_EQ(
        folder_.write(kTwo, std::string(kMediaBytesMax + 1, 'x')).error().code(),
        errors::body_too_large.code);
}

TEST_F(FileMediaFolderTest, ListsWhatIsThereAndClearsWhatACrashLeft) {
    ASSERT_TRUE(folder_.write(kOne, "x"));
    std::ofstream((temp_ / "media") + "/" + kTwo + ".part") << "half";
    EXPECT_EQ(folder_.list().value(), std::vector<std::string>{kOne});
    struct stat found;
    EXPECT_NE(stat(((temp_ / "media") + "/" + kTwo + ".part").c_str(), &found), 0);
    ASSERT_TRUE(folder_.remove(kOne));
    ASSERT_TRUE(folder_.remove(kOne));
    EXPECT_TRUE(folder_.list().value().empty());
}

}  // namespace
}  // namespace interlock
