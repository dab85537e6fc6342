#include "engine/service/turn_runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/match.h"
#include "engine/service/chain_check.h"
#include "engine/service/moved_heads.h"

namespace interlock {

std::string_view to_word(EffectFate fate) {
    constexpr std::array<std::string_view, 4> kWords{"done", "refused", "unknown", "never_arrived"};
    return kWords[static_cast<std::size_t>(fate)];
}

TurnRunner::TurnRunner(Parts parts) : parts_(parts) {}

Result<std::vector<OutboxItem>> TurnRunner::open() {
    TRY_ASSIGN(const auto heads, parts_.store.load_heads());
    for (const auto& [tenant_id, head] : heads) {
        heads_[tenant_id] = {head.seq, head.hash};
    }
    TRY_ASSIGN(auto timers, parts_.store.load_timers());
    for (TimerItem& timer : timers) {
        timer_due_[timer.timer_id] = timer.due_at;
        const Timestamp due_at = timer.due_at;
        timers_.emplace(due_at, std::move(timer));
    }
    TRY_ASSIGN(auto outbox, parts_.store.load_outbox());
    for (const OutboxItem& item : outbox) {
        // What was pending when we went down may have run: until it is settled it counts as
        // unknown.
        open_effects_[item.effect_id] = {item.tenant_id, true};
    }
    TRY_ASSIGN(rows_, live_rows(parts_.store));
    return outbox;
}

std::string TurnRunner::stored_row(const TenantId& chain, const std::string& machine_key) {
    const auto rows = rows_.find(chain);
    return rows == rows_.end() ? std::string() : rows->second.hash_of(machine_key);
}

// Asked before each batch: a verifier insists on a seal in time.
void TurnRunner::seal_if_due() {
    if (is_sealing_ || !seal_rule_ || !unsealed_.is_due(now())) {
        return;
    }
    is_sealing_ = true;
    seal_rule_();
    is_sealing_ = false;
    unsealed_.reckon();
}

Result<HeldState*> TurnRunner::stored_state(const std::string& machine_key, KeepState keep) {
    if (const auto cached = state_cache_.find(machine_key); cached != state_cache_.end()) {
        return cached->second.stored.version == 0 ? nullptr : &cached->second;
    }
    TRY_ASSIGN(auto stored, parts_.store.load_state(machine_key));
    if (!stored) {
        // That it is absent (version 0) is remembered, too: turns keep asking for machines that
        // most tenants never have. Its first commit replaces this.
        if (keep == KeepState::in_memory && state_cache_.size() < kStateCacheMax) {
            state_cache_.try_emplace(machine_key);
        }
        return nullptr;
    }
    cache_state(machine_key, {.stored = *std::move(stored)});
    return &state_cache_[machine_key];
}

void TurnRunner::cache_state(const std::string& machine_key, HeldState state) {
    const std::size_t bytes = machine_key.size() + state.stored.json.size();
    if (state_cache_.size() >= kStateCacheMax || state_cache_bytes_ + bytes > kStateCacheBytesMax) {
        clear_state_cache();
    }
    HeldState& place = state_cache_[machine_key];
    if (place.stored.version != 0) {
        state_cache_bytes_ -= machine_key.size() + place.stored.json.size();
    }
    state_cache_bytes_ += bytes;
    place = std::move(state);
}

void TurnRunner::forget_state(const std::string& machine_key) {
    const auto cached = state_cache_.find(machine_key);
    if (cached == state_cache_.end()) {
        return;
    }
    if (cached->second.stored.version != 0) {
        state_cache_bytes_ -= machine_key.size() + cached->second.stored.json.size();
    }
    state_cache_.erase(cached);
}

void TurnRunner::clear_state_cache() {
    state_cache_.clear();
    state_cache_bytes_ = 0;
}

ChainHead TurnRunner::stored_head(const TenantId& tenant_id) {
    const auto found = heads_.find(tenant_id);
    return found == heads_.end() ? ChainHead{} : found->second;
}

Timestamp TurnRunner::now() {
    return parts_.clock.now();
}

std::vector<TurnRunner::Memory> TurnRunner::recall(std::span<const TurnRequest> requests) {
    std::vector<AnswerKey> keys;
    for (const TurnRequest& request : requests) {
        if (request.key) {
            keys.push_back({request.tenant_id, request.function, *request.key});
        }
    }
    auto found = parts_.store.find_answers(keys);
    std::vector<Memory> memories(requests.size());
    for (std::size_t i = 0, keyed = 0; i < requests.size(); ++i) {
        if (!requests[i].key) {
            continue;
        }
        memories[i].key = std::move(keys[keyed]);
        if (found) {
            memories[i].stored = std::move((*found)[keyed]);
        } else {
            memories[i].stored = std::unexpected(found.error());
        }
        ++keyed;
    }
    return memories;
}

std::optional<Result<Answer>> TurnRunner::remembered(
    const TurnRequest& request, const BatchStage& batch, const Memory& memory) {
    if (!memory.key) {
        return std::nullopt;
    }
    if (!memory.stored) {
        return Result<Answer>(std::unexpected(memory.stored.error()));
    }
    const StoredAnswer* found = memory.stored->has_value() ? &**memory.stored : nullptr;
    if (const auto staged = batch.answers.find(&*memory.key); staged != batch.answers.end()) {
        found = staged->second;
    }
    if (found == nullptr) {
        return std::nullopt;
    }
    if (found->request_hash != request.request_hash) {
        return Result<Answer>(fail(
            errors::idempotency_key_conflict,
            "The idempotency key \"" + request.key->text() +
                "\" was used before for a different request."));
    }
    if (!found->body) {
        return Result<Answer>(fail(
            errors::in_progress,
            "The request with this idempotency key is still being carried out."));
    }
    return Result<Answer>(Answer{found->http_status, *found->body});
}

TurnRunner::Decided TurnRunner::decide(TurnRequest& request, BatchStage& batch, Memory memory) {
    Decided decided;
    decided.request = &request;
    if (auto known = remembered(request, batch, memory)) {
        decided.answer = std::move(*known);
        return decided;
    }
    TurnBackground& background = *this;
    std::optional<Turn> made(std::in_place, background, batch, request, folding_);
    decided.at = made->now();
    Result<TurnReply> reply = request.decide(*made);
    if (reply && made->is_void_fold()) {
        // It counted itself as a repeat and then changed something: decided again, recorded whole.
        made.emplace(background, batch, request, Folding::off);
        reply = request.decide(*made);
    }
    if (reply) {
        if (Result<void> finished = finish(*made); !finished) {
            reply = std::unexpected(std::move(finished).error());
        }
    }
    const auto refuse = [&](Error error) {
        // Whatever was staged is dropped with the Turn.
        decided.answer = Result<Answer>(std::unexpected(std::move(error)));
        if (decided.answer->error() == errors::write_budget_exhausted) {
            made.emplace(background, batch, request);
            take_unrecorded(*made, decided);
        }
        return std::move(decided);
    };
    if (!reply) {
        return refuse(std::move(reply).error());
    }
    Turn& turn = *made;
    StoredAnswer stored;
    stored.request_hash = request.request_hash;
    if (request.answer_life) {
        stored.expires_at = turn.now() + *request.answer_life;
    }
    bool keep = request.key.has_value();
    match(
        std::move(*reply),
        [&](Answer answer) {
            keep = keep && answer.keep;
            stored.body = answer.body;
            stored.http_status = answer.http_status;
            decided.answer = Result<Answer>(std::move(answer));
        },
        [&](StillRunning running) {
            // Kept until it is completed: purged before, its outcome could never be recorded.
            stored.expires_at.reset();
            stored.operation_id = running.operation_id;
            decided.waits_for = std::move(running.operation_id);
        });
    if (keep && turn.has_counted_) {
        // A refusal under a new key each time: what its answers take is the tenant's to pay.
        const std::int64_t bytes = kRowOverheadBytes + std::ssize(stored.body.value_or(""));
        if (auto charged = turn.charge(bytes); !charged) {
            return refuse(std::move(charged).error());
        }
    }
    if (keep) {
        turn.commit_.answers.push_back({*std::move(memory.key), std::move(stored), false});
    }
    decided.commit = std::move(turn.commit_);
    decided.staged = std::move(turn.staged_);
    decided.after_commit = std::move(turn.after_commit_);
    decided.completed = std::move(turn.completed_);
    return decided;
}

// What belongs to every turn that is decided: its notices, and records of the rows that are left.
Result<void> TurnRunner::finish(Turn& turn) {
    if (notice_rule_ != nullptr && !turn.notices_.empty()) {
        notice_rule_->tell(turn, std::exchange(turn.notices_, {}));
    }
    return turn.audit_rows();
}

void TurnRunner::take_unrecorded(Turn& turn, Decided& decided) {
    if (const auto counted = turn.count_unrecorded(); !counted) {
        decided.answer = Result<Answer>(std::unexpected(counted.error()));
        return;
    }
    decided.commit = std::move(turn.commit_);
    decided.staged = std::move(turn.staged_);
}

namespace {

bool is_empty(const TurnCommit& commit) {
    return commit.states.empty() && commit.audit.empty() && commit.answers.empty() &&
           commit.outbox.empty() && commit.outbox_unknown.empty() &&
           commit.outbox_finished.empty() && commit.timers.empty() &&
           commit.timers_finished.empty() && commit.claims_released.empty() &&
           commit.claims_taken.empty() && commit.artifacts.empty() && commit.checkpoints.empty() &&
           commit.removals.empty();
}

void merge(BatchStage& into, BatchStage from) {
    while (!from.states.empty()) {
        auto placed = into.states.insert(from.states.extract(from.states.begin()));
        if (!placed.inserted && placed.node.mapped().stored.version != 0) {
            placed.position->second = std::move(placed.node.mapped());
        }
    }
    for (auto& [tenant_id, head] : from.heads) {
        into.heads[tenant_id] = std::move(head);
    }
    for (auto& [chain, rows] : from.rows) {
        for (auto& [machine_key, hash] : rows) {
            into.rows[chain][machine_key] = std::move(hash);
        }
    }
    for (auto& [effect_id, effect] : from.effects) {
        into.effects[effect_id] = std::move(effect);
    }
}

}  // namespace

void TurnRunner::run_batch(std::vector<TurnRequest> batch) {
    seal_if_due();
    BatchStage stage;
    std::vector<Decided> decided;
    decided.reserve(batch.size());
    std::vector<Memory> memories = recall(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        decided.push_back(decide(batch[i], stage, std::move(memories[i])));
        merge(stage, std::move(decided.back().staged));
        for (const AnswerWrite& write : decided.back().commit.answers) {
            stage.answers.insert_or_assign(&write.key, &write.answer);
        }
    }
    const Result<void> committed = commit(decided);
    if (committed) {
        publish(decided, std::move(stage));
        return;
    }
    if (committed.error() == errors::conflict && batch.size() > 1) {
        // One of them met a state that changed underneath; run each alone so that only it fails.
        std::vector<TurnRequest*> requests;
        for (TurnRequest& request : batch) {
            requests.push_back(&request);
        }
        run_one_by_one(std::move(requests));
        return;
    }
    fail_all(decided, committed.error());
}

void TurnRunner::run_one_by_one(std::vector<TurnRequest*> requests) {
    for (TurnRequest* request : requests) {
        clear_state_cache();
        std::vector<Decided> decided;
        std::vector<Memory> memories = recall({request, 1});
        BatchStage alone;
        decided.push_back(decide(*request, alone, std::move(memories.front())));
        if (const Result<void> committed = commit(decided); committed) {
            publish(decided, std::move(decided.front().staged));
        } else {
            fail_all(decided, committed.error());
        }
    }
}

Result<void> TurnRunner::commit(std::vector<Decided>& decided) {
    std::vector<TurnCommit> commits;
    std::vector<Decided*> owners;
    commits.reserve(decided.size());
    owners.reserve(decided.size());
    for (Decided& one : decided) {
        if (!is_empty(one.commit)) {
            commits.push_back(std::move(one.commit));
            owners.push_back(&one);
        }
    }
    if (commits.empty()) {
        return {};
    }
    const Duration start = parts_.clock.monotonic();
    prove_tails(commits);
    const Result<void> committed = parts_.store.commit(commits);
    if (committed) {
        parts_.observer.on_commit(
            commits.size(), {parts_.clock.monotonic().microseconds - start.microseconds});
    }
    // Handed back to their turns: publishing needs the effects and timers they hold.
    for (std::size_t i = 0; i < commits.size(); ++i) {
        owners[i]->commit = std::move(commits[i]);
    }
    return committed;
}

void TurnRunner::prove_tails(std::vector<TurnCommit>& commits) const {
    MovedHeads moved;
    for (const TurnCommit& commit : commits) {
        moved.add(commit.audit, commit.checkpoints);
    }
    commits.back().proofs = moved.prove(kLedgerBook, parts_.keys);
}

void TurnRunner::track_effects(const TurnCommit& commit) {
    for (const OutboxItem& item : commit.outbox) {
        open_effects_[item.effect_id] = {item.tenant_id, false};
    }
    for (const EffectId& effect_id : commit.outbox_unknown) {
        if (const auto open = open_effects_.find(effect_id); open != open_effects_.end()) {
            open->second.unknown = true;
        }
    }
    for (const EffectId& effect_id : commit.outbox_finished) {
        open_effects_.erase(effect_id);
    }
    for (const TimerItem& timer : commit.timers) {
        timer_due_[timer.timer_id] = timer.due_at;
        const auto [begin, end] = timers_.equal_range(timer.due_at);
        const auto set = std::find_if(
            begin, end, [&](const auto& entry) { return entry.second.timer_id == timer.timer_id; });
        if (set != end) {
            set->second = timer;  // However often it is set for a moment, it comes up once.
        } else {
            timers_.emplace(timer.due_at, timer);
        }
    }
    for (const TimerId& timer_id : commit.timers_finished) {
        timer_due_.erase(timer_id);  // Its entry in timers_ is skipped when it comes up.
    }
}

void TurnRunner::publish(std::vector<Decided>& decided, BatchStage stage) {
    std::map<TenantId, LedgerHead> changed;
    for (auto& [tenant_id, head] : stage.heads) {
        changed[tenant_id] = {head.seq, head.hash};
        heads_[tenant_id] = std::move(head);
    }
    if (!changed.empty()) {
        parts_.mirror.publish(changed);
    }
    for (const auto& [chain, rows] : stage.rows) {
        for (const auto& [machine_key, hash] : rows) {
            rows_[chain].set(machine_key, hash);
        }
    }
    for (auto& [key, state] : stage.states) {
        if (state.stored.version == 0) {
            continue;  // Asked for and not written.
        }
        if (state.is_lasting) {
            cache_state(key, std::move(state));
        } else {
            forget_state(key);
        }
    }
    std::vector<OutboxItem> effects;
    for (Decided& one : decided) {
        unsealed_.note(one.commit, one.at);
        track_effects(one.commit);
        for (auto& call : one.after_commit) {
            call();
        }
        for (OutboxItem& item : one.commit.outbox) {
            effects.push_back(std::move(item));
        }
    }
    if (!effects.empty() && dispatch_) {
        dispatch_(std::move(effects));
    }
    for (Decided& one : decided) {
        answer(one);
    }
}

void TurnRunner::answer(Decided& one) {
    if (outcome_rule_) {
        outcome_rule_(*one.request, one.answer && !*one.answer ? &one.answer->error() : nullptr);
    }
    if (one.waits_for) {
        if (waiting_.size() >= kWaitingMax) {
            one.request->reply(fail(
                errors::in_progress, "The request was accepted; its answer is not there yet."));
        } else {
            waiting_[*one.waits_for] = {std::move(one.request->reply), now() + kWaitingLife};
        }
    } else if (one.answer) {
        if (!*one.answer) {
            parts_.observer.on_refusal(one.answer->error().code());
        }
        if (one.request->reply) {
            one.request->reply(std::move(*one.answer));
        }
    }
    for (auto& [operation_id, completed] : one.completed) {
        if (const auto waiter = waiting_.find(operation_id); waiter != waiting_.end()) {
            waiter->second.reply(Result<Answer>(std::move(completed)));
            waiting_.erase(waiter);
        }
    }
}

void TurnRunner::fail_all(std::vector<Decided>& decided, const Error& error) {
    log_error("commit_failed", {{"error", error.code()}, {"message", error.message}});
    parts_.observer.on_commit_failure(error);
    clear_state_cache();
    // A conflict wrote nothing. Anything else left the store in a state that only a re-opened store
    // can tell, and a ledger that cannot be written stops all trading.
    const bool nothing_written = error == errors::conflict;
    if (!nothing_written && commit_failure_rule_) {
        commit_failure_rule_(error);
    }
    for (Decided& one : decided) {
        if (one.request->reply) {
            one.request->reply(
                nothing_written
                    ? fail(errors::commit_failed, "The turn met a concurrent change.")
                    : fail(
                          errors::commit_unknown,
                          "The store failed while this was being written: " + error.message));
        }
    }
}

std::optional<Timestamp> TurnRunner::fire_timers(std::size_t count_max) {
    std::vector<TurnRequest> due;
    const Timestamp at = now();
    while (!timers_.empty() && timers_.begin()->first <= at && due.size() < count_max) {
        TimerItem timer = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        const auto live = timer_due_.find(timer.timer_id);
        if (live == timer_due_.end() || live->second != timer.due_at) {
            continue;  // Cleared or set anew since.
        }
        const auto handler = timer_handlers_.find(timer.kind);
        if (handler == timer_handlers_.end()) {
            log_error("timer_without_handler", {{"kind", timer.kind}});
            continue;
        }
        TurnRequest request;
        request.tenant_id = timer.tenant_id;
        request.principal = internal_principal("timer");
        request.function = "timer." + timer.kind;
        request.decide = [timer, handle = handler->second](Turn& turn) -> Result<TurnReply> {
            turn.clear_timer(timer.timer_id);
            TRY(handle(turn, timer));
            return Answer{};
        };
        request.reply = [this, timer](const Result<Answer>& result) {
            if (!result && timer_due_.contains(timer.timer_id)) {
                // Nothing became durable: the timer is still set and comes up again.
                TimerItem again = timer;
                again.due_at = now() + kRetryAfter;
                timer_due_[again.timer_id] = again.due_at;
                timers_.emplace(again.due_at, std::move(again));
            }
        };
        due.push_back(std::move(request));
    }
    while (!unrecorded_.empty() && unrecorded_.begin()->first <= at && due.size() < count_max) {
        due.push_back(outcome_turn(std::move(unrecorded_.begin()->second)));
        unrecorded_.erase(unrecorded_.begin());
    }
    if (!due.empty()) {
        run_batch(std::move(due));
    }
    return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first);
}

void TurnRunner::release_overdue_waiters() {
    const Timestamp at = now();
    for (auto waiter = waiting_.begin(); waiter != waiting_.end();) {
        if (waiter->second.until > at) {
            ++waiter;
            continue;
        }
        waiter->second.reply(
            fail(errors::in_progress, "The request was accepted; its answer is not there yet."));
        waiter = waiting_.erase(waiter);
    }
}

void TurnRunner::on_timer(std::string kind, TimerHandler handler) {
    CHECK(timer_handlers_.emplace(std::move(kind), std::move(handler)).second);
}

void TurnRunner::on_effect(std::string kind, EffectHandler handler) {
    CHECK(effect_handlers_.emplace(std::move(kind), std::move(handler)).second);
}

void TurnRunner::set_effect_dispatch(std::function<void(std::vector<OutboxItem>)> dispatch) {
    dispatch_ = std::move(dispatch);
}

void TurnRunner::set_commit_failure_rule(std::function<void(const Error&)> rule) {
    commit_failure_rule_ = std::move(rule);
}

}  // namespace interlock
