#include "bots/rules/weight_budget.h"

#include <algorithm>

namespace interlock {
namespace {

constexpr std::int64_t kBurst = kPulseBurst.microseconds;
// A bucket that starts full gives its burst at once and then as much per minute: both together are
// to be the share, so it flows in over a minute and the burst's time.
constexpr std::int64_t kPartsPerWeight = Duration::of_minutes(1).microseconds + kBurst;
constexpr std::int64_t kOneTurn = 1'000'000;
// Deeper than any debt that weights can make in a day; keeps the arithmetic in range.
constexpr std::int64_t kDeepest = -1'000 * kVenueWeightMax * kPartsPerWeight;
// For who could pay but has to let others go first.
constexpr Duration kAgainSoon = Duration::of_milliseconds(10);
constexpr std::size_t kSweepMin = 64;

std::int64_t divide_up(std::int64_t value, std::int64_t by) {
    return (value + by - 1) / by;
}

std::int64_t bounded(std::int64_t weight) {
    return std::clamp<std::int64_t>(weight, 0, kVenueWeightMax);
}

std::int64_t parts_of(std::int64_t weight) {
    return bounded(weight) * kPartsPerWeight;
}

std::int64_t round_of(std::int64_t turn) {
    return turn / kOneTurn;
}

void draw(std::int64_t& level, std::int64_t parts) {
    level = std::max(kDeepest, level - parts);
}

}  // namespace

std::int64_t WeightBudget::Bucket::full() const {
    return per_minute * kBurst;
}

void WeightBudget::Bucket::fill(std::int64_t microseconds) {
    const std::int64_t missing = full() - level;
    // Compared as a time, so that a long pause cannot overflow.
    level =
        microseconds >= divide_up(missing, per_minute) ? full() : level + microseconds * per_minute;
}

WeightBudget::WeightBudget(std::int64_t weight_per_minute) {
    const std::int64_t limit = std::clamp<std::int64_t>(weight_per_minute, 1, kVenueWeightMax);
    const auto share = [limit](std::int64_t percent) { return limit * percent / 100; };
    cancels_.per_minute = std::max<std::int64_t>(1, share(kCancelReservePercent));
    order_share_ = share(kOrderSharePercent);
    pulses_.per_minute =
        std::max<std::int64_t>(1, limit - share(kCancelReservePercent) - order_share_);
    cancels_.level = cancels_.full();
    pulses_.level = pulses_.full();
}

void WeightBudget::advance(Timestamp now) {
    // A clock that was set back brings nothing until it has caught up.
    if (!filled_at_ || now > *filled_at_) {
        const std::int64_t passed = filled_at_ ? (now - *filled_at_).microseconds : 0;
        pulses_.fill(passed);
        cancels_.fill(passed);
        filled_at_ = now;
    }
}

std::int64_t WeightBudget::parts_ahead_of(const Place& place) const {
    std::int64_t parts = 0;
    for (auto at = queue_.begin(); at != queue_.end() && at->first < place; ++at) {
        parts += at->second.parts;
    }
    return parts;
}

bool WeightBudget::may_go(const Place& place, std::int64_t ahead, std::int64_t parts) const {
    if (ahead == 0) {
        return pulses_.level >= std::min(parts, pulses_.full());
    }
    return round_of(queue_.begin()->first.first) >= round_of(place.first) &&
           pulses_.level >= ahead + parts;
}

Duration WeightBudget::time_until(std::int64_t parts) const {
    return {
        std::max(kAgainSoon.microseconds, divide_up(parts - pulses_.level, pulses_.per_minute))};
}

void WeightBudget::leave_queue(Tenant& tenant) {
    if (tenant.place) {
        queue_.erase(*tenant.place);
        tenant.place.reset();
    }
}

WeightBudget::Verdict WeightBudget::take_pulse(
    const TenantId& tenant_id, std::int64_t weight, Timestamp now) {
    advance(now);
    std::erase_if(queue_, [&](const auto& entry) {
        const bool is_late = entry.second.until < now && entry.second.tenant_id != tenant_id;
        if (is_late) {
            tenants_[entry.second.tenant_id].place.reset();
        }
        return is_late;
    });
    const std::int64_t pulse_weight = std::max<std::int64_t>(1, bounded(weight));
    const std::int64_t parts = parts_of(pulse_weight);
    Tenant& tenant = tenants_[tenant_id];
    const Place place =
        tenant.place.value_or(Place{std::max(tenant.next_turn, turn_ - kOneTurn), asked_ + 1});
    asked_ = std::max(asked_, place.second);
    tenant.pulse_weight = pulse_weight;
    const std::int64_t ahead = parts_ahead_of(place);
    if (!may_go(place, ahead, parts)) {
        const std::int64_t wanted = ahead + (ahead == 0 ? std::min(parts, pulses_.full()) : parts);
        const Duration wait = time_until(wanted);
        queue_[place] = {tenant_id, parts, now + wait + kPulsePatience};
        tenant.place = place;
        return {.allowed = false, .wait = wait};
    }
    leave_queue(tenant);
    draw(pulses_.level, parts);
    turn_ = std::max(turn_, place.first);
    tenant.next_turn = place.first + kOneTurn;
    sweep();
    return {.allowed = true, .wait = {}};
}

void WeightBudget::charge_order(const TenantId& tenant_id, std::int64_t weight, Timestamp now) {
    advance(now);
    draw(pulses_.level, parts_of(weight));
    if (const auto found = tenants_.find(tenant_id); found != tenants_.end()) {
        // By its own pulse: whoever orders for twice the weight of a pulse sits out two turns.
        found->second.next_turn += bounded(weight) * kOneTurn / found->second.pulse_weight;
    }
}

void WeightBudget::charge_cancel(std::int64_t weight, Timestamp now) {
    advance(now);
    const std::int64_t parts = parts_of(weight);
    const std::int64_t reserved = std::min(parts, std::max<std::int64_t>(0, cancels_.level));
    draw(cancels_.level, reserved);
    draw(pulses_.level, parts - reserved);
}

void WeightBudget::forget(const TenantId& tenant_id) {
    if (const auto found = tenants_.find(tenant_id); found != tenants_.end()) {
        leave_queue(found->second);
        tenants_.erase(found);
    }
}

std::int64_t WeightBudget::debt(Timestamp now) {
    advance(now);
    return pulses_.level >= 0 ? 0 : divide_up(-pulses_.level, kPartsPerWeight);
}

std::int64_t WeightBudget::burst() const {
    return pulses_.full() / kPartsPerWeight;
}

// Who neither waits nor is past the turn that newcomers get is as good as one of them.
void WeightBudget::sweep() {
    if (tenants_.size() < sweep_at_) {
        return;
    }
    std::erase_if(tenants_, [&](const auto& entry) {
        return !entry.second.place && entry.second.next_turn <= turn_ - kOneTurn;
    });
    sweep_at_ = std::max(kSweepMin, 2 * tenants_.size());
}

}  // namespace interlock
