#include "bench/recording_store.h"

#include <algorithm>

namespace interlock {

Result<void> RecordingStore::commit(std::span<const TurnCommit> turns) {
    TRY(store_.commit(turns));
    const std::size_t room = kRecordedTurnsMax - turns_.size();
    const auto kept = turns.first(std::min(room, turns.size()));
    turns_.insert(turns_.end(), kept.begin(), kept.end());
    return {};
}

}  // namespace interlock
