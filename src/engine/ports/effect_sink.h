// Where effects leave the plane: the venues (loop/service/venue_sink.h) and, behind them, the
// recording sink for probes, a process of its own keyed by effect id. All keep the same promises.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "engine/ports/ledger_store.h"

namespace interlock {

namespace errors {
// The sink said no before doing anything: the effect did not happen.
inline constexpr ErrorKind effect_refused{
    "effect_refused", 409, false, "Read the message; plan anew if the effect is still wanted."};
inline constexpr ErrorKind no_effect_sink{
    "no_effect_sink",
    503,
    false,
    "Start `interlock sink` and set effects.sink to its socket, or ask without an effect."};
}  // namespace errors

struct EffectReceipt {
    std::string receipt;  // The sink's own proof, free text.
};

class EffectSink {
public:
    virtual ~EffectSink() = default;

    // Runs the effect now. An Error means *unknown* unless it says `effect_refused`: the effect
    // may have happened (I4). Blocking; called from outbox threads, one call at a time per sink.
    virtual Result<EffectReceipt> perform(const OutboxItem& effect) = 0;

    // What became of an effect: a receipt, nothing (it never arrived and never will, because the
    // sink refuses ids it was asked about before it saw them), or an Error when that cannot be told
    // now.
    virtual Result<std::optional<EffectReceipt>> find(const EffectId& effect_id) = 0;

    // The same for a sink that knows its effects by their content: a venue knows an order by its
    // client id.
    virtual Result<std::optional<EffectReceipt>> settle(const OutboxItem& effect) {
        return find(effect.effect_id);
    }
};

}  // namespace interlock
