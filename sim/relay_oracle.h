// The relay's rules a second time, written from the documents and not from the code: who receives a
// message (docs/contracts/relay-connector.md#7-the-delivery-gate) and which chats an instance may
// act on (#8-the-egress-guard).
//
// It knows the committed rows of routes, bindings, scopes and policies, what the platforms said
// about sight, and the cast, which says where chats really are.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "relay/ports/relay_store.h"
#include "relay/wire/relay_rows.h"
#include "sim/relay_cast.h"

namespace interlock::sim {

class RelayOracle {
public:
    explicit RelayOracle(const RelayCast& cast) : cast_(cast) {}

    void apply(const RelayRowWrite& write);
    void note_view(const BotKey& bot, const ViewQuestion& question, std::optional<bool> answer);
    void note_delivered(const RelayMail& mail, const std::string& instance_id);
    void note_sent(const BotKey& bot, const std::string& message_id, const std::string& instance);

    // Whose message it is; empty: nobody's.
    TenantId tenant_of(const RelayMail& mail) const;
    // Sight may have changed within a round: then it is what was known when the round began, or
    // what was said last.
    enum class Sight { now, before };
    std::set<std::string> receivers(const RelayMail& mail, Sight sight = Sight::now) const;
    void round_begins() { views_before_ = views_; }
    bool may_reach(
        const std::string& instance_id, const BotKey& bot, const std::string& chat_id) const;
    // Stricter: it was delivered to in the chat, and the chat has been its tenant's ever since. A
    // send there may not be declined.
    bool must_reach(
        const std::string& instance_id, const BotKey& bot, const std::string& chat_id) const;
    // The instance that a message of the bot belongs to; empty: none.
    std::string sender_of(const BotKey& bot, const std::string& message_id) const;
    void note_reaction(const BotKey& bot, const ReactAction& action, const std::string& instance);
    bool has_reacted(
        const BotKey& bot, const ReactAction& action, const std::string& instance) const;

    // For people who change things.
    TenantId route_of(const BotKey& bot, const std::string& discriminator) const;
    bool is_bound(const BotKey& bot, const std::string& user, const std::string& to) const;
    // He is linked to it at another bot of the platform, and not at this one.
    bool is_bound_elsewhere(
        const BotKey& bot, const std::string& user, const std::string& to) const;
    // His choice when he is bound to it, else whom he was bound to first.
    std::string dm_target(const BotKey& bot, const std::string& user) const;

private:
    bool is_authorised(const RelayMail& mail, const RelayMember& member) const;
    bool is_visible(const RelayMail& mail, const RelayMember& member, Sight sight) const;
    bool is_relevant(const RelayMail& mail, const RelayMember& member) const;
    bool is_owner(const RelayMail& mail, const RelayMember& member) const;
    bool speaks_as(const BotKey& bot, const std::string& instance_id) const;
    bool holds_scope(const RelayChat& chat, const std::string& instance_id) const;
    std::vector<std::string> owners_of(const BotKey& bot, const std::string& instance_id) const;

    const RelayCast& cast_;
    std::map<std::string, TenantId> routes_;      // By row key.
    std::map<std::string, BindingRow> bindings_;  // Likewise.
    std::map<std::string, std::string> scopes_;
    std::map<std::string, std::string> dm_defaults_;
    std::map<std::string, InstanceRow> instances_;
    using Views = std::map<std::string, std::optional<bool>>;
    Views views_;  // What was answered last.
    Views views_before_;
    std::set<std::tuple<std::string, TenantId, std::string>> delivered_;
    struct Held {
        TenantId tenant_id;
        std::set<std::string> instances;
    };
    std::map<std::string, Held> held_;  // Chats since they last changed hands.
    std::map<std::string, std::string> sent_;
    std::set<std::string> reactions_;
};

}  // namespace interlock::sim
