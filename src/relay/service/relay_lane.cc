#include "relay/service/relay_lane.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/crypto.h"
#include "base/errors.h"
#include "base/log.h"
#include "engine/service/moved_heads.h"

namespace interlock {
namespace {

// Work comes in small bursts: the acknowledgements of one packet, the updates of one poll. So often
// the core is offered to whoever is still handing in before the batch is closed; a commit that
// takes the whole burst is worth more than the few microseconds that this costs.
constexpr int kGatherYields = 8;
constexpr std::int64_t kRowsPage = 1000;

bool is_protected(const RelayRowWrite& write) {
    return std::ranges::count(kProtectedRelayKinds, write.kind) > 0;
}

}  // namespace

std::string protected_relay_key(std::string_view kind, std::string_view key) {
    return std::string(kind) + "/" + std::string(key);
}

AuditDraft relay_draft(const TenantId& tenant_id, std::string event, std::string principal) {
    AuditDraft draft;
    draft.tenant_id = tenant_id;
    draft.event = std::move(event);
    draft.decision_id = DecisionId::trusted("relay");
    draft.tick_id = TickId::trusted("-");
    draft.principal = std::move(principal);
    return draft;
}

void RelayTurn::note_event(const TenantId& tenant_id, const RelayEventRow& event) {
    noted_[tenant_id].push_back({event.event_key, event.digest});
}

RelayLane::RelayLane(RelayStore& store, Clock& clock, Bounds bounds)
    : store_(store),
      clock_(clock),
      bounds_(bounds),
      queue_(bounds.waiting_max, bounds.waiting_internal_max, bounds.waiting_internal_max) {}

RelayLane::~RelayLane() {
    stop();
}

Result<void> RelayLane::open() {
    TRY_ASSIGN(const auto heads, store_.load_heads());
    for (const auto& [tenant_id, head] : heads) {
        heads_[tenant_id] = ChainHead{head.seq, head.hash};
    }
    for (const std::string_view kind : kProtectedRelayKinds) {
        std::string after;
        while (true) {
            TRY_ASSIGN(const auto page, store_.read_rows(kind, "", after, kRowsPage));
            for (const RelayRow& row : page) {
                if (!row.expires_at) {
                    rows_.set(protected_relay_key(kind, row.key), sha256_hex(row.json));
                }
            }
            if (static_cast<std::int64_t>(page.size()) < kRowsPage) {
                break;
            }
            after = page.back().key;
        }
    }
    return {};
}

void RelayLane::start() {
    thread_ = std::thread([this] {
        while (run_round(std::chrono::milliseconds(20))) {
        }
        say_farewell();
    });
}

void RelayLane::say_farewell() {
    if (is_lost_.load()) {
        return;
    }
    runner_.store(std::this_thread::get_id());
    RelayTurn turn(clock_.now());
    for (const RelayWork& work : farewells_) {
        work(turn);
    }
    finish(turn);
    runner_.store(std::thread::id());
}

void RelayLane::stop() {
    queue_.close();
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool RelayLane::submit(RelayWork work) {
    return !is_lost_.load() && queue_.push(Item{std::move(work)});
}

bool RelayLane::submit_event(std::string event_key, RelayWork work) {
    return !is_lost_.load() && queue_.push(Item{std::move(work), std::move(event_key)});
}

bool RelayLane::submit_internal(RelayWork work) {
    return !is_lost_.load() && queue_.push_middle_lane(Item{std::move(work)});
}

void RelayLane::run_duties(RelayTurn& turn) {
    const Duration now = clock_.monotonic();
    if (now < next_duty_) {
        return;
    }
    next_duty_ = Duration{now.microseconds + bounds_.duty_period.microseconds};
    for (const RelayWork& duty : duties_) {
        duty(turn);
    }
}

void RelayLane::take_waiting(std::chrono::microseconds wait) {
    const std::size_t room =
        bounds_.batch_work_max - std::min(bounds_.batch_work_max, held_.size());
    auto taken = queue_.pop(room, held_.empty() ? wait : std::chrono::microseconds(0));
    for (int idle = 0; idle < kGatherYields && !taken.empty() && taken.size() < room; ++idle) {
        std::this_thread::yield();
        for (Item& item : queue_.pop(room - taken.size(), std::chrono::microseconds(0))) {
            taken.push_back(std::move(item));
            idle = 0;
        }
    }
    std::vector<std::string> asked;
    for (const Item& item : taken) {
        if (!item.event_key.empty()) {
            asked.push_back(item.event_key);
        }
    }
    std::unordered_set<std::string> known;
    if (!asked.empty() && !is_lost_.load()) {
        // A store that cannot be read will not commit either; the batch then fails as a whole.
        if (auto found = store_.known_events(asked)) {
            known.insert(
                std::make_move_iterator(found->begin()), std::make_move_iterator(found->end()));
        }
    }
    for (Item& item : taken) {
        item.is_known = known.contains(item.event_key);
        held_.push_back(std::move(item));
    }
}

bool RelayLane::run_round(std::chrono::microseconds wait) {
    take_waiting(wait);
    const bool is_over = held_.empty() && queue_.is_closed();
    if (is_lost_.load()) {
        held_.clear();
        return !is_over;
    }
    runner_.store(std::this_thread::get_id());
    RelayTurn turn(clock_.now());
    run_duties(turn);
    const Duration begin = clock_.monotonic();
    while (!held_.empty()) {
        const Item item = std::move(held_.front());
        held_.pop_front();
        turn.knows_event_ = item.is_known;
        item.work(turn);
        works_.fetch_add(1, std::memory_order_relaxed);
        if (clock_.monotonic().microseconds - begin.microseconds >
            bounds_.batch_time_max.microseconds) {
            break;
        }
    }
    finish(turn);
    runner_.store(std::thread::id());
    return !is_over;
}

// One record per tenant for all its events of the batch.
Result<void> RelayLane::seal(RelayTurn& turn) {
    for (auto& [tenant_id, events] : turn.noted_) {
        AuditDraft draft = relay_draft(tenant_id, "RELAY_EVENTS_STORED", "internal:relay");
        Json list = Json::array();
        for (auto& event : events) {
            list.push(Json::array({std::move(event.event_key), std::move(event.digest)}));
        }
        draft.detail = Json::object({{"events", std::move(list)}});
        turn.drafts_.push_back(std::move(draft));
    }
    // Before the batch's own rows are noted: a seal in front of them does not know them yet.
    if (seal_rule_ && !(turn.drafts_.empty() && turn.commit_.rows.empty())) {
        seal_rule_(turn);
    }
    for (RelayTurn::SealOrder& order : turn.seals_) {
        if (order.is_first) {
            TRY(append_seal(turn, std::move(order)));
        }
    }
    std::erase_if(turn.seals_, [](const RelayTurn::SealOrder& order) { return order.is_first; });
    note_rows(turn);
    for (AuditDraft& draft : turn.drafts_) {
        TRY(append(turn, std::move(draft)));
    }
    for (RelayTurn::SealOrder& order : turn.seals_) {
        TRY(append_seal(turn, std::move(order)));
    }
    return {};
}

Result<void> RelayLane::append(RelayTurn& turn, AuditDraft draft) {
    draft.timestamp = turn.now_;
    const TenantId tenant_id = draft.tenant_id;
    TRY_ASSIGN(SealedRecord sealed, interlock::seal(heads_[tenant_id], std::move(draft)));
    if (alert_rule_ && sealed.record.draft.severity == AuditSeverity::critical) {
        alert_rule_(turn, sealed.record);
    }
    turn.commit_.audit.push_back(
        {tenant_id, sealed.record.seq, std::move(sealed.canonical), std::move(sealed.record.hash)});
    Unsealed& open = unsealed_[tenant_id];
    if (open.records++ == 0) {
        open.since = turn.now_;
    }
    return {};
}

Result<void> RelayLane::append_seal(RelayTurn& turn, RelayTurn::SealOrder order) {
    const TenantId tenant_id = order.draft.tenant_id;
    ChainHead& head = heads_[tenant_id];
    if (order.first_seq > 0) {
        head = order.good;
    }
    order.draft.timestamp = turn.now_;
    order.seal.book = kRelayBook;
    const SealKeys::Key signer = keys_->current();
    order.seal.epoch = signer.epoch;
    order.seal.public_key = signer.public_key;
    if (tenant_id == system_tenant()) {
        order.seal.rows = {static_cast<std::int64_t>(rows_.size()), rows_.root()};
        if (order.seal.adopted || order.seal.broken) {
            // A seal that begins anew says what it found.
            rows_.each([&](const std::string& key, const std::string& hash) {
                order.draft.rows.push_back({key, "", hash});
            });
        }
    } else {
        order.seal.rows = {0, RowSet().root()};
    }
    const SealedRows rows = order.seal.rows;
    TRY_ASSIGN(
        SealedRecord sealed,
        sign_seal(
            head,
            std::move(order.draft),
            std::move(order.seal),
            [this](std::string_view text) { return keys_->sign(text); },
            order.first_seq));
    const std::int64_t seq = sealed.record.seq;
    turn.commit_.checkpoints.push_back(
        {tenant_id,
         seq,
         sealed.record.hash,
         turn.now_,
         sealed.record.draft.detail.find("signature")->as_string()});
    const SealPoint point{seq, sealed.record.hash, turn.now_, rows};
    turn.commit_.audit.push_back(
        {tenant_id,
         seq,
         std::move(sealed.canonical),
         std::move(sealed.record.hash),
         order.first_seq > 0});
    unsealed_[tenant_id] = {};
    turn.after_.push_back([done = std::move(order.done), point](bool is_committed) {
        if (is_committed && done) {
            done(point);
        }
    });
    return {};
}

// Protected rows that the batch wrote, named in one record of `_system`.
void RelayLane::note_rows(RelayTurn& turn) {
    std::map<std::string, RowChange> changes;
    for (const RelayRowWrite& write : turn.commit_.rows) {
        if (!is_protected(write)) {
            continue;
        }
        const std::string key = protected_relay_key(write.kind, write.key);
        const auto [place, is_first] = changes.try_emplace(key);
        if (is_first) {
            place->second = {key, rows_.hash_of(key), {}};
        }
        place->second.now =
            write.json && !write.expires_at ? sha256_hex(*write.json) : std::string();
    }
    std::erase_if(
        changes, [](const auto& change) { return change.second.was == change.second.now; });
    AuditDraft draft;
    for (auto& [key, change] : changes) {
        rows_.set(key, change.now);
        if (draft.rows.empty()) {
            draft = relay_draft(system_tenant(), std::string(kRowsEvent), "internal:relay");
        }
        draft.rows.push_back(std::move(change));
        if (draft.rows.size() == kRecordRowsMax) {
            turn.drafts_.push_back(std::exchange(draft, {}));
        }
    }
    if (!draft.rows.empty()) {
        turn.drafts_.push_back(std::move(draft));
    }
}

void RelayLane::finish(RelayTurn& turn) {
    const Result<void> done = commit(turn);
    if (!done) {
        lose(done.error());
    }
    // Whatever these ask for in turn goes through the queue.
    for (const auto& call : turn.after_) {
        call(done.has_value());
    }
}

Result<void> RelayLane::commit(RelayTurn& turn) {
    // The key must not be rotated between signing here and publishing the heads.
    std::unique_lock<std::mutex> lease;
    if (keys_ != nullptr) {
        lease = std::unique_lock(keys_->lease());
    }
    TRY(seal(turn));
    if (turn.commit_.empty()) {
        return {};
    }
    if (keys_ != nullptr) {
        MovedHeads moved;
        moved.add(turn.commit_.audit, turn.commit_.checkpoints);
        turn.commit_.proofs = moved.prove(kRelayBook, *keys_);
    }
    commits_.fetch_add(1, std::memory_order_relaxed);
    TRY(store_.commit(turn.commit_));
    publish_heads(turn);
    return {};
}

// After the commit, so that the copy never leads.
void RelayLane::publish_heads(const RelayTurn& turn) {
    if (mirror_ == nullptr || turn.commit_.audit.empty()) {
        return;
    }
    std::map<TenantId, LedgerHead> changed;
    for (const LedgerEntry& entry : turn.commit_.audit) {
        changed[entry.tenant_id] = {entry.seq, entry.hash};
    }
    mirror_->publish(changed);
}

void RelayLane::lose(const Error& error) {
    is_lost_.store(true);
    log_error(
        "relay_lane_lost",
        {{"error", error.code()},
         {"message", error.message},
         {"next", "Check the disk of the data folder, then restart the server."}});
    for (const auto& call : on_lost_) {
        call(error);
    }
}

}  // namespace interlock
