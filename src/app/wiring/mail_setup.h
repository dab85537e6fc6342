// The mailer that the configuration asks for, with the password read from its file.
#pragma once

#include <memory>

#include "app/wiring/config.h"
#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"
#include "host/ports/mailer.h"

namespace interlock {

// Letters that leave at once: one that hangs, as long as its timeout, holds up no other.
inline constexpr std::size_t kLetterThreads = 2;

// How much of the outbox folder may be filled: notices leave half of it to letters that let
// somebody in, whom nobody could let in otherwise.
enum class LetterRoom { all, half };

// `invalid_config` names the key that is wrong, and never holds a password.
Result<std::unique_ptr<Mailer>> open_configured_mailer(
    const Config& config, Clock& clock, IdSource& ids, LetterRoom room = LetterRoom::all);

}  // namespace interlock
