// One turn: gather facts → decide → commit → act.
//
// A TurnRequest brings a `decide` function. It runs on the engine thread with a Turn, through which
// it loads states, stages new ones, writes audit records and asks for effects. Nothing it does is
// visible outside until the batch it is part of is durable; then the reply goes out and effects
// run.
//
// `decide` may run twice (a batch that conflicts is run again turn by turn), so it must have no
// effect of its own besides the Turn.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"
#include "engine/ports/ledger_store.h"
#include "engine/rules/fold.h"
#include "engine/rules/hash_chain.h"
#include "engine/rules/row_set.h"
#include "engine/rules/seal.h"
#include "engine/rules/write_budget.h"
#include "engine/wire/audit_record.h"
#include "engine/wire/notice.h"
#include "engine/wire/principal.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind idempotency_key_conflict{
    "idempotency_key_conflict",
    409,
    false,
    "Use a new key for a new request; reuse a key only to repeat the very same request."};
inline constexpr ErrorKind in_progress{
    "in_progress",
    409,
    true,
    "Wait a moment, then send the same request with the same key to get its answer."};
inline constexpr ErrorKind commit_failed{
    "commit_failed",
    503,
    true,
    "Nothing was done. Send the same request again with the same idempotency key."};
inline constexpr ErrorKind commit_unknown{
    "commit_unknown",
    503,
    true,
    "The store failed in the middle. Send the same request again with the same idempotency key; "
    "where there was none, read first whether it was done."};
inline constexpr ErrorKind write_budget_exhausted{
    "write_budget_exhausted",
    429,
    true,
    "Correct the call or stop repeating it; the budget is full again after Retry-After seconds."};
}  // namespace errors

struct Answer {
    int http_status = 200;
    std::string body;  // JSON text, sent byte for byte.
    // False for answers that must not be remembered under an idempotency key (approval_required).
    bool keep = true;
};

// The answer comes from a later turn, through Turn::complete().
struct StillRunning {
    OperationId operation_id;
};

using TurnReply = std::variant<Answer, StillRunning>;

class Turn;

// Who hears of the records that people are told of (engine/rules/notice_rules). Called at the end
// of the turn that made them, so that what it stages is committed with them or not at all.
class NoticeRule {
public:
    virtual ~NoticeRule() = default;
    // Never fails the turn: a stop must not depend on whether anybody can be told of it.
    virtual void tell(Turn& turn, std::vector<Notice> notices) = 0;
};

struct TurnRequest {
    TenantId tenant_id;
    Principal principal;
    std::string function;  // The operation's id; scope of the idempotency key.
    std::optional<IdempotencyKey> key;
    std::string request_hash;  // SHA-256 hex of the canonical request; needed with a key.
    // How long the answer is kept; nothing keeps it forever.
    std::optional<Duration> answer_life = Duration::of_days(7);
    bool urgent = false;  // Kill switch: the lane in front.
    std::function<Result<TurnReply>(Turn&)> decide;
    // Called exactly once, on the engine thread, after the commit (or with an error).
    std::function<void(Result<Answer>)> reply;
};

// An operation whose answer is still to come; kept inside the effect that will bring it.
struct OpenOperation {
    OperationId operation_id;
    std::optional<AnswerKey> key;
    std::string request_hash;
    std::optional<Duration> answer_life;  // From the answer on; nothing: kept for ever.
};
Json encode(const OpenOperation& operation);
Result<OpenOperation> decode_open_operation(const Json& json);

struct EffectDraft {
    std::string kind;
    Json json;
    Delivery delivery = Delivery::at_most_once;
    // An order effect is void when it could not be sent within this time of its commit.
    Duration life = Duration::of_seconds(2);
};

// An effect that was committed and whose outcome is not in the ledger yet.
struct OpenEffect {
    TenantId tenant_id;
    bool unknown = false;
};

// A machine's state with, beside its text, the value it was last decoded to or encoded from: a
// machine that every turn reads is parsed once, not once a turn.
struct HeldState {
    StoredState stored;
    std::shared_ptr<const void> value = nullptr;
    const void* value_type = nullptr;  // Address of the type's tag; null without a value.
    bool is_lasting = true;            // False: left to the store once it is committed.
};

// Where a state is looked for after its commit. Rows that are written once and hardly ever read
// again stay out of memory; they are saved with their value only, through save_as().
enum class KeepState { in_memory, in_store };

template <class T>
inline constexpr char kStateTypeTag = 0;

// What turns before this one in the same batch have staged, on top of what is stored.
struct BatchStage {
    struct ByKey {
        bool operator()(const AnswerKey* a, const AnswerKey* b) const { return *a < *b; }
    };

    std::unordered_map<std::string, HeldState> states;  // Version 0: known to be absent.
    std::map<TenantId, ChainHead> heads;
    // Protected rows by chain and key, as the records of these turns name them.
    std::map<TenantId, std::map<std::string, std::string>> rows;
    // Point into the commits of the batch's turns, which keep their place until it is committed.
    std::map<const AnswerKey*, const StoredAnswer*, ByKey> answers;
    // Effects whose outcome came in: nothing once they are settled.
    std::map<EffectId, std::optional<OpenEffect>> effects;
};

// Reads beneath the stage; implemented by the runner over store and cache.
class TurnBackground {
public:
    virtual ~TurnBackground() = default;
    // Null when there is none. Good until the next call. That one is absent is remembered for those
    // that are kept in memory.
    virtual Result<HeldState*> stored_state(const std::string& machine_key, KeepState keep) = 0;
    virtual ChainHead stored_head(const TenantId& tenant_id) = 0;
    // The hash under which the chain knows a protected row; "" when it knows none.
    virtual std::string stored_row(const TenantId& chain, const std::string& machine_key) = 0;
    virtual RowSet stored_rows(const TenantId& chain) = 0;
    virtual const std::map<EffectId, OpenEffect>& open_effects() = 0;
    // What the tenant's plan lets its refusals write; nothing: there is no bound.
    virtual std::optional<WriteBudget> write_budget(const TenantId& tenant_id) = 0;
    virtual Timestamp now() = 0;
    virtual IdSource& ids() = 0;
    virtual LedgerStore& store() = 0;
};

// Whether repeats may be counted instead of recorded.
enum class Folding { allowed, off };

class Turn {
public:
    Turn(
        TurnBackground& background,
        BatchStage& batch,
        const TurnRequest& request,
        Folding folding = Folding::allowed);

    Timestamp now() const { return now_; }
    const TenantId& tenant_id() const { return request_.tenant_id; }
    const Principal& principal() const { return request_.principal; }
    const TurnRequest& request() const { return request_; }

    // The state of a machine, with everything staged so far; nothing when it does not exist.
    Result<std::optional<Json>> load(const std::string& machine_key);
    // Loads through `decode`, or `otherwise` when absent.
    template <class T, class Decode>
    Result<T> load_or(const std::string& machine_key, Decode decode, T otherwise) {
        TRY_ASSIGN(const std::optional<Json> json, load(machine_key));
        if (!json) {
            return otherwise;
        }
        return decode(*json);
    }
    void save(const std::string& machine_key, const Json& json);

    // The same for a machine that is read often: decoded once and shared. Null when absent. A
    // machine has one type.
    template <class T, class Decode>
    Result<std::shared_ptr<const T>> load_as(
        const std::string& machine_key, Decode decode, KeepState keep = KeepState::in_memory) {
        TRY_ASSIGN(HeldState * held, find_state(machine_key, keep));
        if (held == nullptr) {
            return std::shared_ptr<const T>();
        }
        if (held->value_type != &kStateTypeTag<T>) {
            TRY_ASSIGN(const Json json, parse_json(held->stored.json));
            TRY_ASSIGN(T value, decode(json));
            held->value = std::make_shared<const T>(std::move(value));
            held->value_type = &kStateTypeTag<T>;
        }
        return std::static_pointer_cast<const T>(held->value);
    }
    template <class T>
    void save_as(const std::string& machine_key, std::shared_ptr<const T> value) {
        const Json json = encode(*value);
        HeldState& held = stage(machine_key, to_text(json));
        held.value = std::move(value);
        held.value_type = &kStateTypeTag<T>;
    }

    // Seals the record into its tenant's chain and gives its audit_ref. Empty decision and tick ids
    // become "sys_<seq>" and "-"; an empty timestamp becomes now.
    Result<std::string> audit(AuditDraft draft);
    // The same for what may repeat and changes nothing (engine/rules/fold): equal to the last of
    // its subject it is only counted, and the audit_ref is that of the record it repeats. A turn
    // that changes anything else is never counted.
    Result<std::string> audit_repeat(AuditDraft draft, const Repeat& repeat);
    // The same for a call that is refused; equal ones are those of the same caller with the same
    // words. Past the tenant's write budget it fails with write_budget_exhausted: hand that on, and
    // the runner counts it.
    Result<std::string> audit_refusal(AuditDraft draft, std::vector<std::string> varying = {});
    // The two halves for whoever leaves more than one record. Nothing: not a repeat; record it,
    // then say that equal ones repeat this turn's newest record with the draft's event.
    Result<std::optional<std::string>> count_repeat(AuditDraft draft, const Repeat& repeat);
    Result<void> expect_repeats(AuditDraft draft, const Repeat& repeat);
    // Records the folds of a row that are over, or all of them.
    Result<void> close_folds(const std::string& machine_key, FoldEnd end);
    // A call that passes and yet may be repeated for ever (keys put in again, a session opened
    // again) costs an agent so many bytes of the same budget; never what stops, cancels or votes.
    Result<void> charge_agent(std::int64_t bytes = 4 * kRowOverheadBytes);
    // A refusal past the budget: counted, not recorded.
    Result<void> count_unrecorded();
    // The hour of the budget is over: what was not recorded is told.
    Result<void> refill_budget();

    // A draft with tenant, actor, principal and time of this turn filled in.
    AuditDraft draft(std::string event) const;

    EffectId effect(EffectDraft draft);
    void finish_effect(const EffectId& effect_id);
    void mark_effect_unknown(const EffectId& effect_id);
    // Committed, and its outcome still to come, with everything staged so far.
    bool is_effect_open(const EffectId& effect_id) const;
    // Effects of the tenant, or of all for `_system`, whose outcome is unknown, likewise.
    std::int64_t unknown_effects(const TenantId& tenant_id) const;

    void set_timer(TimerItem timer);
    void clear_timer(TimerId timer_id);

    // A claim has one holder at a time, whatever the code believes: the store refuses a commit that
    // would give it two. Releases of a turn come before what it takes.
    void take_claim(Claim claim) { commit_.claims_taken.push_back(std::move(claim)); }
    void release_claim(Claim claim) { commit_.claims_released.push_back(std::move(claim)); }

    // What lies in a verified file leaves the store with this turn (archive_service).
    void remove(LedgerRemoval removal) { commit_.removals.push_back(std::move(removal)); }

    // Stores bytes under their hash; gives "sha256:<hex>" for AuditDraft::artifacts.
    std::string put_artifact(std::string bytes);

    // Seals the tenant's chain: the record is signed, and indexed as a checkpoint. A continuation
    // begins behind records that do not hold.
    struct Continuation {
        ChainHead good;  // The last record that holds.
        std::int64_t first_seq = 0;
    };
    Result<SealPoint> audit_seal(
        AuditDraft draft,
        Seal seal,
        const SignText& sign,
        const std::optional<Continuation>& anew = std::nullopt);
    // Protected rows of the chain as its records name them, with what this turn has staged.
    RowSet rows_of(const TenantId& chain) const;

    std::string new_id(std::string_view prefix) { return background_.ids().new_id(prefix); }

    // Opens an operation that a later turn completes.
    OpenOperation open_operation();
    // Gives the answer of an operation opened by an earlier turn.
    void complete(const OpenOperation& operation, Answer answer);

    // Runs on the engine thread after the commit and before the reply: publish, clear, notify.
    void after_commit(std::function<void()> call) { after_commit_.push_back(std::move(call)); }

    ChainHead head_of(const TenantId& tenant_id) const;
    // The effects of this batch's earlier turns are not in here; for read-only queries.
    LedgerStore& store() { return background_.store(); }

private:
    friend class TurnRunner;

    // A protected row was staged: the next record of its chain names it.
    void note_row(const std::string& machine_key, std::string_view text);
    std::string named_row(const TenantId& chain, const std::string& machine_key) const;
    std::vector<RowChange> take_rows(const TenantId& chain);
    // Records for rows that were staged after the last record of their chain.
    Result<void> audit_rows();
    Result<HeldState*> find_state(
        const std::string& machine_key, KeepState keep = KeepState::in_memory);
    HeldState& stage(
        const std::string& machine_key, std::string text, KeepState keep = KeepState::in_memory);
    Result<AuditRecord> seal_draft(AuditDraft draft);
    void note_notice(const AuditRecord& record);
    // turn_fold.cc
    Result<Occurrence> occurrence(AuditDraft& draft, const Repeat& repeat) const;
    Result<FoldRow> load_folds(const std::string& machine_key);
    void save_folds(const std::string& machine_key, FoldRow row);
    Result<void> record_fold(const TenantId& tenant_id, const OpenFold& fold, FoldEnd end);
    Result<void> charge(std::int64_t bytes);
    Result<BudgetRow> load_budget();
    void save_budget(BudgetRow row);
    // Nothing but what folding itself wrote.
    bool changed_nothing_else() const;
    bool is_void_fold() const { return has_counted_ && !changed_nothing_else(); }

    TurnBackground& background_;
    // Read only, but for the decoded values kept beside the texts.
    BatchStage& batch_;
    const TurnRequest& request_;
    Timestamp now_;
    TurnCommit commit_;
    BatchStage staged_;
    // By chain, then in order of keys; not named by a record yet.
    std::map<TenantId, std::map<std::string, RowChange>> open_rows_;
    std::vector<std::function<void()>> after_commit_;
    std::vector<std::pair<OperationId, Answer>> completed_;
    std::vector<Notice> notices_;  // Of its records.
    const Folding folding_;
    bool has_counted_ = false;
    std::size_t fold_states_ = 0;  // Of commit_, written by folding itself; likewise these.
    std::size_t fold_records_ = 0;
    std::size_t fold_timers_ = 0;
};

}  // namespace interlock
