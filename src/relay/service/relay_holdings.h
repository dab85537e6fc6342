// How much each tenant has of what the relay keeps for it, and what belongs to an instance, so that
// a bound is judged and an instance taken down without looking at everybody's rows. Lane only.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "relay/service/relay_state.h"

namespace interlock {

enum class Holding { gateway, route, scope, binding, tenant_token };
inline constexpr std::size_t kHoldingKinds = 5;

// Per tenant.
struct RelayQuotas {
    std::size_t gateways_max = 1000;
    std::size_t routes_max = 10'000;
    std::size_t scopes_max = 10'000;
    std::size_t bindings_max = 10'000;
    std::size_t tenant_tokens_max = 32;
};

class RelayHoldings {
public:
    explicit RelayHoldings(RelayState& state, RelayQuotas quotas = {});

    // After the state's own load().
    Result<void> load();

    // `relay_limit_reached` when the tenant has as many as it may.
    Result<void> check_room(Holding kind, const TenantId& tenant_id) const;
    std::size_t count(Holding kind, const TenantId& tenant_id) const;

    // They change the rows and the counts together.
    void put_gateway(RelayTurn& turn, GatewayRow row);
    void erase_gateway(RelayTurn& turn, const std::string& gateway_id);
    void put_route(RelayTurn& turn, RouteRow row);
    void erase_route(RelayTurn& turn, const std::string& key);
    void put_scope(RelayTurn& turn, ScopeRow row);
    void erase_scope(RelayTurn& turn, const std::string& key);
    void put_binding(RelayTurn& turn, BindingRow row);
    // And what the user's DM default says of it.
    void erase_binding(RelayTurn& turn, const BindingRow& row);
    void put_tenant_token(RelayTurn& turn, const std::string& key, TenantTokenRow row);
    void erase_tenant_token(RelayTurn& turn, const std::string& key, const TenantId& tenant_id);

    // Ids, and keys of rows.
    const std::set<std::string>& gateways_of(const std::string& instance_id) const;
    const std::set<std::string>& scopes_of(const std::string& instance_id) const;
    // Bots of the platform that route the discriminator, to whomever.
    const std::set<std::string>& bots_routing(
        const std::string& platform, const std::string& discriminator) const;

private:
    void add(Holding kind, const TenantId& tenant_id) { ++counts_[{kind, tenant_id}]; }
    void drop(Holding kind, const TenantId& tenant_id);
    void index(const GatewayRow& row);
    void index(const RouteRow& row);
    void index(const std::string& key, const ScopeRow& row);

    using Index = std::map<std::string, std::set<std::string>>;
    static void unindex(Index& index, const std::string& owner, const std::string& key);

    RelayState& state_;
    const RelayQuotas quotas_;
    std::map<std::pair<Holding, TenantId>, std::size_t> counts_;
    Index gateways_;
    Index scopes_;
    Index bots_;  // By platform and discriminator.
};

}  // namespace interlock
