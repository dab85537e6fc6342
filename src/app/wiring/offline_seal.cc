#include "app/wiring/offline_seal.h"

#include "app/wiring/quarantine.h"
#include "engine/service/ledger_check.h"
#include "host/service/ledger_service.h"
#include "host/service/metrics.h"

namespace interlock {

Result<void> seal_offline(const OfflineLedger& ledger) {
    Metrics metrics;
    TurnRunner runner(
        {ledger.store,
         ledger.clock,
         ledger.ids,
         ledger.mirror,
         ledger.folder.seal_keys(),
         metrics});
    TRY(runner.open());
    const PrincipalDirectory nobody;
    LedgerService service(
        {runner,
         ledger.store,
         ledger.mirror,
         ledger.clock,
         ledger.folder.seal_keys(),
         ledger.folder.head_log(),
         [](const TurnRequest&) {},
         nobody});
    service.on_break([&](const ChainReport& report) {
        keep_evidence(ledger.folder.path(), report, ledger.clock.now(), ledger.store);
    });
    service.await_other_heads();  // Nobody opens the relay here: the key stays.
    TRY_ASSIGN(const auto reports, service.open());
    log_broken_chains("ledger", reports);
    return {};
}

}  // namespace interlock
