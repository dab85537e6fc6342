#include "relay/service/relay_wake.h"

#include <algorithm>
#include <set>

#include "base/log.h"

namespace interlock {

// The gateway of the instance that left a URL, the youngest one first.
const GatewayRow* RelayWake::waker_of(const std::string& instance_id) const {
    const GatewayRow* best = nullptr;
    parts_.state.gateways.for_each([&](const std::string&, const GatewayRow& row) {
        if (row.instance_id == instance_id && !row.revoked_at && !row.wake_url.empty() &&
            (best == nullptr || row.made_at > best->made_at)) {
            best = &row;
        }
    });
    return best;
}

void RelayWake::poke(RelayTurn& turn, const std::string& instance_id, const GatewayRow& gateway) {
    ++counters_.poked;
    last_poke_[instance_id] = turn.now();
    WakeCall call{
        .instance_id = instance_id, .url = gateway.wake_url, .is_trusted = gateway.is_wake_trusted};
    turn.after([this, call = std::move(call)](bool is_committed) {
        if (!is_committed) {
            return;
        }
        const auto done = [this, instance_id = call.instance_id](const WakeOutcome& outcome) {
            if (!outcome.is_reached) {
                log_info(
                    "relay_wake_failed",
                    {{"instance_id", instance_id}, {"detail", outcome.detail}});
                parts_.lane.submit_internal([this](RelayTurn&) { ++counters_.failed; });
            }
        };
        if (!parts_.caller.poke(call, done)) {
            ++counters_.failed;
        }
    });
}

// A clock that was set back must not make a pause longer than the longest.
void RelayWake::load(Timestamp now) {
    parts_.state.naps.for_each([this, now](const std::string& instance_id, const NapRow& row) {
        naps_[instance_id] =
            Nap{.since = std::min(row.since, now),
                .next_at = std::min(row.next_at, now + kWakeCooldownMax),
                .epoch = row.epoch,
                .cooldown = Duration{row.cooldown_microseconds},
                .is_given_up = row.is_given_up};
        last_poke_[instance_id] = std::min(row.poked_at, now);
    });
}

void RelayWake::keep(RelayTurn& turn, const std::string& instance_id, const Nap& nap) {
    const auto poked = last_poke_.find(instance_id);
    parts_.state.naps.put(
        turn,
        instance_id,
        {.since = nap.since,
         .next_at = nap.next_at,
         .poked_at = poked == last_poke_.end() ? nap.since : poked->second,
         .epoch = nap.epoch,
         .cooldown_microseconds = nap.cooldown.microseconds,
         .is_given_up = nap.is_given_up});
}

// A row goes when neither its nap nor the pause after its last poke counts any more.
void RelayWake::forget_ended(RelayTurn& turn, const std::vector<std::string>& sleepers) {
    std::erase_if(
        naps_, [&](const auto& nap) { return !std::ranges::binary_search(sleepers, nap.first); });
    std::erase_if(
        last_poke_, [&](const auto& poke) { return turn.now() >= poke.second + kWakeCooldownMax; });
    std::vector<std::string> ended;
    parts_.state.naps.for_each([&](const std::string& instance_id, const NapRow&) {
        if (!naps_.contains(instance_id) && !last_poke_.contains(instance_id)) {
            ended.push_back(instance_id);
        }
    });
    for (const std::string& instance_id : ended) {
        parts_.state.naps.erase(turn, instance_id);
    }
}

void RelayWake::give_up(
    RelayTurn& turn, const std::string& instance_id, const GatewayRow& gateway) {
    ++counters_.given_up;
    AuditDraft draft = relay_draft(gateway.tenant_id, "RELAY_WAKE_GIVEN_UP", "internal:relay");
    draft.severity = AuditSeverity::critical;
    draft.status = AuditStatus::failed;
    draft.reason = "The instance did not come back within a day of being poked.";
    draft.detail = Json::object({{"instance_id", instance_id}});
    turn.audit(std::move(draft));
}

void RelayWake::sweep(RelayTurn& turn) {
    const std::vector<std::string> sleepers = parts_.delivery.sleepers_with_mail();
    forget_ended(turn, sleepers);
    counters_.without_url = 0;
    for (const std::string& instance_id : sleepers) {
        const GatewayRow* gateway = waker_of(instance_id);
        if (gateway == nullptr) {
            ++counters_.without_url;
            continue;
        }
        // It may have been awake and asleep again since the last look.
        const InstanceRow* const row = parts_.state.instances.get(instance_id);
        const std::int64_t epoch = row == nullptr ? 0 : row->epoch;
        auto nap = naps_.find(instance_id);
        if (nap != naps_.end() && nap->second.epoch != epoch) {
            naps_.erase(nap);
            nap = naps_.end();
        }
        if (nap == naps_.end()) {
            const auto last = last_poke_.find(instance_id);
            const Timestamp first = last == last_poke_.end()
                                        ? turn.now()
                                        : std::max(turn.now(), last->second + kWakeCooldown);
            nap = naps_.emplace(instance_id, Nap{turn.now(), first, epoch}).first;
        }
        Nap& state = nap->second;
        if (state.is_given_up || turn.now() < state.next_at) {
            continue;
        }
        if (turn.now() >= state.since + kWakeGivesUp) {
            state.is_given_up = true;
            give_up(turn, instance_id, *gateway);
        } else {
            poke(turn, instance_id, *gateway);
            state.next_at = turn.now() + state.cooldown;
            state.cooldown = std::min(Duration{state.cooldown.microseconds * 2}, kWakeCooldownMax);
        }
        keep(turn, instance_id, state);
    }
}

}  // namespace interlock
