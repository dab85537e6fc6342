// The key under which a bot call can be repeated. Every call may leave it out (bot.md#1-where); the
// face reads its value, the decoders only let it pass.
#pragma once

#include "codec/field_reader.h"
#include "engine/wire/ids.h"

namespace interlock {

inline void take_idempotency_key(FieldReader& in) {
    in.optional<IdempotencyKey>("idempotency_key");
}

}  // namespace interlock
