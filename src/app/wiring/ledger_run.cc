#include "app/wiring/ledger_run.h"

#include "app/wiring/archive_folder.h"
#include "app/wiring/server_client.h"

namespace interlock {

ExitCode run_on_ledger(
    const GlobalOptions& global, const std::function<Result<bool>(LedgerStore&)>& run) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    const auto ledger = WholeLedger::open(*folder, LedgerView::snapshot);
    if (!ledger) {
        return report_failure(global, ledger.error());
    }
    const auto ok = run((*ledger)->store());
    if (!ok) {
        return report_failure(global, ok.error());
    }
    return *ok ? ExitCode::ok : ExitCode::refused;
}

}  // namespace interlock
