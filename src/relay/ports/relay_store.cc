#include "relay/ports/relay_store.h"

namespace interlock {

bool RelayCommit::empty() const {
    return rows.empty() && events.empty() && appended.empty() && acknowledged.empty() &&
           attempts.empty() && dead.empty() && dead_removed.empty() && audit.empty() &&
           checkpoints.empty();
}

}  // namespace interlock
