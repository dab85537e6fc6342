// The stored records of tenants and humans, and the committed view of them that the directory
// shows.
//
// Machine states:
//     tenant/<tenant_id>    a tenant with its keys and the ids of its humans; also tenant/_system
//     tenant_count          how many there are
//     human/<human_id>      a human with their sessions
//     email/<sha256 hex>    whose address it is: makes an email unique inside a batch, too
// Null stands where one was removed.
//
// Engine thread only, as everything that happens inside a turn.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/service/turn.h"
#include "host/rules/invitation_policy.h"
#include "host/service/principal_directory.h"
#include "host/wire/human.h"
#include "host/wire/tenant.h"

namespace interlock {

class PrincipalRecords {
public:
    explicit PrincipalRecords(PrincipalDirectory& directory) : directory_(directory) {}

    // Loads everything and fills the directory.
    Result<void> open(LedgerStore& store, std::string operator_token_hash);

    // Nothing when there is no such tenant; `_system` always exists.
    Result<std::optional<Tenant>> find_tenant(Turn& turn, const TenantId& tenant_id);
    // `not_found` instead.
    Result<Tenant> tenant(Turn& turn, const TenantId& tenant_id);
    Result<Human> human(Turn& turn, const HumanId& human_id);
    Result<std::optional<Human>> find_human_by_email(Turn& turn, const std::string& email);
    Result<TenantPeople> people_of(Turn& turn, const TenantId& tenant_id);

    // New ones; `limit_reached` at the most that there may be, kTenantsMax or fewer.
    Result<void> add_tenant(Turn& turn, const Tenant& tenant, std::int64_t count_max = kTenantsMax);
    void add_human(Turn& turn, const Human& human);
    // Its keys are dead and its place is free; what its chain holds stays. Members are the caller's
    // to see to.
    Result<void> remove_tenant(Turn& turn, const TenantId& tenant_id);
    // Their sessions and codes are dead and the address is free.
    void remove_human(Turn& turn, const Human& human);
    // Saves, and after the commit shows the change to everybody.
    void save(Turn& turn, const Tenant& tenant);
    void save(Turn& turn, const Human& human);

    // As committed: what a batch has staged is not in here.
    std::optional<HumanId> holder_of_code(const std::string& code_hash) const;
    // Open recoveries, and votes that rest after one, of people who share a tenant with this human.
    std::vector<RecoveryNotice> recoveries_near(const Human& human, Timestamp at) const;
    std::vector<Tenant> tenants_after(const TenantId& after, std::size_t count_max) const;

private:
    static Result<std::int64_t> tenant_count(Turn& turn);
    void show(const Tenant& tenant);
    void show(const Human& human);
    void hide(const TenantId& tenant_id);
    void hide(const Human& human);
    void count_humans(PrincipalDirectory::Snapshot& all, const TenantId& tenant_id) const;

    PrincipalDirectory& directory_;
    std::map<TenantId, Tenant> tenants_;
    std::map<HumanId, Human> humans_;
    std::map<std::string, HumanId> codes_;  // By the code's hash.
};

}  // namespace interlock
