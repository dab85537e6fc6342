// The relay's own lane (ADR 0012): takes whatever work is waiting, runs it on top of the state in
// memory, commits what it changed with one sync, and only then lets anything be seen outside.
//
// Work runs on the lane's thread, so the relay's services have no locks. When a commit fails the
// lane is lost: memory is ahead of the disk, and only a restart brings them together again.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/head_mirror.h"
#include "engine/ports/seal_keys.h"
#include "engine/rules/hash_chain.h"
#include "engine/rules/row_set.h"
#include "engine/rules/seal.h"
#include "engine/wire/audit_record.h"
#include "relay/ports/relay_store.h"

namespace interlock {

// What one piece of work changes. It is added to the batch at once: check first, then change.
class RelayTurn {
public:
    explicit RelayTurn(Timestamp now) : now_(now) {}

    Timestamp now() const { return now_; }
    // Whether the store had the event that the running work was submitted with, when the work was
    // taken from the queue. What was added since is not in it.
    bool knows_event() const { return knows_event_; }
    RelayCommit& rows() { return commit_; }

    // A record of its own in the tenant's chain.
    void audit(AuditDraft draft) { drafts_.push_back(std::move(draft)); }
    // Seals the tenant's chain behind everything else of the batch, or in front of it. `good` and
    // `first_seq` as in Turn::Continuation; 0: no continuation. Told where the seal stands once it
    // is durable.
    struct SealOrder {
        AuditDraft draft;
        Seal seal;
        bool is_first = false;
        ChainHead good = {};
        std::int64_t first_seq = 0;
        std::function<void(const SealPoint&)> done;
    };
    void seal(SealOrder order) { seals_.push_back(std::move(order)); }
    // An inbound event; all of a batch and tenant become one record of ids and digests.
    void note_event(const TenantId& tenant_id, const RelayEventRow& event);

    // On the lane, after the batch: true when it is durable. In the order they were asked for.
    void after(std::function<void(bool is_committed)> call) { after_.push_back(std::move(call)); }

private:
    friend class RelayLane;
    struct NotedEvent {
        std::string event_key;
        std::string digest;
    };

    Timestamp now_;
    bool knows_event_ = false;
    RelayCommit commit_;
    std::vector<AuditDraft> drafts_;
    std::vector<SealOrder> seals_;
    std::map<TenantId, std::vector<NotedEvent>> noted_;
    std::vector<std::function<void(bool)>> after_;
};

using RelayWork = std::function<void(RelayTurn&)>;

class RelayLane {
public:
    struct Bounds {
        std::size_t waiting_max = 8192;  // New messages and calls.
        std::size_t waiting_internal_max =
            65'536;  // What finishes something begun: acks, outcomes.
        std::size_t batch_work_max = 256;
        Duration batch_time_max = Duration::of_milliseconds(5);
        Duration duty_period = Duration::of_seconds(1);
    };

    RelayLane(RelayStore& store, Clock& clock) : RelayLane(store, clock, Bounds{}) {}
    RelayLane(RelayStore& store, Clock& clock, Bounds bounds);
    ~RelayLane();

    // Reads the heads of the chains.
    Result<void> open();
    void start();
    void stop();  // Takes no new work, does what was accepted, then ends the thread.

    // Any thread. False: full, stopping or lost; `work` will not run.
    bool submit(RelayWork work);
    // Work about an event: the store is asked about those of a batch at once.
    bool submit_event(std::string event_key, RelayWork work);
    bool submit_internal(RelayWork work);

    // Runs once in each duty_period on the lane. Before start().
    void add_duty(RelayWork duty) { duties_.push_back(std::move(duty)); }
    // Runs on the lane when it ends, after all that was accepted. Before start().
    void add_farewell(RelayWork work) { farewells_.push_back(std::move(work)); }
    // Told the heads of the chains after each commit that moved them. Before start().
    void set_mirror(HeadMirror& mirror) { mirror_ = &mirror; }
    // Sign the seals, and vouch for the heads between them. Before start().
    void set_keys(SealKeys& keys) { keys_ = &keys; }
    // Asked before the records of a batch are made, to order seals that are due. Before start().
    void set_seal_rule(RelayWork rule) { seal_rule_ = std::move(rule); }
    // Told each critical record of a batch but seals, before the batch is committed: what it
    // changes is committed with the record. Before start().
    void set_alert_rule(std::function<void(RelayTurn&, const AuditRecord&)> rule) {
        alert_rule_ = std::move(rule);
    }
    // Called on the lane when a commit failed, before anybody is told.
    void on_lost(std::function<void(const Error&)> call) { on_lost_.push_back(std::move(call)); }

    // One round on the caller's thread; the lane's thread does nothing else, and the simulator
    // calls it instead of start(). False once the queue is closed and empty.
    bool run_round(std::chrono::microseconds wait);

    bool is_lost() const { return is_lost_.load(); }
    // Whether the caller is on the lane's thread, inside a round.
    bool runs_here() const { return runner_.load() == std::this_thread::get_id(); }
    std::size_t waiting() const { return queue_.size(); }

    // Lane only: where the chains stand, without what the running batch adds.
    const std::map<TenantId, ChainHead>& heads() const { return heads_; }
    // Records of a chain since its last seal, and when the first of them was made. Lane only, or
    // before start().
    struct Unsealed {
        std::int64_t records = 0;
        Timestamp since;
    };
    Unsealed& unsealed(const TenantId& tenant_id) { return unsealed_[tenant_id]; }
    // The protected rows as the records name them; all hang on `_system`. Lane only.
    const RowSet& protected_rows() const { return rows_; }

    struct Counters {
        std::uint64_t commits = 0;
        std::uint64_t works = 0;
    };
    Counters counters() const { return {commits_.load(), works_.load()}; }

private:
    struct Item {
        RelayWork work;
        std::string event_key = {};  // Empty: it is about none.
        bool is_known = false;
    };

    void take_waiting(std::chrono::microseconds wait);
    void run_duties(RelayTurn& turn);
    Result<void> seal(RelayTurn& turn);
    Result<void> append(RelayTurn& turn, AuditDraft draft);
    Result<void> append_seal(RelayTurn& turn, RelayTurn::SealOrder order);
    void note_rows(RelayTurn& turn);
    void finish(RelayTurn& turn);
    void say_farewell();
    Result<void> commit(RelayTurn& turn);
    void publish_heads(const RelayTurn& turn);
    void lose(const Error& error);

    RelayStore& store_;
    Clock& clock_;
    const Bounds bounds_;
    BoundedQueue<Item> queue_;
    std::deque<Item> held_;  // Taken from the queue and not begun: the batch's time was up.
    std::map<TenantId, ChainHead> heads_;
    std::map<TenantId, Unsealed> unsealed_;
    RowSet rows_;
    SealKeys* keys_ = nullptr;
    RelayWork seal_rule_;
    std::function<void(RelayTurn&, const AuditRecord&)> alert_rule_;
    std::vector<RelayWork> duties_;
    std::vector<RelayWork> farewells_;
    HeadMirror* mirror_ = nullptr;
    std::vector<std::function<void(const Error&)>> on_lost_;
    Duration next_duty_{};
    std::atomic<bool> is_lost_{false};
    std::atomic<std::thread::id> runner_{};
    std::atomic<std::uint64_t> commits_{0};
    std::atomic<std::uint64_t> works_{0};
    std::thread thread_;
};

// Rows that say who may speak for whom. Those that expire by themselves are not among them: nothing
// records their end.
inline constexpr std::array<std::string_view, 7> kProtectedRelayKinds{
    "binding", "dm_default", "gateway", "instance", "route", "scope", "tenant_token"};
// "<kind>/<key>", as records name such a row.
std::string protected_relay_key(std::string_view kind, std::string_view key);

// What every record of the relay has in common.
AuditDraft relay_draft(const TenantId& tenant_id, std::string event, std::string principal);

}  // namespace interlock
