// From a platform's event to the buffers of the instances that may have it: known already? whose
// tenant? who passes the gate? (docs/contracts/relay-connector.md#7-the-delivery-gate). The event
// is in the store before the platform is told that we have it.
//
// submit() takes arrivals from any thread; everything else is on the lane.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "relay/ports/chat_platform.h"
#include "relay/rules/delivery_gate.h"
#include "relay/service/relay_delivery.h"
#include "relay/service/relay_person.h"

namespace interlock {

// Event rows are kept this long to know duplicates and to explain decisions; Twilio repeats for a
// long time.
inline constexpr Duration kEventLife = Duration::of_days(7);
inline constexpr Duration kSmsEventLife = Duration::of_days(90);
// Keys of events seen lately, so that a repeat does not ask the store.
inline constexpr std::size_t kRecentEventsMax = 65'536;
// Arrivals that wait for facts: of one chat, and of all. Beyond them a further one of that chat is
// decided without (I5: what is not known counts as no), so that the platform is not kept waiting
// for the others. A chat with only a few is let in all the same: it has not filled the place.
inline constexpr std::size_t kWaitingFactsPerChatMax = 256;
inline constexpr std::size_t kWaitingFactsMax = 4096;
inline constexpr std::size_t kWaitingFactsFloor = 16;

struct CapabilityDraft {
    TenantId tenant_id;
    std::string instance_id;
    BotKey bot;
    std::vector<std::string> session_keys;
    std::string kind;
    std::string chat_id;
    SecretString value;
    Timestamp expires_at;
};

struct PressTry {
    BotKey bot;
    std::string chat_id;
    std::string user_id;
    PromptResponse response;
    std::vector<std::string> allowed;  // Instances that may hear from this user here.
};
struct PressOutcome {
    std::string instance_id;  // Who asked.
    PromptResponse response;  // With its label.
    bool is_first = true;     // Later presses inform nobody.
};

struct InboundCounters {
    std::int64_t stored = 0;
    std::int64_t duplicates = 0;
    std::int64_t delivered = 0;  // To instances; an event may count several times.
    std::int64_t no_route = 0;
    std::int64_t nobody = 0;         // Routed, and no instance passed the gate.
    std::int64_t laid_aside = 0;     // For instances whose buffer was full.
    std::int64_t without_facts = 0;  // Decided so because too many waited for them.
    std::int64_t links = 0;          // And whatever else people say to the connector itself.
};

class RelayInbound : public PlatformInbox {
public:
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        RelayDelivery& delivery;
        std::function<ChatPlatform*(const BotKey&)> platform;
        // Runs something that may block, elsewhere; false: too busy.
        std::function<bool(std::function<void()>)> run_blocking;
        // A person speaks to the connector itself; the sentence he is answered with, if any.
        std::function<std::string(RelayTurn&, const Person&, const PersonWord&)> answer_word;
        // Somebody reached nobody for want of a link or a route; what he is told, if anything.
        std::function<std::string(RelayTurn&, const Encounter&)> meet;
        // What a user has to be asked beside his direct message, if anything.
        std::function<std::string(RelayTurn&, const BotKey&, const std::string& user_id)> wish_for;
        // The platform goes on with a chat under another id.
        std::function<void(RelayTurn&, const BotKey&, const ChatMove&)> move_chat;
        std::function<Result<void>(RelayTurn&, CapabilityDraft)> bind_capability;
        std::function<Result<std::optional<PressOutcome>>(RelayTurn&, const PressTry&)> press;
        // A message of the connector itself.
        std::function<void(const BotKey&, const std::string& chat_id, std::string text)> notify;
        // Users of the platform that are bots of ours.
        std::function<bool(const std::string& platform, const std::string& user_id)> is_own_bot;
    };
    explicit RelayInbound(Parts parts);

    void submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) override;
    void note_cursor(const BotKey& bot, std::string cursor) override;

    // Platforms on which an instance without a policy hears only what speaks to the bot.
    // Before the first arrival.
    void set_require_address(std::set<std::string> platforms) {
        require_address_ = std::move(platforms);
    }

    // The lane is lost or has stopped: whoever still waits is told that nothing was stored and that
    // the platform should send again. On the lane, or after its end.
    void drop_waiting();

    const std::map<std::string, InboundCounters>& counters() const { return counters_; }
    // Arrivals that were not stored: the lane was full, lost or ending. Any thread.
    std::int64_t refused() const { return refused_->load(); }
    // Arrivals whose answer waits for what only the platform knows, and those behind them.
    std::size_t waiting_for_facts() const { return waiting_ + chats_waiting_.size(); }

private:
    using Done = std::function<void(InboxAnswer)>;

    // Answers of one bot leave in the order of its arrivals. Whatever happens to the work, `done`
    // is called once: a slot that everybody let go says that nothing was stored.
    using Count = std::atomic<std::int64_t>;
    struct Slot {
        Slot(Done call, std::shared_ptr<Count> count)
            : done(std::move(call)), refused(std::move(count)) {}
        ~Slot() { finish({}); }
        void finish(InboxAnswer said) {
            if (!is_answered.exchange(true)) {
                *refused += said.is_stored ? 0 : 1;
                done(std::move(said));
            }
        }
        const Done done;
        const std::shared_ptr<Count> refused;  // It may outlive the inbox.
        std::atomic<bool> is_answered{false};
        std::optional<InboxAnswer> answer;  // Lane only.
    };
    using SlotPtr = std::shared_ptr<Slot>;

    struct Pending {
        PlatformArrival arrival;
        SlotPtr slot;
        // Whether the store had it when it arrived; nothing: it has to be asked.
        std::optional<bool> is_stored = std::nullopt;
        std::string text = {};          // What instances get; made when it is decided.
        bool is_without_facts = false;  // Nobody is asked any more.
        // Found out elsewhere; an absent user is asked for.
        std::map<std::string, std::optional<bool>> views = {};  // By user.
    };

    struct Candidates {
        TenantId tenant_id;
        std::string note;  // Why there are none.
        std::vector<GateInstance> instances;
        std::map<std::string, std::string> viewer;  // Instance → the user whose sight counts.
    };

    void take(RelayTurn& turn, Pending pending);
    void decide(RelayTurn& turn, Pending pending);
    bool take_press(RelayTurn& turn, PlatformArrival& arrival, std::vector<std::string>& targets);
    bool ask_facts(Pending& pending, const Candidates& candidates);
    void facts_arrived(RelayTurn& turn, const std::string& chat, Pending pending);
    Candidates candidates_for(const PlatformArrival& arrival) const;
    Candidates dm_candidates(const PlatformArrival& arrival) const;
    GateEvent gate_event(const PlatformArrival& arrival, const TenantId& tenant_id) const;
    GateInstance gate_instance(const InstanceRow& row, const PlatformArrival& arrival) const;
    bool is_known(const Pending& pending, const std::string& event_key);
    void remember(const std::string& event_key);
    void store_event(RelayTurn& turn, Pending& pending, const TenantId& tenant_id, const Json& why);
    struct Reached {
        std::vector<std::string> delivered;   // In their buffer.
        std::vector<std::string> laid_aside;  // Their buffer was full.
    };
    Reached deliver(
        RelayTurn& turn, const Pending& pending, const std::vector<std::string>& instances);
    void note_chat(
        RelayTurn& turn,
        const PlatformArrival& arrival,
        const TenantId& tenant_id,
        const std::vector<std::string>& instances);
    void note_session(
        RelayTurn& turn,
        const PlatformArrival& arrival,
        const TenantId& tenant_id,
        const std::string& instance_id);
    void keep_capability(
        RelayTurn& turn,
        const PlatformArrival& arrival,
        const TenantId& tenant_id,
        const std::string& instance_id);
    void take_word(RelayTurn& turn, Pending& pending, const PersonWord& word);
    void take_move(RelayTurn& turn, Pending& pending);
    std::string meet_stranger(RelayTurn& turn, const Pending& pending, const TenantId& tenant_id);
    void tell(RelayTurn& turn, const PlatformArrival& arrival, const std::string& sentence);
    void say(RelayTurn& turn, const PlatformArrival& arrival, const std::string& sentence);
    std::optional<bool> view_of(
        const PlatformArrival& arrival, const std::string& user, const Pending* pending) const;
    void answer(RelayTurn& turn, const BotKey& bot, const SlotPtr& slot, InboxAnswer answer);
    void release(const BotKey& bot);

    Parts parts_;
    std::set<std::string> require_address_;
    std::map<BotKey, std::deque<SlotPtr>> slots_;
    std::map<std::string, std::deque<Pending>> chats_waiting_;  // The first one's facts are asked.
    std::size_t waiting_ = 0;
    std::unordered_set<std::string> recent_;
    std::deque<std::string> recent_order_;
    std::map<std::string, InboundCounters> counters_;  // By platform.
    std::shared_ptr<Count> refused_ = std::make_shared<Count>(0);
};

// The key of a chat: platform, bot and the platform's own id.
std::string chat_key_of(const PlatformArrival& arrival);
// The key of an event, likewise.
std::string event_key_of(const BotKey& bot, std::string_view event_id);

}  // namespace interlock
