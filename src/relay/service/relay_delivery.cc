#include "relay/service/relay_delivery.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

// The store does not keep the time of the last attempt, so the wait before the next one that counts
// begins anew.
QueuedEntry queued(const BufferEntryHead& head, Timestamp now) {
    return {
        .seq = head.seq,
        .kind = head.kind,
        .at = head.at,
        .attempts = head.attempts,
        .bytes = head.bytes,
        .tried_at = head.attempts > 0 ? std::optional(now) : std::nullopt};
}

constexpr const char* kBufferNumbers = "buffer";

// The number of a bufferId; nothing when it is none of ours.
std::optional<std::int64_t> read_buffer_id(std::string_view text) {
    std::int64_t seq = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
    if (error != std::errc() || end != text.data() + text.size() || seq <= 0) {
        return std::nullopt;
    }
    return seq;
}

}  // namespace

RelayDelivery::RelayDelivery(Parts parts) : parts_(std::move(parts)) {}

Result<void> RelayDelivery::load() {
    TRY_ASSIGN(const auto heads, parts_.state.store().load_buffer_heads());
    for (const BufferEntryHead& head : heads) {
        box_of(head.instance_id).queue.append(queued(head, parts_.clock.now()));
    }
    TRY_ASSIGN(const auto letters, parts_.state.store().load_dead_letters());
    for (const StoredDeadLetter& letter : letters) {
        box_of(letter.instance_id).dead.add(letter.head);
    }
    if (const NumberRow* const row = parts_.state.numbers.get(kBufferNumbers)) {
        given_before_ = reserved_ = row->reserved;
    }
    return {};
}

RelayDelivery::Box& RelayDelivery::box_of(const std::string& instance_id) {
    const auto found = boxes_.find(instance_id);
    if (found != boxes_.end()) {
        return found->second;
    }
    return boxes_.try_emplace(instance_id, parts_.bounds).first->second;
}

InstanceRow RelayDelivery::row_of(const std::string& instance_id) const {
    const InstanceRow* row = parts_.state.instances.get(instance_id);
    return row == nullptr ? InstanceRow{} : *row;
}

void RelayDelivery::open(RelayTurn& turn, const RelaySessionPtr& session) {
    session->opened_at = turn.now();
    box_of(session->caller.instance_id).sockets.push_back(session);
    ++sockets_;
}

// Tells the queue that the socket ended: messages that it did not acknowledge wait again, or become
// dead letters when they have had their chances.
void RelayDelivery::end_session(RelayTurn& turn, const std::string& instance_id, Box& box) {
    box.session.reset();
    const auto end = box.queue.disconnect(turn.now());
    for (const QueuedEntry& entry : end.tried) {
        turn.rows().attempts.push_back({{instance_id, entry.seq}, entry.attempts});
    }
    lay_aside(turn, instance_id, end.dead, "not_acknowledged");
    for (const std::int64_t seq : end.settled) {
        turn.rows().acknowledged.push_back({instance_id, seq});
        forget_text(instance_id, box, seq);
        ++counters_.settled;
    }
}

void RelayDelivery::hello(
    RelayTurn& turn, const RelaySessionPtr& session, const HelloFrame& frame) {
    if (session->is_over) {
        return;
    }
    const BotKey identity{frame.platform, frame.bot_id};
    if (std::ranges::find(session->identities, identity) == session->identities.end()) {
        if (session->identities.size() >= kSessionIdentitiesMax) {
            // A descriptor would promise a bot whose sends are then refused.
            turn.after([session](bool) {
                session->socket->close(kCloseProtocol, "at most 16 identities on a socket");
            });
            return;
        }
        session->identities.push_back(identity);
    }
    std::string line = encode_line(ConnectorFrame(DescriptorFrame{parts_.descriptor(identity)}));
    if (session->epoch == 0) {
        greet(turn, session);
    }
    turn.after([session, line = std::move(line)](bool is_committed) mutable {
        if (is_committed) {
            session->socket->send_urgent(std::move(line));
        }
    });
    mark(turn, session->caller.instance_id);
}

// The first hello of a socket: it is the instance's from now on, and older ones are fenced.
void RelayDelivery::greet(RelayTurn& turn, const RelaySessionPtr& session) {
    const std::string& instance_id = session->caller.instance_id;
    Box& box = box_of(instance_id);
    if (const RelaySessionPtr older = box.session) {
        end_session(turn, instance_id, box);
        older->is_over = true;
        ++counters_.fenced;
        turn.after([older](bool) {
            older->socket->close(kCloseFenced, "a newer connection of this instance exists");
        });
    }
    InstanceRow row = row_of(instance_id);
    row.instance_id = instance_id;
    row.tenant_id = session->caller.tenant_id;
    session->epoch = ++row.epoch;
    turn.after([this,
                hint = RelayHint{
                    .kind = RelayHint::Kind::fenced,
                    .tenant_id = row.tenant_id,
                    .instance_id = instance_id,
                    .epoch = row.epoch,
                    .session_key = {},
                    .chat_id = {}}](bool is_committed) {
        if (is_committed) {
            parts_.bus.publish(hint);  // Another process may hold the older socket.
        }
    });
    row.seen_at = turn.now();
    parts_.state.instances.put(turn, instance_id, std::move(row));
    box.session = session;
    box.queue.connect();
    settle_rows(turn, instance_id, box);
}

// What follows from the queue's state and has to be on disk: the flip and the overflow.
void RelayDelivery::settle_rows(RelayTurn& turn, const std::string& instance_id, Box& box) {
    const bool is_drained = box.queue.take_drained();
    const bool is_empty = box.queue.size() == 0;
    const InstanceRow* held = parts_.state.instances.get(instance_id);
    if (held == nullptr) {
        return;
    }
    const bool clears_flip = is_drained && held->is_flipped;
    const bool clears_overflow = is_empty && held->is_overflowing;
    if (clears_flip || clears_overflow) {
        InstanceRow row = *held;
        row.is_flipped = row.is_flipped && !clears_flip;
        row.is_overflowing = row.is_overflowing && !clears_overflow;
        parts_.state.instances.put(turn, instance_id, std::move(row));
    }
    if (clears_overflow) {
        end_shedding(turn, instance_id);
    }
}

void RelayDelivery::acknowledge(
    RelayTurn& turn, const RelaySessionPtr& session, const InboundAckFrame& frame) {
    const std::string& instance_id = session->caller.instance_id;
    const auto found = boxes_.find(instance_id);
    const auto seq = read_buffer_id(frame.buffer_id);
    // Only the newest socket is believed.
    if (found == boxes_.end() || found->second.session != session || !seq) {
        return;
    }
    Box& box = found->second;
    for (const std::int64_t done : box.queue.acknowledge(*seq)) {
        turn.rows().acknowledged.push_back({instance_id, done});
        forget_text(instance_id, box, done);
        ++(done == *seq ? counters_.acknowledged : counters_.settled);
    }
    settle_rows(turn, instance_id, box);
    mark(turn, instance_id);
}

void RelayDelivery::going_idle(RelayTurn& turn, const RelaySessionPtr& session) {
    const std::string& instance_id = session->caller.instance_id;
    Box& box = box_of(instance_id);
    if (box.session != session) {
        return;
    }
    box.queue.go_idle(turn.now());
    InstanceRow row = row_of(instance_id);
    if (!row.is_flipped) {
        row.is_flipped = true;
        parts_.state.instances.put(turn, instance_id, std::move(row));
    }
    mark(turn, instance_id);
}

void RelayDelivery::interrupt(
    RelayTurn& turn, const RelaySessionPtr& session, const InterruptFrame& frame) {
    if (session->epoch == 0 || session->is_over) {
        return;
    }
    if (const auto done = interrupt_session(
            turn,
            session->caller.tenant_id,
            frame.session_key,
            "gateway:" + session->caller.gateway_id);
        !done) {
        log_info(
            "relay_interrupt_ignored",
            {{"instance_id", session->caller.instance_id}, {"error", done.error().code()}});
    }
}

Result<void> RelayDelivery::interrupt_session(
    RelayTurn& turn,
    const TenantId& tenant_id,
    const std::string& session_key,
    const std::string& principal) {
    TRY_ASSIGN(
        const SessionRow* row,
        parts_.state.sessions.find(row_key({tenant_id.text(), session_key}), turn.now()));
    if (row == nullptr) {
        return fail(errors::not_found, "no instance of this tenant runs that session");
    }
    RelayHint hint{
        .kind = RelayHint::Kind::interrupt,
        .tenant_id = tenant_id,
        .instance_id = row->instance_id,
        .session_key = session_key,
        .chat_id = row->chat_id};
    AuditDraft draft = relay_draft(tenant_id, "RELAY_INTERRUPT", principal);
    draft.detail = Json::object({{"instance_id", row->instance_id}, {"session_key", session_key}});
    turn.audit(std::move(draft));
    ++counters_.interrupts;
    turn.after([this, hint = std::move(hint)](bool is_committed) {
        if (is_committed) {
            parts_.bus.publish(hint);
        }
    });
    return {};
}

void RelayDelivery::closed(RelayTurn& turn, const RelaySessionPtr& session) {
    const std::string& instance_id = session->caller.instance_id;
    Box& box = box_of(instance_id);
    if (std::erase(box.sockets, session) > 0) {
        --sockets_;
    }
    session->is_over = true;
    if (box.session != session) {
        return;
    }
    end_session(turn, instance_id, box);
    InstanceRow row = row_of(instance_id);
    if (!row.instance_id.empty()) {
        row.seen_at = turn.now();
        parts_.state.instances.put(turn, instance_id, std::move(row));
    }
}

// Larger than every number that the instance has had, also before a restart and with a clock that
// was set back: the end of what is reserved is on disk before any of it is seen.
std::int64_t RelayDelivery::new_seq(RelayTurn& turn, const Box& box) {
    const std::int64_t seq =
        std::max({box.queue.next_seq(turn.now()), box.dead_seq + 1, given_before_ + 1});
    if (seq > reserved_) {
        const bool is_ahead = seq > turn.now().microseconds + kNumbersAhead;
        reserved_ = seq + (is_ahead ? kNumbersAheadOfClock : kNumbersAhead);
        parts_.state.numbers.put(turn, kBufferNumbers, {reserved_});
    }
    return seq;
}

void RelayDelivery::forget_text(const std::string& instance_id, Box& box, std::int64_t seq) {
    box.hot.erase(seq);
    if (parts_.files != nullptr) {
        parts_.files->forget(instance_id, seq);
    }
}

RelayDelivery::Appended RelayDelivery::append(RelayTurn& turn, NewEntry entry) {
    const InstanceRow* row = parts_.state.instances.get(entry.instance_id);
    if (row == nullptr) {
        return Appended::gone;
    }
    Box& box = box_of(entry.instance_id);
    BufferEntry stored;
    stored.instance_id = entry.instance_id;
    stored.seq = new_seq(turn, box);
    stored.kind = entry.kind;
    stored.event_key = std::move(entry.event_key);
    stored.at = turn.now();
    const std::int64_t bytes = static_cast<std::int64_t>(entry.text.size());
    // Once something overflowed, newer messages follow it until the buffer is empty: nothing
    // overtakes.
    if (row->is_overflowing || !box.queue.fits(bytes)) {
        if (!row->is_overflowing) {
            InstanceRow changed = *row;
            changed.is_overflowing = true;
            parts_.state.instances.put(turn, entry.instance_id, std::move(changed));
        }
        stored.text = std::move(entry.text);
        shed(turn, box, std::move(stored));
        return Appended::laid_aside;
    }
    box.queue.append(
        {.seq = stored.seq, .kind = stored.kind, .at = stored.at, .attempts = 0, .bytes = bytes});
    if (box.session && box.hot.size() < kHotTextsMax) {
        box.hot.emplace(stored.seq, entry.text);
    }
    if (box.session && parts_.files != nullptr && !box.queue.is_draining() &&
        has_waiting_files(entry.text)) {
        parts_.files->prefetch(
            {row->tenant_id, entry.instance_id, stored.seq}, entry.text, turn.now());
    }
    stored.text = std::move(entry.text);
    turn.rows().appended.push_back(std::move(stored));
    mark(turn, entry.instance_id);
    return Appended::buffered;
}

void RelayDelivery::drop_instance(RelayTurn& turn, const std::string& instance_id) {
    const auto found = boxes_.find(instance_id);
    if (found == boxes_.end()) {
        return;
    }
    for (const std::int64_t seq : found->second.queue.clear()) {
        turn.rows().acknowledged.push_back({instance_id, seq});
    }
    found->second.hot.clear();
    if (parts_.files != nullptr) {
        parts_.files->forget(instance_id);
    }
    found->second.dead.clear();  // The caller removes the letters from the store.
    if (parts_.state.sheds.get(instance_id) != nullptr) {
        parts_.state.sheds.erase(turn, instance_id);
    }
    turn.after([this, instance_id](bool) {
        close_sockets(instance_id, kCloseUnauthorised, "unauthorized");
    });
}

void RelayDelivery::close_sockets(
    const std::string& instance_id, std::uint16_t code, std::string_view reason) {
    const auto found = boxes_.find(instance_id);
    if (found == boxes_.end()) {
        return;
    }
    for (const RelaySessionPtr& session : found->second.sockets) {
        session->socket->close(code, reason);
    }
}

void RelayDelivery::close_all(std::uint16_t code, std::string_view reason) {
    for (const auto& [instance_id, box] : boxes_) {
        for (const RelaySessionPtr& session : box.sockets) {
            session->socket->close(code, reason);
        }
    }
}

// The instance is looked after once the batch is durable, however often it was touched.
void RelayDelivery::mark(RelayTurn& turn, const std::string& instance_id) {
    if (!marked_.insert(instance_id).second) {
        return;
    }
    turn.after([this, instance_id](bool is_committed) {
        marked_.erase(instance_id);
        if (is_committed) {
            RelayHint hint;
            hint.instance_id = instance_id;
            parts_.bus.publish(hint);
        }
    });
}

void RelayDelivery::take_hint(const RelayHint& hint) {
    const auto found = boxes_.find(hint.instance_id);
    if (found == boxes_.end()) {
        return;
    }
    switch (hint.kind) {
        case RelayHint::Kind::mail:
            pump(hint.instance_id);
            break;
        case RelayHint::Kind::revoked:
            for (const RelaySessionPtr& session : found->second.sockets) {
                if (!parts_.is_open || !parts_.is_open(session->caller.gateway_id)) {
                    session->socket->close(kCloseUnauthorised, "unauthorized");
                }
            }
            break;
        case RelayHint::Kind::fenced:
            if (found->second.session && found->second.session->epoch < hint.epoch) {
                found->second.session->socket->close(
                    kCloseFenced, "a newer connection of this instance exists");
            }
            break;
        case RelayHint::Kind::interrupt:
            if (found->second.session) {
                found->second.session->socket->send_urgent(encode_line(
                    ConnectorFrame(InterruptInboundFrame{hint.session_key, hint.chat_id})));
            }
            break;
    }
}

void RelayDelivery::sweep(RelayTurn& turn) {
    std::size_t left = kSweepEntriesMax;
    for (auto& [instance_id, box] : boxes_) {
        for (const RelaySessionPtr& session : box.sockets) {
            if (session->epoch == 0 && turn.now() >= session->opened_at + kHelloDeadline) {
                session->socket->close(kCloseProtocol, "no hello arrived in time");
            }
        }
        left -= sweep_letters(turn, instance_id, box, left);
        const auto expired = box.queue.expire(turn.now(), left);
        left -= expired.size();
        lay_aside(turn, instance_id, expired, "expired");
        if (!box.session) {
            if (box.queue.size() == 0) {
                settle_rows(turn, instance_id, box);  // What filled it may have expired.
            }
            continue;
        }
        for (const std::int64_t seq : box.queue.settle(turn.now())) {
            turn.rows().acknowledged.push_back({instance_id, seq});
            ++counters_.settled;
        }
        settle_rows(turn, instance_id, box);
        if (box.queue.is_ack_overdue(turn.now())) {
            ++counters_.overdue;
            box.session->socket->close(kCloseTryLater, "no acknowledgement arrived in time");
        }
        if (box.queue.size() > 0 || box.queue.owes_idle_answer()) {
            mark(turn, instance_id);
        }
    }
}

std::vector<std::string> RelayDelivery::sleepers_with_mail() const {
    std::vector<std::string> sleepers;
    for (const auto& [instance_id, box] : boxes_) {
        if (box.session || box.queue.size() == 0) {
            continue;
        }
        const InstanceRow* row = parts_.state.instances.get(instance_id);
        if (row != nullptr && row->is_flipped) {
            sleepers.push_back(instance_id);
        }
    }
    std::ranges::sort(sleepers);
    return sleepers;
}

RelayDelivery::InstanceView RelayDelivery::view(const InstanceRow& row) const {
    InstanceView view;
    view.instance_id = row.instance_id;
    view.tenant_id = row.tenant_id;
    view.epoch = row.epoch;
    view.seen_at = row.seen_at;
    if (const ShedRow* const shedding = parts_.state.sheds.get(row.instance_id)) {
        view.shedding = *shedding;
    }
    const auto found = boxes_.find(row.instance_id);
    const Box* box = found == boxes_.end() ? nullptr : &found->second;
    if (box != nullptr) {
        view.waiting = box->queue.size();
        view.bytes = box->queue.bytes();
        view.outstanding = box->queue.outstanding();
        view.dead_letters = box->dead.size();
        view.dead_bytes = box->dead.bytes();
        if (const QueuedEntry* front = box->queue.front()) {
            view.oldest = front->at;
        }
    }
    if (box != nullptr && box->session) {
        view.identities = box->session->identities;
        view.health = row.is_flipped && !box->queue.is_draining() ? "idle"
                      : box->queue.is_draining()                  ? "draining"
                                                                  : "live";
    } else {
        view.health = row.is_flipped ? "asleep" : row.epoch > 0 ? "dead" : "new";
    }
    return view;
}

std::vector<RelayDelivery::InstanceView> RelayDelivery::views() const {
    std::vector<InstanceView> all;
    parts_.state.instances.for_each(
        [&](const std::string&, const InstanceRow& row) { all.push_back(view(row)); });
    std::ranges::sort(all, {}, &InstanceView::instance_id);
    return all;
}

}  // namespace interlock
