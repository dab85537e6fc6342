// A command that reads the ledger of the data folder as it was at one moment: decisions move on
// while a server runs.
#pragma once

#include <functional>

#include "app/command/command.h"
#include "engine/ports/ledger_store.h"

namespace interlock {

// Whether what was found is as it should be; false is the exit code `refused`. What went wrong has
// been printed.
ExitCode run_on_ledger(
    const GlobalOptions& global, const std::function<Result<bool>(LedgerStore&)>& run);

}  // namespace interlock
