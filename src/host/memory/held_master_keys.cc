#include "host/memory/held_master_keys.h"

#include <utility>

#include "base/errors.h"

namespace interlock {
namespace {

MasterRing copy_of(const MasterRing& ring) {
    MasterRing copy{ring.current.clone(), std::nullopt};
    if (ring.next) {
        copy.next = ring.next->clone();
    }
    return copy;
}

}  // namespace

Result<std::optional<MasterRing>> HeldMasterKeys::load() {
    if (!ring_) {
        return std::optional<MasterRing>();
    }
    return std::optional(copy_of(*ring_));
}

Result<MasterRing> HeldMasterKeys::create() {
    if (!ring_) {
        return fail(errors::master_key_missing, "No master key was given.");
    }
    return copy_of(*ring_);
}

Result<MasterRing> HeldMasterKeys::begin_rotation() {
    if (!ring_ || !ring_->next) {
        return fail(
            errors::invalid_config,
            "The master key is given from outside, and no second one with it.",
            "Put the new key into INTERLOCK_MASTER_KEY and the old one into "
            "INTERLOCK_MASTER_KEY_OLD, then rotate again.");
    }
    return copy_of(*ring_);
}

Result<MasterRing> HeldMasterKeys::end_rotation() {
    if (!ring_) {
        return fail(errors::master_key_missing, "No master key was given.");
    }
    if (ring_->next) {
        ring_->current = *std::move(ring_->next);
        ring_->next.reset();
    }
    return copy_of(*ring_);
}

}  // namespace interlock
