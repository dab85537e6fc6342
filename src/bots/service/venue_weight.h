// The weight of requests to the venue, as bots use it up: bots/rules/weight_budget.h behind a lock,
// because pulses are let through on the venue's thread and orders leave on the outbox's (ADR 0007).
#pragma once

#include <mutex>

#include "bots/rules/weight_budget.h"

namespace interlock {

// What the requests of a pulse weigh, after the numbers of a large exchange: the account once, open
// orders and book for each symbol.
inline constexpr std::int64_t kAccountWeight = 20;
inline constexpr std::int64_t kOpenOrdersWeight = 6;
inline constexpr std::int64_t kBookWeight = 5;
inline constexpr std::int64_t kOrderWeight = 1;

class VenueWeight {
public:
    explicit VenueWeight(std::int64_t per_minute) : budget_(per_minute) {}

    WeightBudget::Verdict take_pulse(const TenantId& tenant_id, std::size_t symbols, Duration now) {
        const auto count = static_cast<std::int64_t>(symbols);
        const std::lock_guard lock(mutex_);
        return budget_.take_pulse(
            tenant_id, kAccountWeight + count * (kOpenOrdersWeight + kBookWeight), time_of(now));
    }
    void charge_order(const TenantId& tenant_id, Duration now) {
        const std::lock_guard lock(mutex_);
        budget_.charge_order(tenant_id, kOrderWeight, time_of(now));
    }
    void charge_cancel(Duration now) {
        const std::lock_guard lock(mutex_);
        budget_.charge_cancel(kOrderWeight, time_of(now));
    }
    void forget(const TenantId& tenant_id) {
        const std::lock_guard lock(mutex_);
        budget_.forget(tenant_id);
    }

private:
    // The budget reckons with spans alone; monotonic ones, so that no step of the wall clock lets a
    // minute's weight through at once or none at all.
    static Timestamp time_of(Duration now) { return {now.microseconds}; }

    std::mutex mutex_;
    WeightBudget budget_;
};

}  // namespace interlock
