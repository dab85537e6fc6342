#include "app/mcp/mcp_session_table.h"

#include "base/check.h"

namespace interlock {

McpSessionTable::Added McpSessionTable::add(McpClientPtr client, Duration now) {
    Added added;
    const std::lock_guard lock(mutex_);
    expire(now, added.removed);
    const std::string owner = to_text(client->owner);
    if (ended_.contains(owner)) {
        return added;
    }
    const auto count = counts_.find(owner);
    const bool owner_is_full =
        count != counts_.end() && count->second >= limits_.sessions_per_owner_max;
    if (owner_is_full && !evict(&owner, added.removed)) {
        return added;
    }
    if (entries_.size() >= limits_.sessions_max && !evict(nullptr, added.removed)) {
        return added;
    }
    ++counts_[owner];
    std::string id = client->id;
    added.is_added = entries_.try_emplace(std::move(id), Entry{std::move(client), now}).second;
    CHECK(added.is_added);  // Ids are random.
    return added;
}

McpClientPtr McpSessionTable::find(std::string_view id, const Principal& caller, Duration now) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || to_text(found->second.client->owner) != to_text(caller)) {
        return nullptr;
    }
    if (is_expired(found->second, now)) {
        std::vector<McpClientPtr> removed;  // Runs nothing and nobody listens: nothing to end.
        take(found, removed);
        return nullptr;
    }
    found->second.used_at = now;
    return found->second.client;
}

McpClientPtr McpSessionTable::remove(std::string_view id, const Principal& caller) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || to_text(found->second.client->owner) != to_text(caller)) {
        return nullptr;
    }
    std::vector<McpClientPtr> removed;
    take(found, removed);
    return removed.front();
}

std::vector<McpClientPtr> McpSessionTable::remove_all() {
    const std::lock_guard lock(mutex_);
    std::vector<McpClientPtr> removed;
    while (!entries_.empty()) {
        take(entries_.begin(), removed);
    }
    return removed;
}

std::vector<McpClientPtr> McpSessionTable::end_owner(const Principal& owner) {
    const std::string name = to_text(owner);
    const std::lock_guard lock(mutex_);
    if (ended_.insert(name).second) {
        ended_in_order_.push_back(name);
    }
    if (ended_.size() > kEndedOwnersMax) {
        ended_.erase(ended_in_order_.front());
        ended_in_order_.pop_front();
    }
    std::vector<McpClientPtr> removed;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto next = std::next(entry);
        if (to_text(entry->second.client->owner) == name) {
            take(entry, removed);
        }
        entry = next;
    }
    return removed;
}

bool McpSessionTable::is_ended(const Principal& owner) const {
    const std::lock_guard lock(mutex_);
    return ended_.contains(to_text(owner));
}

std::vector<McpClientPtr> McpSessionTable::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<McpClientPtr> clients;
    for (const auto& [id, entry] : entries_) {
        clients.push_back(entry.client);
    }
    return clients;
}

std::size_t McpSessionTable::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

void McpSessionTable::take(Entries::iterator entry, std::vector<McpClientPtr>& removed) {
    const auto count = counts_.find(to_text(entry->second.client->owner));
    if (--count->second == 0) {
        counts_.erase(count);
    }
    removed.push_back(std::move(entry->second.client));
    entries_.erase(entry);
}

bool McpSessionTable::is_expired(const Entry& entry, Duration now) const {
    const Duration idle{now.microseconds - entry.used_at.microseconds};
    return idle > limits_.idle_max && !entry.client->session->is_busy() &&
           !entry.client->streams.has_connection();
}

void McpSessionTable::expire(Duration now, std::vector<McpClientPtr>& removed) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto next = std::next(entry);
        if (is_expired(entry->second, now)) {
            take(entry, removed);
        }
        entry = next;
    }
}

bool McpSessionTable::evict(const std::string* owner, std::vector<McpClientPtr>& removed) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        const McpClient& client = *entry->second.client;
        const bool may_go =
            (owner == nullptr || to_text(client.owner) == *owner) && !client.session->is_busy();
        if (may_go &&
            (oldest == entries_.end() || entry->second.used_at < oldest->second.used_at)) {
            oldest = entry;
        }
    }
    if (oldest == entries_.end()) {
        return false;
    }
    take(oldest, removed);
    return true;
}

}  // namespace interlock
