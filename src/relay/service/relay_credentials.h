// Who a gateway is: how it gets its secret (enrol, provision, an operator), how it is known by it
// when it dials or calls, and how it loses it (docs/contracts/relay-management.md#1-credentials).
//
// Tenant and instance of a caller come from the stored record only. Secrets lie sealed; tokens that
// are only compared lie as hashes. A change is seen by authenticate() from its commit on and before
// its reply.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "relay/ports/relay_bus.h"
#include "relay/service/relay_ask.h"
#include "relay/service/relay_directory.h"
#include "relay/service/relay_holdings.h"
#include "relay/service/relay_issuers.h"
#include "relay/service/relay_seal.h"
#include "relay/wire/relay_requests.h"

namespace interlock {

inline constexpr Duration kEnrollmentLife = Duration::of_hours(1);
// How long a replaced secret still counts, unless the operator says otherwise.
inline constexpr Duration kSecretGrace = Duration::of_hours(24);
inline constexpr Duration kSecretGraceMax = Duration::of_days(30);
inline constexpr std::size_t kPinnedSecretBytesMin = 16;
inline constexpr std::size_t kPinnedSecretBytesMax = 512;
inline constexpr std::size_t kGatewayIdBytesMax = 128;  // And of an instance's.
inline constexpr std::size_t kDisplayNameCharactersMax = 64;
inline constexpr std::size_t kGatewayListMax = 1000;  // A longer list is cut, and says so.

struct AuthVerdict {
    enum class Kind {
        accepted,
        expired,      // Good but for its time: HTTP 401, the gateway dials again.
        rejected,     // Wrong, absent or revoked for certain: 4401.
        unavailable,  // We cannot tell now: HTTP 503.
    };
    Kind kind = Kind::unavailable;
    RelayCaller caller;  // With accepted.
};

class RelayCredentials {
public:
    // All of these outlive the service.
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        RelayHoldings& holdings;
        const RelaySeal& seal;
        RelayIssuers& issuers;
        IdSource& ids;
        Clock& clock;
        // Any thread. Empty: every well-formed name counts.
        std::function<bool(const TenantId&)> tenant_exists;
        // Judges a URL that a tenant gives, elsewhere, since names are looked up; `done` is told
        // once, from any thread.
        std::function<void(std::string url, std::function<void(Result<void>)> done)> judge_url;
    };
    struct Hooks {
        // On the lane, in the turn: everything else that is kept for an instance goes.
        std::function<void(RelayTurn&, const std::string& instance_id)> drop_instance;
        // On the lane, after the commit. `revoked` is about one gateway of the instance; whoever
        // holds sockets asks is_open() which of them must close.
        std::function<void(const RelayHint&)> publish;
    };
    RelayCredentials(Parts parts, Hooks hooks);

    // After the loads of seal, state and holdings, before the lane starts. Until then everybody is
    // told 503.
    Result<void> load();

    // Any thread, never blocks: an upgrade token, or a token of an issuer with the audience
    // agent:{instanceId}.
    AuthVerdict authenticate(std::string_view bearer, Timestamp now) const;
    // Any thread: the gateway exists and is not revoked.
    bool is_open(std::string_view gateway_id) const;

    // Everything below: any thread, answered after the commit.

    // With the bearer of a tenant: a token of an issuer or of the operator.
    void enroll(std::string bearer, EnrollRequest request, RelayReply reply);
    void provision(std::string bearer, ProvisionRequest request, RelayReply reply);
    // By the instance itself; its gateways are forgotten.
    void deprovision(RelayCaller caller, RelayReply reply);

    // By an operator, `principal` is his name in the record.
    struct NewGateway {
        TenantId tenant_id;
        std::string gateway_id;
        std::string instance_id;  // Empty: the gateway's.
        SecretString secret;      // Empty: made here.
        std::string wake_url;     // Trusted: private addresses are fine.
        std::string display_name;
    };
    void add_gateway(std::string principal, NewGateway gateway, RelayReply reply);
    // Of a gateway, or of an instance with all its gateways.
    struct Named {
        TenantId tenant_id;  // Not empty: others have nothing of that name.
        std::string gateway_id;
        std::string instance_id;
    };
    void rotate_secret(std::string principal, Named gateway, Duration grace, RelayReply reply);
    void revoke(std::string principal, Named which, RelayReply reply);
    void deprovision_instance(std::string principal, Named instance, RelayReply reply);
    void list(TenantId tenant_id, RelayReply reply);  // Empty: of all tenants.
    void mint_enrollment(std::string principal, TenantId tenant_id, RelayReply reply);
    void mint_tenant_token(std::string principal, TenantId tenant_id, RelayReply reply);
    // By the `tokenId` that minting told.
    void revoke_tenant_token(std::string principal, std::string token_id, RelayReply reply);

private:
    struct Bearer {
        TenantId tenant_id;
        std::string principal;
    };
    // A gateway as it shall be, with what its reply needs; nothing is changed yet.
    struct Plan {
        GatewayRow row;
        std::optional<InstanceRow> instance;  // To be written.
        SecretString secret;
        SecretString delivery_key;                       // Of the tenant.
        std::optional<DeliveryKeyRow> new_delivery_key;  // It had none.
        bool is_changed = true;
    };
    struct Wish {
        TenantId tenant_id;
        std::string gateway_id;
        std::string instance_id;
        std::string principal;
        SecretString secret = {};  // Empty: made here.
        bool revives = false;      // Also a revoked one.
    };

    // Before load() nothing is asked of the lane, which may not run.
    void ask(RelayDecide decide, const RelayAnswerPtr& answer);
    void ask(RelayDecide decide, RelayReply reply);
    void with_bearer(
        std::string bearer,
        RelayReply reply,
        std::function<Result<Json>(RelayTurn&, const Bearer&)> decide);
    Result<Bearer> bearer_of_token(RelayTurn& turn, const std::string& token);
    AuthVerdict authenticate_agent(std::string_view token) const;
    bool is_tenant(const TenantId& tenant_id) const;

    Result<Json> decide_enroll(RelayTurn& turn, const Bearer& who, const EnrollRequest& request);
    std::string instance_of_gateway(const TenantId& tenant_id, const std::string& gateway_id) const;
    Result<Json> decide_provision(
        RelayTurn& turn, const Bearer& who, const ProvisionRequest& request);
    bool brings_wake_url(const ProvisionRequest& request) const;
    Result<Json> decide_add(
        RelayTurn& turn, const std::string& principal, const NewGateway& gateway);
    struct Rotation {
        std::string principal;
        Named gateway;
        Duration grace;
    };
    Result<Json> decide_rotate(RelayTurn& turn, const Rotation& rotation);
    Result<Json> decide_revoke(RelayTurn& turn, const std::string& principal, const Named& which);
    Result<Json> decide_deprovision(
        RelayTurn& turn, const std::string& principal, const Named& instance);
    Result<Json> list_of(const TenantId& tenant_id) const;

    Result<Plan> plan(RelayTurn& turn, const Wish& wish) const;
    Result<Plan> plan_known(const GatewayRow& row, Timestamp now) const;
    Result<void> fill_delivery_key(Plan& planned, Timestamp now) const;
    Result<void> fill_secrets(Plan& planned, Timestamp now, SecretString secret) const;
    void adopt(Plan& planned, const ProvisionRequest& request) const;
    Result<void> check_identities(const Plan& planned) const;
    Result<void> apply(RelayTurn& turn, Plan& planned);
    Result<GatewayFactsPtr> facts_of(const GatewayRow& row) const;
    Result<const GatewayRow*> find_gateway(const Named& named) const;
    Result<std::vector<std::string>> gateways_named(const Named& named) const;
    Result<void> purge_capabilities(RelayTurn& turn, const std::string& instance_id);
    Result<void> purge_dead_letters(RelayTurn& turn, const std::string& instance_id);

    Parts parts_;
    Hooks hooks_;
    RelayDirectory directory_;
};

}  // namespace interlock
