// The delivery leg: sockets of gateways, what waits for each instance, and when it counts as
// delivered (docs/contracts/relay-connector.md#9-delivery). relay/rules/delivery_queue decides;
// this keeps its queues in step with the store and the sockets. Lane only.
//
// An instance at its bounds costs nobody else anything (ADR 0017): the message that finds no room
// is laid aside as its dead letter, and where those are too many the one that died first goes. Both
// are counted, folded into one record a period, and told when they begin and when they end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "relay/ports/chat_platform.h"
#include "relay/ports/relay_bus.h"
#include "relay/rules/delivery_queue.h"
#include "relay/service/relay_files.h"
#include "relay/service/relay_lane.h"
#include "relay/service/relay_socket.h"
#include "relay/service/relay_state.h"

namespace interlock {

// One gateway socket. The face makes it after the upgrade was let through.
struct RelaySession {
    RelayCaller caller;
    std::shared_ptr<RelaySocket> socket;
    // Where this gateway reaches our HTTP: "https://chat.example". Set before open().
    std::string media_base{};
    // Below: lane only.
    Timestamp opened_at{};
    std::vector<BotKey> identities{};  // Those it said hello as, first one first.
    std::int64_t epoch = 0;            // 0: no hello yet.
    bool is_over = false;
};
using RelaySessionPtr = std::shared_ptr<RelaySession>;

inline constexpr std::size_t kSessionIdentitiesMax = 16;
// A socket that has said no hello by then is closed.
inline constexpr Duration kHelloDeadline = Duration::of_seconds(30);
// What was shed is put on record this often while it goes on.
inline constexpr Duration kShedRecordPeriod = Duration::of_minutes(10);
// Entries that expire and dead letters that end in one look, so that nobody waits for a thousand.
inline constexpr std::size_t kSweepEntriesMax = 1000;
// Dead letters that one call of a person takes.
inline constexpr std::size_t kLettersPerCallMax = 500;
inline constexpr std::int64_t kLetterBytesPerCallMax = std::int64_t{8} * 1024 * 1024;
// Texts kept in memory between their commit and their write; others are read from the store.
inline constexpr std::size_t kHotTextsMax = 32;
inline constexpr Duration kSessionRowLife = Duration::of_days(30);
// Buffer numbers are reserved so far ahead; a restart begins behind the reserved ones. While
// numbers run ahead of the clock fewer are, so that many restarts do not carry them away from it.
inline constexpr std::int64_t kNumbersAhead = 60'000'000;  // A minute of microseconds.
inline constexpr std::int64_t kNumbersAheadOfClock = 4096;

struct DeliveryCounters {
    std::int64_t written = 0;
    std::int64_t written_again = 0;  // To another socket than the first.
    std::int64_t acknowledged = 0;
    std::int64_t settled = 0;  // Forwards that nobody acknowledged.
    std::int64_t dead = 0;
    std::int64_t overflowed = 0;  // Of the dead: they found no room.
    std::int64_t dropped = 0;     // Dead letters that made room for younger ones.
    std::int64_t ended = 0;       // Dead letters whose time was over.
    std::int64_t fenced = 0;
    std::int64_t overdue = 0;  // Sockets closed for want of an ack.
    std::int64_t interrupts = 0;
};

class RelayDelivery {
public:
    struct Parts {
        RelayState& state;
        Clock& clock;
        RelayBus& bus;
        // What a hello is answered with; a generic one for an identity nobody configured.
        std::function<CapabilityDescriptor(const BotKey&)> descriptor;
        // Whether a gateway's credential still counts. Empty: always.
        std::function<bool(const std::string& gateway_id)> is_open = {};
        DeliveryBounds bounds = {};
        // Fetches files of messages. Null: nobody does, and messages tell so.
        RelayFiles* files = nullptr;
    };
    explicit RelayDelivery(Parts parts);

    // The buffers as they were left.
    Result<void> load();

    void open(RelayTurn& turn, const RelaySessionPtr& session);
    void hello(RelayTurn& turn, const RelaySessionPtr& session, const HelloFrame& frame);
    void acknowledge(RelayTurn& turn, const RelaySessionPtr& session, const InboundAckFrame& frame);
    void going_idle(RelayTurn& turn, const RelaySessionPtr& session);
    // A gateway stops a session's turn; it may be another instance of its tenant that runs it.
    void interrupt(RelayTurn& turn, const RelaySessionPtr& session, const InterruptFrame& frame);
    Result<void> interrupt_session(
        RelayTurn& turn,
        const TenantId& tenant_id,
        const std::string& session_key,
        const std::string& principal);
    void closed(RelayTurn& turn, const RelaySessionPtr& session);

    enum class Appended {
        buffered,
        laid_aside,  // No room: a dead letter.
        gone,        // There is no such instance any more.
    };
    struct NewEntry {
        std::string instance_id;
        EntryKind kind = EntryKind::inbound;
        std::string event_key;
        std::string text;
    };
    Appended append(RelayTurn& turn, NewEntry entry);

    // Deprovisioned: its buffer goes, its sockets close.
    void drop_instance(RelayTurn& turn, const std::string& instance_id);
    void close_sockets(const std::string& instance_id, std::uint16_t code, std::string_view reason);
    // Which dead letters a person means; what is empty restricts nothing.
    struct Letters {
        std::string instance_id = {};
        TenantId tenant_id = {};
        std::optional<std::int64_t> seq = {};
        std::optional<Duration> older_than = {};  // Since it died.
        std::string principal = {};
    };
    struct LettersDone {
        std::int64_t done = 0;
        std::int64_t left = 0;     // Of those meant; call again.
        std::int64_t no_room = 0;  // Of those left: their buffer is full.
    };
    // A person has them delivered after all, in their order, behind what waits; or thrown away. At
    // most kLettersPerCallMax.
    Result<LettersDone> requeue_dead(RelayTurn& turn, const Letters& letters);
    LettersDone discard_dead(RelayTurn& turn, const Letters& letters);

    // After the batch, what is due for the instance is written.
    void look_again(RelayTurn& turn, const std::string& instance_id) { mark(turn, instance_id); }

    void sweep(RelayTurn& turn);  // Once a second.
    void take_hint(const RelayHint& hint);
    void close_all(std::uint16_t code, std::string_view reason);

    struct InstanceView {
        std::string instance_id;
        TenantId tenant_id;
        // "live", "draining", "idle" (flipped, socket still there), "asleep" (flipped, gone),
        // "dead" (gone without going idle), "new" (never seen).
        std::string_view health;
        std::size_t waiting = 0;
        std::int64_t bytes = 0;
        std::size_t outstanding = 0;
        std::size_t dead_letters = 0;
        std::int64_t dead_bytes = 0;
        std::optional<ShedRow> shedding;  // Since its buffer was full.
        std::int64_t epoch = 0;
        std::optional<Timestamp> oldest;
        std::optional<Timestamp> seen_at;
        std::vector<BotKey> identities;
    };
    InstanceView view(const InstanceRow& row) const;
    std::vector<InstanceView> views() const;
    const DeliveryCounters& counters() const { return counters_; }
    std::size_t sockets() const { return sockets_; }
    // Instances that are flipped, have no socket and have mail.
    std::vector<std::string> sleepers_with_mail() const;

private:
    struct Box {
        explicit Box(const DeliveryBounds& bounds) : queue(bounds), dead(bounds) {}
        DeliveryQueue queue;
        DeadLetters dead;
        RelaySessionPtr session;               // The newest that said hello; null: none.
        std::vector<RelaySessionPtr> sockets;  // All, the newest last.
        std::map<std::int64_t, std::string> hot;
        std::int64_t dead_seq = 0;  // The largest number a dead letter of it has.
    };

    Box& box_of(const std::string& instance_id);
    void end_session(RelayTurn& turn, const std::string& instance_id, Box& box);
    void greet(RelayTurn& turn, const RelaySessionPtr& session);
    // What is not delivered any more: relay_delivery_aside.cc.
    void lay_aside(
        RelayTurn& turn,
        const std::string& instance_id,
        const std::vector<QueuedEntry>& entries,
        std::string_view reason);
    void shed(RelayTurn& turn, Box& box, BufferEntry entry);
    void tell_shed(RelayTurn& turn, const std::string& instance_id);
    void end_shedding(RelayTurn& turn, const std::string& instance_id);
    std::size_t remove_letters(
        RelayTurn& turn, const std::string& instance_id, const std::vector<DeadLetterHead>& gone);
    std::size_t sweep_letters(
        RelayTurn& turn, const std::string& instance_id, Box& box, std::size_t count_max);
    using Meant = std::map<std::string, std::vector<DeadLetterHead>>;
    Meant find_letters(const Letters& letters, Timestamp now) const;
    struct LettersRecord {
        std::string event;
        std::string reason;
        std::string principal;
        std::vector<std::int64_t> seqs;
    };
    void record_letters(
        RelayTurn& turn, const std::string& instance_id, const LettersRecord& record);
    Result<bool> requeue_one(RelayTurn& turn, const std::string& instance_id, std::int64_t seq);
    void settle_rows(RelayTurn& turn, const std::string& instance_id, Box& box);
    void mark(RelayTurn& turn, const std::string& instance_id);
    void pump(const std::string& instance_id);
    void write(const std::string& instance_id, Box& box, const std::vector<std::int64_t>& due);
    Result<std::string> text_of(const std::string& instance_id, Box& box, std::int64_t seq);
    std::optional<std::string> with_files(
        const std::string& instance_id, Box& box, std::int64_t seq, std::string text);
    std::int64_t new_seq(RelayTurn& turn, const Box& box);
    void forget_text(const std::string& instance_id, Box& box, std::int64_t seq);
    InstanceRow row_of(const std::string& instance_id) const;

    Parts parts_;
    std::unordered_map<std::string, Box> boxes_;
    std::unordered_set<std::string> marked_;  // To be pumped after the batch.
    std::int64_t given_before_ = 0;           // No number up to this is given: a life before did.
    std::int64_t reserved_ = 0;               // What the store has of it.
    DeliveryCounters counters_;
    std::size_t sockets_ = 0;
};

}  // namespace interlock
