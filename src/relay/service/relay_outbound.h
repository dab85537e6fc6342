// What gateways ask of chats (docs/contracts/relay-connector.md#sending): judged by our own
// records, put on the record, sent by the egress threads, settled in a second turn, and answered
// exactly once within the time that a gateway waits.
//
// Lane only, but for what says otherwise. `typing` and `get_chat_info` change nothing and leave no
// record. After a restart nothing is sent again by itself: what was pending is unknown (I4).
#pragma once

#include <array>
#include <atomic>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/id_source.h"
#include "relay/rules/egress_guard.h"
#include "relay/service/relay_egress.h"
#include "relay/service/relay_media.h"
#include "relay/service/relay_prompts.h"
#include "relay/service/relay_socket.h"
#include "relay/service/relay_vault.h"
#include "relay/wire/action_target.h"

namespace interlock {

// Clients give up after 30 s. The lane looks once a second, hence two seconds before the promise.
inline constexpr Duration kOutboundAnswerWithin = Duration::of_seconds(25);
inline constexpr Duration kOutboundAnswerAt = {
    kOutboundAnswerWithin.microseconds - Duration::of_seconds(2).microseconds};
inline constexpr Duration kOutboundBeginWithin = Duration::of_seconds(20);
// A worker that has not come back then is not waited for: the outcome stays unknown.
inline constexpr Duration kOutboundGivenUpAfter = Duration::of_minutes(10);

// Not yet settled. Of a bot's, what all tenants share goes to who comes; a tenant with less than
// his floor is let in beyond it, so that nobody can fill the bot for the others, up to a last bound
// that no single tenant comes near.
inline constexpr std::size_t kOutboundPerInstanceMax = 64;  // And of a bot's own words.
inline constexpr std::size_t kOutboundPerTenantMax = 256;   // Of a bot.
inline constexpr std::size_t kOutboundPerBotMax = 512;      // Shared by all tenants.
inline constexpr std::size_t kOutboundTenantFloor = 16;
inline constexpr std::size_t kOutboundPerBotHardMax = 8192;
inline constexpr std::size_t kOutboundWaitersMax = 8;  // Who wait for one under the same key.
inline constexpr std::size_t kIdempotencyKeyMax = 128;

// How long the log keeps a send, and its text unless it was sent for certain.
inline constexpr Duration kOutboundLife = Duration::of_days(7);
inline constexpr std::size_t kOutboundTextKeptMax = 16 * 1024;  // A longer one is not kept at all.
inline constexpr Duration kSentLife = Duration::of_days(30);
inline constexpr Duration kReactionLife = Duration::of_days(1);  // Longer than any turn.
inline constexpr Duration kIdempotencyLife = Duration::of_hours(24);
inline constexpr std::int64_t kOutboundPageMax = 200;
inline constexpr std::int64_t kOutboundScanMax = 5000;  // Rows looked at for one page.
inline constexpr int kDeclinedLinesMax = 20;            // Log lines in a second; all are counted.

// Marks rows that a restart has to settle. Key: outbound_id.
inline constexpr std::string_view kOutboundOpenKind = "outbound_open";

using OutboundReply = std::function<void(OutboundResult)>;

struct OutboundRequest {
    RelayCaller caller;
    std::vector<BotKey> identities;  // Hello'd on this socket; the first is its default.
    OutboundFrame frame;
    Timestamp received_at;
    OutboundReply reply;  // Called exactly once, on the lane.
};

// A message of the connector itself.
struct RelayNotice {
    BotKey bot;
    std::string chat_id;
    std::string thread_id;
    std::string text;
    TenantId tenant_id = system_tenant();  // In whose chain it is recorded.
};

struct OutboundFilter {
    std::string instance_id;  // Empty: all.
    std::string state;        // Empty: all.
    std::string after;        // Where a page before ended.
    std::int64_t count_max = 50;
};
struct OutboundPage {
    std::vector<OutboundRow> rows;  // Newest first.
    std::string next;               // Empty: that was all.
};

struct OutboundReplay {
    std::string outbound_id;
    std::string principal;  // Who wants it.
    OutboundReply reply;
};

class RelayOutbound {
public:
    // All of these outlive it, and the egress threads end before the lane does.
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        RelayVault& vault;
        RelayPrompts& prompts;
        RelayEgress& egress;
        RelayMedia& media;
        Clock& clock;
        IdSource& ids;
        std::function<ChatPlatform*(const BotKey&)> platform;
    };
    // Adds its duty to the lane.
    explicit RelayOutbound(Parts parts);

    // What a stopped process left pending becomes unknown. The first work of the lane.
    Result<void> recover(RelayTurn& turn);

    void handle(RelayTurn& turn, OutboundRequest request);

    // Any thread. Dropped, with a log line, when the lane takes no work.
    void notify(RelayNotice notice);

    // The delivery log.
    Result<OutboundPage> list(const OutboundFilter& filter);
    // Sends one again that was not sent or is unknown, as a new one under the same rules. Its text
    // moves to the new one, so that it cannot be had twice. The new one's id.
    Result<std::string> replay(RelayTurn& turn, OutboundReplay replay);

    // Any thread.
    struct Counters {
        std::uint64_t asked = 0;
        std::uint64_t declined = 0;
        std::uint64_t overloaded = 0;
        std::uint64_t sent = 0;
        std::uint64_t not_sent = 0;
        std::uint64_t unknown = 0;
        std::uint64_t late = 0;  // Answered before their outcome was known.
    };
    Counters counters() const;
    std::size_t pending() const { return pending_.size(); }

private:
    enum Count { asked, declined, overloaded, sent, not_sent, unknown, late, kCounts };

    // Everything about one request, until its order is with the egress.
    struct Ask {
        RelayCaller caller;
        std::string principal;
        BotKey bot;
        ChatPlatform* platform = nullptr;
        RelayAction action;
        std::string chat_id;
        std::string thread_id;
        std::optional<ChatRow> chat;
        std::optional<HeldCapability> capability;
        MediaSource media;
        std::string key;  // The caller's idempotency key.
        std::string replay_of;
        bool is_notice = false;  // Our own: it answers the chat that spoke to us.
        Timestamp received_at;
        OutboundReply reply;
    };
    using Refusal = std::optional<OutboundResult>;

    struct Waiter {
        OutboundReply reply;
        Duration answer_by;  // Monotonic.
    };
    struct Pending {
        TenantId tenant_id;
        std::string instance_id;
        std::string counted_as;  // Among the instances, or as its bot's own word.
        BotKey bot;
        std::string chat_id;
        std::string op;
        bool is_recorded = false;
        std::string prompt_id;
        std::optional<ChatInfo> known_chat;
        std::shared_ptr<EgressOrder> order;
        std::vector<Waiter> waiters;  // Those not answered yet.
        Duration give_up_at;
    };

    // Who asks of what: relay_outbound_judge.cc.
    std::optional<BotKey> choose_bot(const OutboundRequest& request, Timestamp now);
    Refusal find_target(RelayTurn& turn, Ask& ask);
    Refusal find_capability(RelayTurn& turn, Ask& ask);
    Refusal find_thread(Ask& ask, Timestamp now);
    std::string_view judge_thread(const Ask& ask, const std::string& thread_id, Timestamp now);
    std::optional<ChatRow> find_chat(const BotKey& bot, const std::string& chat_id, Timestamp now);
    std::optional<ChatRow> scoped_chat(const Ask& ask);
    EgressVerdict judge(const Ask& ask, const std::optional<ChatRow>& chat, Timestamp now);
    Refusal decline(const Ask& ask, std::string_view verdict);

    // From a judged request to an order: relay_outbound.cc.
    void accept(RelayTurn& turn, Ask ask);
    std::expected<std::string, OutboundResult> try_accept(RelayTurn& turn, Ask ask);
    bool answer_by_key(RelayTurn& turn, Ask& ask);
    Duration answer_time(Timestamp received_at, Timestamp now);
    Refusal check_room(const Ask& ask, Timestamp now);
    Refusal prepare(RelayTurn& turn, Ask& ask, EgressOrder& order);
    std::string record(RelayTurn& turn, const Ask& ask);
    void await(RelayTurn& turn, Ask ask, const std::string& id, std::shared_ptr<EgressOrder> order);
    void dispatch(const std::string& id);
    void refuse(RelayTurn& turn, const OutboundReply& reply, OutboundResult result);

    // What became of it: relay_outbound_settle.cc.
    void finished(RelayTurn& turn, const std::string& id, const EgressReport& report);
    void settle(RelayTurn& turn, OutboundRow row, const EgressReport& report);
    void note_sent(RelayTurn& turn, const OutboundRow& row, const EgressReport& report);
    void note_reaction(RelayTurn& turn, const OutboundRow& row, CallOutcome outcome);
    void note_prompt(RelayTurn& turn, const OutboundRow& row, const EgressReport& report);
    void note_thread(RelayTurn& turn, const OutboundRow& row, const std::string& thread_id);
    void answer(const std::string& id, const OutboundResult& result);
    void forget(const std::string& id);
    void sweep(RelayTurn& turn);
    void lose();

    void count(Count what) { counts_[what].fetch_add(1, std::memory_order_relaxed); }

    Parts parts_;
    std::map<std::string, Pending> pending_;
    std::map<std::string, std::size_t> per_instance_;
    std::map<std::pair<BotKey, TenantId>, std::size_t> per_tenant_;
    std::map<BotKey, std::size_t> per_bot_;
    std::int64_t unrecorded_ = 0;  // Names those that have no row.
    int declined_lines_ = 0;
    std::array<std::atomic<std::uint64_t>, kCounts> counts_{};
};

// The ids of a row for the record; never its text.
Json outbound_detail(const OutboundRow& row);

// What a gateway is told of a report.
OutboundResult result_of(const EgressReport& report);

// A text of the action's metadata; empty when there is none.
std::string metadata_text(const RelayAction& action, std::string_view key);
// Under which an instance's own reaction is kept, among what it sent.
std::string reaction_key(
    const BotKey& bot, const std::string& instance_id, const ReactAction& action);

}  // namespace interlock
