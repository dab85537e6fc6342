// Where a failed CHECK ends: one line on standard error, then abort, so that a core dump and the
// crash recovery of the ledger take over. No allocation and no logger: either may be what broke.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace interlock {

void check_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "CHECK failed: %s at %s:%d\n", condition, file, line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace interlock
