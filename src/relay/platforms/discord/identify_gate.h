// When a shard may identify. All shards of a bot share it: so many at once in five seconds, so many
// in a day. Beyond the day's number Discord resets the bot's token.
#pragma once

#include <map>
#include <mutex>

#include "base/time.h"

namespace interlock {

inline constexpr Duration kIdentifyPause = Duration::of_seconds(5);
inline constexpr int kIdentifiesPerDay = 1000;
inline constexpr int kIdentifyConcurrencyMax = 64;

struct IdentifyLimits {
    int total = kIdentifiesPerDay;
    int remaining = kIdentifiesPerDay;
    Duration reset_after = Duration::of_days(1);
    int max_concurrency = 1;
};

class IdentifyGate {
public:
    // What GET /gateway/bot told. Values that make no sense are brought to the nearest that do.
    void set(const IdentifyLimits& limits, Duration now);
    // Zero: taken, identify now. Else ask again after that long. From any thread.
    Duration try_take(int shard, Duration now);

private:
    std::mutex mutex_;
    IdentifyLimits limits_;
    bool is_counting_ = false;
    Duration reset_at_;
    std::map<int, Duration> free_at_;  // By shard modulo max_concurrency.
};

}  // namespace interlock
