// Runs batches of turns against a store with group commit (ARCHITECTURE.md#one-turn).
//
// Synchronous and single-threaded: turn_engine feeds it from a queue in the server, the simulator
// calls it directly. Invariants kept here:
//   I1  effects are handed on only after commit() returned;
//   I2  a repeated key gets the stored answer and decides nothing;
//   a failed commit drops everything staged and nobody gets a success.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/ports/head_mirror.h"
#include "engine/ports/seal_keys.h"
#include "engine/rules/row_set.h"
#include "engine/service/turn.h"
#include "engine/service/unsealed_chains.h"

namespace interlock {

// What an effect came to.
enum class EffectFate { done, refused, unknown, never_arrived };
std::string_view to_word(EffectFate fate);

struct EffectOutcome {
    OutboxItem effect;
    EffectFate fate = EffectFate::unknown;
    std::string receipt;     // When done.
    std::string error_code;  // Otherwise.
    std::string error_message;
};

// Numbers for /metrics and the benchmark; called on the engine thread.
class TurnObserver {
public:
    virtual ~TurnObserver() = default;
    virtual void on_commit(std::size_t turns, Duration took) = 0;
    virtual void on_refusal(std::string_view code) = 0;
    virtual void on_commit_failure(const Error& error) = 0;
};

class TurnRunner : private TurnBackground {
public:
    // Bounds. A machine state cache that is full is emptied; a full list of waiting callers
    // refuses.
    static constexpr std::size_t kStateCacheMax = 20'000;
    static constexpr std::size_t kStateCacheBytesMax = std::size_t{32} * 1024 * 1024;
    static constexpr std::size_t kWaitingMax = 10'000;
    static constexpr Duration kWaitingLife = Duration::of_seconds(30);
    // After which a timer or an outcome whose turn failed is tried again.
    static constexpr Duration kRetryAfter = Duration::of_seconds(1);

    struct Parts {
        LedgerStore& store;
        Clock& clock;
        IdSource& ids;
        HeadMirror& mirror;
        const SealKeys& keys;  // Whose word goes with the heads that a batch moves.
        TurnObserver& observer;
    };
    explicit TurnRunner(Parts parts);

    // Loads heads and timers; gives the outbox that a crash left behind.
    Result<std::vector<OutboxItem>> open();

    // Runs a batch to its end: decided, committed, replied, effects handed on.
    void run_batch(std::vector<TurnRequest> batch);

    // Timers that are due become turns of their own, at most `count_max` in one batch. Gives the
    // time of the next one.
    std::optional<Timestamp> fire_timers(std::size_t count_max);
    // Answers callers whose operation takes longer than kWaitingLife with `in_progress`.
    void release_overdue_waiters();

    // Registration, before the first batch.
    using TimerHandler = std::function<Result<void>(Turn&, const TimerItem&)>;
    void on_timer(std::string kind, TimerHandler handler);
    using EffectHandler = std::function<Result<void>(Turn&, const EffectOutcome&)>;
    void on_effect(std::string kind, EffectHandler handler);
    void set_effect_dispatch(std::function<void(std::vector<OutboxItem>)> dispatch);
    void set_commit_failure_rule(std::function<void(const Error&)> rule);
    // Told of every turn, before its reply; null: it was decided.
    using OutcomeRule = std::function<void(const TurnRequest&, const Error*)>;
    void set_outcome_rule(OutcomeRule rule) { outcome_rule_ = std::move(rule); }
    // What a tenant's refusals may write; without a rule there is no bound.
    using BudgetRule = std::function<std::optional<WriteBudget>(const TenantId&)>;
    void set_budget_rule(BudgetRule rule) { budget_rule_ = std::move(rule); }
    // Without a rule nobody is told of anything.
    void set_notice_rule(NoticeRule& rule) { notice_rule_ = &rule; }
    // Off: every repeat is recorded.
    void set_folding(Folding folding) { folding_ = folding; }

    // The turn that records what an effect came to; submit it like any other. If it fails, it comes
    // up again with the timers until it is recorded: an outcome that is lost leaves its effect
    // open.
    TurnRequest outcome_turn(EffectOutcome outcome);

    // Stored states by prefix, for services that load themselves at start-up.
    Result<std::map<std::string, StoredState>> stored_states(const std::string& prefix) {
        return parts_.store.load_states(prefix);
    }

    // Chains as committed. Engine thread only.
    const std::map<TenantId, ChainHead>& heads() const { return heads_; }
    // The protected rows that a chain names. After open(): those that are stored.
    const RowSet& rows(const TenantId& chain) { return rows_[chain]; }

    // How far chains have grown since their last seals.
    UnsealedChains& unsealed() { return unsealed_; }
    // Has what is due sealed; run_batch() asks before each batch, and somebody must when none come.
    void seal_if_due();
    // Called when a seal is due, to write it. Registration.
    void set_seal_rule(std::function<void()> rule) { seal_rule_ = std::move(rule); }
    std::int64_t unknown_effects(const TenantId& tenant_id) const;
    std::int64_t effects_in_flight() const {
        return static_cast<std::int64_t>(open_effects_.size());
    }

private:
    struct Decided {
        TurnRequest* request = nullptr;
        Timestamp at;  // Of its records.
        TurnCommit commit;
        std::vector<std::function<void()>> after_commit;
        std::vector<std::pair<OperationId, Answer>> completed;
        std::optional<OperationId> waits_for;
        std::optional<Result<Answer>> answer;
        BatchStage staged;
    };

    // TurnBackground
    Result<HeldState*> stored_state(const std::string& machine_key, KeepState keep) override;
    ChainHead stored_head(const TenantId& tenant_id) override;
    std::string stored_row(const TenantId& chain, const std::string& machine_key) override;
    RowSet stored_rows(const TenantId& chain) override { return rows_[chain]; }
    const std::map<EffectId, OpenEffect>& open_effects() override { return open_effects_; }
    std::optional<WriteBudget> write_budget(const TenantId& tenant_id) override {
        return budget_rule_ ? budget_rule_(tenant_id) : std::nullopt;
    }
    Timestamp now() override;
    IdSource& ids() override { return parts_.ids; }
    LedgerStore& store() override { return parts_.store; }

    // What the store remembers under a request's key.
    struct Memory {
        std::optional<AnswerKey> key;
        Result<std::optional<StoredAnswer>> stored;
    };
    std::vector<Memory> recall(std::span<const TurnRequest> requests);
    Decided decide(TurnRequest& request, BatchStage& batch, Memory memory);
    Result<void> finish(Turn& turn);
    static void take_unrecorded(Turn& turn, Decided& decided);
    static std::optional<Result<Answer>> remembered(
        const TurnRequest& request, const BatchStage& batch, const Memory& memory);
    Result<void> commit(std::vector<Decided>& decided);
    void prove_tails(std::vector<TurnCommit>& commits) const;
    void publish(std::vector<Decided>& decided, BatchStage batch);
    void answer(Decided& decided);
    void fail_all(std::vector<Decided>& decided, const Error& error);
    void run_one_by_one(std::vector<TurnRequest*> requests);
    void track_effects(const TurnCommit& commit);
    Result<TurnReply> record_outcome(Turn& turn, const EffectOutcome& outcome);

    Parts parts_;
    std::map<TenantId, ChainHead> heads_;
    std::map<TenantId, RowSet> rows_;
    UnsealedChains unsealed_;
    bool is_sealing_ = false;
    std::function<void()> seal_rule_;
    void cache_state(const std::string& machine_key, HeldState state);
    void forget_state(const std::string& machine_key);
    void clear_state_cache();

    std::unordered_map<std::string, HeldState> state_cache_;
    std::size_t state_cache_bytes_ = 0;  // Of the texts.
    std::multimap<Timestamp, TimerItem> timers_;
    std::map<TimerId, Timestamp> timer_due_;
    // Outcomes whose turn failed, by when to try again; no more than there are open effects.
    std::multimap<Timestamp, EffectOutcome> unrecorded_;
    std::map<EffectId, OpenEffect> open_effects_;
    struct Waiter {
        std::function<void(Result<Answer>)> reply;
        Timestamp until;
    };
    std::map<OperationId, Waiter> waiting_;
    std::map<std::string, TimerHandler> timer_handlers_;
    std::map<std::string, EffectHandler> effect_handlers_;
    std::function<void(std::vector<OutboxItem>)> dispatch_;
    std::function<void(const Error&)> commit_failure_rule_;
    OutcomeRule outcome_rule_;
    BudgetRule budget_rule_;
    NoticeRule* notice_rule_ = nullptr;
    Folding folding_ = Folding::allowed;
};

}  // namespace interlock
