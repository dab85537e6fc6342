// How many may sign up in an hour: from one peer, and on the whole host. A window that slides, so
// that no hour, wherever it begins, sees more than the bound. Time is the caller's.
//
// What it holds is bounded by the host's bound: one entry for each signup of the last hour.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace interlock {

inline constexpr Duration kSignupWindow = Duration::of_hours(1);
inline constexpr std::int64_t kSignupsPerPeer = 10;
inline constexpr std::int64_t kSignupsPerHost = 1000;

struct SignupBounds {
    std::int64_t per_peer = kSignupsPerPeer;
    std::int64_t per_host = kSignupsPerHost;
};

class SignupGate {
public:
    explicit SignupGate(SignupBounds bounds) : bounds_(bounds) {}

    // Counts one of `peer` (empty: of nobody in particular) and gives nothing, or gives how long to
    // wait and counts nothing.
    std::optional<Duration> take(const std::string& peer, Timestamp now);
    // Uncounts the latest of `peer`: it came to nothing through no fault of the caller.
    void give_back(const std::string& peer);
    // One that was let in before; in order of their times. Older than the window: forgotten.
    void remember(const std::string& peer, Timestamp at, Timestamp now);

    std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        Timestamp at;
        std::string peer;
    };
    void add(const std::string& peer, Timestamp at);
    void uncount(const std::string& peer);
    void forget_before(Timestamp at);

    const SignupBounds bounds_;
    std::deque<Entry> entries_;  // Oldest first.
    std::map<std::string, std::int64_t> by_peer_;
};

}  // namespace interlock
