#include "bin/descriptor_limit.h"

#include <sys/resource.h>

#include "base/log.h"

namespace interlock {

// A connection is a descriptor, and the usual soft limit is 1,024 of them.
void raise_descriptor_limit(std::int64_t connections) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < static_cast<rlim_t>(connections)) {
        log_warn(
            "few_descriptors",
            {{"open_files_max", static_cast<std::int64_t>(limit.rlim_cur)},
             {"connections_max", connections},
             {"next",
              "Raise the hard limit of open files (ulimit -Hn) or lower "
              "http.connections_max."}});
    }
}

}  // namespace interlock
