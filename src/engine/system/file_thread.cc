#include "engine/system/file_thread.h"

#include <utility>

namespace interlock {

FileThread::FileThread() : thread_([this] { work(); }) {}

FileThread::~FileThread() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void FileThread::run(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kWaitingMax; });
    waiting_.push_back(std::move(work));
    changed_.notify_all();
}

void FileThread::drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !is_busy_; });
}

void FileThread::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
        if (waiting_.empty()) {
            return;
        }
        const auto next = std::move(waiting_.front());
        waiting_.pop_front();
        is_busy_ = true;
        lock.unlock();
        next();
        lock.lock();
        is_busy_ = false;
        changed_.notify_all();
    }
}

}  // namespace interlock
