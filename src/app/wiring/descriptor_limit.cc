#include "app/wiring/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/log.h"

namespace interlock {
namespace {

// For everything that is no caller: databases, journals, venues, platforms, the stop listener.
constexpr std::int64_t kOtherFiles = 512;

}  // namespace

// A connection is a descriptor, and the usual soft limit is 1,024 of them. One that is accepted and
// finds none would be lost, so we promise no more than there are.
std::int64_t raise_descriptor_limit(std::int64_t connections) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return connections;
    }
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur == RLIM_INFINITY ||
        static_cast<std::int64_t>(limit.rlim_cur) >= connections + kOtherFiles) {
        return connections;
    }
    const auto files = static_cast<std::int64_t>(limit.rlim_cur);
    const std::int64_t possible = std::max<std::int64_t>(16, files - kOtherFiles);
    log_warn(
        "few_descriptors",
        {{"open_files_max", files},
         {"connections_max", possible},
         {"connections_wanted", connections},
         {"next",
          "Raise the hard limit of open files (ulimit -Hn) or lower http.connections_max."}});
    return possible;
}

}  // namespace interlock
