#include "host/service/principal_records.h"

#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "host/rules/recovery_policy.h"
#include "host/wire/key_lock.h"

namespace interlock {
namespace {

constexpr std::string_view kTenantPrefix = "tenant/";
constexpr std::string_view kHumanPrefix = "human/";
constexpr std::string_view kTenantCount = "tenant_count";

std::string key_of(const TenantId& tenant_id) {
    return std::string(kTenantPrefix) + tenant_id.text();
}

std::string key_of(const HumanId& human_id) {
    return std::string(kHumanPrefix) + human_id.text();
}

std::string email_key(const std::string& email) {
    return "email/" + sha256_hex(email);
}

Tenant empty_system_tenant() {
    Tenant tenant;
    tenant.tenant_id = system_tenant();
    tenant.name = "This host";
    return tenant;
}

Principal principal_of(const AccessKey& key, const TenantId& tenant_id) {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    principal.id = key.key_id.text();
    // A key that waits for a human is known and belongs to nobody: it opens nothing.
    if (!is_locked(key)) {
        principal.tenants = {tenant_id};
        principal.scopes = key.scopes;
    }
    return principal;
}

Principal principal_of(const Human& human, const HumanSession& session) {
    Principal principal;
    principal.kind = PrincipalKind::human;
    principal.id = human.human_id.text();
    principal.tenants = human.memberships;
    principal.session_id = session.session_id;
    principal.authenticated_at = session.authenticated_at;
    return principal;
}

// Nothing when it is absent or was removed.
Result<std::optional<Json>> load_present(Turn& turn, const std::string& key) {
    TRY_ASSIGN(std::optional<Json> json, turn.load(key));
    if (json && json->is_null()) {
        json.reset();
    }
    return json;
}

bool is_removed(const StoredState& state) {
    return state.json == "null";
}

template <class T>
Result<T> decode_stored(const StoredState& state, Result<T> (*decode)(const Json&)) {
    TRY_ASSIGN(const Json json, parse_json(state.json));
    return decode(json);
}

}  // namespace

Result<void> PrincipalRecords::open(LedgerStore& store, std::string operator_token_hash) {
    directory_.update([&](PrincipalDirectory::Snapshot& all) {
        all = {};
        all.operator_token_hash = std::move(operator_token_hash);
    });
    show(empty_system_tenant());
    TRY_ASSIGN(const auto tenants, store.load_states(std::string(kTenantPrefix)));
    for (const auto& [key, state] : tenants) {
        if (is_removed(state)) {
            continue;
        }
        TRY_ASSIGN(const Tenant tenant, decode_stored(state, decode_tenant_state));
        show(tenant);
    }
    TRY_ASSIGN(const auto humans, store.load_states(std::string(kHumanPrefix)));
    for (const auto& [key, state] : humans) {
        if (is_removed(state)) {
            continue;
        }
        TRY_ASSIGN(const Human human, decode_stored(state, decode_human_state));
        show(human);
    }
    return {};
}

Result<std::optional<Tenant>> PrincipalRecords::find_tenant(Turn& turn, const TenantId& tenant_id) {
    TRY_ASSIGN(const std::optional<Json> json, load_present(turn, key_of(tenant_id)));
    if (json) {
        TRY_ASSIGN(Tenant tenant, decode_tenant_state(*json));
        return std::optional<Tenant>(std::move(tenant));
    }
    return tenant_id == system_tenant() ? std::optional(empty_system_tenant()) : std::nullopt;
}

Result<Tenant> PrincipalRecords::tenant(Turn& turn, const TenantId& tenant_id) {
    TRY_ASSIGN(std::optional<Tenant> found, find_tenant(turn, tenant_id));
    if (!found) {
        return fail(errors::not_found, "There is no tenant with this id.");
    }
    return *std::move(found);
}

Result<Human> PrincipalRecords::human(Turn& turn, const HumanId& human_id) {
    TRY_ASSIGN(const std::optional<Json> json, load_present(turn, key_of(human_id)));
    if (!json) {
        return fail(errors::not_found, "There is no human with this id.");
    }
    return decode_human_state(*json);
}

Result<std::optional<Human>> PrincipalRecords::find_human_by_email(
    Turn& turn, const std::string& email) {
    TRY_ASSIGN(const std::optional<Json> json, load_present(turn, email_key(email)));
    if (!json) {
        return std::optional<Human>();
    }
    FieldReader in(*json);
    TRY_ASSIGN(const HumanId human_id, in.finish(in.required<HumanId>("human_id")));
    TRY_ASSIGN(Human found, human(turn, human_id));
    return std::optional<Human>(std::move(found));
}

Result<TenantPeople> PrincipalRecords::people_of(Turn& turn, const TenantId& tenant_id) {
    TRY_ASSIGN(const Tenant of, tenant(turn, tenant_id));
    TenantPeople people{tenant_id, {}};
    for (const HumanId& human_id : of.human_ids) {
        TRY_ASSIGN(Human member, human(turn, human_id));
        people.humans.push_back(std::move(member));
    }
    return people;
}

Result<std::int64_t> PrincipalRecords::tenant_count(Turn& turn) {
    TRY_ASSIGN(const std::optional<Json> json, turn.load(std::string(kTenantCount)));
    if (!json) {
        return 0;
    }
    FieldReader in(*json);
    return in.finish(in.required<std::int64_t>("count"));
}

Result<void> PrincipalRecords::add_tenant(
    Turn& turn, const Tenant& tenant, std::int64_t count_max) {
    CHECK(count_max <= kTenantsMax);
    TRY_ASSIGN(const std::int64_t count, tenant_count(turn));
    if (count >= count_max) {
        return fail(
            errors::limit_reached,
            "This host has room for " + std::to_string(count_max) + " tenants.");
    }
    turn.save(std::string(kTenantCount), Json::object({{"count", count + 1}}));
    save(turn, tenant);
    return {};
}

Result<void> PrincipalRecords::remove_tenant(Turn& turn, const TenantId& tenant_id) {
    CHECK(tenant_id != system_tenant());
    TRY(tenant(turn, tenant_id));
    TRY_ASSIGN(const std::int64_t count, tenant_count(turn));
    turn.save(std::string(kTenantCount), Json::object({{"count", count - 1}}));
    turn.save(key_of(tenant_id), Json());
    turn.after_commit([this, tenant_id] { hide(tenant_id); });
    return {};
}

void PrincipalRecords::remove_human(Turn& turn, const Human& human) {
    turn.save(email_key(human.email), Json());
    turn.save(key_of(human.human_id), Json());
    turn.after_commit([this, human] { hide(human); });
}

void PrincipalRecords::add_human(Turn& turn, const Human& human) {
    turn.save(email_key(human.email), Json::object({{"human_id", human.human_id.text()}}));
    save(turn, human);
}

void PrincipalRecords::save(Turn& turn, const Tenant& tenant) {
    turn.save(key_of(tenant.tenant_id), encode_state(tenant));
    turn.after_commit([this, tenant] { show(tenant); });
}

void PrincipalRecords::save(Turn& turn, const Human& human) {
    turn.save(key_of(human.human_id), encode_state(human));
    turn.after_commit([this, human] { show(human); });
}

std::optional<HumanId> PrincipalRecords::holder_of_code(const std::string& code_hash) const {
    const auto found = codes_.find(code_hash);
    return found == codes_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<RecoveryNotice> PrincipalRecords::recoveries_near(
    const Human& human, Timestamp at) const {
    std::vector<RecoveryNotice> notices;
    std::set<HumanId> seen;
    for (const TenantId& tenant_id : human.memberships) {
        const auto tenant = tenants_.find(tenant_id);
        if (tenant == tenants_.end()) {
            continue;
        }
        for (const HumanId& other_id : tenant->second.human_ids) {
            const auto other = humans_.find(other_id);
            if (other == humans_.end() || !seen.insert(other_id).second) {
                continue;
            }
            if (auto notice = notice_of(other->second, at)) {
                notice->tenant_id = tenant_id;
                notices.push_back(*std::move(notice));
            }
        }
    }
    return notices;
}

std::vector<Tenant> PrincipalRecords::tenants_after(
    const TenantId& after, std::size_t count_max) const {
    std::vector<Tenant> page;
    for (auto at = tenants_.upper_bound(after); at != tenants_.end() && page.size() < count_max;
         ++at) {
        if (at->first != system_tenant()) {
            page.push_back(at->second);
        }
    }
    return page;
}

void PrincipalRecords::count_humans(
    PrincipalDirectory::Snapshot& all, const TenantId& tenant_id) const {
    const auto found = tenants_.find(tenant_id);
    if (found == tenants_.end()) {
        return;
    }
    std::int64_t active = 0;
    bool anyone_helped = false;
    std::map<HumanId, std::set<std::string>> hands;
    for (const HumanId& human_id : found->second.human_ids) {
        const auto human = humans_.find(human_id);
        if (human != humans_.end() && human->second.is_activated()) {
            ++active;
            anyone_helped |= !human->second.recovery.helpers.empty();
            hands[human_id] = hands_on(human->second);
        }
    }
    all.humans[tenant_id] = active;
    if (anyone_helped) {
        all.hands[tenant_id] = std::move(hands);
    } else {
        all.hands.erase(tenant_id);
    }
}

void PrincipalRecords::show(const Tenant& tenant) {
    std::set<KeyId> ended;
    directory_.update([&](PrincipalDirectory::Snapshot& all) {
        Tenant& known = tenants_[tenant.tenant_id];
        for (const AccessKey& key : known.access_keys) {
            if (all.access_keys.erase(std::string(plain_hash(key))) != 0) {
                ended.insert(key.key_id);
            }
        }
        known = tenant;
        for (const AccessKey& key : known.access_keys) {
            if (key.is_active()) {
                all.access_keys[std::string(plain_hash(key))] = principal_of(key, tenant.tenant_id);
                ended.erase(key.key_id);
            }
        }
        count_humans(all, tenant.tenant_id);
    });
    for (const KeyId& key_id : ended) {
        directory_.tell_key_ended(key_id);
    }
}

void PrincipalRecords::show(const Human& human) {
    directory_.update([&](PrincipalDirectory::Snapshot& all) {
        Human& known = humans_[human.human_id];
        for (const HumanSession& session : known.sessions) {
            all.sessions.erase(session.token_hash);
        }
        if (known.one_time_code) {
            codes_.erase(known.one_time_code->code_hash);
        }
        std::set<TenantId> concerned = known.memberships;
        known = human;
        for (const HumanSession& session : known.sessions) {
            all.sessions[session.token_hash] = {principal_of(known, session), session.expires_at};
        }
        if (known.one_time_code) {
            codes_[known.one_time_code->code_hash] = known.human_id;
        }
        if (known.recovery.recovered_at) {
            all.rests[known.human_id] = vote_rest_of(known);
        } else {
            all.rests.erase(known.human_id);
        }
        concerned.insert(known.memberships.begin(), known.memberships.end());
        for (const TenantId& tenant_id : concerned) {
            count_humans(all, tenant_id);
        }
    });
}

void PrincipalRecords::hide(const TenantId& tenant_id) {
    Tenant nobodys;
    nobodys.tenant_id = tenant_id;
    show(nobodys);  // Ends its keys.
    tenants_.erase(tenant_id);
    directory_.update([&](PrincipalDirectory::Snapshot& all) {
        all.humans.erase(tenant_id);
        all.hands.erase(tenant_id);
    });
}

void PrincipalRecords::hide(const Human& human) {
    Human nobody;
    nobody.human_id = human.human_id;
    show(nobody);  // Ends their sessions and their code.
    humans_.erase(human.human_id);
}

}  // namespace interlock
