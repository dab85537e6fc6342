// Who sees what: links of people to instances, channels, policies and routes
// (docs/contracts/relay-management.md#2-routes). The instance is the caller's own, from the record
// of its credential; operators name one.
//
// Every change is one audit record. Calls come from any thread and are answered after the commit;
// redeem_link() is for the lane.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/id_source.h"
#include "relay/service/relay_ask.h"
#include "relay/service/relay_attempts.h"
#include "relay/service/relay_holdings.h"
#include "relay/service/relay_socket.h"
#include "relay/service/relay_strangers.h"
#include "relay/wire/relay_requests.h"

namespace interlock {

inline constexpr Duration kLinkCodeLife = Duration::of_minutes(10);
inline constexpr std::size_t kLinkCodeCharacters = 12;     // Of 32 kinds: 60 bits.
inline constexpr std::size_t kLinkCodesPerWindowMax = 20;  // Of one instance.
inline constexpr Duration kLinkWindow = Duration::of_minutes(10);
inline constexpr std::size_t kLinkTriesPerUserMax = 5;
inline constexpr std::size_t kLinkMissesPerBotMax = 1000;
inline constexpr std::size_t kInstancePlatformsMax = 16;  // That have policies of their own.
inline constexpr std::size_t kScopeOwnersAskedMax = 8;    // Whose sight is asked for one claim.
inline constexpr std::size_t kRouteListMax = 1000;        // A longer list is cut, and says so.
// How long an instance's wish for a user's direct messages waits for his word; until then no other
// instance may ask.
inline constexpr Duration kDmWishLife = Duration::of_hours(24);

// What somebody wrote behind "/link".
struct LinkAttempt {
    BotKey bot;
    std::string user_id;  // As the platform says, never as the text says.
    std::string user_name;
    std::string code;
    bool is_dm = true;
};
struct LinkOutcome {
    bool is_bound = false;
    std::string instance_id;  // With is_bound.
    std::string sentence;     // For the user.
};

class RelayManagement {
public:
    // All of these outlive the service.
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        RelayHoldings& holdings;
        RelayStrangers& strangers;
        IdSource& ids;
        // Null: no such bot here. Any thread.
        std::function<ChatPlatform*(const BotKey&)> bot;
        // All that are here. Any thread.
        std::function<std::vector<BotKey>()> bots;
        // Runs something that may block, elsewhere; false: too busy.
        std::function<bool(std::function<void()>)> run_blocking;
        std::function<bool(const TenantId&)> tenant_exists;  // Any thread.
    };
    explicit RelayManagement(Parts parts);

    // By the instance itself.
    void link(RelayCaller caller, LinkRequest request, RelayReply reply);
    void claim_scope(RelayCaller caller, ScopeRequest request, RelayReply reply);
    void release_scope(RelayCaller caller, ScopeRequest request, RelayReply reply);
    void set_principal(RelayCaller caller, PrincipalPolicy policy, RelayReply reply);
    void set_dm_default(RelayCaller caller, DmDefaultRequest request, RelayReply reply);
    void set_relevance(RelayCaller caller, RelevancePolicy policy, RelayReply reply);

    // On the lane. A person redeems a code; why one is refused nobody is told.
    LinkOutcome redeem_link(RelayTurn& turn, const LinkAttempt& attempt);
    // On the lane, by the user himself, about a link of his.
    void leave(RelayTurn& turn, const BindingRow& link);
    void choose_dm(RelayTurn& turn, const BindingRow& link);
    // What people call it, and its id so that no name can pose as another agent.
    std::string shown_name(const std::string& instance_id) const;

    // On the lane: routes, claims and what was delivered follow a chat to its new id.
    void move_chat(RelayTurn& turn, const BotKey& bot, const ChatMove& move);

    // On the lane, at the start: links of before the bot was kept get the bot that they can only
    // have meant; the others reach nobody until somebody links anew.
    void adopt_links(RelayTurn& turn);

    // By an operator; `principal` is his name in the record.
    struct Route {
        BotKey bot;
        std::string discriminator;  // A guild, a chat, a number.
        TenantId tenant_id;
    };
    void add_route(std::string principal, Route route, RelayReply reply);
    void remove_route(std::string principal, Route route, RelayReply reply);  // Tenant: any.
    void list_routes(TenantId tenant_id, RelayReply reply);  // Empty: of all tenants.
    struct Binding {
        std::string platform;
        std::string bot_id;  // Empty: the only one it can be; to unbind, all of the platform.
        std::string user_id;
        std::string user_name;
        std::string instance_id;
    };
    void bind(std::string principal, Binding binding, RelayReply reply);
    void unbind(std::string principal, Binding binding, RelayReply reply);
    // A code for the instance, as if it had asked.
    struct InstanceLink {
        std::string instance_id;
        LinkRequest link;
    };
    void link_for(std::string principal, InstanceLink which, RelayReply reply);
    // Empty, and 0: all.
    void list_strangers(TenantId tenant_id, std::int64_t number, RelayReply reply);
    // As the instance would; nobody's sight is asked, the guild must be its tenant's all the same.
    struct InstanceScope {
        std::string instance_id;
        ScopeRequest scope;
    };
    void claim_scope_for(std::string principal, InstanceScope which, RelayReply reply);
    void release_scope_for(std::string principal, InstanceScope which, RelayReply reply);
    struct InstancePrincipal {
        std::string instance_id;
        PrincipalPolicy policy;
    };
    void set_principal_for(std::string principal, InstancePrincipal which, RelayReply reply);
    // Policies, links and channels of an instance.
    void show_instance(std::string instance_id, RelayReply reply);

private:
    struct Claim {
        RelayCaller caller;
        std::string principal;
        ScopeRequest scope;
    };
    // Who is asked whether he sees the channel.
    struct Sight {
        BotKey bot;
        ViewQuestion question;
    };

    void ask(RelayDecide decide, RelayReply reply);
    Result<const InstanceRow*> instance_of(const std::string& id, const TenantId& tenant) const;
    std::optional<BotKey> routed_bot(const ScopeRequest& scope, const TenantId& tenant_id) const;

    Result<Json> decide_link(
        RelayTurn& turn, const std::string& principal, const InstanceLink& which);
    Result<std::vector<Sight>> plan_claim(RelayTurn& turn, const Claim& claim);
    Result<Json> decide_claim(RelayTurn& turn, const Claim& claim, const std::string& seen_by);
    Result<void> check_claim(const Claim& claim) const;
    Result<void> note_channel(RelayTurn& turn, const Claim& claim);
    void ask_sight(const Claim& claim, std::vector<Sight> sights, const RelayAnswerPtr& answer);
    Result<Json> decide_release(RelayTurn& turn, const Claim& claim);
    Result<Json> decide_principal(RelayTurn& turn, const Claim& who, const PrincipalPolicy& policy);
    Result<Json> decide_dm_default(
        RelayTurn& turn, const RelayCaller& caller, const DmDefaultRequest& wish);
    Result<Json> decide_relevance(
        RelayTurn& turn, const RelayCaller& caller, const RelevancePolicy& policy);

    Result<Json> decide_add_route(
        RelayTurn& turn, const std::string& principal, const Route& route);
    Result<Json> decide_bind(RelayTurn& turn, const std::string& principal, const Binding& binding);
    Result<Json> decide_unbind(
        RelayTurn& turn, const std::string& principal, const Binding& binding);
    std::vector<BotKey> bots_of(const std::string& platform, const InstanceRow& instance) const;
    Result<BotKey> bot_meant(const Binding& binding, const InstanceRow& instance) const;
    void adopt(RelayTurn& turn, const BindingRow& row);
    void move_record(RelayTurn& turn, const BotKey& bot, const ChatMove& move);
    void write_dm_default(RelayTurn& turn, DmDefaultRow row, const std::string& principal);
    void drop_binding(RelayTurn& turn, const BindingRow& row, const std::string& principal);
    Result<void> check_binding_room(const BindingRow& row) const;
    void write_binding(RelayTurn& turn, BindingRow row, const std::string& principal);
    Result<Claim> claim_for(const std::string& principal, const InstanceScope& which) const;
    Json instance_json(const InstanceRow& row) const;

    Parts parts_;
    RelayAttempts link_codes_;  // By instance.
    RelayAttempts user_tries_;  // By platform and user.
    RelayAttempts bot_misses_;  // By bot.
};

}  // namespace interlock
