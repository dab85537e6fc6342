// The part of the onboarding service where an owner says what an agent may do: the access key, the
// grant to provision exchange keys, the markets a key may name. All of it is for people alone.
#include <algorithm>

#include "base/errors.h"
#include "bots/service/onboarding_service.h"
#include "host/rules/key_policy.h"
#include "host/wire/approval.h"

namespace interlock {
namespace {

Result<void> check_human(const Turn& turn) {
    if (turn.principal().kind != PrincipalKind::human) {
        return fail(errors::human_required, "Only a human of this tenant may do this.");
    }
    return {};
}

// Lists of keys that are no more.
void drop_dead_lists(OnboardingRow& row, const Tenant& tenant) {
    std::erase_if(row.asset_lists, [&](const auto& list) {
        const AccessKey* key = find_access_key(tenant, list.first);
        return key == nullptr || !key->is_active();
    });
}

}  // namespace

void OnboardingService::regenerate_key(Caller caller, Reply<RegeneratedKey> reply) {
    parts_.submit(typed_turn<RegeneratedKey>(
        turn_of(std::move(caller), "regenerate_key"),
        [this](Turn& turn) { return decide_new_key(turn); },
        std::move(reply)));
}

Result<Outcome<RegeneratedKey>> OnboardingService::decide_new_key(Turn& turn) {
    TRY(check_human(turn));
    PrincipalRecords& records = parts_.principals.records();
    TRY_ASSIGN(Tenant tenant, records.tenant(turn, turn.tenant_id()));
    TRY_ASSIGN(OnboardingRow row, load_row(turn, turn.tenant_id()));
    const std::optional<KeyId> old = row.key_id;
    std::optional<KeyId> replaced;
    if (const AccessKey* key = old ? find_access_key(tenant, *old) : nullptr;
        key != nullptr && key->is_active()) {
        replaced = old;
        TRY_ASSIGN(tenant, revoke_access_key(std::move(tenant), *old, turn.now()));
    }
    SecretString secret = parts_.ids.new_secret("ilk");
    const AccessKey key = new_key(turn, secret, "regenerated");
    TRY_ASSIGN(tenant, add_access_key(std::move(tenant), key));
    row.key_id = key.key_id;
    // What the old key was held to holds for the one in its place.
    if (const auto list = old ? row.asset_lists.find(*old) : row.asset_lists.end();
        list != row.asset_lists.end()) {
        row.asset_lists[key.key_id] = list->second;
    }
    drop_dead_lists(row, tenant);
    records.save(turn, tenant);
    save_row(turn, turn.tenant_id(), row);
    AuditDraft draft = turn.draft("ACCESS_KEY_REGENERATED");
    draft.detail = encode(key);
    draft.detail.set("replaced_key_id", replaced ? Json(replaced->text()) : Json());
    TRY_ASSIGN(std::string audit_ref, turn.audit(std::move(draft)));
    if (hooks_.on_key_replaced) {
        turn.after_commit([this, tenant_id = turn.tenant_id(), replaced] {
            hooks_.on_key_replaced(tenant_id, replaced);
        });
    }
    return RegeneratedKey{
        .access_key = std::move(secret),
        .key_id = key.key_id,
        .replaced_key_id = replaced,
        .audit_ref = std::move(audit_ref)};
}

void OnboardingService::grant_key_provisioning(
    Caller caller, GrantKeys request, Reply<BotAccountView> reply) {
    change(
        std::move(caller),
        "grant_key_provisioning",
        [this, request = std::move(request)](Turn& turn, OnboardingRow& row) -> Result<void> {
            TRY(check_human(turn));
            if (request.exchange && hooks_.check_exchange) {
                TRY(hooks_.check_exchange(*request.exchange));
            }
            return give_grant(turn, {turn.tenant_id(), to_text(turn.principal()), request}, row);
        },
        std::move(reply));
}

Result<void> OnboardingService::give_grant(
    Turn& turn, const GrantGiven& given, OnboardingRow& row) {
    row.key_grant = KeyGrant{
        .exchange = given.request.exchange,
        .granted_by = given.by,
        .granted_at = turn.now(),
        .expires_at = turn.now() + given.request.life};
    AuditDraft draft = turn.draft("KEY_GRANT_GIVEN");
    draft.tenant_id = given.tenant_id;
    draft.principal = given.by;
    draft.detail = encode(*row.key_grant);
    TRY(turn.audit(std::move(draft)));
    return {};
}

void OnboardingService::revoke_key_provisioning(Caller caller, Reply<BotAccountView> reply) {
    change(
        std::move(caller),
        "revoke_key_provisioning",
        [](Turn& turn, OnboardingRow& row) -> Result<void> {
            TRY(check_human(turn));
            if (!row.key_grant) {
                return {};
            }
            row.key_grant.reset();
            TRY(turn.audit(turn.draft("KEY_GRANT_REVOKED")));
            return {};
        },
        std::move(reply));
}

Result<void> OnboardingService::check_grant(Turn& turn, const std::string& exchange) {
    TRY_ASSIGN(const OnboardingRow row, load_row(turn, turn.tenant_id()));
    const bool covered = row.key_grant && covers(*row.key_grant, exchange, turn.now());
    if (needs_grant(turn.principal(), exchange) && !covered) {
        return fail(
            errors::grant_required,
            "An agent provisions keys of " + exchange +
                " only with the account owner's grant, and there is none.");
    }
    return {};
}

Result<void> OnboardingService::take_grant(Turn& turn, const std::string& exchange) {
    TRY(check_grant(turn, exchange));
    if (!needs_grant(turn.principal(), exchange)) {
        return {};
    }
    TRY_ASSIGN(OnboardingRow row, load_row(turn, turn.tenant_id()));
    AuditDraft draft = turn.draft("KEY_GRANT_USED");
    draft.detail.set("exchange", exchange);
    draft.detail.set("granted_by", row.key_grant->granted_by);
    row.key_grant.reset();
    save_row(turn, turn.tenant_id(), row);
    TRY(turn.audit(std::move(draft)));
    return {};
}

void OnboardingService::set_asset_list(Caller caller, SetAssetList request, Reply<Json> reply) {
    parts_.submit(typed_turn<Json>(
        turn_of(std::move(caller), "set_asset_list"),
        [this, request = std::move(request)](Turn& turn) {
            return decide_asset_list(turn, request);
        },
        std::move(reply)));
}

Result<Outcome<Json>> OnboardingService::decide_asset_list(
    Turn& turn, const SetAssetList& request) {
    TRY(check_human(turn));
    TRY_ASSIGN(const Tenant tenant, parts_.principals.records().tenant(turn, turn.tenant_id()));
    const AccessKey* key = find_access_key(tenant, request.key_id);
    if (key == nullptr || !key->is_active()) {
        return fail(errors::not_found, "This tenant has no active access key of that id.");
    }
    TRY_ASSIGN(OnboardingRow row, load_row(turn, turn.tenant_id()));
    drop_dead_lists(row, tenant);
    row.asset_lists.erase(request.key_id);
    AuditDraft draft = turn.draft("ASSET_LIST_SET");
    draft.detail.set("key_id", request.key_id.text());
    draft.detail.set("assets", Json());
    if (request.assets) {
        row.asset_lists[request.key_id] = *request.assets;
        Json names = Json::array();
        for (const Symbol& symbol : *request.assets) {
            names.push(symbol.text());
        }
        draft.detail.set("assets", std::move(names));
    }
    save_row(turn, turn.tenant_id(), row);
    TRY(turn.audit(std::move(draft)));
    return encode_asset_lists(row);
}

void OnboardingService::list_asset_lists(Caller caller, Reply<Json> reply) {
    TypedDecide<Json> decide = [this](Turn& turn) -> Result<Outcome<Json>> {
        TRY_ASSIGN(const Tenant tenant, parts_.principals.records().tenant(turn, turn.tenant_id()));
        TRY_ASSIGN(OnboardingRow row, load_row(turn, turn.tenant_id()));
        drop_dead_lists(row, tenant);
        return encode_asset_lists(row);
    };
    parts_.submit(typed_turn<Json>(
        turn_of(std::move(caller), "list_asset_lists"), std::move(decide), std::move(reply)));
}

Result<void> OnboardingService::check_assets(
    Turn& turn, const Principal& principal, std::span<const Symbol> symbols) {
    TRY_ASSIGN(const OnboardingRow row, load_row(turn, turn.tenant_id()));
    const std::vector<Symbol> refused = refused_assets(row, principal, symbols);
    if (refused.empty()) {
        return {};
    }
    auto refusal =
        fail(errors::asset_not_allowed, "This access key may not name or trade these markets.");
    for (const Symbol& symbol : refused) {
        refusal.error().problems.push_back(
            {std::string(symbol.text()), "is not on this key's list"});
    }
    return refusal;
}

}  // namespace interlock
