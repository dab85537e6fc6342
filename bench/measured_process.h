// A program started for a measurement: its standard output is read here line by line, its standard
// error goes to a file, and it never outlives us.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace interlock {

class MeasuredProcess {
public:
    struct Options {
        std::vector<std::string> command;                // The program's path first.
        std::string log_path;                            // For its standard error.
        std::map<std::string, std::string> environment;  // Added to ours.
    };
    static Result<MeasuredProcess> start(const Options& options);
    MeasuredProcess(MeasuredProcess&& other) noexcept;
    MeasuredProcess& operator=(MeasuredProcess&& other) noexcept;
    ~MeasuredProcess();  // Kills it when it still runs.

    pid_t pid() const { return pid_; }
    // The next line of its standard output, without the newline.
    Result<std::string> read_line(std::chrono::milliseconds patience);
    void send_signal(int signal) const;
    // Waits for its end; the exit code, or 128 plus the signal that ended it.
    int wait();

private:
    MeasuredProcess(pid_t pid, int output) : pid_(pid), output_(output) {}

    pid_t pid_;  // -1: ended and awaited.
    int output_;
    std::string unread_;
};

// Time on a core since the start of a process.
struct ProcessCpu {
    Duration total;
    std::map<pid_t, Duration> threads;  // Those that run now.
};
Result<ProcessCpu> read_process_cpu(pid_t pid);
// Of the thread that was on a core longest between the two.
Duration busiest_thread(const ProcessCpu& before, const ProcessCpu& after);
// Resident memory.
Result<std::int64_t> read_resident_bytes(pid_t pid);

}  // namespace interlock
