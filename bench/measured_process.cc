#include "bench/measured_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;

std::string reason_of(int error) {
    return std::generic_category().message(error);
}

// After fork() only calls that are safe in a signal handler are allowed until exec.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output, int log) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    if (::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(log, STDERR_FILENO) >= 0) {
        ::execve(arguments[0], arguments, environment);
    }
    ::_exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        all.emplace_back(*entry);
    }
    std::erase_if(all, [&](const std::string& entry) {
        return added.contains(entry.substr(0, entry.find('=')));
    });
    for (const auto& [name, value] : added) {
        all.push_back(name + "=" + value);
    }
    return all;
}

}  // namespace

Result<MeasuredProcess> MeasuredProcess::start(const Options& options) {
    std::vector<std::string> command = options.command;
    std::vector<std::string> environment = environment_with(options.environment);
    const std::vector<char*> arguments = pointers_to(command);
    const std::vector<char*> variables = pointers_to(environment);
    const int log =
        ::open(options.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) {
        return fail(
            errors::io_failed, "Cannot open " + options.log_path + ": " + reason_of(errno) + ".");
    }
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        ::close(log);
        return fail(errors::io_failed, "Cannot make a pipe: " + reason_of(errno) + ".");
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
        become(arguments.data(), variables.data(), ends[1], log);
    }
    const int fork_error = errno;
    ::close(log);
    ::close(ends[1]);
    if (pid < 0) {
        ::close(ends[0]);
        return fail(errors::io_failed, "Cannot start a process: " + reason_of(fork_error) + ".");
    }
    return MeasuredProcess(pid, ends[0]);
}

MeasuredProcess::MeasuredProcess(MeasuredProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      unread_(std::move(other.unread_)) {}

MeasuredProcess& MeasuredProcess::operator=(MeasuredProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(output_, other.output_);
    std::swap(unread_, other.unread_);
    return *this;
}

MeasuredProcess::~MeasuredProcess() {
    if (pid_ > 0) {
        send_signal(SIGKILL);
        wait();
    }
    if (output_ >= 0) {
        ::close(output_);
    }
}

Result<std::string> MeasuredProcess::read_line(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        if (unread_.size() > kLineBytesMax) {
            return fail(errors::unavailable, "The process printed a line without end.");
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd entry{.fd = output_, .events = POLLIN, .revents = 0};
        if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) <= 0) {
            return fail(errors::timed_out, "The process said nothing in time.");
        }
        std::array<char, 4096> bytes;
        const ssize_t got = ::read(output_, bytes.data(), bytes.size());
        if (got <= 0) {
            return fail(errors::unavailable, "The process ended without saying what was awaited.");
        }
        unread_.append(bytes.data(), static_cast<std::size_t>(got));
    }
}

void MeasuredProcess::send_signal(int signal) const {
    if (pid_ > 0) {
        ::kill(pid_, signal);
    }
}

int MeasuredProcess::wait() {
    int status = 0;
    while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<ProcessCpu> read_process_cpu(pid_t pid) {
    ProcessCpu cpu;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
        std::int64_t on_core_ns = 0;
        if (std::ifstream(task.path() / "schedstat") >> on_core_ns) {
            const Duration used{on_core_ns / 1000};
            const auto thread = static_cast<pid_t>(std::atoll(task.path().filename().c_str()));
            cpu.threads[thread] = used;
            cpu.total.microseconds += used.microseconds;
        }
    }
    if (error || cpu.threads.empty()) {
        return fail(errors::unavailable, "The process has ended.");
    }
    return cpu;
}

Duration busiest_thread(const ProcessCpu& before, const ProcessCpu& after) {
    Duration most;
    for (const auto& [thread, used] : after.threads) {
        const auto earlier = before.threads.find(thread);
        const std::int64_t base =
            earlier == before.threads.end() ? 0 : earlier->second.microseconds;
        most.microseconds = std::max(most.microseconds, used.microseconds - base);
    }
    return most;
}

Result<std::int64_t> read_resident_bytes(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
    std::int64_t pages = 0;
    std::int64_t resident = 0;
    if (!(file >> pages >> resident)) {
        return fail(errors::unavailable, "The process has ended.");
    }
    return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace interlock
