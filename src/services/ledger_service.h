// Reads, verifies, signs and exports the ledger.
//
// Reading goes straight to the store from any thread; checkpoints are turns on the engine thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "core/ledger/hash_chain.h"
#include "ports/clock.h"
#include "ports/head_mirror.h"
#include "ports/ledger_store.h"
#include "services/turn_gate.h"
#include "services/turn_runner.h"

namespace interlock {

// What a walk over one chain found.
struct ChainReport {
    TenantId tenant_id;
    std::int64_t records = 0;  // Verified ones.
    std::int64_t first_seq = 1;
    ChainHead head;                // The last good record.
    std::int64_t checkpoints = 0;  // Whose signature and point hold.
    std::optional<ChainFault> fault;
    // True when something outside the entries vouches for the end of the chain: the head kept
    // apart.
    bool complete = false;
};
Json encode(const ChainReport& report);

// Verifies one chain of a store. `mirror_head` is the head file's word; null when there is none.
struct ChainSources {
    LedgerStore& store;
    const LedgerHead* mirror_head = nullptr;
    std::string public_key;  // Raw 32 bytes.
    // Start at the newest checkpoint with a good signature instead of at genesis.
    bool from_last_checkpoint = false;
    // Told now and then how far the walk got; empty: nobody watches.
    std::function<void(std::int64_t seq)> on_progress = {};
};
Result<ChainReport> verify_chain(const ChainSources& sources, const TenantId& tenant_id);

Checkpoint sign_checkpoint(
    const Ed25519KeyPair& key, const TenantId& tenant_id, const ChainHead& head, Timestamp at);
bool is_signed_by(const Checkpoint& checkpoint, std::string_view public_key);

class LedgerService {
public:
    static constexpr std::int64_t kCheckpointEvery = 10'000;
    static constexpr Duration kCheckpointPeriod = Duration::of_hours(1);
    static constexpr std::int64_t kPageMax = 1000;
    // Answers that expired, removed per duty.
    static constexpr std::int64_t kPurgePerDuty = 500;

    struct Parts {
        TurnRunner& runner;
        LedgerStore& store;
        HeadMirror& mirror;
        Clock& clock;
        const Ed25519KeyPair& key;
    };
    explicit LedgerService(Parts parts);

    // Reads the checkpoints and walks every chain from its last one; faults are returned, not
    // fatal: the caller stops trading and says so.
    Result<std::vector<ChainReport>> open();

    // Engine thread, about once a second: signs checkpoints that are due, purges old answers.
    void duty();
    // Signs the current head of every chain that moved since its last checkpoint; at shutdown.
    void sign_all();

    // The problem of a tenant's chain since its last checkpoint, or "". Engine thread.
    std::string chain_problem(const TenantId& tenant_id);

    // Any thread.
    Result<std::vector<AuditRecord>> read(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max);
    Result<std::vector<AuditRecord>> tail(const TenantId& tenant_id, std::int64_t count);
    Result<ChainHead> head(const TenantId& tenant_id);
    Result<std::vector<Checkpoint>> checkpoints(const TenantId& tenant_id);
    Result<std::optional<std::string>> artifact(const TenantId& tenant_id, const std::string& hash);
    std::string public_key() const { return parts_.key.public_key; }
    // A signature over the head as it stands now; the last line of an export.
    Result<Checkpoint> signed_head(const TenantId& tenant_id);

private:
    struct Signed {
        std::int64_t seq = 0;
        Timestamp at;
    };
    void sign(const TenantId& tenant_id);

    Parts parts_;
    std::map<TenantId, Signed> signed_;
    Duration last_duty_{};
};

Json encode(const Checkpoint& checkpoint);
Result<Checkpoint> decode_checkpoint(const Json& json);

}  // namespace interlock
