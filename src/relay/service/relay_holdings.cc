#include "relay/service/relay_holdings.h"

#include <algorithm>

#include "base/check.h"
#include "relay/wire/relay_errors.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, kHoldingKinds> kWords = {
    "gateways", "routes", "claimed channels", "linked users", "tenant tokens"};

std::size_t bound_of(Holding kind, const RelayQuotas& quotas) {
    switch (kind) {
        case Holding::gateway:
            return quotas.gateways_max;
        case Holding::route:
            return quotas.routes_max;
        case Holding::scope:
            return quotas.scopes_max;
        case Holding::binding:
            return quotas.bindings_max;
        case Holding::tenant_token:
            break;
    }
    return quotas.tenant_tokens_max;
}

std::string key_of(const RouteRow& row) {
    return row_key({row.platform, row.bot_id, row.discriminator});
}

std::string key_of(const ScopeRow& row) {
    return row_key({row.platform, row.guild_id, row.channel_id});
}

const std::set<std::string>& found_in(
    const std::map<std::string, std::set<std::string>>& index, const std::string& owner) {
    static const std::set<std::string> kNone;
    const auto found = index.find(owner);
    return found == index.end() ? kNone : found->second;
}

}  // namespace

RelayHoldings::RelayHoldings(RelayState& state, RelayQuotas quotas)
    : state_(state), quotas_(quotas) {}

Result<void> RelayHoldings::load() {
    state_.gateways.for_each([this](const std::string&, const GatewayRow& row) { index(row); });
    state_.scopes.for_each(
        [this](const std::string& key, const ScopeRow& row) { index(key, row); });
    state_.routes.for_each([this](const std::string&, const RouteRow& row) { index(row); });
    state_.for_each_binding(
        [this](const BindingRow& row) { add(Holding::binding, row.tenant_id); });
    std::string after;
    while (true) {
        TRY_ASSIGN(
            const auto page,
            state_.store().read_rows(TenantTokenRow::kKind, "", after, kRelayRowsPage));
        for (const RelayRow& stored : page) {
            TRY_ASSIGN(const TenantTokenRow row, decode_row<TenantTokenRow>(stored.json));
            add(Holding::tenant_token, row.tenant_id);
            after = stored.key;
        }
        if (page.size() < static_cast<std::size_t>(kRelayRowsPage)) {
            return {};
        }
    }
}

std::size_t RelayHoldings::count(Holding kind, const TenantId& tenant_id) const {
    const auto found = counts_.find({kind, tenant_id});
    return found == counts_.end() ? 0 : found->second;
}

Result<void> RelayHoldings::check_room(Holding kind, const TenantId& tenant_id) const {
    const std::size_t bound = bound_of(kind, quotas_);
    if (count(kind, tenant_id) < bound) {
        return {};
    }
    return fail(
        errors::relay_limit_reached,
        "This tenant has " + std::to_string(bound) + " " +
            std::string(kWords[static_cast<std::size_t>(kind)]) +
            ", which is as many as it may have.");
}

void RelayHoldings::drop(Holding kind, const TenantId& tenant_id) {
    const auto found = counts_.find({kind, tenant_id});
    CHECK(found != counts_.end() && found->second > 0);
    if (--found->second == 0) {
        counts_.erase(found);
    }
}

void RelayHoldings::index(const GatewayRow& row) {
    add(Holding::gateway, row.tenant_id);
    gateways_[row.instance_id].insert(row.gateway_id);
}

void RelayHoldings::index(const RouteRow& row) {
    add(Holding::route, row.tenant_id);
    bots_[row_key({row.platform, row.discriminator})].insert(row.bot_id);
}

void RelayHoldings::index(const std::string& key, const ScopeRow& row) {
    add(Holding::scope, row.tenant_id);
    scopes_[row.instance_id].insert(key);
}

void RelayHoldings::unindex(Index& index, const std::string& owner, const std::string& key) {
    const auto found = index.find(owner);
    CHECK(found != index.end());
    found->second.erase(key);
    if (found->second.empty()) {
        index.erase(found);
    }
}

void RelayHoldings::put_gateway(RelayTurn& turn, GatewayRow row) {
    if (state_.gateways.get(row.gateway_id) == nullptr) {
        index(row);
    }
    const std::string key = row.gateway_id;
    state_.gateways.put(turn, key, std::move(row));
}

void RelayHoldings::erase_gateway(RelayTurn& turn, const std::string& gateway_id) {
    const GatewayRow* row = state_.gateways.get(gateway_id);
    CHECK(row != nullptr);
    const std::string key = gateway_id;  // The argument may live in the index.
    drop(Holding::gateway, row->tenant_id);
    unindex(gateways_, row->instance_id, key);
    state_.gateways.erase(turn, key);
}

void RelayHoldings::put_route(RelayTurn& turn, RouteRow row) {
    const std::string key = key_of(row);
    const RouteRow* const old = state_.routes.get(key);
    if (old == nullptr) {
        index(row);
    }
    CHECK(old == nullptr || old->tenant_id == row.tenant_id);
    state_.routes.put(turn, key, std::move(row));
}

void RelayHoldings::erase_route(RelayTurn& turn, const std::string& key) {
    const RouteRow* row = state_.routes.get(key);
    CHECK(row != nullptr);
    drop(Holding::route, row->tenant_id);
    unindex(bots_, row_key({row->platform, row->discriminator}), row->bot_id);
    state_.routes.erase(turn, key);
}

void RelayHoldings::put_scope(RelayTurn& turn, ScopeRow row) {
    const std::string key = key_of(row);
    CHECK(state_.scopes.get(key) == nullptr);  // Released before somebody else has it.
    index(key, row);
    state_.scopes.put(turn, key, std::move(row));
}

void RelayHoldings::erase_scope(RelayTurn& turn, const std::string& key) {
    const ScopeRow* row = state_.scopes.get(key);
    CHECK(row != nullptr);
    const std::string kept = key;
    drop(Holding::scope, row->tenant_id);
    unindex(scopes_, row->instance_id, kept);
    state_.scopes.erase(turn, kept);
}

void RelayHoldings::put_binding(RelayTurn& turn, BindingRow row) {
    const auto& bound = state_.bindings_of({row.platform, row.bot_id}, row.user_id);
    const bool is_known = std::ranges::any_of(
        bound, [&](const BindingRow& held) { return held.instance_id == row.instance_id; });
    if (!is_known) {
        add(Holding::binding, row.tenant_id);
    }
    state_.bind(turn, std::move(row));
}

void RelayHoldings::erase_binding(RelayTurn& turn, const BindingRow& row) {
    const std::string key = RelayState::person_key({row.platform, row.bot_id}, row.user_id);
    if (const DmDefaultRow* const held = state_.dm_defaults.get(key)) {
        DmDefaultRow left = *held;
        for (std::string* const named : {&left.instance_id, &left.wish_instance}) {
            if (*named == row.instance_id) {
                named->clear();
            }
        }
        if (left.instance_id.empty() && left.wish_instance.empty()) {
            state_.dm_defaults.erase(turn, key);
        } else if (left != *held) {
            state_.dm_defaults.put(turn, key, std::move(left));
        }
    }
    drop(Holding::binding, row.tenant_id);
    state_.unbind(turn, row);
}

void RelayHoldings::put_tenant_token(RelayTurn& turn, const std::string& key, TenantTokenRow row) {
    add(Holding::tenant_token, row.tenant_id);
    state_.tenant_tokens.put(turn, key, std::move(row));
}

void RelayHoldings::erase_tenant_token(
    RelayTurn& turn, const std::string& key, const TenantId& tenant_id) {
    drop(Holding::tenant_token, tenant_id);
    state_.tenant_tokens.erase(turn, key);
}

const std::set<std::string>& RelayHoldings::gateways_of(const std::string& instance_id) const {
    return found_in(gateways_, instance_id);
}

const std::set<std::string>& RelayHoldings::scopes_of(const std::string& instance_id) const {
    return found_in(scopes_, instance_id);
}

const std::set<std::string>& RelayHoldings::bots_routing(
    const std::string& platform, const std::string& discriminator) const {
    return found_in(bots_, row_key({platform, discriminator}));
}

}  // namespace interlock
