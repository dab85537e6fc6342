#include "engine/sink/no_sink.h"

namespace interlock {

Result<EffectReceipt> NoSink::perform(const OutboxItem&) {
    return fail(errors::no_effect_sink, "No effect sink is configured; nothing was sent.");
}

Result<std::optional<EffectReceipt>> NoSink::find(const EffectId&) {
    return fail(errors::no_effect_sink, "No effect sink is configured that could be asked.");
}

}  // namespace interlock
