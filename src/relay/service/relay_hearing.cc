#include "relay/service/relay_hearing.h"

#include "base/log.h"

namespace interlock {

RelayHearing::RelayHearing(Parts parts) : parts_(std::move(parts)) {
    for (ChatPlatform* const bot : parts_.bots) {
        ears_.push_back({.bot = bot, .hearing = {}, .deaf_since = {}});
    }
}

void RelayHearing::tell(RelayTurn& turn, const Ear& ear, bool is_deaf) {
    const BotKey& bot = ear.bot->bot();
    AuditDraft draft = relay_draft(
        system_tenant(),
        is_deaf ? "RELAY_PLATFORM_DEAF" : "RELAY_PLATFORM_HEARD",
        "internal:relay");
    draft.severity = AuditSeverity::critical;  // Whoever was told of the beginning is told.
    draft.status = is_deaf ? AuditStatus::failed : AuditStatus::passed;
    draft.reason = ear.bot->health().detail;
    draft.detail = Json::object({{"platform", bot.platform}, {"bot_id", bot.bot_id}});
    turn.audit(std::move(draft));
    if (is_deaf) {
        log_error(
            "relay_platform_deaf",
            {{"platform", bot.platform},
             {"bot", bot.bot_id},
             {"detail", ear.bot->health().detail}});
    } else {
        log_info("relay_platform_heard", {{"platform", bot.platform}, {"bot", bot.bot_id}});
    }
}

void RelayHearing::sweep(RelayTurn& turn) {
    std::int64_t stored = 0;
    for (const auto& [platform, counters] : parts_.inbound.counters()) {
        stored += counters.stored + counters.duplicates;
    }
    const std::int64_t refused = parts_.inbound.refused();
    const bool takes_nothing = refused > refused_ && stored == stored_;
    stored_ = stored;
    refused_ = refused;
    for (Ear& ear : ears_) {
        const bool is_well = ear.bot->health().is_connected && !takes_nothing;
        switch (ear.hearing.look(parts_.clock.monotonic(), is_well)) {
            case Hearing::Change::none:
                break;
            case Hearing::Change::deaf:
                ear.deaf_since = turn.now();
                tell(turn, ear, true);
                break;
            case Hearing::Change::hears:
                ear.deaf_since.reset();
                tell(turn, ear, false);
                break;
        }
    }
}

std::vector<RelayHearing::View> RelayHearing::views() const {
    std::vector<View> views;
    for (const Ear& ear : ears_) {
        views.push_back({ear.bot, ear.bot->health(), ear.deaf_since});
    }
    return views;
}

}  // namespace interlock
