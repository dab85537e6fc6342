// How fast a bot may call its platform: so many calls a second in all, so many in one chat, and not
// at all in a chat that was told to wait. Arithmetic over a clock that is given in.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.h"

namespace interlock {

// Chats whose pace is remembered. Beyond that those that have been quiet longest are forgotten.
inline constexpr std::size_t kPacedChatsMax = 10'000;

struct PaceRule {
    Duration interval;       // Between two calls, on average.
    std::int64_t burst = 1;  // So many may follow each other at once.
};

class CallPace {
public:
    CallPace(PaceRule total, PaceRule chat, std::size_t chats_max = kPacedChatsMax)
        : total_(total), chat_(chat), chats_max_(chats_max) {}

    struct Turn {
        Duration wait;          // From now.
        bool is_taken = false;  // False: the wait would be too long, and nothing was reserved.
    };
    // Reserves the next turn. An empty chat id counts in all only.
    Turn take(const std::string& chat_id, Duration now, Duration longest_wait);

    // The platform asked for a pause: no call to this chat (empty: to any) leaves before `until`.
    void block(const std::string& chat_id, Duration until);

    std::size_t chats() const;

private:
    struct Meter {
        Duration full_again;  // When a whole burst is there again.
        Duration blocked_until;
    };
    static Duration earliest(const Meter& meter, const PaceRule& rule, Duration now);
    static void count(Meter& meter, const PaceRule& rule, Duration at);
    Meter& meter_of(const std::string& chat_id, Duration now);

    const PaceRule total_;
    const PaceRule chat_;
    const std::size_t chats_max_;
    mutable std::mutex mutex_;
    Meter all_;
    std::map<std::string, Meter> meters_;
};

}  // namespace interlock
