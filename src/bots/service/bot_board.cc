#include "bots/service/bot_board.h"

#include <algorithm>

namespace interlock {
namespace {

bool pulses(const BotRecord& record) {
    return record.state == BotState::running && record.is_connected;
}

Duration phase_of(const TenantId& tenant_id) {
    // FNV-1a: spread is all that is asked of it.
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : tenant_id.text()) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    return Duration{
        static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(kPulseEvery.microseconds))};
}

}  // namespace

std::shared_ptr<const BotView> BotBoard::view(const TenantId& tenant_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    return found == entries_.end() ? nullptr : found->second.view;
}

std::size_t BotBoard::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

std::size_t BotBoard::running() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
            return entry.second.view->record.state == BotState::running;
        }));
}

std::size_t BotBoard::stalled() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
            return entry.second.view->record.stall.is_stalled;
        }));
}

void BotBoard::show(const TenantId& tenant_id, Shown shown) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[tenant_id];
    const bool ran = pulses(entry.view->record);
    change(entry, [&](BotView& view) {
        view.record = shown.record;
        view.warnings = std::move(shown.warnings);
    });
    if (!pulses(shown.record)) {
        entry.due_at.reset();
        return;
    }
    if (!ran || !entry.due_at) {
        entry.due_at = shown.now;
    }
}

bool BotBoard::begin_hydration(const TenantId& tenant_id) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[tenant_id];
    if (entry.view->hydration) {
        return false;
    }
    change(entry, [](BotView& view) { view.hydration = HydrationStep::permissions; });
    return true;
}

void BotBoard::show_hydration(const TenantId& tenant_id, HydrationStep step) {
    const std::lock_guard lock(mutex_);
    change(entries_[tenant_id], [&](BotView& view) { view.hydration = step; });
}

void BotBoard::end_hydration(const TenantId& tenant_id, std::optional<Duration> done_at) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[tenant_id];
    change(entry, [](BotView& view) { view.hydration.reset(); });
    if (!done_at) {
        return;
    }
    entry.needs_hydration = false;
    entry.is_new = false;
    if (entry.due_at) {
        entry.due_at = *done_at;
    }
}

void BotBoard::show_report(const TenantId& tenant_id, Reported reported) {
    reported.report.fills.clear();
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    if (found != entries_.end()) {
        change(found->second, [&](BotView& view) {
            view.report = std::move(reported.report);
            view.fetched_at = reported.fetched_at;
            view.shown_at = reported.now;
        });
    }
}

std::vector<BotBoard::Due> BotBoard::take_due(Duration now, std::size_t count_max) {
    std::vector<Due> due;
    const std::lock_guard lock(mutex_);
    for (auto& [tenant_id, entry] : entries_) {
        if (entry.due_at && *entry.due_at <= now && !entry.is_under_way) {
            due.push_back(
                {tenant_id,
                 *entry.due_at,
                 entry.view->record.config.symbols.size(),
                 entry.needs_hydration,
                 entry.is_new});
        }
    }
    const std::size_t count = std::min(due.size(), count_max);
    std::partial_sort(
        due.begin(),
        due.begin() + static_cast<std::ptrdiff_t>(count),
        due.end(),
        [](const Due& a, const Due& b) { return a.due_at < b.due_at; });
    due.resize(count);
    for (const Due& one : due) {
        entries_[one.tenant_id].is_under_way = true;
    }
    return due;
}

void BotBoard::put_back(const Due& due, Duration not_before) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[due.tenant_id];
    entry.is_under_way = false;
    if (entry.due_at) {
        entry.due_at = std::max(*entry.due_at, not_before);
    }
}

void BotBoard::finish(const Due& due, const Moment& moment, const Done& done) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[due.tenant_id];
    entry.is_under_way = false;
    entry.needs_hydration = done.needs_hydration;
    if (done.pulsed) {
        change(entry, [&](BotView& view) {
            view.last_pulse_at = moment.at;
            ++view.pulses;
            view.pulses_late += moment.now >= later(due.due_at, kPulseEvery) ? 1 : 0;
            view.warnings = done.warnings;
            view.held = done.held;
            view.smaller = done.smaller;
        });
    }
    if (entry.due_at) {
        entry.due_at = done.next_at;
    }
}

void BotBoard::spread(const TenantId& tenant_id, Duration now) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[tenant_id];
    entry.needs_hydration = true;
    if (entry.due_at) {
        entry.due_at = later(now, phase_of(tenant_id));
    }
}

bool BotBoard::is_pulsing(const TenantId& tenant_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    return found != entries_.end() && found->second.due_at &&
           !found->second.view->record.stall.is_stalled;
}

std::optional<std::string> BotBoard::text(
    const TenantId& tenant_id, std::string_view endpoint, std::int64_t version) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    if (found == entries_.end()) {
        return std::nullopt;
    }
    const auto kept = found->second.texts.find(endpoint);
    const bool good = kept != found->second.texts.end() && kept->second.version == version;
    return good ? std::optional(kept->second.text) : std::nullopt;
}

void BotBoard::keep_text(
    const TenantId& tenant_id, std::string_view endpoint, std::int64_t version, std::string text) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    if (found != entries_.end()) {
        found->second.texts[std::string(endpoint)] = {version, std::move(text)};
    }
}

void BotBoard::forget_text(const TenantId& tenant_id, std::string_view endpoint) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tenant_id);
    if (found != entries_.end()) {
        const auto kept = found->second.texts.find(endpoint);
        if (kept != found->second.texts.end()) {
            found->second.texts.erase(kept);
        }
    }
}

}  // namespace interlock
