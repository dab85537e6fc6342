// The listener of numbers: `metrics.listen` has a socket of its own, so that what answers callers
// in the world never answers about everybody's work. It has no credential: whoever reaches it may
// read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/service/metrics.h"
#include "net/http_message.h"

namespace interlock {

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr std::size_t kMetricsConnectionsMax = 16;

// Answers GET /metrics and nothing else. `allowed_hosts` as of host_check.h: a page in a browser on
// this machine must not read it under a name of its own.
HttpHandler metrics_handler(Metrics& metrics, std::vector<std::string> allowed_hosts);

}  // namespace interlock
