#include "host/service/principal_service.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "host/rules/key_policy.h"

namespace interlock {
namespace {

Answer answer_of(int status, const Json& json) {
    return {.http_status = status, .body = to_text(json)};
}

}  // namespace

PrincipalService::PrincipalService(Parts parts)
    : parts_(std::move(parts)), records_(parts_.directory) {}

Result<void> PrincipalService::open() {
    // A turn of its own, run here: the engine does not go round yet, and the runner owns the store.
    Result<void> opened;
    TurnRequest request = turn_of(internal_principal("start"), system_tenant(), "open_principals");
    request.decide = [&](Turn& turn) -> Result<TurnReply> {
        TRY(records_.open(turn.store(), parts_.operator_token_hash));
        return Answer{};
    };
    request.reply = [&](Result<Answer> answer) {
        if (!answer) {
            opened = std::unexpected(std::move(answer).error());
        }
    };
    std::vector<TurnRequest> batch;
    batch.push_back(std::move(request));
    parts_.runner.run_batch(std::move(batch));
    return opened;
}

TurnRequest PrincipalService::turn_of(
    Principal principal, TenantId tenant_id, std::string function) const {
    TurnRequest request;
    request.principal = std::move(principal);
    request.tenant_id = std::move(tenant_id);
    request.function = std::move(function);
    return request;
}

void PrincipalService::run_job(
    const PasswordPool::Owner& owner,
    std::function<void()> job,
    std::function<void(Error)> refuse) {
    const auto tell = [refuse = std::move(refuse)] {
        Error refusal =
            fail(errors::rate_limited, "The server is checking as many passwords as it can.")
                .error();
        refusal.retry_after_seconds = 1;
        refuse(std::move(refusal));
    };
    if (!parts_.workers.submit(owner, {.run = std::move(job), .refuse = tell})) {
        tell();
    }
}

void PrincipalService::create_tenant(
    Principal principal, CreateTenant request, Reply<Answer> reply) {
    TurnRequest turn = turn_of(std::move(principal), system_tenant(), "create_tenant");
    turn.decide = [this, request = std::move(request)](Turn& in) {
        return decide_tenant(in, request);
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

Result<TurnReply> PrincipalService::decide_tenant(Turn& turn, const CreateTenant& request) {
    TRY_ASSIGN(const std::optional<Tenant> known, records_.find_tenant(turn, request.tenant_id));
    if (known && known->name == request.name) {
        return answer_of(200, encode(*known));
    }
    if (known) {
        return fail(
            errors::tenant_exists,
            "There is a tenant \"" + request.tenant_id.text() + "\" already, by another name.");
    }
    Tenant tenant;
    tenant.tenant_id = request.tenant_id;
    tenant.name = request.name;
    tenant.created_at = turn.now();
    TRY(records_.add_tenant(turn, tenant));
    AuditDraft draft = turn.draft("TENANT_CREATED");
    draft.detail.set("tenant_id", tenant.tenant_id.text());
    draft.detail.set("name", tenant.name);
    TRY(turn.audit(std::move(draft)));
    return answer_of(201, encode(tenant));
}

void PrincipalService::list_tenants(Principal principal, Page page, Reply<Answer> reply) {
    TurnRequest turn = turn_of(std::move(principal), system_tenant(), "list_tenants");
    turn.decide = [this, page](Turn&) -> Result<TurnReply> {
        const std::size_t count = std::min(page.count_max, kTenantPageMax);
        std::vector<Tenant> tenants = records_.tenants_after(page.after, count + 1);
        std::optional<TenantId> next;
        if (tenants.size() > count) {
            tenants.pop_back();
            next = tenants.back().tenant_id;
        }
        return answer_of(200, encode_tenant_page(tenants, next));
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

void PrincipalService::create_access_key(
    Caller caller, CreateAccessKey request, Reply<Answer> reply) {
    auto hash = request_hash_of(request);
    if (!hash) {
        reply(std::unexpected(std::move(hash).error()));
        return;
    }
    TurnRequest turn =
        turn_of(std::move(caller.principal), std::move(caller.tenant_id), "create_access_key");
    turn.key = request.idempotency_key;
    turn.request_hash = *std::move(hash);
    // What is kept for a repetition has null where the key stood; only this reply, of the turn that
    // made the key, puts it in.
    const auto secret = std::make_shared<SecretString>();
    turn.decide = [this, secret, request = std::move(request)](Turn& in) -> Result<TurnReply> {
        TRY_ASSIGN(Answer answer, decide_key(in, request, *secret));
        return answer;
    };
    turn.reply = [secret, reply = std::move(reply)](Result<Answer> answer) {
        if (answer && !secret->empty()) {
            auto body = parse_json(answer->body);
            body->set("access_key", secret->reveal());
            answer->body = to_text(*body);
        }
        reply(std::move(answer));
    };
    parts_.submit(std::move(turn));
}

Result<Answer> PrincipalService::decide_key(
    Turn& turn, const CreateAccessKey& request, SecretString& secret) {
    TRY_ASSIGN(Tenant tenant, records_.tenant(turn, turn.tenant_id()));
    secret = parts_.ids.new_secret("ilk");
    AccessKey key;
    key.key_id = KeyId::trusted(turn.new_id("key"));
    key.label = request.label;
    key.scopes = request.scopes;
    key.key_hash = sha256_hex(secret.reveal());
    key.hint = secret.hint();
    key.created_at = turn.now();
    TRY_ASSIGN(tenant, add_access_key(std::move(tenant), key));
    records_.save(turn, tenant);
    AuditDraft draft = turn.draft("ACCESS_KEY_CREATED");
    draft.detail = encode(key);
    TRY_ASSIGN(std::string audit_ref, turn.audit(std::move(draft)));
    return answer_of(201, encode(NewAccessKey{std::move(key), std::move(audit_ref)}, nullptr));
}

void PrincipalService::revoke_access_key(Caller caller, KeyId key_id, Reply<Answer> reply) {
    TurnRequest turn =
        turn_of(std::move(caller.principal), std::move(caller.tenant_id), "revoke_access_key");
    turn.decide = [this, key_id = std::move(key_id)](Turn& in) -> Result<TurnReply> {
        TRY_ASSIGN(const Tenant tenant, records_.tenant(in, in.tenant_id()));
        TRY_ASSIGN(const Tenant after, interlock::revoke_access_key(tenant, key_id, in.now()));
        AccessKey key = *find_access_key(tenant, key_id);
        if (!key.is_active()) {
            return answer_of(200, encode(key));
        }
        key.revoked_at = in.now();
        records_.save(in, after);
        AuditDraft draft = in.draft("ACCESS_KEY_REVOKED");
        draft.detail = encode(key);
        TRY(in.audit(std::move(draft)));
        return answer_of(200, encode(key));
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

void PrincipalService::list_access_keys(Caller caller, Reply<Answer> reply) {
    TurnRequest turn =
        turn_of(std::move(caller.principal), std::move(caller.tenant_id), "list_access_keys");
    turn.decide = [this](Turn& in) -> Result<TurnReply> {
        TRY_ASSIGN(const Tenant tenant, records_.tenant(in, in.tenant_id()));
        return answer_of(200, encode_access_keys(tenant.access_keys));
    };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

}  // namespace interlock
