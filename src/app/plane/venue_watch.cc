#include "app/plane/venue_watch.h"

#include "base/crypto.h"

namespace interlock {

void VenueWatch::poll() {
    const std::vector<LoopService::Watched> accounts = parts_.loop.watched();
    const Duration now = parts_.clock.monotonic();
    const bool beat = now >= next_beat_;
    if (beat) {
        next_beat_ = {now.microseconds + kBeatEvery.microseconds};
    }
    std::map<TradeMode, bool> reached;
    for (const LoopService::Watched& account : accounts) {
        bool& answered = reached[account.account.mode];
        const std::optional<bool> pulsed = is_pulsed(account.account);
        answered = (pulsed ? *pulsed : look_at(account)) || answered;
        if (beat) {
            parts_.loop.submit(parts_.loop.beat_turn(account.account));
        }
    }
    if (beat) {
        note_venues(reached);
    }
    for (TurnRequest& turn : parts_.decisions.quality_turns(now)) {
        parts_.loop.submit(std::move(turn));
    }
    for (TurnRequest& turn : parts_.ticker.due_turns(now)) {
        parts_.loop.submit(std::move(turn));
    }
    if (parts_.bots != nullptr) {
        for (TurnRequest& turn : parts_.bots->pulse()) {
            parts_.loop.submit(std::move(turn));
        }
    }
    if (parts_.supervisor != nullptr) {
        for (TurnRequest& turn : parts_.supervisor->due_turns(now)) {
            parts_.loop.submit(std::move(turn));
        }
    }
}

void VenueWatch::note_venues(const std::map<TradeMode, bool>& reached) {
    for (const auto& [mode, answered] : reached) {
        const auto venue = parts_.venues.find(mode);
        const auto skew =
            venue == parts_.venues.end() ? Result<std::int64_t>(0) : venue->second->clock_skew_ms();
        parts_.decisions.note_venue(
            mode, answered ? std::optional(parts_.clock.now()) : std::nullopt, skew ? *skew : 0);
    }
}

std::optional<bool> VenueWatch::is_pulsed(const VenueAccount& account) const {
    const bool can_be = parts_.bots != nullptr && account == bot_account_of(account.tenant_id);
    if (!can_be || !parts_.bots->board().is_pulsing(account.tenant_id)) {
        return std::nullopt;
    }
    const auto seen = parts_.bots->board().view(account.tenant_id);
    return seen && seen->fetched_at &&
           parts_.clock.monotonic() < later(seen->shown_at, kPulseTells);
}

bool VenueWatch::look_at(const LoopService::Watched& account) {
    const auto venue = parts_.venues.find(account.account.mode);
    if (venue == parts_.venues.end()) {
        return false;
    }
    auto report = venue->second->report(account.account, account.fills_cursor);
    if (!report) {
        return false;
    }
    if (parts_.bots != nullptr && account.account == bot_account_of(account.account.tenant_id)) {
        parts_.bots->board().show_report(
            account.account.tenant_id, {*report, parts_.clock.now(), parts_.clock.monotonic()});
    }
    const std::string digest =
        sha256_hex(to_text(encode_report_answer(*report, {})) + std::to_string(account.version));
    std::string& seen = seen_[account.account];
    if (digest == seen) {
        return true;
    }
    seen = digest;
    parts_.loop.submit(parts_.loop.report_turn(account, *std::move(report)));
    return true;
}

}  // namespace interlock
