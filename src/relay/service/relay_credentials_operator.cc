// What an operator does with gateways and tokens, and how an instance goes.
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/outbound_url.h"
#include "relay/service/relay_credentials.h"
#include "relay/wire/relay_errors.h"

namespace interlock {
namespace {

constexpr std::size_t kTokenIdDigits = 16;

std::unexpected<Error> no_such(std::string_view what) {
    return fail(errors::not_found, "There is no such " + std::string(what) + ".");
}

Json gateway_json(const GatewayRow& row) {
    Json json = Json::object(
        {{"gatewayId", row.gateway_id},
         {"tenant", row.tenant_id.text()},
         {"instanceId", row.instance_id},
         {"secrets", row.secrets.size()},
         {"displayName", row.display_name},
         {"wakeUrl", row.wake_url},
         {"isWakeTrusted", row.is_wake_trusted},
         {"madeBy", row.made_by},
         {"madeAt", to_text(row.made_at)},
         {"isRevoked", row.revoked_at.has_value()}});
    if (row.revoked_at) {
        json.set("revokedAt", to_text(*row.revoked_at));
    }
    return json;
}

}  // namespace

void RelayCredentials::add_gateway(std::string principal, NewGateway gateway, RelayReply reply) {
    // Shared, because a secret cannot be copied and the work can.
    const auto wish = std::make_shared<const NewGateway>(std::move(gateway));
    ask([this, principal = std::move(principal), wish](
            RelayTurn& turn) { return decide_add(turn, principal, *wish); },
        std::move(reply));
}

Result<Json> RelayCredentials::decide_add(
    RelayTurn& turn, const std::string& principal, const NewGateway& gateway) {
    if (!is_tenant(gateway.tenant_id)) {
        return no_such("tenant");
    }
    const std::size_t secret_bytes = gateway.secret.reveal().size();
    if (secret_bytes != 0 &&
        (secret_bytes < kPinnedSecretBytesMin || secret_bytes > kPinnedSecretBytesMax)) {
        return fail(
            errors::invalid_request,
            "A pinned secret must have " + std::to_string(kPinnedSecretBytesMin) + " to " +
                std::to_string(kPinnedSecretBytesMax) + " bytes.");
    }
    if (gateway.display_name.size() > kDisplayNameBytesMax) {
        return fail(errors::invalid_request, "The display name is too long.");
    }
    if (!gateway.wake_url.empty()) {
        TRY(parse_outbound_url(gateway.wake_url));
    }
    const GatewayRow* const known = parts_.state.gateways.get(gateway.gateway_id);
    if (known != nullptr && !known->revoked_at) {
        return fail(
            errors::relay_name_taken,
            "There is a gateway of this name already.",
            "Rotate its secret, revoke it first, or choose another gatewayId.");
    }
    TRY_ASSIGN(
        Plan planned,
        plan(
            turn,
            {.tenant_id = gateway.tenant_id,
             .gateway_id = gateway.gateway_id,
             .instance_id = gateway.instance_id.empty() ? gateway.gateway_id : gateway.instance_id,
             .principal = principal,
             .secret = gateway.secret.clone(),
             .revives = true}));
    planned.row.wake_url = gateway.wake_url;
    planned.row.is_wake_trusted = !gateway.wake_url.empty();
    planned.row.display_name = gateway.display_name;
    TRY(apply(turn, planned));
    AuditDraft draft = relay_draft(gateway.tenant_id, "RELAY_GATEWAY_ADDED", principal);
    draft.detail = Json::object(
        {{"gateway_id", planned.row.gateway_id},
         {"instance_id", planned.row.instance_id},
         {"is_secret_pinned", secret_bytes != 0},
         {"has_wake_url", planned.row.is_wake_trusted}});
    turn.audit(std::move(draft));
    Json json = gateway_json(planned.row);
    json.set("secret", std::string(planned.secret.reveal()));
    json.set("deliveryKey", std::string(planned.delivery_key.reveal()));
    return json;
}

Result<const GatewayRow*> RelayCredentials::find_gateway(const Named& named) const {
    const GatewayRow* const row = parts_.state.gateways.get(named.gateway_id);
    if (row == nullptr || (!named.tenant_id.empty() && row->tenant_id != named.tenant_id)) {
        return no_such("gateway");
    }
    return row;
}

void RelayCredentials::rotate_secret(
    std::string principal, Named gateway, Duration grace, RelayReply reply) {
    const Rotation rotation{std::move(principal), std::move(gateway), grace};
    ask([this, rotation](RelayTurn& turn) { return decide_rotate(turn, rotation); },
        std::move(reply));
}

Result<Json> RelayCredentials::decide_rotate(RelayTurn& turn, const Rotation& rotation) {
    if (rotation.grace < Duration{0} || rotation.grace > kSecretGraceMax) {
        return fail(errors::out_of_range, "The grace must be between zero and thirty days.");
    }
    TRY_ASSIGN(const GatewayRow* known, find_gateway(rotation.gateway));
    if (known->revoked_at) {
        return fail(errors::gateway_revoked, "This gateway was revoked.");
    }
    const Timestamp retires_at = turn.now() + rotation.grace;
    std::vector<SealedSecret> older = known->secrets;
    for (SealedSecret& secret : older) {
        secret.retires_at = std::min(secret.retires_at.value_or(retires_at), retires_at);
    }
    std::erase_if(older, [&](const SealedSecret& held) { return *held.retires_at <= turn.now(); });
    if (older.size() >= kGatewaySecretsMax) {
        return fail(
            errors::relay_limit_reached,
            "This gateway has " + std::to_string(kGatewaySecretsMax) + " secrets that still count.",
            "Wait until one retires, or rotate with a grace of zero.");
    }
    Plan planned;
    planned.row = *known;
    TRY(fill_secrets(planned, turn.now(), {}));
    planned.row.secrets.insert(planned.row.secrets.end(), older.begin(), older.end());
    TRY(apply(turn, planned));
    AuditDraft draft =
        relay_draft(planned.row.tenant_id, "RELAY_SECRET_ROTATED", rotation.principal);
    draft.detail = Json::object(
        {{"gateway_id", planned.row.gateway_id}, {"older_retire_at", to_text(retires_at)}});
    turn.audit(std::move(draft));
    return Json::object(
        {{"gatewayId", planned.row.gateway_id},
         {"secret", std::string(planned.secret.reveal())},
         {"olderRetireAt", to_text(retires_at)}});
}

Result<std::vector<std::string>> RelayCredentials::gateways_named(const Named& named) const {
    if (!named.gateway_id.empty()) {
        TRY(find_gateway(named));
        return std::vector{named.gateway_id};
    }
    const InstanceRow* const instance = parts_.state.instances.get(named.instance_id);
    if (instance == nullptr ||
        (!named.tenant_id.empty() && instance->tenant_id != named.tenant_id)) {
        return no_such("instance");
    }
    const auto& held = parts_.holdings.gateways_of(named.instance_id);
    return std::vector<std::string>(held.begin(), held.end());
}

void RelayCredentials::revoke(std::string principal, Named which, RelayReply reply) {
    ask([this, principal = std::move(principal), which = std::move(which)](
            RelayTurn& turn) { return decide_revoke(turn, principal, which); },
        std::move(reply));
}

Result<Json> RelayCredentials::decide_revoke(
    RelayTurn& turn, const std::string& principal, const Named& which) {
    TRY_ASSIGN(const auto gateway_ids, gateways_named(which));
    std::vector<std::pair<GatewayRow, GatewayFactsPtr>> changes;
    for (const std::string& gateway_id : gateway_ids) {
        GatewayRow row = *parts_.state.gateways.get(gateway_id);
        if (!row.revoked_at) {
            row.revoked_at = turn.now();
            TRY_ASSIGN(GatewayFactsPtr facts, facts_of(row));
            changes.emplace_back(std::move(row), std::move(facts));
        }
    }
    Json revoked = Json::array();
    for (auto& [row, facts] : changes) {
        revoked.push(row.gateway_id);
        parts_.holdings.put_gateway(turn, row);
        turn.after([this, facts = std::move(facts)](bool is_committed) {
            if (is_committed) {
                directory_.put(facts);
            }
        });
    }
    if (changes.empty()) {
        return Json::object({{"ok", true}, {"revoked", std::move(revoked)}});
    }
    const GatewayRow& first = changes.front().first;
    AuditDraft draft = relay_draft(first.tenant_id, "RELAY_GATEWAY_REVOKED", principal);
    draft.detail = Json::object({{"instance_id", first.instance_id}, {"gateway_ids", revoked}});
    turn.audit(std::move(draft));
    const RelayHint hint{
        .kind = RelayHint::Kind::revoked,
        .tenant_id = first.tenant_id,
        .instance_id = first.instance_id,
        .session_key = {},
        .chat_id = {}};
    turn.after([this, hint](bool is_committed) {
        if (is_committed && hooks_.publish) {
            hooks_.publish(hint);
        }
    });
    return Json::object({{"ok", true}, {"revoked", std::move(revoked)}});
}

void RelayCredentials::deprovision(RelayCaller caller, RelayReply reply) {
    deprovision_instance(
        "gateway:" + caller.gateway_id,
        {.tenant_id = caller.tenant_id, .gateway_id = {}, .instance_id = caller.instance_id},
        std::move(reply));
}

void RelayCredentials::deprovision_instance(
    std::string principal, Named instance, RelayReply reply) {
    ask([this, principal = std::move(principal), instance = std::move(instance)](
            RelayTurn& turn) { return decide_deprovision(turn, principal, instance); },
        std::move(reply));
}

Result<void> RelayCredentials::purge_capabilities(RelayTurn& turn, const std::string& instance_id) {
    const std::string prefix = row_key({instance_id}) + "/";
    std::string after;
    while (true) {
        TRY_ASSIGN(
            const auto page,
            parts_.state.store().read_rows(CapabilityRow::kKind, prefix, after, kRelayRowsPage));
        for (const RelayRow& row : page) {
            parts_.state.capabilities.erase(turn, row.key);
            after = row.key;
        }
        if (page.size() < static_cast<std::size_t>(kRelayRowsPage)) {
            return {};
        }
    }
}

// Dead letters hold texts of people who wrote to the instance, so they go with it.
Result<void> RelayCredentials::purge_dead_letters(RelayTurn& turn, const std::string& instance_id) {
    constexpr std::int64_t kPage = 256;
    BufferKey after{instance_id, 0};
    while (true) {
        TRY_ASSIGN(
            const auto page, parts_.state.store().read_dead_letters(instance_id, after, kPage));
        for (const DeadLetter& letter : page) {
            after = {letter.entry.instance_id, letter.entry.seq};
            turn.rows().dead_removed.push_back(after);
        }
        if (page.size() < static_cast<std::size_t>(kPage)) {
            return {};
        }
    }
}

Result<Json> RelayCredentials::decide_deprovision(
    RelayTurn& turn, const std::string& principal, const Named& instance) {
    TRY_ASSIGN(
        const auto gateway_ids, gateways_named({instance.tenant_id, {}, instance.instance_id}));
    const std::string id = instance.instance_id;
    const TenantId tenant_id = parts_.state.instances.get(id)->tenant_id;
    // Steps that can fail come first; they only remove what would go anyway.
    TRY(purge_capabilities(turn, id));
    TRY(purge_dead_letters(turn, id));
    const std::vector<BindingRow> bindings = parts_.state.bindings_of_instance(id);
    for (const BindingRow& row : bindings) {
        parts_.holdings.erase_binding(turn, row);
    }
    const auto scopes = parts_.holdings.scopes_of(id);  // A copy: it shrinks under us.
    for (const std::string& key : scopes) {
        parts_.holdings.erase_scope(turn, key);
    }
    for (const std::string& gateway_id : gateway_ids) {
        parts_.holdings.erase_gateway(turn, gateway_id);
    }
    if (hooks_.drop_instance) {
        hooks_.drop_instance(turn, id);
    }
    parts_.state.instances.erase(turn, id);
    AuditDraft draft = relay_draft(tenant_id, "RELAY_INSTANCE_DEPROVISIONED", principal);
    draft.detail = Json::object(
        {{"instance_id", id},
         {"gateways", gateway_ids.size()},
         {"bindings", bindings.size()},
         {"scopes", scopes.size()}});
    turn.audit(std::move(draft));
    const RelayHint hint{
        .kind = RelayHint::Kind::revoked,
        .tenant_id = tenant_id,
        .instance_id = id,
        .session_key = {},
        .chat_id = {}};
    turn.after([this, gateway_ids, hint](bool is_committed) {
        if (!is_committed) {
            return;
        }
        for (const std::string& gateway_id : gateway_ids) {
            directory_.remove(gateway_id);
        }
        if (hooks_.publish) {
            hooks_.publish(hint);
        }
    });
    return Json::object({{"ok", true}, {"instanceId", id}});
}

void RelayCredentials::list(TenantId tenant_id, RelayReply reply) {
    ask([this, tenant_id = std::move(tenant_id)](RelayTurn&) { return list_of(tenant_id); },
        std::move(reply));
}

Result<Json> RelayCredentials::list_of(const TenantId& tenant_id) const {
    std::map<std::string, Json> found;
    bool is_cut = false;
    parts_.state.gateways.for_each([&](const std::string& key, const GatewayRow& row) {
        if (!tenant_id.empty() && row.tenant_id != tenant_id) {
            return;
        }
        found.emplace(key, gateway_json(row));
        if (found.size() > kGatewayListMax) {
            found.erase(std::prev(found.end()));
            is_cut = true;
        }
    });
    Json gateways = Json::array();
    for (auto& [key, json] : found) {
        gateways.push(std::move(json));
    }
    return Json::object({{"gateways", std::move(gateways)}, {"isCut", is_cut}});
}

void RelayCredentials::mint_enrollment(
    std::string principal, TenantId tenant_id, RelayReply reply) {
    const auto decide =
        [this, principal = std::move(principal), tenant_id](RelayTurn& turn) -> Result<Json> {
        if (!is_tenant(tenant_id)) {
            return no_such("tenant");
        }
        const SecretString token = parts_.ids.new_secret("ilr");
        const Timestamp expires_at = turn.now() + kEnrollmentLife;
        parts_.state.enrollments.put(
            turn,
            sha256_hex(token.reveal()),
            {.tenant_id = tenant_id,
             .made_by = principal,
             .made_at = turn.now(),
             .used_at = std::nullopt,
             .used_by = {}},
            expires_at);
        AuditDraft draft = relay_draft(tenant_id, "RELAY_ENROLLMENT_MINTED", principal);
        draft.detail = Json::object({{"expires_at", to_text(expires_at)}});
        turn.audit(std::move(draft));
        return Json::object(
            {{"enrollmentToken", std::string(token.reveal())},
             {"tenant", tenant_id.text()},
             {"expiresAt", to_text(expires_at)}});
    };
    ask(decide, std::move(reply));
}

void RelayCredentials::mint_tenant_token(
    std::string principal, TenantId tenant_id, RelayReply reply) {
    const auto decide =
        [this, principal = std::move(principal), tenant_id](RelayTurn& turn) -> Result<Json> {
        if (!is_tenant(tenant_id)) {
            return no_such("tenant");
        }
        TRY(parts_.holdings.check_room(Holding::tenant_token, tenant_id));
        const SecretString token = parts_.ids.new_secret("ilr");
        const std::string key = sha256_hex(token.reveal());
        const std::string token_id = key.substr(0, kTokenIdDigits);
        parts_.holdings.put_tenant_token(
            turn, key, {.tenant_id = tenant_id, .made_by = principal, .made_at = turn.now()});
        AuditDraft draft = relay_draft(tenant_id, "RELAY_TENANT_TOKEN_MINTED", principal);
        draft.detail = Json::object({{"token_id", token_id}});
        turn.audit(std::move(draft));
        return Json::object(
            {{"token", std::string(token.reveal())},
             {"tokenId", token_id},
             {"tenant", tenant_id.text()}});
    };
    ask(decide, std::move(reply));
}

void RelayCredentials::revoke_tenant_token(
    std::string principal, std::string token_id, RelayReply reply) {
    const auto decide = [this, principal = std::move(principal), token_id = std::move(token_id)](
                            RelayTurn& turn) -> Result<Json> {
        if (token_id.size() != kTokenIdDigits) {
            return no_such("tenant token");
        }
        TRY_ASSIGN(
            const auto rows,
            parts_.state.store().read_rows(TenantTokenRow::kKind, token_id, "", 1));
        // Asked again of the table: it may have gone in this very batch.
        const std::string key = rows.empty() ? std::string() : rows.front().key;
        TRY_ASSIGN(const TenantTokenRow* row, parts_.state.tenant_tokens.find(key, turn.now()));
        if (row == nullptr) {
            return no_such("tenant token");
        }
        const TenantId tenant_id = row->tenant_id;
        parts_.holdings.erase_tenant_token(turn, key, tenant_id);
        AuditDraft draft = relay_draft(tenant_id, "RELAY_TENANT_TOKEN_REVOKED", principal);
        draft.detail = Json::object({{"token_id", token_id}});
        turn.audit(std::move(draft));
        return Json::object({{"ok", true}});
    };
    ask(decide, std::move(reply));
}

}  // namespace interlock
