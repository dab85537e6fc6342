// The vault: tenants' exchange keys, sealed at rest, checked with the venue before they are taken,
// opened for venue adapters only. docs/contracts/vault.md has its rules.
//
// Every change is a turn on the machine "vault/<tenant>" and leaves an audit record that names a
// key by its last four characters. No answer of the vault is stored, because some hold secrets.
// Without the master key that sealed what is stored, everything that needs a key is refused and
// nothing is overwritten.
//
// All functions may be called from any thread; replies come once, from the engine or the caller.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/service/turn_runner.h"
#include "engine/service/worker_pool.h"
#include "host/ports/key_check.h"
#include "host/rules/exchange_key_policy.h"
#include "host/service/principal_turn.h"
#include "host/service/vault_seal.h"

namespace interlock {

// What the venue says of a tenant's key, and what became of it.
struct KeyReport {
    std::string exchange;
    std::string api_key_hint;
    KeyVerdict verdict;
    Timestamp checked_at;
    std::string audit_ref;
};
Json encode(const KeyReport& report);

// Whether a tenant has keys, as `exchange_status` tells it, and more.
struct VaultPresence {
    struct Entry {
        std::string exchange;
        std::string api_key_hint;
        Timestamp stored_at;
        std::optional<KeyPermissions> permissions;
        std::optional<Timestamp> checked_at;
    };
    std::vector<Entry> entries;  // Oldest first.

    bool keys_loaded() const { return !entries.empty(); }
    // The one that was stored last; empty without any.
    std::string exchange() const { return entries.empty() ? "" : entries.back().exchange; }
};
Json encode(const VaultPresence& presence);

struct RotationReport {
    std::string from_id;
    std::string to_id;
    std::int64_t resealed = 0;
    bool resumed = false;  // An earlier rotation had been cut short.
};
Json encode(const RotationReport& report);

// When a stored key is looked at again (vault.md#2-what-a-key-may-do).
enum class KeyMoment { initialise, start, daily, venue_doubt };
std::string_view to_word(KeyMoment moment);

class VaultService {
public:
    // Data keys sealed anew in one turn of a rotation; a crash loses no more than that.
    static constexpr std::size_t kResealPerTurn = 64;

    // All of these outlive the service.
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        WorkerPool& workers;  // Venues are asked here.
        MasterKeys& masters;
        IdSource& ids;
        std::map<std::string, KeyCheck*> checks;  // By exchange; none other is known.
    };
    explicit VaultService(Parts parts);

    // Takes the master key and looks whether it is the one that sealed what is stored. An error
    // leaves the vault shut: every call that needs a key answers with it. Before the engine starts.
    Result<void> open();

    template <class T>
    using Reply = TypedReply<T>;
    struct Caller {
        Principal principal;
        TenantId tenant_id;
    };

    // Asks the venue, then keeps the keys in place of those of the same exchange. `key_rejected`
    // lists every fault; such keys are wiped and the ones kept before stay.
    // `with_it` runs in the turn that keeps them: what only a success may use up.
    using WithIt = std::function<Result<void>(Turn&)>;
    void put(Caller caller, ExchangeKeys keys, Reply<KeyReport> reply, WithIt with_it = {});
    // `unknown_exchange`, with those that this server reaches.
    Result<void> check_exchange(const std::string& exchange) const;
    void has(Caller caller, Reply<VaultPresence> reply);
    // One exchange, or all of them when it is empty. Needs no master key.
    void wipe(Caller caller, std::string exchange, Reply<VaultPresence> reply);

    struct StoredCheck {
        std::string exchange;
        KeyMoment moment = KeyMoment::daily;
    };
    // Asks the venue about keys that are kept. After `key_rejected` they are wiped: stop trading
    // with them. After `permissions_unverified` they are kept, and must not begin to trade.
    void check(Caller caller, StoredCheck which, Reply<KeyReport> reply);

    struct Opening {
        std::string exchange;
        std::string purpose;  // For the record: "connect".
    };
    // For venue adapters: only the program itself may ask.
    void open_keys(Caller caller, Opening opening, Reply<ExchangeKeys> reply);

    // A new data key for the tenant; its secrets are sealed anew with it. Gives its version.
    void rotate_data_key(Caller caller, Reply<std::int64_t> reply);
    // A new master key; every data key is sealed anew with it. Goes on where a crash cut it short.
    void rotate_master_key(Principal principal, Reply<RotationReport> reply);

private:
    struct Candidate {
        ExchangeKeys keys;
        std::optional<KeyPermissions> permissions;
        WithIt with_it;
    };
    // Kept keys on their way to the venue.
    struct Doubted {
        StoredCheck which;
        ExchangeKeys keys;
        std::string sealed;  // What was opened; something else by now: asked in vain.
        std::optional<KeyPermissions> permissions;
    };
    struct Rotation {
        Principal principal;
        Reply<RotationReport> reply;
        RotationReport report;
        std::vector<TenantId> waiting;
        std::size_t done = 0;
    };
    using RotationPtr = std::shared_ptr<Rotation>;

    TurnRequest turn_of(Caller caller, std::string function) const;
    Result<KeyCheck*> check_of(const std::string& exchange) const;
    static Result<VaultRow> load_row(Turn& turn);
    // What the row's secrets are sealed with; a tenant without any gets one.
    Result<DataKey> data_key_of(Turn& turn, VaultRow& row);
    Result<SealedDataKey> seal(Turn& turn, const DataKey& data_key);
    Result<std::shared_ptr<Doubted>> open_entry(Turn& turn, StoredCheck which);

    Result<Outcome<KeyReport>> decide_put(Turn& turn, const Candidate& candidate);
    Result<Outcome<VaultPresence>> decide_wipe(Turn& turn, const std::string& exchange);
    void ask_again(Caller caller, std::shared_ptr<Doubted> doubted, Reply<KeyReport> reply);
    Result<Outcome<KeyReport>> decide_check(Turn& turn, const Doubted& doubted);
    Result<Outcome<ExchangeKeys>> decide_opening(Turn& turn, const Opening& opening);
    Result<Outcome<std::int64_t>> decide_data_key(Turn& turn);

    Result<Outcome<RotationReport>> begin_rotation(Turn& turn, Rotation& rotation);
    // How many it sealed anew.
    Result<Outcome<std::int64_t>> reseal_some(Turn& turn, const Rotation& rotation);
    // Gives the tenants that are left; without any it is over.
    Result<Outcome<std::vector<TenantId>>> end_rotation(Turn& turn, const Rotation& rotation);
    void go_on(const RotationPtr& rotation);
    void finish(const RotationPtr& rotation, Result<RotationReport> result);

    Parts parts_;
    // Engine thread only, after open().
    std::optional<MasterKeyring> ring_;  // Nothing: no secret was ever kept, or the vault is shut.
    std::optional<Error> shut_;
    const Rotation* under_way_ = nullptr;
};

// What stands in the store, seen without a service: for `interlock vault status`.
struct VaultStatus {
    struct Row {
        TenantId tenant_id;
        std::vector<VaultPresence::Entry> entries;
        std::int64_t data_key_version = 0;  // 0: none.
        std::string master_key_id;
        std::string problem;  // Why it does not open; empty when it does.
    };
    std::string master_key_id;       // That seals; empty without any.
    std::string next_master_key_id;  // While one is being replaced.
    std::vector<Row> rows;

    bool ok() const;
};
// Opens everything to see whether it opens.
Result<VaultStatus> inspect_vault(LedgerStore& store, std::optional<MasterRing> ring);
Json encode(const VaultStatus& status);

}  // namespace interlock
