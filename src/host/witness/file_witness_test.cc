#include "host/witness/file_witness.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/witness/test_seals.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

TEST(FileWitness, AppendsLinesAndKnowsTheNewest) {
    TempFolder folder;
    TestSeals seals;
    FileWitness witness(folder / "heads.log");
    ASSERT_TRUE(witness.newest().has_value());
    EXPECT_FALSE(witness.newest()->has_value());
    const WitnessedHead first = seals.next();
    const WitnessedHead second = seals.next();
    ASSERT_TRUE(witness.push(first).has_value());
    ASSERT_TRUE(witness.push(second).has_value());
    EXPECT_EQ(text_of(folder / "heads.log"), first.line + "\n" + second.line + "\n");
    EXPECT_EQ((*FileWitness(folder / "heads.log").newest())->head, second.head);
    struct stat facts = {};
    ASSERT_EQ(stat((folder / "heads.log").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST(FileWitness, ALineThatWasCutShortIsNone) {
    TempFolder folder;
    TestSeals seals;
    FileWitness witness(folder / "heads.log");
    const WitnessedHead first = seals.next();
    const WitnessedHead second = seals.next();
    ASSERT_TRUE(witness.push(first).has_value());
    std::ofstream(folder / "heads.log", std::ios::app) << second.line.substr(0, 100);
    EXPECT_EQ((*witness.newest())->head, first.head);
    ASSERT_TRUE(witness.push(second).has_value());
    EXPECT_EQ((*witness.newest())->head, second.head);
    EXPECT_TRUE(text_of(folder / "heads.log").ends_with("\n" + second.line + "\n"));
}

TEST(FileWitness, AMountThatIsNotThereIsAFailureAndNoNewFolder) {
    TempFolder folder;
    TestSeals seals;
    FileWitness witness(folder / "mount/heads.log");
    EXPECT_FALSE(witness.push(seals.next()).has_value());
    EXPECT_FALSE(std::filesystem::exists(folder / "mount"));
    std::filesystem::create_directory(folder / "mount");
    EXPECT_TRUE(witness.push(seals.next()).has_value());
    EXPECT_FALSE(FileWitness(folder / "mount").push(seals.next()).has_value());
}

}  // namespace
}  // namespace interlock
