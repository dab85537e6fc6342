// A child that runs this very program with other arguments, and ends with its parent.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace interlock {

// The path of the running program.
std::string own_path();

class ChildProcess {
public:
    // Standard output and error go to `log_path`, or stay as they are when it is empty.
    static Result<ChildProcess> start_self(
        const std::vector<std::string>& arguments, const std::string& log_path);

    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ChildProcess& operator=(ChildProcess&&) = delete;
    ~ChildProcess();  // Asks it to stop and waits.

    pid_t pid() const { return pid_; }
    // SIGKILL, as a crash would be: nothing of the child runs any more when this returns.
    void crash();

private:
    explicit ChildProcess(pid_t pid) : pid_(pid) {}
    pid_t pid_ = -1;
};

}  // namespace interlock
