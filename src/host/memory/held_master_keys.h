// Master keys that somebody else keeps: given by the environment, or by a test.
//
// Nothing is made here. A rotation needs both keys given, the one that sealed so far and the one
// that shall; afterwards whoever keeps them drops the old one.
#pragma once

#include "host/ports/master_keys.h"

namespace interlock {

class HeldMasterKeys final : public MasterKeys {
public:
    explicit HeldMasterKeys(std::optional<MasterRing> ring) : ring_(std::move(ring)) {}

    Result<std::optional<MasterRing>> load() override;
    Result<MasterRing> create() override;
    Result<MasterRing> begin_rotation() override;
    Result<MasterRing> end_rotation() override;

private:
    std::optional<MasterRing> ring_;
};

}  // namespace interlock
