// The ledger of a data folder, read beside a running server or without one: the database read-only,
// the head files, the public key. Creates and changes nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/service/head_proofs.h"
#include "engine/service/ledger_check.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/file_seal_keys.h"
#include "host/service/witness_check.h"

namespace interlock {

enum class LedgerView {
    live,      // Each read shows the newest.
    snapshot,  // All reads show one moment.
};
Result<std::unique_ptr<SqliteLedgerStore>> open_ledger(
    const std::string& data_folder, LedgerView view);

// Empty when the folder of head files is missing.
Result<std::map<TenantId, LedgerHead>> read_head_files(const std::string& data_folder);

// Signs exports and receipts with the folder's current key. Opened before the ledger is: a key that
// is in place is named by a record that is there already.
class FolderSigner {
public:
    static Result<FolderSigner> open(const std::string& data_folder);
    HeadSigner signer() const { return {first_public_key_, key_.epoch, key_.pair}; }
    const std::string& first_public_key() const { return first_public_key_; }

private:
    FolderSigner(std::string first_public_key, NumberedKey key)
        : first_public_key_(std::move(first_public_key)), key_(std::move(key)) {}

    std::string first_public_key_;
    NumberedKey key_;
};

// The protected rows of a relay's file, by the chain they hang on.
Result<RowSet> read_relay_rows(SqliteLedgerStore& relay);

// A public key as people give it: 64 hex digits, or the name of a file that holds them. Raw bytes.
Result<std::string> parse_public_key(const std::string& text);

// What verifying a whole data folder came to.
struct FolderReport {
    std::vector<ChainReport> chains;
    std::vector<ChainReport> relay_chains;  // Of relay.db, one per tenant there.
    std::string damage;                     // Of the database as a whole; "" when it is sound.
    std::vector<std::string> warnings;
    std::vector<WitnessReport> witnesses;  // One for each that was brought.

    // Breaks that are on record count, unless a human accepted all and the caller knows of them.
    bool ok() const;
    const ChainReport* first_broken() const;
    const WitnessReport* first_disagreement() const;
    bool knows_breaks = false;
    std::int64_t records() const;
};
Json encode(const FolderReport& report);
std::string describe(const FolderReport& report);

struct FolderCheck {
    std::string data_folder;
    std::vector<TenantId> tenants = {};  // Empty: all.
    std::string public_key = {};         // Raw; empty: the one in the folder.
    std::string archive_folder = {};     // Segments besides those in the folder's archive/.
    bool from_last_seal = false;
    bool check_database = true;   // Its structure, too, not only the chains in it.
    bool check_artifacts = true;  // What records refer to, byte by byte; not with from_last_seal.
    bool knows_breaks = false;    // As in the report.
    const std::vector<WitnessEvidence>* witnesses = nullptr;
    CheckToken check_token = {};
    std::function<void(const TenantId& tenant_id, std::int64_t seq)> on_progress = {};
};
// Looks twice before it calls anything broken: head files are small and written without locks, so a
// torn read of one must not raise an alarm.
Result<FolderReport> verify_folder(const FolderCheck& check);

}  // namespace interlock
