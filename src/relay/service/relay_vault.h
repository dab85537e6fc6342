// The capability vault (docs/contracts/relay-connector.md#capabilities): credentials that came
// inside an event and act for the shared bot, such as a Discord interaction's token. They are taken
// out at the edge, sealed here and used on behalf of the session that they belong to; no gateway,
// answer or log ever has one.
//
// Lane only. A binding is one credential under every key that a client may call its session. A
// session may have several: their deferred answers are given oldest first, as they were asked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/secret_string.h"
#include "relay/rules/egress_guard.h"
#include "relay/service/relay_seal.h"
#include "relay/service/relay_state.h"

namespace interlock {

// Deferred answers that hang in one chat; the oldest is forgotten first. A forgotten one can still
// be followed up by its session.
inline constexpr std::size_t kDeferredPerChatMax = 8;
inline constexpr std::size_t kDeferredChatsMax = 65'536;
inline constexpr std::size_t kCapabilityKeysMax = 8;
// Of one kind and session; beyond them the oldest goes.
inline constexpr std::size_t kCapabilitiesPerSessionMax = 8;
inline constexpr std::size_t kCapabilitySessionsMax = kDeferredChatsMax * 3;

struct CapabilityBinding {
    TenantId tenant_id;
    std::string instance_id;
    BotKey bot;
    std::vector<std::string> session_keys;  // interaction_keys()
    std::string kind;                       // "discord.interaction_token"
    SecretString value;
    std::string chat_id;
    Timestamp expires_at;
};

struct CapabilityQuestion {
    TenantId tenant_id;
    std::string instance_id;
    BotKey bot;
    std::string session_key;
    std::string kind;
};

// A chat of a bot as one instance sees it.
struct DeferredChat {
    std::string instance_id;
    BotKey bot;
    std::string chat_id;
    friend auto operator<=>(const DeferredChat&, const DeferredChat&) = default;
};

struct HeldCapability {
    std::string kind;
    SecretString value;
    std::string chat_id;
    bool is_open = false;  // The deferred answer still says "thinking…".
    std::string group;     // What its rows have in common.
};

class RelayVault {
public:
    // Both outlive it.
    RelayVault(RelayState& state, const RelaySeal& seal) : state_(state), seal_(seal) {}

    // Finds out which deferred answers hang. Before the lane starts.
    Result<void> load(Timestamp now);

    Result<void> bind(RelayTurn& turn, const CapabilityBinding& binding);

    // The oldest whose deferred answer hangs, else the newest. Absent, expired, another tenant's or
    // another instance's: nothing, and no difference between them.
    std::optional<HeldCapability> find(const CapabilityQuestion& question, Timestamp now);

    // The oldest capability of the chat whose deferred answer still hangs.
    std::optional<HeldCapability> open_deferred(const DeferredChat& chat, Timestamp now);
    // Its deferred answer is being given: nobody else may give it.
    void close_deferred(RelayTurn& turn, const DeferredChat& chat, const std::string& group);

    // Forgets what has expired; the rows go by their own expiry.
    void sweep(Timestamp now);
    std::size_t chats_with_deferred() const { return deferred_.size(); }

private:
    struct Deferred {
        std::string group;
        std::vector<std::string> row_keys;
        Timestamp expires_at;
    };

    void note_deferred(const CapabilityRow& row, const std::string& key, Timestamp now);
    Result<void> check_room(std::size_t sessions, Timestamp now);
    Timestamp end_of(const CapabilityBinding& binding) const;
    std::optional<HeldCapability> open(const CapabilityRow& row) const;

    RelayState& state_;
    const RelaySeal& seal_;
    std::map<DeferredChat, std::vector<Deferred>> deferred_;  // Oldest first.
    struct Held {
        Timestamp expires_at;
        std::string row_key;
    };
    std::map<std::string, std::vector<Held>> sessions_;  // By session and kind, oldest first.
};

}  // namespace interlock
