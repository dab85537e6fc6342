// The ways to pull the kill switch of a running server, each with the time it took from the call to
// the durable record.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "bench/server_process.h"

namespace interlock {

// Readings of the monotonic clock that the sink writes into its journal, too.
struct KillTimes {
    std::int64_t called_us = 0;    // Right before the call, file write or process start.
    std::int64_t recorded_us = 0;  // The answer was there, or the record could be read.
};
std::int64_t monotonic_now_us();

// Who is stopped, and by whom.
struct KillTarget {
    std::string tenant_id;
    std::string access_key;
    std::string reason;  // Different in each round, so that its record can be told apart.
};

class KillPath {
public:
    virtual ~KillPath() = default;
    virtual std::string name() const = 0;
    // Everything that is not part of the call itself: connections, handshakes.
    virtual Result<void> prepare(const KillTarget&) { return {}; }
    virtual Result<KillTimes> pull(const KillTarget& target) = 0;
    // Makes the next round possible.
    virtual Result<void> undo() { return {}; }
};

// `server` outlives the path.
std::unique_ptr<KillPath> make_http_path(ServerProcess& server);
std::unique_ptr<KillPath> make_mcp_path(ServerProcess& server);
std::unique_ptr<KillPath> make_cli_path(ServerProcess& server, const std::string& program);
// The file stops everything; undo() removes it and has the global switch released by a human, the
// only way there is.
std::unique_ptr<KillPath> make_file_path(ServerProcess& server);

}  // namespace interlock
