// A thread for small writes that must reach the disk but must not hold up the engine: the head log,
// the sealing keys. What it was given is done when it ends.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace interlock {

class FileThread {
public:
    // Writes that wait; whoever brings one more waits for room.
    static constexpr std::size_t kWaitingMax = 1024;

    FileThread();
    ~FileThread();
    FileThread(const FileThread&) = delete;
    FileThread& operator=(const FileThread&) = delete;

    void run(std::function<void()> work);
    // Until all that was given so far is done.
    void drain();

private:
    void work();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    bool is_busy_ = false;
    bool is_ending_ = false;
    std::thread thread_;
};

}  // namespace interlock
