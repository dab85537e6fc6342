// The sink of a server that has none: every effect is refused before anything leaves.
#pragma once

#include "engine/ports/effect_sink.h"

namespace interlock {

class NoSink final : public EffectSink {
public:
    Result<EffectReceipt> perform(const OutboxItem& effect) override;
    // An Error: with another configuration the effect may have gone to a sink we cannot ask.
    Result<std::optional<EffectReceipt>> find(const EffectId& effect_id) override;
};

}  // namespace interlock
