#include "app/demo/demo_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/errors.h"
#include "engine/system/data_folder.h"
#include "engine/system/random_id_source.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

void leave_file(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

TEST(DemoFolder, IsEmptiedForEachRun) {
    const TempFolder folder;
    const std::string path = folder / "demo";
    ASSERT_TRUE(prepare_demo_folder(path, DemoBefore::empty).has_value());
    leave_file(path + "/KILL", "yesterday");
    fs::create_directory(path + "/heads");
    leave_file(path + "/heads/demo", "1");
    ASSERT_TRUE(prepare_demo_folder(path, DemoBefore::keep).has_value());
    EXPECT_TRUE(fs::exists(path + "/KILL"));
    ASSERT_TRUE(prepare_demo_folder(path, DemoBefore::empty).has_value());
    EXPECT_FALSE(fs::exists(path + "/KILL"));
    EXPECT_FALSE(fs::exists(path + "/heads"));
}

TEST(DemoFolder, LeavesEverybodyElsesDataAlone) {
    const TempFolder folder;
    const std::string path = folder / "production";
    fs::create_directory(path);
    leave_file(path + "/interlock.db", "real");
    for (const DemoBefore before : {DemoBefore::empty, DemoBefore::keep}) {
        const auto refused = prepare_demo_folder(path, before);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error(), errors::conflict);
    }
    EXPECT_TRUE(fs::exists(path + "/interlock.db"));
    EXPECT_FALSE(fs::exists(path + "/DEMO"));
}

TEST(DemoFolder, AMarkCountsOnlyWhereItWasPut) {
    const TempFolder folder;
    const std::string path = folder / "demo";
    const std::string copy = folder / "copy";
    ASSERT_TRUE(prepare_demo_folder(path, DemoBefore::empty).has_value());
    leave_file(path + "/interlock.db", "kept by somebody");
    fs::copy(path, copy);
    EXPECT_FALSE(prepare_demo_folder(copy, DemoBefore::empty).has_value());
    EXPECT_TRUE(fs::exists(copy + "/interlock.db"));
}

TEST(DemoFolder, FollowsNoLink) {
    const TempFolder folder;
    const std::string path = folder / "demo";
    const std::string precious = folder / "precious";
    fs::create_directory(precious);
    leave_file(precious + "/file", "stays");
    ASSERT_TRUE(prepare_demo_folder(path, DemoBefore::empty).has_value());
    fs::create_directory_symlink(precious, path + "/link");
    ASSERT_TRUE(prepare_demo_folder(path, DemoBefore::empty).has_value());
    EXPECT_FALSE(fs::exists(path + "/link"));
    EXPECT_TRUE(fs::exists(precious + "/file"));
    fs::create_directory_symlink(path, folder / "alias");
    EXPECT_FALSE(prepare_demo_folder(folder / "alias", DemoBefore::empty).has_value());
}

TEST(DemoFolder, IsNotTakenFromARunningDemo) {
    const TempFolder folder;
    const std::string path = folder / "demo";
    ASSERT_TRUE(prepare_demo_folder(path, DemoBefore::empty).has_value());
    RandomIdSource ids;
    const auto held = DataFolder::open(path, ids);
    ASSERT_TRUE(held.has_value());
    const auto refused = prepare_demo_folder(path, DemoBefore::empty);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("in use by process"), std::string::npos);
    EXPECT_TRUE(fs::exists(path + "/operator.token"));
}

}  // namespace
}  // namespace interlock
