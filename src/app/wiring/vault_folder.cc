#include "app/wiring/vault_folder.h"

#include <cstdlib>
#include <filesystem>

#include "app/command/console.h"
#include "app/command/turn_line.h"
#include "app/wiring/data_path.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/offline_seal.h"
#include "base/errors.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"
#include "host/files/file_master_keys.h"
#include "host/memory/held_master_keys.h"
#include "host/service/metrics.h"
#include "relay/service/relay_seal.h"
#include "relay/sqlite/sqlite_relay_store.h"

namespace interlock {
namespace {

std::optional<SecretString> secret_variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') {
        return std::nullopt;
    }
    return SecretString(value);
}

Principal host_operator() {
    Principal principal;
    principal.kind = PrincipalKind::host_operator;
    principal.id = "local";
    return principal;
}

Result<RotationReport> rotate(TurnRunner& runner, MasterKeys& masters, IdSource& ids) {
    TRY(runner.open());
    TurnLine line(runner);
    WorkerPool workers({.threads = 0, .waiting_max = 0});
    VaultService vault(
        {.runner = runner,
         .submit = line.submit(),
         .workers = workers,
         .masters = masters,
         .ids = ids,
         .checks = {}});
    TRY(vault.open());
    Result<RotationReport> report = fail(errors::internal, "The rotation did not end.");
    vault.rotate_master_key(
        host_operator(), [&](Result<RotationReport> result) { report = std::move(result); });
    line.run_all();
    return report;
}

// The relay seals under the same master key, so its data key has to be sealed anew before the old
// one goes. It can be repeated, like every step of a rotation.
// A record on top of a chain vouches for all of it, so the chains must hold first.
Result<void> reseal_relay(DataFolder& folder, MasterKeys& masters, IdSource& ids) {
    const std::string path = relay_database_path(folder.path());
    if (!std::filesystem::exists(path)) {
        return {};
    }
    TRY_ASSIGN(
        const FolderReport report,
        verify_folder({.data_folder = folder.path(), .from_last_seal = true}));
    for (const ChainReport& chain : report.relay_chains) {
        if (chain.fault) {
            return fail(
                errors::corrupt_data,
                "A chain of the relay does not hold: " + chain.fault->detail + ".",
                "Start the server, which keeps what is known of it, and run this again.");
        }
    }
    SystemClock clock;
    TRY(masters.begin_rotation());
    TRY_ASSIGN(const auto store, SqliteRelayStore::open({.path = path}));
    RelaySeal seal({*store, masters, ids, clock});
    TRY(seal.load());
    RelayLane lane(*store, clock);
    lane.set_keys(folder.seal_keys());
    TRY(lane.open());
    Result<void> resealed = fail(errors::internal, "The relay's key was not sealed anew.");
    lane.submit([&](RelayTurn& turn) {
        auto done = seal.reseal(turn);
        turn.after([&resealed, done = std::move(done)](bool is_committed) {
            if (is_committed) {
                resealed = done;
            }
        });
    });
    lane.run_round(std::chrono::microseconds(0));
    return resealed;
}

std::string checked_text(const VaultPresence::Entry& entry) {
    return entry.checked_at ? to_text(*entry.checked_at) : "never";
}

}  // namespace

MasterKeyChoice chosen_master_key(
    const std::string& data_folder, const std::string& configured_file) {
    return {
        .key = secret_variable("INTERLOCK_MASTER_KEY"),
        .old_key = secret_variable("INTERLOCK_MASTER_KEY_OLD"),
        .file = configured_file.empty() ? data_folder + "/master.key" : configured_file};
}

Result<std::unique_ptr<MasterKeys>> open_master_keys(const MasterKeyChoice& choice) {
    if (!choice.key && choice.old_key) {
        return fail(
            errors::invalid_config,
            "INTERLOCK_MASTER_KEY_OLD is set without INTERLOCK_MASTER_KEY.",
            "Set the new master key, too, or neither of them.");
    }
    if (!choice.key) {
        return std::make_unique<FileMasterKeys>(choice.file);
    }
    TRY_ASSIGN(SecretString key, parse_master_key(*choice.key, "INTERLOCK_MASTER_KEY"));
    if (!choice.old_key) {
        return std::make_unique<HeldMasterKeys>(MasterRing{std::move(key), std::nullopt});
    }
    TRY_ASSIGN(SecretString old_key, parse_master_key(*choice.old_key, "INTERLOCK_MASTER_KEY_OLD"));
    return std::make_unique<HeldMasterKeys>(MasterRing{std::move(old_key), std::move(key)});
}

Result<VaultStatus> read_vault(const std::string& data_folder, const MasterKeyChoice& choice) {
    TRY_ASSIGN(const auto store, open_ledger(data_folder, LedgerView::snapshot));
    TRY_ASSIGN(const auto masters, open_master_keys(choice));
    TRY_ASSIGN(std::optional<MasterRing> ring, masters->load());
    return inspect_vault(*store, std::move(ring));
}

Result<RotationReport> rotate_vault(const std::string& data_folder, const MasterKeyChoice& choice) {
    // Asked first, because opening a data folder makes one where there is none.
    TRY(open_ledger(data_folder, LedgerView::live));
    TRY_ASSIGN(const auto masters, open_master_keys(choice));
    SystemClock clock;
    RandomIdSource ids;
    TRY_ASSIGN(DataFolder folder, DataFolder::open(data_folder, ids));
    TRY_ASSIGN(const auto store, SqliteLedgerStore::open({.path = database_path(data_folder)}));
    TRY_ASSIGN(FileHeadMirror mirror, FileHeadMirror::open(heads_folder(data_folder)));
    const OfflineLedger ledger{folder, *store, mirror, clock, ids};
    TRY(seal_offline(ledger));  // First: it finds the key that is to sign.
    TRY(reseal_relay(folder, *masters, ids));
    Metrics metrics;
    TurnRunner runner({*store, clock, ids, mirror, folder.seal_keys(), metrics});
    TRY_ASSIGN(RotationReport report, rotate(runner, *masters, ids));
    TRY(seal_offline(ledger));
    return report;
}

std::string describe(const VaultStatus& status) {
    const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
    std::string text = render_fields({{"master key", or_dash(status.master_key_id)}});
    if (!status.next_master_key_id.empty()) {
        text += "It is being replaced by " + status.next_master_key_id +
                "; run `interlock vault rotate` to finish.\n";
    }
    std::vector<std::vector<std::string>> rows;
    for (const VaultStatus::Row& row : status.rows) {
        const std::string state = row.problem.empty() ? "opens" : "SHUT: " + row.problem;
        if (row.entries.empty()) {
            rows.push_back(
                {row.tenant_id.text(), "-", "-", "-", or_dash(row.master_key_id), state});
        }
        for (const VaultPresence::Entry& entry : row.entries) {
            rows.push_back(
                {row.tenant_id.text(),
                 entry.exchange,
                 "..." + entry.api_key_hint,
                 checked_text(entry),
                 row.master_key_id,
                 state});
        }
    }
    if (rows.empty()) {
        return text + "No tenant keeps exchange keys here.\n";
    }
    return text +
           render_table({"TENANT", "EXCHANGE", "KEY", "CHECKED", "MASTER KEY", "STATE"}, rows);
}

}  // namespace interlock
