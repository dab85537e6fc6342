// What waits for one instance and in which order it goes out. A pure machine; texts, sockets and
// the store are the service's. docs/contracts/relay-connector.md#buffers, #going-idle and #forwards
// have its rules.
//
//     append ──► waits ──► take_due ──► written ──► acknowledge ──► gone
//                  ▲                       │
//                  └──── disconnect ───────┘── the third that counts ──► dead letter
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.h"

namespace interlock {

enum class EntryKind { inbound, passthrough };

struct DeliveryBounds {
    std::size_t entries_max = 10'000;
    std::int64_t bytes_max = std::int64_t{64} * 1024 * 1024;
    std::size_t drain_window = 1;  // Written and not acknowledged, while the backlog drains …
    std::size_t live_window = 8;   // … and afterwards.
    // Forwards that nobody acknowledges do not hold up what is behind them, but not without end.
    std::size_t passthrough_window = 64;
    int attempts_max = 3;
    // Sockets that fail sooner after the last that counted are a network that flaps, no evidence
    // against the message.
    Duration attempt_spacing = Duration::of_minutes(1);
    Duration ack_deadline = Duration::of_minutes(5);
    Duration passthrough_settles = Duration::of_seconds(60);
    Duration idle_wait = Duration::of_seconds(1);
    Duration entry_life = Duration::of_days(7);
    // What was laid aside waits for a person, but not without end (relay/rules/dead_letters.h).
    std::size_t dead_entries_max = 10'000;
    std::int64_t dead_bytes_max = std::int64_t{64} * 1024 * 1024;
    Duration dead_life = Duration::of_days(7);
};

struct QueuedEntry {
    std::int64_t seq = 0;
    EntryKind kind = EntryKind::inbound;
    Timestamp at;
    int attempts = 0;  // Sockets that count: written to, and ended without its acknowledgement.
    std::int64_t bytes = 0;
    std::optional<Timestamp> written_at = std::nullopt;  // On the socket there is now.
    // When the last of the attempts ended. After a restart: when that was.
    std::optional<Timestamp> tried_at = std::nullopt;
};

class DeliveryQueue {
public:
    explicit DeliveryQueue(DeliveryBounds bounds = {}) : bounds_(bounds) {}

    // Whether another entry of that size stays within the bounds.
    bool fits(std::int64_t bytes) const;
    // The number for the next entry: grows across restarts, and past a clock that steps back.
    std::int64_t next_seq(Timestamp now) const;
    // CHECKs that `seq` is beyond every entry.
    void append(QueuedEntry entry);

    // A socket said hello: the backlog begins to drain. CHECKs that there is none yet.
    void connect();
    struct SocketEnd {
        std::vector<QueuedEntry> tried;  // Still waiting, with a new count.
        std::vector<QueuedEntry> dead;   // Tried too often; no longer in the queue.
        // Forwards of a socket that left in good order; no longer in the queue.
        std::vector<std::int64_t> settled;
    };
    SocketEnd disconnect(Timestamp now);
    bool is_connected() const { return is_connected_; }
    bool is_draining() const;

    // The entries to write now, in order. Each is given once per socket.
    std::vector<std::int64_t> take_due(Timestamp now);
    // The socket did not take this one, nor what is behind it: they count as never written there.
    void not_written(std::int64_t seq);

    // What an acknowledgement finishes: the entry, and forwards written before it. Empty when it is
    // not known, or was never written to any socket.
    std::vector<std::int64_t> acknowledge(std::int64_t seq);
    // True once per socket, when the backlog that it found is done: the flip clears.
    bool take_drained();

    // going_idle: nothing more is written on this socket.
    void go_idle(Timestamp now);
    // When what is out was acknowledged or the wait is over, until the socket took the answer.
    bool is_idle_answer_due(Timestamp now) const;
    void told_idle() { has_told_idle_ = true; }
    // A gateway that is told to go before it read them never reads them, and no ack would tell.
    bool has_forwards_out() const { return count_out().passthrough > 0; }
    bool owes_idle_answer() const { return idle_since_ && !has_told_idle_; }

    // Forwards that count as delivered because nobody ever acknowledges them.
    std::vector<std::int64_t> settle(Timestamp now);
    bool is_ack_overdue(Timestamp now) const;
    // Entries past their life, at most so many; no longer in the queue.
    std::vector<QueuedEntry> expire(Timestamp now, std::size_t count_max);

    std::size_t size() const { return entries_.size(); }
    std::int64_t bytes() const { return bytes_; }
    std::size_t outstanding() const;  // Written to this socket and not acknowledged.
    const QueuedEntry* find(std::int64_t seq) const;
    const QueuedEntry* front() const { return entries_.empty() ? nullptr : &entries_.front(); }
    std::vector<std::int64_t> clear();  // All that waited.

private:
    using Entries = std::deque<QueuedEntry>;
    Entries::iterator locate(std::int64_t seq);
    Entries::iterator first_unwritten();
    void remove(Entries::iterator at);
    bool counts_against(QueuedEntry& entry, Timestamp now) const;
    struct Out {
        std::size_t inbound = 0;
        std::size_t passthrough = 0;
    };
    Out count_out() const;

    DeliveryBounds bounds_;
    Entries entries_;  // By seq. Those up to last_written_ are on the socket, and no others.
    std::int64_t bytes_ = 0;
    std::int64_t last_seq_ = 0;
    bool is_connected_ = false;
    std::int64_t last_written_ = 0;
    std::int64_t last_acknowledged_ = 0;  // The largest on the socket there is now.
    std::int64_t drain_until_ = 0;
    bool has_told_drained_ = false;
    std::optional<Timestamp> idle_since_;  // Only while there is a socket.
    bool has_told_idle_ = false;
};

}  // namespace interlock
