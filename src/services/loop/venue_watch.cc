#include "services/loop/venue_watch.h"

#include "base/crypto.h"

namespace interlock {

void VenueWatch::poll() {
    const std::vector<LoopService::Watched> accounts = parts_.loop.watched();
    const Duration now = parts_.clock.monotonic();
    const bool beat = now >= next_beat_;
    if (beat) {
        next_beat_ = {now.microseconds + kBeatEvery.microseconds};
    }
    for (const LoopService::Watched& account : accounts) {
        look_at(account);
        if (beat) {
            parts_.loop.submit(parts_.loop.beat_turn(account.account));
        }
    }
}

void VenueWatch::look_at(const LoopService::Watched& account) {
    const auto venue = parts_.venues.find(account.account.mode);
    if (venue == parts_.venues.end()) {
        return;
    }
    auto report = venue->second->report(account.account, account.fills_cursor);
    if (!report) {
        return;
    }
    const std::string digest =
        sha256_hex(to_text(encode_report_answer(*report, {})) + std::to_string(account.version));
    std::string& seen = seen_[account.account];
    if (digest == seen) {
        return;
    }
    seen = digest;
    parts_.loop.submit(parts_.loop.report_turn(account, *std::move(report)));
}

}  // namespace interlock
