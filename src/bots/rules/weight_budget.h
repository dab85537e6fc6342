// One venue's request weight, shared by all tenants (issue 5, item 8). Venues count the weight of
// requests per minute and shut out who goes over; every tenant's bot comes from this one server, so
// one budget stands before them all. Pure: time is passed in; one thread owns a budget.
//
// The venue's limit is split in three shares. What only cancels may use: taking orders off must be
// possible when everything else is spent. What is left free for orders: an order follows from a
// pulse that was let through, so it is never refused; it is charged when it is sent, and later
// pulses pay. The rest is for pulses, and flows in evenly with a few seconds' worth kept: in no
// span of sixty seconds do pulses use more than their share, and what orders add to it is owed at
// the end of the span.
//
// Fairness is in pulses, not in weight: a tenant with more symbols needs heavier pulses, and all
// are to pulse equally often. Each pulse is a turn; what a tenant orders counts as a part of a
// turn, by its weight in pulses. While someone waits in an earlier round nobody of a later one
// goes; within a round the weight of those who asked earlier is kept for them. Who was away comes
// back one turn behind the latest given, however long it was: time not used is not saved up. Who
// waits and does not come back for `kPulsePatience` after the time told no longer holds up others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

// Shares of the venue's limit per minute.
inline constexpr std::int64_t kCancelReservePercent = 10;
inline constexpr std::int64_t kOrderSharePercent = 5;
// How much of the pulses' share may be used at once, as the time in which it flows in.
inline constexpr Duration kPulseBurst = Duration::of_seconds(5);
inline constexpr Duration kPulsePatience = Duration::of_seconds(2);
// Any larger limit or weight counts as this.
inline constexpr std::int64_t kVenueWeightMax = 10'000'000;

class WeightBudget {
public:
    explicit WeightBudget(std::int64_t weight_per_minute);

    struct Verdict {
        bool allowed = false;
        Duration wait;  // When refused: ask again then. Never zero.
    };
    // May this tenant pulse now, with requests of this weight in all? Yes charges it; no gives it a
    // place in the queue, which it keeps by asking again in time. A pulse that is heavier than the
    // burst goes when the burst is full, and the rest of it is debt.
    Verdict take_pulse(const TenantId& tenant_id, std::int64_t weight, Timestamp now);

    // The order was sent: whatever it cost is charged.
    void charge_order(const TenantId& tenant_id, std::int64_t weight, Timestamp now);
    // A cancel was sent. It is never refused: first out of the cancels' reserve, then as debt that
    // pulses pay.
    void charge_cancel(std::int64_t weight, Timestamp now);

    // The bot stopped or the tenant is gone: it waits for nothing.
    void forget(const TenantId& tenant_id);

    std::int64_t debt(Timestamp now);  // Rounded up; 0 when nothing is owed.
    std::int64_t pulse_share() const { return pulses_.per_minute; }
    std::int64_t order_share() const { return order_share_; }
    std::int64_t burst() const;  // The heaviest pulse that makes no debt.
    std::size_t waiting() const { return queue_.size(); }
    std::size_t tenants_known() const { return tenants_.size(); }

private:
    // Fills so that at most `per_minute` flows out in any sixty seconds, debts apart. Counted in
    // parts of a weight so that each microsecond brings a whole number.
    struct Bucket {
        std::int64_t per_minute = 0;
        std::int64_t level = 0;

        std::int64_t full() const;
        void fill(std::int64_t microseconds);
    };
    // Turn in millionths, then the order of asking.
    using Place = std::pair<std::int64_t, std::uint64_t>;
    struct Waiter {
        TenantId tenant_id;
        std::int64_t parts = 0;
        Timestamp until;
    };
    struct Tenant {
        std::int64_t next_turn = 0;
        std::int64_t pulse_weight = 1;  // Of the latest that it asked for.
        std::optional<Place> place;
    };

    void advance(Timestamp now);
    std::int64_t parts_ahead_of(const Place& place) const;
    bool may_go(const Place& place, std::int64_t ahead, std::int64_t parts) const;
    Duration time_until(std::int64_t parts) const;
    void leave_queue(Tenant& tenant);
    void sweep();

    Bucket pulses_;
    Bucket cancels_;
    std::int64_t order_share_;
    std::optional<Timestamp> filled_at_;
    std::map<TenantId, Tenant> tenants_;
    std::map<Place, Waiter> queue_;
    std::int64_t turn_ = 0;  // The latest that was given.
    std::uint64_t asked_ = 0;
    std::size_t sweep_at_ = 64;
};

}  // namespace interlock
