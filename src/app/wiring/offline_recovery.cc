#include "app/wiring/offline_recovery.h"

#include "app/command/turn_line.h"
#include "app/wiring/config.h"
#include "app/wiring/data_path.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/mail_setup.h"
#include "app/wiring/offline_seal.h"
#include "base/errors.h"
#include "base/text.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"
#include "host/service/metrics.h"
#include "host/service/recovery_letters.h"

namespace interlock {
namespace {

Principal host_operator() {
    Principal principal;
    principal.kind = PrincipalKind::host_operator;
    principal.id = "local";
    return principal;
}

// The id of whoever has this address; looked up where a turn would.
Result<HumanId> find_human(TurnRunner& runner, PrincipalService& principals, std::string email) {
    Result<HumanId> found = fail(errors::not_found, "Nobody here has the address " + email + ".");
    TurnRequest request;
    request.principal = host_operator();
    request.tenant_id = system_tenant();
    request.function = "find_human";
    request.decide = [&](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(
            const std::optional<Human> human,
            principals.records().find_human_by_email(turn, to_lower(email)));
        if (human) {
            found = human->human_id;
        }
        return Answer{};
    };
    request.reply = [&](Result<Answer> answer) {
        if (!answer) {
            found = std::unexpected(std::move(answer).error());
        }
    };
    std::vector<TurnRequest> batch;
    batch.push_back(std::move(request));
    runner.run_batch(std::move(batch));
    return found;
}

}  // namespace

Result<StartedRecovery> recover_offline(
    const GlobalOptions& global, const OfflineRecovery& recovery) {
    TRY_ASSIGN(const LoadedConfig loaded, load_config(global));
    const Config& config = loaded.config;
    TRY_ASSIGN(const TenantId tenant_id, TenantId::parse(recovery.tenant));
    // Asked first, because opening a data folder makes one where there is none.
    TRY(open_ledger(config.data_folder, LedgerView::live));
    SystemClock clock;
    RandomIdSource ids;
    TRY_ASSIGN(DataFolder folder, DataFolder::open(config.data_folder, ids));
    TRY_ASSIGN(
        const auto store, SqliteLedgerStore::open({.path = database_path(config.data_folder)}));
    TRY_ASSIGN(FileHeadMirror mirror, FileHeadMirror::open(heads_folder(config.data_folder)));
    const OfflineLedger ledger{folder, *store, mirror, clock, ids};
    TRY(seal_offline(ledger));
    Metrics metrics;
    TurnRunner runner({*store, clock, ids, mirror, folder.seal_keys(), metrics});
    TurnLine line(runner);
    PasswordPool passwords({.threads = 0});
    WorkerPool workers({.threads = 0, .waiting_max = 0});
    PrincipalDirectory directory;
    PrincipalService principals(
        {.runner = runner,
         .submit = line.submit(),
         .directory = directory,
         .workers = passwords,
         .clock = clock,
         .ids = ids,
         .operator_token_hash = {},
         .operator_recovery_delay = Duration::of_hours(config.recovery_operator_delay_hours)});
    TRY_ASSIGN(const auto mailer, open_configured_mailer(config, clock, ids));
    // No timer comes up here, so nothing is sent: the letters wait for a server.
    const RecoveryLetters letters(
        {.runner = runner,
         .submit = line.submit(),
         .principals = principals,
         .workers = workers,
         .mailer = *mailer,
         .ids = ids,
         .base_url = [] { return std::string(); }});
    TRY(runner.open());
    TRY(principals.open());
    TRY_ASSIGN(HumanId human_id, find_human(runner, principals, recovery.email));
    Result<StartedRecovery> started = fail(errors::internal, "The recovery did not start.");
    principals.start_recovery(
        {host_operator(), tenant_id},
        std::move(human_id),
        recovery.request,
        [&](Result<StartedRecovery> result) { started = std::move(result); });
    line.run_all();
    TRY(seal_offline(ledger));
    return started;
}

}  // namespace interlock
