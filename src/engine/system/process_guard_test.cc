#include "engine/system/process_guard.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "testing/temp_folder.h"

namespace interlock {

namespace {

// In a process of its own, since neither can be undone.
template <class Body>
int exit_status_of(Body body) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST(ProcessGuard, AGuardedProcessLeavesNoCore) {
    EXPECT_EQ(
        exit_status_of([] {
            rlimit limit{};
            const bool guarded = forbid_core_dumps().has_value() &&
                                 getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 &&
                                 limit.rlim_max == 0 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
            return guarded ? 0 : 1;
        }),
        0);
}

TEST(ProcessGuard, NewFilesAreForOneUserOnly) {
    const TempFolder folder;
    const std::string path = folder / "made";
    EXPECT_EQ(
        exit_status_of([&] {
            close_new_files();
            std::ofstream(path).close();
            return 0;
        }),
        0);
    struct stat found{};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
}

}  // namespace interlock
