// The strategies that run: those whose stored record says so, opened and with the time of their
// next tick. Reconciling makes this set equal to the records, one instance at a time.
//
// Ticks are due by monotonic time, so that a wall clock that steps neither freezes nor doubles
// them.
//
// Written by the engine thread after commits, read by whoever beats the clock; the lock is one of
// ADR 0007's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trader/rules/strategy.h"
#include "trader/service/strategy_keeper.h"
#include "trader/service/strategy_store.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

// A strategy opened from its record, or why it could not be.
struct OpenedStrategy {
    const StrategyType* type = nullptr;
    std::shared_ptr<const Strategy> strategy;
    std::string problem;  // Empty: it runs.
};
OpenedStrategy open_strategy(const std::string& strategy_type, const Json& config);

// Ticks per tick of the type: priority 5 is 1, 10 twice as often, 0 half as often.
Duration tick_every_of(const Strategy& strategy, const StrategyPolicy& policy);

class StrategyRuntime {
public:
    // Instances ticked in one turn; more become a turn of their own.
    static constexpr std::size_t kTickBatchMax = 256;

    using Opener = std::function<OpenedStrategy(const std::string& type, const Json& config)>;
    explicit StrategyRuntime(Opener opener = open_strategy) : opener_(std::move(opener)) {}

    // Before the engine starts; it outlives every turn.
    void set_keeper(const StrategyKeeper& keeper) { keeper_ = &keeper; }
    // Null when nobody keeps instances.
    const StrategyKeeper* keeper() const { return keeper_; }

    // Loads, reloads or unloads the instance so that it runs as its record says: not when it is
    // off, deleted or latched. A reload ticks at once. True when something changed.
    bool reconcile(const StrategyInstance& instance);

    struct Batch {
        VenueAccount account;
        std::vector<StrategyId> ids;
    };
    // What is due, by account; each is then due again after its own time. A bot ticks its own
    // instances, on facts it has just fetched. `now` is Clock::monotonic().
    std::vector<Batch> take_due(Duration now);

    // Null when it does not run.
    std::shared_ptr<const Strategy> find(const VenueAccount& account, const StrategyId& id) const;
    std::size_t size() const;

private:
    struct Key {
        VenueAccount account;
        StrategyId id;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Running {
        std::shared_ptr<const Strategy> strategy;
        Duration every;
        std::string config;           // Type, config and policy as text: a change of them reloads.
        std::optional<Duration> due;  // Nothing: at once.
    };
    Opener opener_;
    const StrategyKeeper* keeper_ = nullptr;
    mutable std::mutex mutex_;
    std::map<Key, Running> running_;
};

}  // namespace interlock
