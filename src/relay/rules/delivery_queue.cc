#include "relay/rules/delivery_queue.h"

#include <algorithm>

#include "base/check.h"

namespace interlock {

bool DeliveryQueue::fits(std::int64_t bytes) const {
    return entries_.size() < bounds_.entries_max && bytes_ + bytes <= bounds_.bytes_max;
}

std::int64_t DeliveryQueue::next_seq(Timestamp now) const {
    return std::max(last_seq_ + 1, now.microseconds);
}

void DeliveryQueue::append(QueuedEntry entry) {
    CHECK(entry.seq > last_seq_);
    last_seq_ = entry.seq;
    bytes_ += entry.bytes;
    entries_.push_back(entry);
}

void DeliveryQueue::connect() {
    CHECK(!is_connected_);
    is_connected_ = true;
    last_acknowledged_ = 0;
    drain_until_ = last_seq_;
    has_told_drained_ = false;
}

// Three sockets in a second are a bad network, three within minutes a bad message. A gateway that
// acknowledged what came behind this message on the same socket works, so the message counts at
// once.
bool DeliveryQueue::counts_against(QueuedEntry& entry, Timestamp now) const {
    if (!entry.tried_at || entry.seq < last_acknowledged_) {
        return true;
    }
    entry.tried_at = std::min(*entry.tried_at, now);  // A clock that was set back adds no wait.
    return now >= *entry.tried_at + bounds_.attempt_spacing;
}

// Gateways acknowledge no forward, but they read one frame after the other: one that asked to go
// idle and was told so has read what came before. Otherwise a command that restarts it would come
// again.
DeliveryQueue::SocketEnd DeliveryQueue::disconnect(Timestamp now) {
    SocketEnd end;
    const bool left_in_order = idle_since_ && has_told_idle_;
    is_connected_ = false;
    idle_since_.reset();
    for (auto at = entries_.begin(); at != entries_.end() && at->seq <= last_written_;) {
        if (left_in_order && at->kind == EntryKind::passthrough) {
            end.settled.push_back(at->seq);
            bytes_ -= at->bytes;
            at = entries_.erase(at);
            continue;
        }
        at->written_at.reset();
        if (!counts_against(*at, now)) {
            ++at;
            continue;
        }
        at->tried_at = now;
        ++at->attempts;
        if (at->attempts >= bounds_.attempts_max) {
            end.dead.push_back(*at);
            bytes_ -= at->bytes;
            at = entries_.erase(at);
        } else {
            end.tried.push_back(*at);
            ++at;
        }
    }
    last_written_ = 0;
    return end;
}

// The backlog is done when no message of it is left; its forwards only have to be written.
bool DeliveryQueue::is_draining() const {
    if (!is_connected_) {
        return false;
    }
    for (const QueuedEntry& entry : entries_) {
        if (entry.seq > drain_until_) {
            return false;
        }
        if (entry.kind == EntryKind::inbound || !entry.written_at) {
            return true;
        }
    }
    return false;
}

DeliveryQueue::Out DeliveryQueue::count_out() const {
    Out out;
    for (const QueuedEntry& entry : entries_) {
        if (entry.seq > last_written_) {
            break;
        }
        ++(entry.kind == EntryKind::inbound ? out.inbound : out.passthrough);
    }
    return out;
}

std::size_t DeliveryQueue::outstanding() const {
    const Out out = count_out();
    return out.inbound + out.passthrough;
}

DeliveryQueue::Entries::iterator DeliveryQueue::first_unwritten() {
    return std::find_if(entries_.begin(), entries_.end(), [this](const QueuedEntry& entry) {
        return entry.seq > last_written_;
    });
}

std::vector<std::int64_t> DeliveryQueue::take_due(Timestamp now) {
    std::vector<std::int64_t> due;
    if (!is_connected_ || idle_since_) {
        return due;
    }
    Out out = count_out();
    for (auto at = first_unwritten(); at != entries_.end(); ++at) {
        if (at->kind == EntryKind::inbound) {
            if (out.inbound >= (is_draining() ? bounds_.drain_window : bounds_.live_window)) {
                break;
            }
            ++out.inbound;
        } else if (out.passthrough >= bounds_.passthrough_window) {
            break;
        } else {
            ++out.passthrough;
        }
        at->written_at = now;
        last_written_ = at->seq;
        due.push_back(at->seq);
    }
    return due;
}

void DeliveryQueue::not_written(std::int64_t seq) {
    auto at = std::ranges::lower_bound(entries_, seq, {}, &QueuedEntry::seq);
    for (; at != entries_.end(); ++at) {
        at->written_at.reset();
    }
    last_written_ = std::min(last_written_, seq - 1);
}

DeliveryQueue::Entries::iterator DeliveryQueue::locate(std::int64_t seq) {
    const auto at = std::ranges::lower_bound(entries_, seq, {}, &QueuedEntry::seq);
    return at != entries_.end() && at->seq == seq ? at : entries_.end();
}

const QueuedEntry* DeliveryQueue::find(std::int64_t seq) const {
    const auto at = std::ranges::lower_bound(entries_, seq, {}, &QueuedEntry::seq);
    return at != entries_.end() && at->seq == seq ? &*at : nullptr;
}

void DeliveryQueue::remove(Entries::iterator at) {
    bytes_ -= at->bytes;
    entries_.erase(at);
}

std::vector<std::int64_t> DeliveryQueue::acknowledge(std::int64_t seq) {
    std::vector<std::int64_t> done;
    const auto at = locate(seq);
    // A client may finish on a new socket what it got on an old one, so "written before" counts.
    if (at == entries_.end() || (!at->written_at && at->attempts == 0)) {
        return done;
    }
    const bool is_on_socket = at->written_at.has_value();
    remove(at);
    done.push_back(seq);
    if (!is_on_socket) {
        return done;
    }
    last_acknowledged_ = std::max(last_acknowledged_, seq);
    for (auto older = entries_.begin(); older != entries_.end() && older->seq < seq;) {
        if (older->kind == EntryKind::passthrough) {
            done.push_back(older->seq);
            bytes_ -= older->bytes;
            older = entries_.erase(older);
        } else {
            ++older;
        }
    }
    return done;
}

bool DeliveryQueue::take_drained() {
    if (!is_connected_ || idle_since_ || has_told_drained_ || is_draining()) {
        return false;
    }
    has_told_drained_ = true;
    return true;
}

void DeliveryQueue::go_idle(Timestamp now) {
    if (is_connected_ && !idle_since_) {
        idle_since_ = now;
        has_told_idle_ = false;
    }
}

bool DeliveryQueue::is_idle_answer_due(Timestamp now) const {
    return owes_idle_answer() &&
           (count_out().inbound == 0 || now >= *idle_since_ + bounds_.idle_wait);
}

std::vector<std::int64_t> DeliveryQueue::settle(Timestamp now) {
    std::vector<std::int64_t> settled;
    for (auto at = entries_.begin(); at != entries_.end() && at->seq <= last_written_;) {
        if (at->kind == EntryKind::passthrough &&
            now >= *at->written_at + bounds_.passthrough_settles) {
            settled.push_back(at->seq);
            bytes_ -= at->bytes;
            at = entries_.erase(at);
        } else {
            ++at;
        }
    }
    return settled;
}

bool DeliveryQueue::is_ack_overdue(Timestamp now) const {
    for (const QueuedEntry& entry : entries_) {
        if (entry.seq > last_written_) {
            return false;
        }
        if (entry.kind == EntryKind::inbound && now >= *entry.written_at + bounds_.ack_deadline) {
            return true;
        }
    }
    return false;
}

std::vector<QueuedEntry> DeliveryQueue::expire(Timestamp now, std::size_t count_max) {
    std::vector<QueuedEntry> expired;
    while (!entries_.empty() && expired.size() < count_max &&
           now >= entries_.front().at + bounds_.entry_life && !entries_.front().written_at) {
        expired.push_back(entries_.front());
        remove(entries_.begin());
    }
    return expired;
}

std::vector<std::int64_t> DeliveryQueue::clear() {
    std::vector<std::int64_t> gone;
    for (const QueuedEntry& entry : entries_) {
        gone.push_back(entry.seq);
    }
    entries_.clear();
    bytes_ = 0;
    return gone;
}

}  // namespace interlock
