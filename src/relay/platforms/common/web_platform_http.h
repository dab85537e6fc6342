// PlatformHttp over the network: net/web_client.h, with a client for each call that is under way.
#pragma once

#include <cstddef>
#include <string>

#include "relay/platforms/common/platform_http.h"

namespace interlock {

// Clients, with their open connections, that are kept while nobody calls.
inline constexpr std::size_t kIdleWebClientsMax = 8;

// `ca_file` is trusted instead of the system's authorities; empty: those.
PlatformHttp web_platform_http(std::string ca_file = {});

}  // namespace interlock
