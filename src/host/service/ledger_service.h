// Keeps the ledger's promises: verifies every chain at start, seals chains in time, moves the
// sealing key on, and continues a broken chain as what it is (ADR 0015). Reads and exports it, too.
//
// Reading goes straight to the store from any thread; seals are turns on the engine thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/clock.h"
#include "engine/ports/head_log.h"
#include "engine/ports/head_mirror.h"
#include "engine/ports/ledger_store.h"
#include "engine/ports/seal_keys.h"
#include "engine/rules/segment.h"
#include "engine/service/chain_check.h"
#include "engine/service/head_proofs.h"
#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"
#include "host/service/principal_directory.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind no_open_break{
    "no_open_break", 409, false, "Nothing has to be accepted: ask for the state of the chain."};
}  // namespace errors

// What did not hold, as the record tells it that found it.
struct FoundBreak {
    std::int64_t seq = 0;  // Of that record: CHAIN_BROKEN, OTHER_CHAIN_BROKEN, WITNESS_DISAGREES.
    std::int64_t bad_seq = 0;
    std::string reason = {};
    std::string detail = {};
    Timestamp at = {};
    friend bool operator==(const FoundBreak&, const FoundBreak&) = default;
};
// A chain's breaks as the row `break/<tenant>` keeps them: while it names one that no human has
// accepted, its tenant is stopped (for `_system` everybody) and no release is granted.
struct BreakState {
    // Of those before the newest one, the row keeps so many; the others are counted.
    static constexpr std::size_t kEarlierMax = 16;

    FoundBreak newest = {};
    std::vector<FoundBreak> earlier = {};  // Found before it and not accepted then; oldest first.
    std::int64_t more = 0;                 // Between `earlier` and the newest one.
    std::string accepted_by = {};          // "" while nobody has.
    friend bool operator==(const BreakState&, const BreakState&) = default;
};
Json encode(const BreakState& state);
Result<BreakState> decode_break_state(const Json& json);
// The state with one more break; those that a human accepted before it are done with.
BreakState with_break(std::optional<BreakState> before, FoundBreak found);
// What is not accepted in one phrase, without a row's name: any tenant may read it of `_system`.
std::string describe(const BreakState& state);
inline constexpr std::string_view kBreakPrefix = "break/";
std::string break_key(const TenantId& tenant_id);

class LedgerService {
public:
    static constexpr std::int64_t kPageMax = 1000;
    // Answers that expired, removed per duty.
    static constexpr std::int64_t kPurgePerDuty = 500;

    struct Parts {
        TurnRunner& runner;
        LedgerStore& store;
        HeadMirror& mirror;
        Clock& clock;
        SealKeys& keys;
        HeadLog& head_log;
        SubmitTurn submit;
        const PrincipalDirectory& directory;
    };
    explicit LedgerService(Parts parts);

    // Walks every chain from its last seal and compares the protected rows. A chain that does not
    // hold is continued behind a CHAIN_BROKEN record, or the start fails. Then everything that is
    // not sealed is, and the key moves on. The caller stops whoever open_breaks() names.
    Result<std::vector<ChainReport>> open();

    // There are chains in other books, which are opened after these. Until they are known the key
    // does not move on, since its last list must name all that it signed. Before open().
    void await_other_heads() { awaits_heads_ = true; }
    // Heads of chains in other books, for the root in `_system`; seals it if they were awaited.
    void set_other_heads(std::function<std::vector<HeadLine>()> heads);
    // Told what is known of a chain that does not hold before it is continued. Before open().
    void on_break(std::function<void(const ChainReport&)> keep) { on_break_ = std::move(keep); }
    // What was archived of a chain, for readers; any thread asks. Before the first read.
    void set_archive(std::function<ArchiveState(const TenantId&)> archive) {
        archive_ = std::move(archive);
    }
    // Told each seal of `_system` as a line of the head log, once it is durable.
    void on_system_seal(std::function<void(const std::string& line)> call) {
        on_system_seal_ = std::move(call);
    }
    // A chain of another book does not hold: its tenant's own chain gets a record and the same row.
    // A break that is noted and not accepted is not noted again.
    Result<void> note_break(
        const TenantId& tenant_id, std::string_view book, const ChainFault& fault);
    // What the chains of other books are judged by. After open().
    const KeyLineage& lineage() const { return lineage_; }
    const HeadExpectations& expected() const { return expected_; }
    std::int64_t turn() const { return turn_; }
    bool was_from_before() const { return was_from_before_; }

    // Engine thread, about once a second: seals what is due, purges old answers.
    void duty();
    // Seals every chain that moved since its last seal, and `_system` last; at shutdown.
    void sign_all();

    // Any thread: the breaks on record that no human has accepted, whatever start found them.
    using Breaks = std::map<TenantId, BreakState>;
    std::shared_ptr<const Breaks> open_breaks() const { return breaks_.load(); }
    std::string open_break(const TenantId& tenant_id) const;  // As describe() says it; or "".
    // Why a tenant must not trade as far as its chain goes, or "". Engine thread.
    std::string chain_problem(const TenantId& tenant_id);
    // Any thread: a human takes note of the break of a chain. Needs a fresh login, as a vote does.
    using Reply = std::function<void(Result<Answer>)>;
    void accept_break(Principal human, TenantId tenant_id, std::string reason, Reply reply);

    // Any thread. `archived` when the first of them is in a segment's file.
    Result<std::vector<AuditRecord>> read(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max);
    Result<std::vector<AuditRecord>> tail(const TenantId& tenant_id, std::int64_t count);
    Result<ChainHead> head(const TenantId& tenant_id);
    Result<std::vector<Checkpoint>> checkpoints(const TenantId& tenant_id);
    Result<std::optional<std::string>> artifact(const TenantId& tenant_id, const std::string& hash);
    std::string public_key() const { return parts_.keys.first_public_key(); }
    // A signature by the current key over the head as it stands now.
    struct SignedHead {
        Checkpoint head;
        SealKeys::Key key;
    };
    Result<SignedHead> signed_head(const TenantId& tenant_id);

private:
    enum class KeyMove { when_due, now };
    void seal_due();
    void seal(const TenantId& tenant_id);
    void seal_system(KeyMove move);
    Seal seal_of(Turn& turn, const TenantId& tenant_id);
    Result<void> settle_key();
    Result<std::vector<ChainReport>> verify_all();
    void adopt(const TenantId& tenant_id);
    Result<void> load_breaks();
    Result<void> break_chain(const ChainReport& report);
    // Saves the row of one more break, and shows it once it is committed.
    void put_break(Turn& turn, FoundBreak found);
    void show_break(const TenantId& tenant_id, std::optional<BreakState> state);
    Result<TurnReply> run_acceptance(Turn& turn, const std::string& reason);
    Result<void> run(TurnRequest request);
    std::vector<HeadLine> heads_of_all(Turn& turn) const;

    Parts parts_;
    KeyLineage lineage_;
    std::map<TenantId, SealPoint> sealed_;
    // Replaced as a whole by the engine; every display asks.
    std::atomic<std::shared_ptr<const Breaks>> breaks_{std::make_shared<const Breaks>()};
    Timestamp key_since_;
    bool is_key_lost_ = false;
    bool was_from_before_ = false;
    std::int64_t turn_ = 0;  // Whose it was at the last list of heads; as in ChainSources.
    bool awaits_heads_ = false;
    HeadExpectations expected_;  // Of the last seal of `_system` at start.
    std::function<std::vector<HeadLine>()> other_heads_;
    std::function<void(const ChainReport&)> on_break_;
    std::function<void(const std::string&)> on_system_seal_;
    std::function<ArchiveState(const TenantId&)> archive_;
    Duration last_duty_{};
};

}  // namespace interlock
