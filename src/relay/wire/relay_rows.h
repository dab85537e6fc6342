// What the relay keeps about gateways, instances, chats and sends, as rows of its store (ADR 0012).
//
// A row is JSON under a kind and a key. Parts of a key are joined by row_key(), which no content of
// a part can imitate. Secrets in rows are sealed; codes and tokens that are only compared are
// hashes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/wire/ids.h"
#include "relay/wire/relay_requests.h"

namespace interlock {

// "a/b/c" with '/' and '~' inside the parts escaped.
std::string row_key(std::initializer_list<std::string_view> parts);

inline constexpr std::size_t kGatewaySecretsMax = 4;    // The current one and those being retired.
inline constexpr std::size_t kChatDeliveredToMax = 64;  // Instances; the oldest is forgotten first.
inline constexpr std::size_t kUserBindingsMax = 32;  // Instances one user of a platform links to.
inline constexpr std::size_t kInstanceIdentitiesMax = 16;

struct SealedSecret {
    std::string sealed;  // Base64.
    Timestamp made_at;
    std::optional<Timestamp> retires_at;  // Not counted from then on; nothing: the current one.
};

// Key: gateway_id. The record that a credential is checked against; tenant and instance of a
// connection come from here and from nowhere else.
struct GatewayRow {
    static constexpr std::string_view kKind = "gateway";
    std::string gateway_id;
    TenantId tenant_id;
    std::string instance_id;
    std::vector<SealedSecret> secrets;  // Newest first.
    std::string wake_url;
    bool is_wake_trusted = false;  // An operator registered the URL: private addresses are fine.
    std::string display_name;
    std::string made_by;
    Timestamp made_at;
    std::optional<Timestamp> revoked_at;
};

// Key: tenant_id. Issued with every secret of the tenant's gateways, because clients expect one,
// and used by nobody.
struct DeliveryKeyRow {
    static constexpr std::string_view kKind = "delivery_key";
    std::string sealed;  // Base64.
};

struct BotIdentityRow {
    std::string platform;
    std::string bot_id;
};

// Key: instance_id.
struct InstanceRow {
    static constexpr std::string_view kKind = "instance";
    std::string instance_id;
    TenantId tenant_id;
    // Buffered only: it said going_idle and has not drained since.
    bool is_flipped = false;
    std::int64_t epoch = 0;       // Of its newest socket; older ones are fenced.
    bool is_overflowing = false;  // New mail goes to the dead letters until the buffer is empty.
    std::optional<Timestamp> seen_at;         // When it last said hello or went.
    std::vector<PrincipalPolicy> principals;  // One per platform; "" is for the others.
    std::vector<RelevancePolicy> relevance;   // One per platform.
    std::vector<BotIdentityRow> identities;   // Provisioned; empty: any bot that is routed to it.
    Timestamp made_at;
};

// Key: platform/bot_id/discriminator.
struct RouteRow {
    static constexpr std::string_view kKind = "route";
    std::string platform;
    std::string bot_id;
    std::string discriminator;
    TenantId tenant_id;
    Timestamp made_at;
};

// A user of a platform owns an instance at one bot: what he says to another bot is not its.
// Key: platform/bot_id/user_id/instance_id.
struct BindingRow {
    static constexpr std::string_view kKind = "binding";
    std::string platform;
    std::string bot_id;  // Empty: of before the bot was kept, key without it; reaches nobody.
    std::string user_id;
    std::string instance_id;
    TenantId tenant_id;
    std::string user_name;
    std::string made_by;  // "link", "operator"
    Timestamp made_at;    // Bindings of a user are ordered by it.
};

// Which of his instances gets a user's direct messages at a bot, and which one asks to.
// Key: platform/bot_id/user_id.
struct DmDefaultRow {
    static constexpr std::string_view kKind = "dm_default";
    std::string platform;
    std::string bot_id;  // Empty: as of a binding.
    std::string user_id;
    std::string instance_id;         // Empty: the one that was bound first.
    std::string wish_instance = {};  // Gets nothing before the user says so.
    Timestamp wish_at{};
    bool is_wish_told = false;

    friend bool operator==(const DmDefaultRow&, const DmDefaultRow&) = default;
};

// A channel's one owner. Key: platform/guild_id/channel_id, which is why there is only one.
struct ScopeRow {
    static constexpr std::string_view kKind = "scope";
    std::string platform;
    std::string guild_id;
    std::string channel_id;
    std::string instance_id;
    TenantId tenant_id;
    Timestamp made_at;
};

// Our own record of a chat, which the egress guard goes by. Key: platform/bot_id/chat_id.
struct ChatRow {
    static constexpr std::string_view kKind = "chat";
    std::string platform;
    std::string bot_id;
    std::string chat_id;
    TenantId tenant_id;
    std::string guild_id;
    std::string parent_chat_id;
    bool is_dm = false;
    std::string dm_user;  // Whose direct messages these are.
    std::string name;
    std::string chat_type;
    std::vector<std::string> delivered_to;  // Instances, oldest first.

    friend bool operator==(const ChatRow&, const ChatRow&) = default;
};

// A message that an instance sent. Key: platform/bot_id/chat_id/message_id. Expires.
struct SentRow {
    static constexpr std::string_view kKind = "sent";
    std::string instance_id;
    std::string outbound_id;
};

// Key: SHA-256 hex of the token. Expires.
struct EnrollmentRow {
    static constexpr std::string_view kKind = "enrollment";
    TenantId tenant_id;
    std::string made_by;
    Timestamp made_at;
    std::optional<Timestamp> used_at;
    std::string used_by;  // The gateway.
};

// A bearer for enroll and provision that an operator gave to a tenant. Key: SHA-256 hex.
struct TenantTokenRow {
    static constexpr std::string_view kKind = "tenant_token";
    TenantId tenant_id;
    std::string made_by;
    Timestamp made_at;
};

// Key: SHA-256 hex of the code. Expires.
struct LinkCodeRow {
    static constexpr std::string_view kKind = "link_code";
    std::string platform;
    std::string bot_id;  // Empty: any that the instance speaks as.
    std::string instance_id;
    TenantId tenant_id;
    Timestamp made_at;
};

// A shared credential that was taken out of an event. Key:
// instance_id/platform/bot_id/session_key/kind. Expires.
struct CapabilityRow {
    static constexpr std::string_view kKind = "capability";
    TenantId tenant_id;
    std::string instance_id;
    std::string platform;
    std::string bot_id;
    std::string session_key;
    std::string kind;
    std::string chat_id;
    std::string sealed;    // Base64.
    bool is_open = false;  // The deferred answer still says "thinking…".
    Timestamp expires_at;
};

// What a gateway asked to be sent, and what became of it. Key: outbound_id. Expires.
struct OutboundRow {
    static constexpr std::string_view kKind = "outbound";
    std::string outbound_id;
    TenantId tenant_id;
    std::string instance_id;
    std::string platform;
    std::string bot_id;
    std::string chat_id;
    std::string op;
    std::string action;  // JSON text of the action; dropped once it is sent for certain.
    std::string digest;  // SHA-256 hex of the action.
    std::string state;   // "pending", "sent", "not_sent", "unknown"
    std::string result;  // JSON text of what the gateway was told.
    std::vector<std::string> message_ids;
    std::string replay_of;  // A person had this one sent again.
    Timestamp asked_at;
    std::optional<Timestamp> settled_at;
};

// An idempotency key of a caller. Key: instance_id/key. Expires.
struct OutboundKeyRow {
    static constexpr std::string_view kKind = "outbound_key";
    std::string outbound_id;
    std::string digest;
};

// A prompt that waits for a press. Key: platform/bot_id/chat_id/prompt_id. Expires.
struct PromptRow {
    static constexpr std::string_view kKind = "prompt";
    std::string instance_id;
    TenantId tenant_id;
    std::string prompt_kind;
    std::string message_id;
    std::vector<std::string> option_ids;
    std::vector<std::string> option_labels;
    std::string answered_by;  // The user who pressed first.
};

// A file for gateways or from them; its bytes lie in the media folder. Key: media id. Expires.
struct MediaRow {
    static constexpr std::string_view kKind = "media";
    TenantId tenant_id;
    std::string instance_id;
    std::string content_type;
    std::string filename;
    std::int64_t bytes = 0;
};

// Which instance runs a session. Key: tenant_id/session_key. Expires.
struct SessionRow {
    static constexpr std::string_view kKind = "session";
    std::string instance_id;
    std::string chat_id;
};

// How far a bot's stream was stored. Key: platform/bot_id.
struct CursorRow {
    static constexpr std::string_view kKind = "cursor";
    std::string cursor;
};

// What somebody tried within a window of time. Key: what is counted/who. Expires with the window.
struct AttemptRow {
    static constexpr std::string_view kKind = "attempt";
    std::int64_t count = 0;
    Timestamp ends_at;
};

// Somebody who wrote and reached nobody, or a chat of which nobody knows whose it is. Key:
// platform/bot_id/chat_id/user_id, without the user for a chat. Expires.
struct StrangerRow {
    static constexpr std::string_view kKind = "stranger";
    std::int64_t number = 0;  // For people; never given twice.
    TenantId tenant_id;       // Empty: the chat is not routed.
    std::string platform;
    std::string bot_id;
    std::string user_id;  // Of a chat: who spoke last.
    std::string user_name;
    std::string chat_id;
    std::string chat_name;
    std::string chat_type;
    std::string discriminator;  // Empty in a direct message.
    Timestamp first_seen;
    Timestamp last_seen;
};

// How far the waking of a sleeping instance has got. Key: instance_id.
struct NapRow {
    static constexpr std::string_view kKind = "nap";
    Timestamp since;  // Of the first poke.
    Timestamp next_at;
    Timestamp poked_at;      // The last time.
    std::int64_t epoch = 0;  // Of the socket it fell asleep on.
    std::int64_t cooldown_microseconds = 0;
    bool is_given_up = false;
};

// An instance whose buffer is full lays its mail aside: since when, and how much. Key: instance_id.
// What was not yet told to the chain goes into one record, closed when a period or the trouble
// ends.
struct ShedRow {
    static constexpr std::string_view kKind = "shed";
    Timestamp since;
    Timestamp told_at;
    std::int64_t laid_aside = 0;  // Messages that found no room, since it began.
    std::int64_t dropped = 0;     // Dead letters that had to make room for them.
    std::int64_t untold_laid_aside = 0;
    std::int64_t untold_dropped = 0;
    std::int64_t first = 0;  // Buffer numbers of those that are not told yet.
    std::int64_t last = 0;
    std::string digest;  // Over their numbers and events.
};

// Critical records that the ledger does not have as an alert yet, those of one event of one
// instance or bot together. Key: tenant, event, instance, bot.
struct AlertRow {
    static constexpr std::string_view kKind = "alert";
    TenantId tenant_id;  // On whose chain they are.
    std::string event;
    bool is_failure = false;
    std::string instance_id;  // Empty: it is about none.
    std::string bot;          // "telegram/777"; empty: likewise.
    std::string record;       // The newest, "<tenant>.<seq>", and
    std::string hash;         // its hash.
    std::int64_t count = 0;
};

// Numbers that may have been given: none up to this one is given again. Key: what is numbered.
struct NumberRow {
    static constexpr std::string_view kKind = "number";
    std::int64_t reserved = 0;
};

// For every row type above.
template <class Row>
std::string encode_row(const Row& row);
template <class Row>
Result<Row> decode_row(std::string_view json_text);

}  // namespace interlock
