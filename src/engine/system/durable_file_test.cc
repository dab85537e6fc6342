#include "engine/system/durable_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {

TEST(DurableFile, IsCreatedWithItsBytesAndMode) {
    const TempFolder folder;
    const std::string path = folder / "key";
    EXPECT_TRUE(create_file_durably({.path = path, .bytes = "text", .mode = 0640}).value());
    EXPECT_EQ(read_small_file(path, 100).value(), "text");
    struct stat found;
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0640u);
}

TEST(DurableFile, AnExistingFileIsLeftAsItIs) {
    const TempFolder folder;
    const std::string path = folder / "key";
    ASSERT_TRUE(create_file_durably({.path = path, .bytes = "first"}).value());
    EXPECT_FALSE(create_file_durably({.path = path, .bytes = "second"}).value());
    EXPECT_EQ(read_small_file(path, 100).value(), "first");
}

TEST(DurableFile, LeavesNothingBesideTheFile) {
    const TempFolder folder;
    ASSERT_TRUE(create_file_durably({.path = folder / "key", .bytes = "a"}).has_value());
    ASSERT_TRUE(create_file_durably({.path = folder / "key", .bytes = "b"}).has_value());
    const auto begin = std::filesystem::directory_iterator(folder.path());
    EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), 1);
}

TEST(DurableFile, AMissingFolderIsAnError) {
    const TempFolder folder;
    const auto created = create_file_durably({.path = folder / "none/key", .bytes = "a"});
    ASSERT_FALSE(created.has_value());
    EXPECT_EQ(created.error(), errors::io_failed);
}

TEST(DurableFile, AMissingFileIsNotFound) {
    const TempFolder folder;
    EXPECT_EQ(read_small_file(folder / "none", 100).error(), errors::not_found);
}

TEST(DurableFile, IsReadUpToItsBoundAndRefusedPastIt) {
    const TempFolder folder;
    ASSERT_TRUE(create_file_durably({.path = folder / "f", .bytes = "12345"}).has_value());
    EXPECT_EQ(read_small_file(folder / "f", 5).value(), "12345");
    EXPECT_EQ(read_small_file(folder / "f", 4).error(), errors::corrupt_data);
}

}  // namespace interlock
