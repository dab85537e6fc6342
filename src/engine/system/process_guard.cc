#include "engine/system/process_guard.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "engine/system/durable_file.h"

namespace interlock {

void close_new_files() {
    umask(077);
}

Result<void> forbid_core_dumps() {
    constexpr rlimit kNone{0, 0};
    if (setrlimit(RLIMIT_CORE, &kNone) != 0) {
        return system_failure("limit", "core files");
    }
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
        return system_failure("forbid", "core dumps");
    }
    return {};
}

}  // namespace interlock
