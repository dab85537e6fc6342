// The threads that hash passwords. Each job takes a good part of a second and 64 MiB, so few run at
// a time, and who gets them is decided here:
//
// - One thread never works for strangers: it is kept for people who are logged in and for devices
//   that are known, however many strangers knock.
// - Within either lane the owners (a human, or a stranger's address) take turns, and one has few
//   jobs waiting. When all places of a lane are taken, the owner who waits with most gives one up
//   to somebody who has none.
//
// The threads yield to the rest of the program: a flood of logins must not slow a stop.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace interlock {

class PasswordPool {
public:
    struct Bounds {
        // None: jobs run at once on the caller's thread, for tests and the simulator.
        std::size_t threads = 2;
        std::size_t waiting_max = 64;  // In each lane.
        std::size_t waiting_per_owner_max = 4;
    };
    struct Owner {
        bool is_known = false;  // A human in a session, or with a known device.
        std::string name;       // The human, or the address of a stranger.
    };
    struct Job {
        std::function<void()> run;
        std::function<void()>
            refuse;  // Instead: there is no room for it. Not from inside submit().
    };

    PasswordPool() : PasswordPool(Bounds{}) {}
    explicit PasswordPool(Bounds bounds);
    ~PasswordPool();

    // Takes no new jobs, runs those accepted, then ends the threads.
    void stop();

    // From any thread. False: no room, or stopped; the job is dropped and not refused.
    bool submit(const Owner& owner, Job job);

    std::size_t waiting() const;

private:
    // One lane: owners in the order in which it is their turn.
    struct Lane {
        std::size_t count = 0;
        std::list<std::string> turns;
        std::map<std::string, std::deque<Job>> jobs;
    };

    bool make_room(Lane& lane, const std::string& owner, Job& given_up);
    static Job take_next(Lane& lane);
    void run();

    const Bounds bounds_;
    mutable std::mutex mutex_;  // Guards all below but the threads.
    std::condition_variable changed_;
    Lane known_;
    Lane strangers_;
    std::size_t strangers_running_ = 0;
    bool is_stopped_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace interlock
