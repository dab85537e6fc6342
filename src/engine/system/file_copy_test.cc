#include "engine/system/file_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/crypto.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

class FileCopyTest : public ::testing::Test {
protected:
    FileCopyTest() { std::ofstream(from_, std::ios::binary) << text_; }
    std::string copied() const { return read_small_file(to_, std::size_t{1} << 24).value(); }

    TempFolder folder_;
    std::string text_ = std::string(3'000'000, 'x') + "end";
    std::string from_ = folder_ / "from";
    std::string to_ = folder_ / "to";
};

TEST_F(FileCopyTest, CopiesAndHashesAllOfAFileForItsOwnerAlone) {
    const FileDigest digest = copy_whole(from_, to_).value();
    EXPECT_EQ(digest, (FileDigest{std::ssize(text_), sha256_hex(text_)}));
    EXPECT_EQ(digest_file(to_).value(), digest);
    EXPECT_EQ(copied(), text_);
    struct stat found{};
    ASSERT_EQ(stat(to_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(FileCopyTest, CopiesAFileAsFarAsItWentWhenItWasLookedAt) {
    const FileDescriptor file(open(from_.c_str(), O_RDONLY));
    std::ofstream(from_, std::ios::binary | std::ios::app) << "more";
    const FileDigest digest = copy_part({file.get(), std::ssize(text_), from_}, to_).value();
    EXPECT_EQ(digest.bytes, std::ssize(text_));
    EXPECT_EQ(copied(), text_);
}

TEST_F(FileCopyTest, NeverWritesOverAFile) {
    std::ofstream(to_) << "mine";
    EXPECT_FALSE(copy_whole(from_, to_));
    EXPECT_EQ(copied(), "mine");
    EXPECT_FALSE(copy_whole(folder_ / "none", folder_ / "other"));
}

}  // namespace
}  // namespace interlock
