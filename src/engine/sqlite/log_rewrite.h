// Makes what a left-over write-ahead log shows also what the disk holds, before SQLite reads it.
//
// After a sync that failed, kernels may drop the data and yet go on showing it. A server that is
// started again then finds a commit in its log that the next loss of power takes back, together
// with everything that was decided on it. Writing the same bytes once more makes them dirty again,
// so that the sync that follows is a true one. A log that was closed cleanly is gone, so this costs
// something only after a crash.
#pragma once

#include <string>

#include "base/result.h"

namespace interlock {

// `path` is that of the database; nothing happens when it has no log. `vfs_name` may be empty.
Result<void> rewrite_left_over_log(const std::string& path, const std::string& vfs_name);

}  // namespace interlock
