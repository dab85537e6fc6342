// What the relay promised, checked from outside: by what its store commits, what is written to
// sockets, what platforms and sleepers are called with, and what gateways are answered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ports/clock.h"
#include "relay/ports/relay_store.h"
#include "relay/wire/relay_frame.h"
#include "sim/relay_oracle.h"
#include "sim/violation.h"

namespace interlock::sim {

// Small, so that runs meet the bounds.
inline constexpr DeliveryBounds kSimDeliveryBounds{
    .entries_max = 12, .attempt_spacing = Duration::of_seconds(5), .dead_entries_max = 6};

// One socket as it stands when something is written to it.
struct RelaySocketFacts {
    std::uint64_t number = 0;
    std::string instance_id;
    std::int64_t epoch = 0;
    bool is_idle = false;  // Its going_idle has been dealt with.
};

struct RelayRequestFacts {
    std::uint64_t socket = 0;
    std::string instance_id;
    BotKey bot;
    std::string op;
    std::string chat_id;
    std::string token;  // What is said; repeats under one key say the same.
    Timestamp at;
    bool was_allowed = false;
    bool is_plain = false;  // Nothing in it could be a reason to decline it.
    bool was_due = false;   // When it was dealt with, it had to be let through.
};

class RelayWatch {
public:
    struct Parts {
        const RelayCast& cast;
        const std::map<std::string, RelayMail>& mails;
        Clock& clock;
        ViolationLog& log;
    };
    explicit RelayWatch(Parts parts) : parts_(parts), oracle(parts.cast) {}

private:
    Parts parts_;

public:
    RelayOracle oracle;

    // The store.
    void on_commit(const RelayCommit& batch);
    // A person asks for this letter to be delivered after all, or to be thrown away.
    void expect_taken(const BufferKey& key) { taken_.insert({key.instance_id, key.seq}); }
    // A person gives his direct messages at the bot to this instance.
    void expect_dm(const BotKey& bot, const std::string& user, const std::string& instance_id) {
        dm_words_.insert(row_key({bot.platform, bot.bot_id, user, instance_id}));
    }
    void compare(RelayStore& store);
    bool is_stored(const std::string& event_key) const { return tenants_.contains(event_key); }
    bool has_mail() const { return !buffer_.empty(); }
    bool is_full(const std::string& instance_id) const;  // It sheds.
    bool is_any_full() const;
    std::vector<BufferKey> dead_letters() const;

    // Sockets.
    void on_line(const RelaySocketFacts& socket, std::string_view line);
    void on_ack(const BufferKey& key, bool is_believed);
    void on_going_idle(std::uint64_t socket);
    // The answer to going_idle went out before this line, which the gateway may then never read.
    void on_overtaken(const RelaySocketFacts& socket, std::string_view line);
    void set_connected(const std::string& instance_id, bool is_connected);
    void told(const RelayMail& mail);
    // Nothing failed, and the platform is to send it again.
    void refused(const RelayMail& mail);
    // The instance's newest socket takes whatever it is given: its oldest mail must be there soon.
    void check_head(const std::string& instance_id, std::uint64_t socket);

    // Requests: relay_watch_outbound.cc.
    void on_request(const std::string& request_id, RelayRequestFacts request);
    void judge_request(const std::string& request_id);  // It was dealt with now.
    void on_result(const RelaySocketFacts& socket, const OutboundResultFrame& frame);
    void socket_over(std::uint64_t number);
    void check_answers();
    std::size_t unanswered() const { return requests_.size() - answered_; }
    void on_call(const BotKey& bot, const PlatformCall& call);
    void on_outcome(const BotKey& bot, const PlatformCall& call, const PlatformReply& reply);

    // Sleepers.
    void on_poke(const std::string& instance_id);
    void check_idle();
    void round_begins();  // Who sleeps now may be poked in it.
    void check_sleepers();
    // A new process: what lived in the old one's memory is over.
    void new_life();

    struct Counts {
        std::uint64_t stored = 0;
        std::uint64_t written = 0;
        std::uint64_t duplicates = 0;  // Written again to another socket, not acknowledged before.
        std::uint64_t acknowledged = 0;
        std::uint64_t dead = 0;
        std::uint64_t dropped = 0;  // Dead letters that had to make room.
        std::uint64_t requests = 0;
        std::uint64_t declined = 0;
        std::uint64_t calls = 0;
        std::uint64_t unknown = 0;
        std::uint64_t pokes = 0;
    } counts;

private:
    using Place = std::pair<std::string, std::int64_t>;
    struct Entry {
        EntryKind kind = EntryKind::inbound;
        std::string event_key;
        Timestamp came_at;
        std::set<std::uint64_t> sockets = {};    // It was written to.
        std::set<std::uint64_t> overtaken = {};  // Of these: going_idle was answered before it.
        Timestamp written_at = {};
        Timestamp first_written_at = {};
    };
    struct Letter {
        std::string event_key;
        Timestamp dead_at;
    };
    struct Send {
        OutboundRow row;
        std::optional<CallOutcome> outcome;
    };

    void report(std::string_view invariant, std::string what) {
        parts_.log.report(invariant, std::move(what));
    }
    void on_events(const RelayCommit& batch);
    void take_entry(const BufferEntry& entry, const std::set<std::string>& new_events);
    void check_bot(const RelayMail& mail, const std::string& instance_id);
    void on_acknowledged(const Place& place);
    void on_dead(const DeadLetter& letter);
    void on_letter_gone(const Place& place);
    void check_room(const RelayCommit& batch);
    bool has_later_ack(const Place& place) const;
    bool is_settled_forward(const Place& place, const Entry& entry) const;
    void on_dm_default(const RelayRowWrite& write);
    void on_outbound_row(const RelayRowWrite& write);
    void on_mail(
        const RelaySocketFacts& socket, const std::string& buffer_id, const ConnectorFrame& frame);
    void check_text(
        const RelaySocketFacts& socket, const Entry& entry, const ConnectorFrame& frame);
    void check_send(const BotKey& bot, const PlatformCall& call, const Send& send);
    void check_quiet_call(const BotKey& bot, const PlatformCall& call);

    std::map<Place, Entry> buffer_;
    std::map<Place, Letter> dead_;
    std::set<Place> acknowledged_;
    std::set<Place> believed_;  // Acks that came on the instance's newest socket.
    std::set<Place> doubted_;   // On another.
    std::set<Place> taken_;
    std::set<std::string> dm_words_;
    struct Head {
        Place place;
        std::uint64_t socket = 0;
        Timestamp since;
    };
    std::map<std::string, Head> heads_;        // Oldest mail that its socket has not got.
    std::map<std::string, TenantId> tenants_;  // Decided events.
    std::map<std::string, std::int64_t> last_seq_;
    std::map<std::string, std::int64_t> first_written_;  // The newest entry that ever went out.
    std::map<std::uint64_t, std::int64_t> on_socket_;    // The newest on that socket.
    std::map<std::string, InstanceRow> instances_;
    std::map<std::uint64_t, Timestamp> idle_asked_;  // Sockets that wait for going_idle_ack.
    std::set<std::uint64_t> idle_;                   // That have asked at all.
    std::set<std::uint64_t> told_idle_;              // That took the answer.

    std::map<std::string, RelayRequestFacts> requests_;
    std::map<std::string, int> answers_;
    std::size_t answered_ = 0;
    std::map<std::string, std::set<std::string>> by_token_;
    std::set<std::string> refused_tokens_;       // Nothing of them may be sent any more.
    std::map<std::string, Send> sends_;          // By outbound id.
    std::map<std::string, std::string> nonces_;  // To the outbound id.

    void note_doubtful_reaction(const OutboundRow& row);
    bool has_flipped_on_mail(const std::string& instance_id);
    bool sleeps(const std::string& instance_id);

    std::set<std::string> connected_;
    std::set<std::string> sleepers_;  // When the round began.
    struct Sleep {
        Timestamp since;
        std::int64_t epoch = 0;
        Timestamp counts_from;  // The last start of the connector, when that was later.
        Duration patience;
    };
    std::map<std::string, Sleep> asleep_since_;
    std::map<std::string, Timestamp> poked_at_;
};

// The word that a sent text begins with.
std::string token_of(std::string_view content);

inline constexpr std::string_view kRelayCapability = "cap-token-";

}  // namespace interlock::sim
