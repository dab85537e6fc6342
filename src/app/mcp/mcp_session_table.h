// The open MCP sessions of the HTTP endpoint, by their id. Bounded in all and per owner; when a
// bound is reached the session that was used longest ago and runs nothing gives way. A session that
// nobody used for a while, and to which nobody is connected, is gone.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/mcp_session.h"
#include "app/mcp/mcp_streams.h"
#include "base/time.h"
#include "engine/wire/principal.h"

namespace interlock {

struct McpSessionLimits {
    std::size_t sessions_max = 1024;
    std::size_t sessions_per_owner_max = 16;
    Duration idle_max = Duration::of_hours(1);
};

// One client over HTTP.
struct McpClient {
    std::string id;  // The Mcp-Session-Id.
    Principal owner;
    McpSessionPtr session;
    McpStreams streams;
};
using McpClientPtr = std::shared_ptr<McpClient>;

class McpSessionTable {
public:
    static constexpr std::size_t kEndedOwnersMax = 4096;

    explicit McpSessionTable(McpSessionLimits limits) : limits_(limits) {}

    struct Added {
        // False: every session that could give way is running something, or the key has ended.
        bool is_added = false;
        std::vector<McpClientPtr> removed;  // Expired or evicted; the caller ends them.
    };
    Added add(McpClientPtr client, Duration now);

    // The session, if it is this caller's own: another key's session looks like none at all.
    McpClientPtr find(std::string_view id, const Principal& caller, Duration now);
    McpClientPtr remove(std::string_view id, const Principal& caller);
    std::vector<McpClientPtr> remove_all();
    // The owner's key is dead: takes out its sessions and lets it open none from now on. Key ids
    // are never used twice; only the last kEndedOwnersMax are remembered, which is far more than
    // can end while one request is between its authentication and its session.
    std::vector<McpClientPtr> end_owner(const Principal& owner);
    bool is_ended(const Principal& owner) const;
    std::vector<McpClientPtr> all() const;
    std::size_t size() const;

private:
    struct Entry {
        McpClientPtr client;
        Duration used_at;
    };
    using Entries = std::map<std::string, Entry, std::less<>>;

    bool is_expired(const Entry& entry, Duration now) const;
    void take(Entries::iterator entry, std::vector<McpClientPtr>& removed);
    void expire(Duration now, std::vector<McpClientPtr>& removed);
    // The one used longest ago among those that run nothing; of one owner when given.
    bool evict(const std::string* owner, std::vector<McpClientPtr>& removed);

    const McpSessionLimits limits_;
    mutable std::mutex mutex_;  // Guards all below; shared by network threads (ADR 0005).
    Entries entries_;
    std::map<std::string, std::size_t> counts_;  // Sessions per owner.
    std::set<std::string> ended_;
    std::deque<std::string> ended_in_order_;  // The same, oldest first.
};

}  // namespace interlock
