#include "trader/service/strategy_runtime.h"

#include <algorithm>

namespace interlock {

OpenedStrategy open_strategy(const std::string& strategy_type, const Json& config) {
    OpenedStrategy opened;
    opened.type = find_strategy_type(strategy_type);
    if (opened.type == nullptr) {
        opened.problem = "There is no strategy type \"" + strategy_type + "\".";
        return opened;
    }
    auto strategy = opened.type->open(config);
    if (!strategy) {
        opened.problem = "Its config is not valid: " + strategy.error().message;
        for (const FieldProblem& problem : strategy.error().problems) {
            opened.problem += " " + problem.path + " " + problem.problem + ".";
        }
        return opened;
    }
    opened.strategy = *std::move(strategy);
    return opened;
}

Duration tick_every_of(const Strategy& strategy, const StrategyPolicy& policy) {
    // Priority 0 to 10 stretches the type's own time by 15/10 down to 5/10.
    const std::int64_t tenths = 15 - policy.priority;
    const Duration every{strategy.tick_every().microseconds / 10 * tenths};
    return std::clamp(every, kTickEveryMin, kTickEveryMax);
}

bool StrategyRuntime::reconcile(const StrategyInstance& instance) {
    const Key key{instance.account, instance.strategy_id};
    const bool should_run = instance.mode != InstanceMode::off && !instance.is_deleted &&
                            !instance.is_latched && !instance.paused;
    if (!should_run) {
        const std::lock_guard lock(mutex_);
        return running_.erase(key) > 0;
    }
    const std::string config = instance.strategy_type + to_text(instance.config) +
                               std::to_string(instance.policy.priority);
    {
        const std::lock_guard lock(mutex_);
        const auto found = running_.find(key);
        if (found != running_.end() && found->second.config == config) {
            return false;
        }
    }
    OpenedStrategy opened = opener_(instance.strategy_type, instance.config);
    const std::lock_guard lock(mutex_);
    if (!opened.strategy) {
        return running_.erase(key) > 0;
    }
    const Duration every = tick_every_of(*opened.strategy, instance.policy);
    running_[key] = {std::move(opened.strategy), every, config, std::nullopt};
    return true;
}

std::vector<StrategyRuntime::Batch> StrategyRuntime::take_due(Duration now) {
    std::vector<Batch> batches;
    const std::lock_guard lock(mutex_);
    for (auto& [key, running] : running_) {
        if ((running.due && *running.due > now) || is_kept_strategy(key.id)) {
            continue;
        }
        running.due = {now.microseconds + running.every.microseconds};
        const bool fits = !batches.empty() && batches.back().account == key.account &&
                          batches.back().ids.size() < kTickBatchMax;
        if (!fits) {
            batches.push_back({key.account, {}});
        }
        batches.back().ids.push_back(key.id);
    }
    return batches;
}

std::shared_ptr<const Strategy> StrategyRuntime::find(
    const VenueAccount& account, const StrategyId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find({account, id});
    return found == running_.end() ? nullptr : found->second.strategy;
}

std::size_t StrategyRuntime::size() const {
    const std::lock_guard lock(mutex_);
    return running_.size();
}

}  // namespace interlock
