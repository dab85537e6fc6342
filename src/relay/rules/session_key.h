// The key of the session that a message belongs to. It has to equal what the gateway's own
// build_session_key() makes of the same source, because interrupts and capabilities are addressed
// by it. docs/contracts/relay-connector.md#session-keys
#pragma once

#include <string>
#include <vector>

#include "relay/wire/session_source.h"

namespace interlock {

// June 2026, August 2026 and the newest text of the client. They differ for Slack, for threads that
// are about to be made, and for a profile called "main".
enum class ClientRevision { june, august, newest };

struct SessionKeyOptions {
    bool group_sessions_per_user = true;
    bool thread_sessions_per_user = false;
    std::string profile;  // Empty or "default": the main one.
    ClientRevision revision = ClientRevision::newest;
};

std::string build_session_key(const SessionSource& source, const SessionKeyOptions& options = {});

// The keys under which a client may ask for what an interaction left behind, each once: the
// revisions read a forwarded interaction as different kinds of chat.
std::vector<std::string> interaction_keys(const SessionSource& source);

}  // namespace interlock
