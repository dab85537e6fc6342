// Everything the relay's lane knows: its tables, and the indexes that routing and the gate ask.
// Lane only. Bounds are per tenant or user and named in relay/wire/relay_rows.h.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "relay/ports/chat_platform.h"
#include "relay/service/relay_table.h"

namespace interlock {

class RelayState {
public:
    explicit RelayState(RelayStore& store);
    Result<void> load();

    RelayStore& store() { return store_; }

    // Codes that were made before this moment came back with a backup: they may have been used
    // since, so they are void (ADR 0023). Set before the lane starts.
    Timestamp codes_void_before{};

    // Held whole.
    RelayTable<GatewayRow> gateways;
    RelayTable<InstanceRow> instances;
    RelayTable<RouteRow> routes;
    RelayTable<ScopeRow> scopes;
    RelayTable<DmDefaultRow> dm_defaults;
    RelayTable<CursorRow> cursors;
    RelayTable<NapRow> naps;
    RelayTable<ShedRow> sheds;
    RelayTable<AlertRow> alerts;
    RelayTable<NumberRow> numbers;
    RelayTable<StrangerRow> strangers;
    // Read when asked.
    RelayTable<ChatRow> chats;
    RelayTable<SentRow> sent;
    RelayTable<EnrollmentRow> enrollments;
    RelayTable<TenantTokenRow> tenant_tokens;
    RelayTable<DeliveryKeyRow> delivery_keys;
    RelayTable<LinkCodeRow> link_codes;
    RelayTable<CapabilityRow> capabilities;
    RelayTable<OutboundRow> outbounds;
    RelayTable<OutboundKeyRow> outbound_keys;
    RelayTable<PromptRow> prompts;
    RelayTable<MediaRow> media;
    RelayTable<SessionRow> sessions;
    RelayTable<AttemptRow> attempts;

    // Bindings go through these, which keep both directions.
    void bind(RelayTurn& turn, BindingRow row);
    void unbind(RelayTurn& turn, const BindingRow& row);
    // Of one user at a bot, in the order of binding.
    const std::vector<BindingRow>& bindings_of(const BotKey& bot, const std::string& user) const;
    // Users bound to an instance at a bot, in the order of binding.
    std::vector<BindingRow> owners_of(const std::string& instance_id, const BotKey& bot) const;
    // All of them, also those of no bot.
    const std::vector<BindingRow>& bindings_of_instance(const std::string& instance_id) const;
    // An instance that was provisioned or linked as other bots of the platform only is not heard
    // or asked at this one.
    bool speaks_as(const InstanceRow& row, const BotKey& bot) const;
    // Under which a user's DM default at a bot is kept; of before bots were kept without one.
    static std::string person_key(const BotKey& bot, const std::string& user) {
        return bot.bot_id.empty() ? row_key({bot.platform, user})
                                  : row_key({bot.platform, bot.bot_id, user});
    }
    template <class Call>
    void for_each_binding(Call&& call) const {
        bindings_.for_each([&call](const std::string&, const BindingRow& row) { call(row); });
    }

    // The instance that gets the user's direct messages at the bot; empty: none.
    std::string dm_choice_of(const BotKey& bot, const std::string& user) const;

    // The tenant that a discriminator is routed to; empty: none.
    TenantId route_of(const BotKey& bot, const std::string& discriminator) const;
    // Who claimed the channel; null: nobody.
    const ScopeRow* scope_of(
        const std::string& platform, const std::string& guild, const std::string& channel) const;

    // The policies that count on a platform; defaults when none was set.
    static PrincipalPolicy principal_of(const InstanceRow& row, const std::string& platform);
    static RelevancePolicy relevance_of(const InstanceRow& row, const std::string& platform);

private:
    RelayStore& store_;
    RelayTable<BindingRow> bindings_;
    std::map<std::pair<BotKey, std::string>, std::vector<BindingRow>> by_user_;
    std::map<std::string, std::vector<BindingRow>> by_instance_;

    void index(const BindingRow& row);
    void unindex(const BindingRow& row);
};

}  // namespace interlock
