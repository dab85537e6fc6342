// Approvals as the command line sees them: found across tenants, checked against their own hash,
// and laid out so that a human sees exactly what will be executed.
#pragma once

#include <string>
#include <vector>

#include "app/wiring/server_client.h"

namespace interlock {

struct ApprovalFilter {
    std::string tenant;  // Empty: all of them and `_system`.
    std::string state;   // Empty: any.
};
// As the API encodes them, newest first.
Result<std::vector<Json>> list_approvals(ServerClient& server, const ApprovalFilter& filter);
// Looks in every tenant unless one is named.
Result<Json> find_approval(
    ServerClient& server, const std::string& approval_id, const std::string& tenant);

std::string approval_path(const Json& approval);

// Fails when it is not pending, or when the payload does not give the hash that the server says it
// has: what is shown must be what is decided.
Result<void> require_decidable(const Json& approval);

std::string describe_approvals(const std::vector<Json>& approvals);
std::string describe_approval(const Json& approval);
// What became of it: "pending -> consumed", and what is still missing.
std::string describe_decision(const Json& before, const Json& after);

}  // namespace interlock
