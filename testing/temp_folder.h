// A folder of its own for one test, removed when it goes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace interlock {

class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "interlock_XXXXXX").string();
        const char* made = mkdtemp(name.data());
        EXPECT_NE(made, nullptr) << "no folder for the test under " << name;
        path_ = name;
    }
    ~TempFolder() {
        std::error_code ignored;  // Leaving a folder behind is no reason to fail.
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // The path of a file or folder inside.
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

}  // namespace interlock
