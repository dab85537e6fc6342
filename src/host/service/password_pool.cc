#include "host/service/password_pool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

constexpr int kNiceness = 10;

}  // namespace

PasswordPool::PasswordPool(Bounds bounds) : bounds_(bounds) {
    for (std::size_t i = 0; i < bounds_.threads; ++i) {
        threads_.emplace_back([this] { run(); });
    }
}

PasswordPool::~PasswordPool() {
    stop();
}

void PasswordPool::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

std::size_t PasswordPool::waiting() const {
    const std::lock_guard lock(mutex_);
    return known_.count + strangers_.count;
}

// The newest job of whoever waits with most, if that is more than the newcomer would.
bool PasswordPool::make_room(Lane& lane, const std::string& owner, Job& given_up) {
    const auto own = lane.jobs.find(owner);
    const std::size_t own_count = own == lane.jobs.end() ? 0 : own->second.size();
    const auto most = std::ranges::max_element(
        lane.jobs, {}, [](const auto& entry) { return entry.second.size(); });
    if (most == lane.jobs.end() || most->second.size() <= own_count + 1) {
        return false;
    }
    given_up = std::move(most->second.back());
    most->second.pop_back();
    --lane.count;
    return true;
}

bool PasswordPool::submit(const Owner& owner, Job job) {
    Job given_up;
    {
        const std::lock_guard lock(mutex_);
        if (is_stopped_) {
            return false;
        }
        if (bounds_.threads > 0) {
            Lane& lane = owner.is_known ? known_ : strangers_;
            const auto own = lane.jobs.find(owner.name);
            if (own != lane.jobs.end() && own->second.size() >= bounds_.waiting_per_owner_max) {
                return false;
            }
            if (lane.count >= bounds_.waiting_max && !make_room(lane, owner.name, given_up)) {
                return false;
            }
            if (own == lane.jobs.end()) {
                lane.turns.push_back(owner.name);
            }
            lane.jobs[owner.name].push_back(std::move(job));
            ++lane.count;
        }
    }
    if (bounds_.threads == 0) {
        job.run();
        return true;
    }
    changed_.notify_all();
    if (given_up.refuse) {
        given_up.refuse();
    }
    return true;
}

PasswordPool::Job PasswordPool::take_next(Lane& lane) {
    const std::string owner = std::move(lane.turns.front());
    lane.turns.pop_front();
    const auto own = lane.jobs.find(owner);
    Job job = std::move(own->second.front());
    own->second.pop_front();
    --lane.count;
    if (own->second.empty()) {
        lane.jobs.erase(own);
    } else {
        lane.turns.push_back(owner);
    }
    return job;
}

void PasswordPool::run() {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);  // Of this thread only.
    const std::size_t strangers_max = std::max<std::size_t>(1, bounds_.threads - 1);
    std::unique_lock lock(mutex_);
    while (true) {
        const bool may_take_stranger = strangers_.count > 0 && strangers_running_ < strangers_max;
        if (known_.count == 0 && !may_take_stranger) {
            if (is_stopped_ && strangers_.count == 0) {
                return;
            }
            changed_.wait(lock);
            continue;
        }
        const bool is_strangers = known_.count == 0;
        Job job = take_next(is_strangers ? strangers_ : known_);
        strangers_running_ += is_strangers ? 1 : 0;
        lock.unlock();
        job.run();
        job = {};
        lock.lock();
        strangers_running_ -= is_strangers ? 1 : 0;
        changed_.notify_all();
    }
}

}  // namespace interlock
