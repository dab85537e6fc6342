#include "bots/rules/weight_budget.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace interlock {
namespace {

constexpr Timestamp kStart{1'800'000'000'000'000};
constexpr std::int64_t kLimit = 6000;
const TenantId kA = TenantId::trusted("a");
const TenantId kB = TenantId::trusted("b");

TenantId tenant(int number) {
    return TenantId::trusted("t" + std::to_string(number));
}

// Asks until the first refusal, which it returns.
Duration exhaust(WeightBudget& budget, const TenantId& who, std::int64_t weight, Timestamp now) {
    for (;;) {
        const auto verdict = budget.take_pulse(who, weight, now);
        if (!verdict.allowed) {
            return verdict.wait;
        }
    }
}

struct Spent {
    Timestamp at;
    std::int64_t weight = 0;
};

// The most that was spent in sixty seconds, over all beginnings.
std::int64_t most_in_a_minute(const std::vector<Spent>& all) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::int64_t sum = 0;
        for (std::size_t j = i; j < all.size(); ++j) {
            if (all[j].at - all[i].at <= Duration::of_minutes(1)) {
                sum += all[j].weight;
            }
        }
        most = std::max(most, sum);
    }
    return most;
}

TEST(WeightBudget, SplitsTheLimitInThree) {
    const WeightBudget budget(kLimit);
    EXPECT_EQ(budget.pulse_share(), 5100);
    EXPECT_EQ(budget.order_share(), 300);
    EXPECT_EQ(budget.burst(), 392);
}

TEST(WeightBudget, WhoIsToldToWaitGoesThen) {
    WeightBudget budget(kLimit);
    const Duration wait = exhaust(budget, kA, 100, kStart);
    EXPECT_GT(wait, Duration{});
    const Timestamp early{kStart.microseconds + wait.microseconds - 1};
    EXPECT_FALSE(budget.take_pulse(kA, 100, early).allowed);
    EXPECT_TRUE(budget.take_pulse(kA, 100, kStart + wait).allowed);
}

TEST(WeightBudget, APulseHeavierThanTheBurstGoesWhenItIsFullAndOwesTheRest) {
    WeightBudget budget(kLimit);
    EXPECT_TRUE(budget.take_pulse(kA, budget.burst() + 100, kStart).allowed);
    EXPECT_GE(budget.debt(kStart), 99);
    const auto next = budget.take_pulse(kA, budget.burst() + 100, kStart);
    ASSERT_FALSE(next.allowed);
    EXPECT_TRUE(budget.take_pulse(kA, budget.burst() + 100, kStart + next.wait).allowed);
}

TEST(WeightBudget, OrdersAreChargedAndLaterPulsesPay) {
    WeightBudget budget(kLimit);
    const Duration before = exhaust(budget, kA, 10, kStart);
    budget.charge_order(kA, 200, kStart);
    EXPECT_GE(budget.debt(kStart), 190);
    const auto after = budget.take_pulse(kA, 10, kStart);
    ASSERT_FALSE(after.allowed);
    EXPECT_GT(after.wait, before);
    EXPECT_EQ(budget.debt(kStart + after.wait), 0);
}

TEST(WeightBudget, TheReservePaysForCancels) {
    WeightBudget spent(kLimit);
    WeightBudget fresh(kLimit);
    spent.charge_cancel(40, kStart);
    EXPECT_EQ(
        exhaust(spent, kA, 100, kStart).microseconds, exhaust(fresh, kA, 100, kStart).microseconds);
}

TEST(WeightBudget, CancelsBeyondTheReserveArePaidByPulses) {
    WeightBudget budget(kLimit);
    budget.charge_cancel(kLimit, kStart);
    EXPECT_GT(budget.debt(kStart), 5000);
    const auto verdict = budget.take_pulse(kA, 10, kStart);
    ASSERT_FALSE(verdict.allowed);
    EXPECT_GT(verdict.wait, Duration::of_minutes(1));
}

TEST(WeightBudget, WhoOrdersMoreSitsOutTurns) {
    WeightBudget budget(kLimit);
    exhaust(budget, kA, 100, kStart);
    budget.forget(kA);
    budget.take_pulse(kA, 100, kStart);
    budget.take_pulse(kB, 100, kStart);
    Timestamp now = kStart;
    int a = 0;
    int b = 0;
    while (a + b < 300) {
        now = now + Duration::of_milliseconds(100);
        if (budget.take_pulse(kA, 100, now).allowed) {
            ++a;
            budget.charge_order(kA, 100, now);
        }
        b += budget.take_pulse(kB, 100, now).allowed ? 1 : 0;
    }
    EXPECT_NEAR(b, 2 * a, 3);
}

TEST(WeightBudget, WhoWaitsAndDoesNotComeBackHoldsUpNobody) {
    WeightBudget budget(kLimit);
    exhaust(budget, kA, 100, kStart);
    const auto gone = budget.take_pulse(kB, 300, kStart);
    ASSERT_FALSE(gone.allowed);
    const Timestamp then = kStart + gone.wait;
    EXPECT_FALSE(budget.take_pulse(kA, 390, then).allowed);
    const Timestamp later{then.microseconds + kPulsePatience.microseconds + 1};
    EXPECT_TRUE(budget.take_pulse(kA, 390, later + Duration::of_seconds(5)).allowed);
    EXPECT_EQ(budget.waiting(), 0U);
}

TEST(WeightBudget, AForgottenTenantLeavesTheQueue) {
    WeightBudget budget(kLimit);
    exhaust(budget, kA, 100, kStart);
    EXPECT_FALSE(budget.take_pulse(kB, 100, kStart).allowed);
    EXPECT_EQ(budget.waiting(), 2U);
    budget.forget(kB);
    EXPECT_EQ(budget.waiting(), 1U);
    EXPECT_EQ(budget.tenants_known(), 1U);
}

TEST(WeightBudget, TenantsThatWentQuietAreNotRemembered) {
    WeightBudget budget(kVenueWeightMax);
    Timestamp now = kStart;
    for (int i = 0; i < 100'000; ++i) {
        now = now + Duration::of_milliseconds(1);
        EXPECT_TRUE(budget.take_pulse(tenant(i), 1, now).allowed);
        EXPECT_TRUE(budget.take_pulse(kA, 1, now).allowed);
    }
    EXPECT_LT(budget.tenants_known(), 200U);
}

TEST(WeightBudget, AClockSetBackBringsNothing) {
    WeightBudget budget(kLimit);
    exhaust(budget, kA, 100, kStart);
    EXPECT_FALSE(budget.take_pulse(kA, 100, kStart - Duration::of_hours(1)).allowed);
    EXPECT_TRUE(budget.take_pulse(kA, 100, kStart + Duration::of_days(100'000)).allowed);
}

TEST(WeightBudget, NoMinuteHoldsMorePulsesThanTheirShareWhateverIsOrdered) {
    EXPECT_TRUE(rc::check([] {
        const auto limit = *rc::gen::inRange<std::int64_t>(200, 20'000);
        WeightBudget budget(limit);
        const std::int64_t heaviest = std::max<std::int64_t>(1, budget.burst());
        std::vector<Spent> spent;
        Timestamp now = kStart;
        const auto steps = *rc::gen::inRange(1, 400);
        for (int i = 0; i < steps; ++i) {
            now = now + Duration::of_milliseconds(*rc::gen::inRange(0, 1500));
            const TenantId who = tenant(*rc::gen::inRange(0, 4));
            const auto weight = *rc::gen::inRange<std::int64_t>(1, heaviest + 1);
            switch (*rc::gen::inRange(0, 4)) {
                case 0:
                    budget.charge_cancel(weight, now);
                    break;
                case 1:
                    budget.charge_order(who, weight, now);
                    break;
                default:
                    if (budget.take_pulse(who, weight, now).allowed) {
                        spent.push_back({now, weight});
                    }
            }
        }
        RC_ASSERT(most_in_a_minute(spent) <= budget.pulse_share());
    }));
}

// What bounds orders: what they add is owed at the end of the minute.
TEST(WeightBudget, WhatAMinuteHoldsBeyondItsShareIsOwedAtItsEnd) {
    EXPECT_TRUE(rc::check([] {
        WeightBudget budget(kLimit);
        std::vector<Spent> spent;
        Timestamp now = kStart;
        for (int i = 0; i < 200; ++i) {
            now = now + Duration::of_milliseconds(*rc::gen::inRange(0, 1000));
            const auto weight = *rc::gen::inRange<std::int64_t>(1, 300);
            if (budget.take_pulse(kA, weight, now).allowed) {
                spent.push_back({now, weight});
                budget.charge_order(kA, weight, now);
                spent.push_back({now, weight});
            }
            std::vector<Spent> latest;
            std::copy_if(
                spent.begin(), spent.end(), std::back_inserter(latest), [&](const Spent& one) {
                    return now - one.at <= Duration::of_minutes(1);
                });
            RC_ASSERT(most_in_a_minute(latest) <= budget.pulse_share() + budget.debt(now));
        }
    }));
}

struct Crowd {
    WeightBudget budget{kLimit};
    std::int64_t weight;
    std::vector<int> pulses;

    Crowd(std::int64_t each, int count) : weight(each), pulses(static_cast<std::size_t>(count)) {}

    bool ask(int who, Timestamp now) {
        const bool allowed = budget.take_pulse(tenant(who), weight, now).allowed;
        pulses[static_cast<std::size_t>(who)] += allowed ? 1 : 0;
        return allowed;
    }
    int spread() const {
        const auto [least, most] = std::minmax_element(pulses.begin(), pulses.end());
        return *most - *least;
    }
};

// Each wants as many as it can get: it asks again as soon as it got one, and always in time.
TEST(WeightBudget, EqualTenantsGetEqualNumbersWithinOne) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::inRange(2, 6);
        Crowd crowd(*rc::gen::inRange<std::int64_t>(1, 390), count);
        exhaust(crowd.budget, kA, 1, kStart);
        crowd.budget.forget(kA);
        for (int i = 0; i < count; ++i) {
            RC_ASSERT(!crowd.ask(i, kStart));
        }
        Timestamp now = kStart;
        for (int step = 0; step < 200; ++step) {
            now = now + Duration::of_milliseconds(*rc::gen::inRange(0, 2000));
            const auto first = *rc::gen::inRange(0, count);
            for (int i = 0; i < count; ++i) {
                while (crowd.ask((first + i) % count, now)) {
                    RC_ASSERT(crowd.spread() <= 1);
                }
            }
        }
    }));
}

TEST(WeightBudget, TenantsOfUnequalNeedPulseEquallyOften) {
    WeightBudget budget(kLimit);
    Timestamp now = kStart;
    std::vector<int> pulses(3, 0);
    for (int step = 0; step < 2000; ++step) {
        now = now + Duration::of_milliseconds(50);
        for (int who = 0; who < 3; ++who) {
            pulses[static_cast<std::size_t>(who)] +=
                budget.take_pulse(tenant(who), 20 + 100 * who, now).allowed ? 1 : 0;
        }
    }
    EXPECT_GT(pulses[0], 20);
    EXPECT_NEAR(pulses[0], pulses[2], 1);
    EXPECT_NEAR(pulses[0], pulses[1], 1);
}

// Many flood, one comes now and then: it is behind at most one pulse of each of them.
TEST(WeightBudget, AFloodDelaysAnotherByNoMoreThanOneRound) {
    EXPECT_TRUE(rc::check([] {
        WeightBudget budget(kLimit);
        const auto weight = *rc::gen::inRange<std::int64_t>(10, 200);
        const auto flooders = *rc::gen::inRange(1, 8);
        const Duration step = Duration::of_milliseconds(20);
        // A round of everybody at the rate of the budget, and the steps of asking.
        const std::int64_t per_second = budget.pulse_share() / 65;
        const Duration round =
            Duration::of_milliseconds((flooders + 1) * weight * 1000 / per_second + 100);
        Timestamp now = kStart;
        std::optional<Timestamp> since;
        Timestamp next = kStart + Duration::of_seconds(7);
        int served = 0;
        while (now < kStart + Duration::of_seconds(60)) {
            now = now + step;
            for (int i = 0; i < flooders; ++i) {
                for (int times = 0; times < 5; ++times) {
                    budget.take_pulse(tenant(i), weight, now);
                }
            }
            if (now < next) {
                continue;
            }
            since = since.value_or(now);
            if (budget.take_pulse(kB, weight, now).allowed) {
                RC_ASSERT(now - *since <= round);
                since.reset();
                next = now + Duration::of_seconds(10);
                ++served;
            }
        }
        RC_ASSERT(served >= 2);
    }));
}

TEST(WeightBudget, NobodyStarvesWhoComesWhenTold) {
    EXPECT_TRUE(rc::check([] {
        WeightBudget budget(kLimit);
        const auto count = *rc::gen::inRange(2, 40);
        std::int64_t all = 0;
        struct Bot {
            std::int64_t weight = 0;
            Timestamp ask_at = kStart;
            Timestamp since = kStart;
        };
        std::vector<Bot> bots(static_cast<std::size_t>(count));
        for (Bot& bot : bots) {
            bot.weight = *rc::gen::inRange<std::int64_t>(1, 300);
            all += bot.weight;
        }
        const std::int64_t per_second = budget.pulse_share() / 65;
        // One's own round and the one that had begun, with each being late by a step at times.
        const Duration longest = Duration::of_milliseconds(2 * all * 1000 / per_second + 2000);
        for (Timestamp now = kStart; now < kStart + Duration::of_minutes(3);
             now = now + Duration::of_milliseconds(50)) {
            for (int i = 0; i < count; ++i) {
                Bot& bot = bots[static_cast<std::size_t>(i)];
                if (bot.ask_at > now) {
                    continue;
                }
                const auto verdict = budget.take_pulse(tenant(i), bot.weight, now);
                bot.ask_at = verdict.allowed ? now : now + verdict.wait;
                if (verdict.allowed) {
                    RC_ASSERT(now - bot.since <= longest);
                    bot.since = now;
                }
            }
        }
        for (const Bot& bot : bots) {
            RC_ASSERT(bot.since > kStart);
        }
    }));
}

}  // namespace
}  // namespace interlock
