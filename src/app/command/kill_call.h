// The kill switch from the command line. Stopping everything must not depend on a healthy server:
// when it does not answer in time, the file KILL in the data folder does the stopping.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "app/wiring/server_client.h"

namespace interlock {

// How long `kill on` waits for the server before it writes the file.
inline constexpr std::chrono::milliseconds kStopWait{2'000};

struct KillChoice {
    std::string tenant;  // --tenant
    bool global = false;
    std::string reason;
    bool enable_trading = false;  // Of a release: in the same approval.

    // Neither given means everything: a stop must not fail for want of a flag.
    bool means_everything() const { return tenant.empty(); }
};

struct StopCall {
    std::string data_folder;
    KillChoice choice;
    std::chrono::milliseconds wait = kStopWait;
};

struct StopOutcome {
    bool stopped = false;
    bool by_file = false;  // The KILL file stands, whatever the server did.
    std::string where;     // A tenant, or "_system".
    std::string data_folder;
    std::string audit_ref;  // When the server recorded it.
    std::string reason;     // The one on record: the first stop's.
    std::string problem;    // What the server said or failed to say.
    ExitCode exit_code = ExitCode::ok;
};
StopOutcome stop(const StopCall& call);
std::string describe(const StopOutcome& outcome);
Json encode(const StopOutcome& outcome);

// Like chosen_data_folder(), but a broken configuration file does not keep anyone from stopping.
std::expected<std::string, ExitCode> kill_folder(const GlobalOptions& global);

std::string kill_path(const TenantId& tenant_id);

// Whose release is meant: the one named; else the global switch when it is on; else the only tenant
// that is stopped. Empty: nothing is stopped. Several: printed as a usage error.
std::expected<TenantId, ExitCode> place_to_release(
    const GlobalOptions& global, ServerClient& server, const KillChoice& choice);

using KillStatuses = std::vector<std::pair<TenantId, Json>>;
// The chosen switch, or the global one and every tenant's.
Result<KillStatuses> kill_statuses(ServerClient& server, const KillChoice& choice);
// The code of `blocked` in a status; empty: it trades.
std::string blocked_code(const Json& status);
std::string describe_statuses(const KillStatuses& statuses);

// Strategies that do not trade although their tenant may; those of one reason together.
struct HeldStrategies {
    std::vector<std::string> ids;
    std::string reason;
    std::string next;
};
Result<std::vector<HeldStrategies>> held_strategies(
    ServerClient& server, const TenantId& tenant_id);
// "demo's strategies a, b do not trade. Held up."
std::string describe(const TenantId& tenant_id, const HeldStrategies& held);

}  // namespace interlock
