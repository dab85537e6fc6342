#include "services/relay/relay_wake.h"

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

void RelayWake::sweep(RelayTurn& turn) {
    const std::vector<std::string> sleepers = parts_.delivery.sleepers_with_mail();
    std::erase_if(
        naps_, [&](const auto& nap) { return !std::ranges::binary_search(sleepers, nap.first); });
    std::erase_if(
        last_poke_, [&](const auto& poke) { return turn.now() >= poke.second + kWakeCooldownMax; });
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
            ++counters_.given_up;
            AuditDraft draft =
                relay_draft(gateway->tenant_id, "RELAY_WAKE_GIVEN_UP", "internal:relay");
            draft.severity = AuditSeverity::critical;
            draft.status = AuditStatus::failed;
            draft.reason = "The instance did not come back within a day of being poked.";
            draft.detail = Json::object({{"instance_id", instance_id}});
            turn.audit(std::move(draft));
            continue;
        }
        poke(turn, instance_id, *gateway);
        state.next_at = turn.now() + state.cooldown;
        state.cooldown = std::min(Duration{state.cooldown.microseconds * 2}, kWakeCooldownMax);
    }
}

}  // namespace interlock
