#include "app/wiring/data_path.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

namespace interlock {
namespace {

// Sets or clears a variable for one test and puts the old value back.
class ScopedVariable {
public:
    ScopedVariable(const char* name, const char* value) : name_(name) {
        if (const char* before = getenv(name)) {
            before_ = before;
        }
        value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    }
    ~ScopedVariable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
    ScopedVariable(const ScopedVariable&) = delete;
    ScopedVariable& operator=(const ScopedVariable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST(DataPath, TakesTheFlagBeforeTheEnvironment) {
    const ScopedVariable data("INTERLOCK_DATA", "/from/environment");
    GlobalOptions global;
    global.data = "/from/flag";
    EXPECT_EQ(data_folder_of(global), "/from/flag");
}

TEST(DataPath, TakesTheVariableBeforeTheXdgFolder) {
    const ScopedVariable data("INTERLOCK_DATA", "/from/environment");
    const ScopedVariable xdg("XDG_DATA_HOME", "/xdg");
    EXPECT_EQ(data_folder_of({}), "/from/environment");
}

TEST(DataPath, TakesTheXdgFolderBeforeTheHomeFolder) {
    const ScopedVariable data("INTERLOCK_DATA", nullptr);
    const ScopedVariable xdg("XDG_DATA_HOME", "/xdg");
    EXPECT_EQ(data_folder_of({}), "/xdg/interlock");
}

TEST(DataPath, IgnoresARelativeXdgFolder) {
    const ScopedVariable data("INTERLOCK_DATA", nullptr);
    const ScopedVariable xdg("XDG_DATA_HOME", "somewhere");
    const ScopedVariable home("HOME", "/people/ann");
    EXPECT_EQ(data_folder_of({}), "/people/ann/.local/share/interlock");
}

}  // namespace
}  // namespace interlock
