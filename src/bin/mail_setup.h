// The mailer that the configuration asks for, with the password read from its file.
#pragma once

#include <memory>

#include "bin/config.h"
#include "ports/clock.h"
#include "ports/id_source.h"
#include "ports/mailer.h"

namespace interlock {

// `invalid_config` names the key that is wrong, and never holds a password.
Result<std::unique_ptr<Mailer>> open_configured_mailer(
    const Config& config, Clock& clock, IdSource& ids);

}  // namespace interlock
