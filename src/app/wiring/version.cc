#include "app/wiring/version.h"

namespace interlock {

std::string_view interlock_version() {
    return INTERLOCK_VERSION;
}

std::string_view interlock_commit() {
    return INTERLOCK_COMMIT;
}

}  // namespace interlock
