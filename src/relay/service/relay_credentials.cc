// Knowing callers, and the ways in: load, authenticate, enrol, provision.
#include "relay/service/relay_credentials.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/log.h"
#include "relay/rules/upgrade_token.h"
#include "relay/wire/relay_errors.h"

namespace interlock {
namespace {

constexpr std::string_view kCredentialPrefix = "ilr";

std::string secret_bound(const std::string& gateway_id) {
    return "gateway secret\n" + gateway_id;
}
std::string delivery_bound(const TenantId& tenant_id) {
    return "tenant delivery key\n" + tenant_id.text();
}

std::unexpected<Error> bad_identity() {
    return fail(
        errors::unauthenticated,
        "The bearer is missing or is no credential of a tenant of this connector.",
        "Send a token of a configured issuer, or one that the operator made for your tenant.");
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

Result<void> check_name(const std::string& text, std::string_view field) {
    if (!text.empty() && text.size() <= kGatewayIdBytesMax && is_valid_utf8(text) &&
        std::ranges::none_of(text, is_control)) {
        return {};
    }
    return fail(
        errors::invalid_request,
        std::string(field) + " must have 1 to " + std::to_string(kGatewayIdBytesMax) +
            " bytes without control characters.");
}

std::unexpected<Error> name_taken(std::string_view field) {
    return fail(
        errors::relay_name_taken, "This " + std::string(field) + " belongs to somebody else.");
}

// So many characters at most, never half of one.
std::string cut_name(const std::string& text) {
    std::size_t end = 0;
    for (std::size_t count = 0; count < kDisplayNameCharactersMax && end < text.size(); ++count) {
        end += std::max<std::size_t>(1, utf8_length_at(text, end));
    }
    return text.substr(0, end);
}

}  // namespace

RelayCredentials::RelayCredentials(Parts parts, Hooks hooks)
    : parts_(std::move(parts)), hooks_(std::move(hooks)) {}

Result<void> RelayCredentials::load() {
    Result<void> loaded;
    parts_.state.gateways.for_each([&](const std::string&, const GatewayRow& row) {
        auto facts = loaded ? facts_of(row) : Result<GatewayFactsPtr>(nullptr);
        if (!facts) {
            loaded = std::unexpected(facts.error());
        } else if (*facts) {
            directory_.put(*std::move(facts));
        }
    });
    TRY(loaded);
    directory_.set_loaded();
    parts_.issuers.prefetch();
    return {};
}

Result<GatewayFactsPtr> RelayCredentials::facts_of(const GatewayRow& row) const {
    auto facts = std::make_shared<GatewayFacts>();
    facts->caller = {row.tenant_id, row.instance_id, row.gateway_id};
    facts->is_revoked = row.revoked_at.has_value();
    for (const SealedSecret& sealed : row.secrets) {
        auto text = parts_.seal.open(sealed.sealed, secret_bound(row.gateway_id));
        if (!text) {
            return fail(
                errors::corrupt_data,
                "The secret of gateway " + row.gateway_id +
                    " does not open: it was changed, or sealed with another key.");
        }
        facts->secrets.push_back({*std::move(text), sealed.retires_at});
    }
    return GatewayFactsPtr(std::move(facts));
}

AuthVerdict RelayCredentials::authenticate(std::string_view bearer, Timestamp now) const {
    if (!directory_.is_loaded() || parts_.lane.is_lost()) {
        return {AuthVerdict::Kind::unavailable, {}};
    }
    if (bearer.find('.') != std::string_view::npos) {
        return authenticate_agent(bearer);  // An upgrade token holds no dot.
    }
    const auto token = read_upgrade_token(bearer);
    if (!token) {
        return {AuthVerdict::Kind::rejected, {}};
    }
    const GatewayFactsPtr facts = directory_.find(token->gateway_id);
    std::vector<std::string> secrets;
    if (facts) {
        for (const GatewayFacts::Secret& secret : facts->secrets) {
            if (!secret.retires_at || now < *secret.retires_at) {
                secrets.emplace_back(secret.text.reveal());
            }
        }
    }
    if (secrets.empty()) {
        secrets.emplace_back();  // Never accepted; an unknown gateway takes as long as a known one.
    }
    const TokenVerdict verdict = verify_upgrade_token(
        *token, secrets, {.now_seconds = now.microseconds / 1'000'000, .skew_seconds = 0});
    for (std::string& secret : secrets) {
        wipe(secret);
    }
    if (verdict == TokenVerdict::rejected || !facts || facts->is_revoked) {
        return {AuthVerdict::Kind::rejected, {}};
    }
    if (verdict == TokenVerdict::expired) {
        return {AuthVerdict::Kind::expired, {}};
    }
    return {AuthVerdict::Kind::accepted, facts->caller};
}

AuthVerdict RelayCredentials::authenticate_agent(std::string_view token) const {
    const auto claims = unverified_claims(token);
    const Json* audience = claims ? claims->find("aud") : nullptr;
    // Only a single audience: with several, the issuer would leave us the choice.
    if (audience != nullptr && audience->is_array() && audience->items().size() == 1) {
        audience = &audience->items().front();
    }
    if (audience == nullptr || !audience->is_string() ||
        !audience->as_string().starts_with("agent:")) {
        return {AuthVerdict::Kind::rejected, {}};
    }
    const std::string instance_id = audience->as_string().substr(std::string_view("agent:").size());
    const GatewayFactsPtr facts = directory_.find_of_instance(instance_id);
    if (!facts) {
        return {AuthVerdict::Kind::rejected, {}};
    }
    const IssuerJudgement judged = parts_.issuers.judge(token, agent_audience(instance_id));
    switch (judged.verdict) {
        case IssuerVerdict::accepted:
            break;
        case IssuerVerdict::expired:
            return {AuthVerdict::Kind::expired, {}};
        case IssuerVerdict::rejected:
            return {AuthVerdict::Kind::rejected, {}};
        case IssuerVerdict::unavailable:
            return {AuthVerdict::Kind::unavailable, {}};
    }
    // An issuer speaks for the tenant its claim names, and for no instance of another one.
    if (judged.tenant_id != facts->caller.tenant_id) {
        return {AuthVerdict::Kind::rejected, {}};
    }
    return {AuthVerdict::Kind::accepted, facts->caller};
}

bool RelayCredentials::is_open(std::string_view gateway_id) const {
    const GatewayFactsPtr facts = directory_.find(gateway_id);
    return facts && !facts->is_revoked;
}

bool RelayCredentials::is_tenant(const TenantId& tenant_id) const {
    return is_tenant_text(tenant_id.text()) &&
           (!parts_.tenant_exists || parts_.tenant_exists(tenant_id));
}

void RelayCredentials::ask(RelayDecide decide, const RelayAnswerPtr& answer) {
    if (directory_.is_loaded()) {
        ask_lane(parts_.lane, std::move(decide), answer);
    } else {
        answer->give(RelayAnswer::unavailable());
    }
}

void RelayCredentials::ask(RelayDecide decide, RelayReply reply) {
    ask(std::move(decide), std::make_shared<RelayAnswer>(std::move(reply)));
}

void RelayCredentials::with_bearer(
    std::string bearer,
    RelayReply reply,
    std::function<Result<Json>(RelayTurn&, const Bearer&)> decide) {
    const auto answer = std::make_shared<RelayAnswer>(std::move(reply));
    if (bearer.empty() || bearer.size() > kJwtBytesMax) {
        answer->give(bad_identity());
        return;
    }
    if (bearer.find('.') == std::string::npos) {
        const auto run = [this, bearer, decide](RelayTurn& turn) -> Result<Json> {
            TRY_ASSIGN(const Bearer who, bearer_of_token(turn, bearer));
            return decide(turn, who);
        };
        ask(run, answer);
        return;
    }
    parts_.issuers.judge_later(
        std::move(bearer), [this, decide, answer](const IssuerJudgement& judged) {
            if (judged.verdict == IssuerVerdict::unavailable) {
                answer->give(RelayAnswer::unavailable());
                return;
            }
            if (judged.verdict != IssuerVerdict::accepted || !is_tenant(judged.tenant_id)) {
                log_info("relay_bearer_refused", {{"why", judged.why}});
                answer->give(bad_identity());
                return;
            }
            const Bearer who{judged.tenant_id, "issuer:" + judged.tenant_id.text()};
            ask([decide, who](RelayTurn& turn) { return decide(turn, who); }, answer);
        });
}

Result<RelayCredentials::Bearer> RelayCredentials::bearer_of_token(
    RelayTurn& turn, const std::string& token) {
    const std::string key = sha256_hex(token);
    TRY_ASSIGN(const TenantTokenRow* row, parts_.state.tenant_tokens.find(key, turn.now()));
    if (row == nullptr || !is_tenant(row->tenant_id)) {
        return bad_identity();
    }
    return Bearer{row->tenant_id, "tenant_token:" + key.substr(0, 16)};
}

void RelayCredentials::enroll(std::string bearer, EnrollRequest request, RelayReply reply) {
    with_bearer(
        std::move(bearer),
        std::move(reply),
        [this, request = std::move(request)](
            RelayTurn& turn, const Bearer& who) { return decide_enroll(turn, who, request); });
}

void RelayCredentials::provision(std::string bearer, ProvisionRequest request, RelayReply reply) {
    const auto decide = [this, request](RelayTurn& turn, const Bearer& who) {
        return decide_provision(turn, who, request);
    };
    if (request.wake_url.empty()) {
        with_bearer(std::move(bearer), std::move(reply), decide);
        return;
    }
    // The caller is judged before the URL, and the URL before the turn: nobody looks up a name for
    // a stranger, and a gateway that boots with the URL it had waits for no look-up.
    const auto answer = std::make_shared<RelayAnswer>(std::move(reply));
    const RelayReply on_bearer =
        [this, bearer, url = request.wake_url, decide, answer](Result<Json> brings) {
            const auto go_on = [this, bearer, decide, answer](Result<void> judged) {
                if (!judged) {
                    answer->give(std::unexpected(std::move(judged).error()));
                    return;
                }
                with_bearer(
                    bearer, [answer](Result<Json> told) { answer->give(std::move(told)); }, decide);
            };
            if (!brings) {
                answer->give(std::move(brings));
            } else if (brings->as_bool()) {
                parts_.judge_url(url, go_on);
            } else {
                go_on({});
            }
        };
    with_bearer(bearer, on_bearer, [this, request](RelayTurn&, const Bearer&) -> Result<Json> {
        return Json(brings_wake_url(request));
    });
}

// What an operator registered stands until he changes it.
bool RelayCredentials::brings_wake_url(const ProvisionRequest& request) const {
    const GatewayRow* const known = parts_.state.gateways.get(request.gateway_id);
    return !request.wake_url.empty() &&
           (known == nullptr || (!known->is_wake_trusted && known->wake_url != request.wake_url));
}

Result<Json> RelayCredentials::decide_enroll(
    RelayTurn& turn, const Bearer& who, const EnrollRequest& request) {
    const std::string key = sha256_hex(request.enrollment_token);
    TRY_ASSIGN(const EnrollmentRow* found, parts_.state.enrollments.find(key, turn.now()));
    // Every refusal has the same sentence, so that a guess teaches nothing.
    if (found == nullptr || found->used_at || found->tenant_id != who.tenant_id ||
        found->made_at < parts_.state.codes_void_before) {
        return fail(
            errors::enrollment_refused,
            "The enrollment token is not valid, was used, has expired or is not your tenant's.");
    }
    EnrollmentRow used = *found;
    TRY_ASSIGN(
        Plan planned,
        plan(
            turn,
            {.tenant_id = who.tenant_id,
             .gateway_id = request.gateway_id,
             .instance_id = request.gateway_id,
             .principal = who.principal}));
    TRY(apply(turn, planned));
    used.used_at = turn.now();
    used.used_by = request.gateway_id;
    const auto expires_at = parts_.state.enrollments.expiry_of(key);
    parts_.state.enrollments.put(turn, key, std::move(used), expires_at);
    AuditDraft draft = relay_draft(who.tenant_id, "RELAY_GATEWAY_ENROLLED", who.principal);
    draft.detail = Json::object(
        {{"gateway_id", planned.row.gateway_id}, {"instance_id", planned.row.instance_id}});
    turn.audit(std::move(draft));
    return Json::object(
        {{"secret", std::string(planned.secret.reveal())},
         {"deliveryKey", std::string(planned.delivery_key.reveal())},
         {"tenant", who.tenant_id.text()},
         {"gatewayId", planned.row.gateway_id},
         {"instanceId", planned.row.instance_id}});
}

Result<Json> RelayCredentials::decide_provision(
    RelayTurn& turn, const Bearer& who, const ProvisionRequest& request) {
    TRY_ASSIGN(
        Plan planned,
        plan(
            turn,
            {.tenant_id = who.tenant_id,
             .gateway_id = request.gateway_id,
             .instance_id = request.instance_id.empty()
                                ? instance_of_gateway(who.tenant_id, request.gateway_id)
                                : request.instance_id,
             .principal = who.principal}));
    adopt(planned, request);
    TRY(check_identities(planned));
    if (planned.is_changed) {
        TRY(apply(turn, planned));
        AuditDraft draft = relay_draft(who.tenant_id, "RELAY_GATEWAY_PROVISIONED", who.principal);
        draft.detail = Json::object(
            {{"gateway_id", planned.row.gateway_id},
             {"instance_id", planned.row.instance_id},
             {"platform", request.platform},
             {"bot_id", request.bot_id},
             {"has_wake_url", !planned.row.wake_url.empty()}});
        turn.audit(std::move(draft));
    }
    Json routed = Json::array();
    const BotKey bot{request.platform, request.bot_id};
    for (const std::string& key : request.route_keys) {
        if (parts_.state.route_of(bot, key) == who.tenant_id) {
            routed.push(key);
        }
    }
    return Json::object(
        {{"secret", std::string(planned.secret.reveal())},
         {"deliveryKey", std::string(planned.delivery_key.reveal())},
         {"tenant", who.tenant_id.text()},
         {"gatewayId", planned.row.gateway_id},
         {"instanceId", planned.row.instance_id},
         {"routeKeys", std::move(routed)}});
}

// The instance of a gateway that names none: the one that it has, or its own name.
std::string RelayCredentials::instance_of_gateway(
    const TenantId& tenant_id, const std::string& gateway_id) const {
    const GatewayRow* const known = parts_.state.gateways.get(gateway_id);
    return known != nullptr && known->tenant_id == tenant_id ? known->instance_id : gateway_id;
}

// What a gateway says about itself each time it boots.
void RelayCredentials::adopt(Plan& planned, const ProvisionRequest& request) const {
    GatewayRow& row = planned.row;
    const std::string name = cut_name(request.display_name);
    if (!name.empty() && name != row.display_name) {
        row.display_name = name;
        planned.is_changed = true;
    }
    if (brings_wake_url(request)) {  // It was judged before the turn.
        row.wake_url = request.wake_url;
        planned.is_changed = true;
    }
    const InstanceRow* const stored = parts_.state.instances.get(row.instance_id);
    const InstanceRow& known = planned.instance ? *planned.instance : *stored;
    const bool is_new =
        !request.platform.empty() && !request.bot_id.empty() &&
        std::ranges::none_of(known.identities, [&](const BotIdentityRow& held) {
            return held.platform == request.platform && held.bot_id == request.bot_id;
        });
    if (is_new) {
        InstanceRow changed = known;
        changed.identities.push_back({request.platform, request.bot_id});
        planned.instance = std::move(changed);
        planned.is_changed = true;
    }
}

Result<void> RelayCredentials::check_identities(const Plan& planned) const {
    if (!planned.instance || planned.instance->identities.size() <= kInstanceIdentitiesMax) {
        return {};
    }
    return fail(
        errors::relay_limit_reached,
        "An instance has at most " + std::to_string(kInstanceIdentitiesMax) +
            " bots it speaks as.");
}

Result<RelayCredentials::Plan> RelayCredentials::plan(RelayTurn& turn, const Wish& wish) const {
    TRY(check_name(wish.gateway_id, "gatewayId"));
    TRY(check_name(wish.instance_id, "instanceId"));
    const GatewayRow* const known = parts_.state.gateways.get(wish.gateway_id);
    const InstanceRow* const instance = parts_.state.instances.get(wish.instance_id);
    if (known != nullptr &&
        (known->tenant_id != wish.tenant_id || known->instance_id != wish.instance_id)) {
        return name_taken("gatewayId");
    }
    if (instance != nullptr && instance->tenant_id != wish.tenant_id) {
        return name_taken("instanceId");
    }
    if (known != nullptr && known->revoked_at && !wish.revives) {
        return fail(errors::gateway_revoked, "This gateway was revoked.");
    }
    if (known != nullptr && !known->revoked_at) {
        return plan_known(*known, turn.now());
    }
    if (known == nullptr) {
        TRY(parts_.holdings.check_room(Holding::gateway, wish.tenant_id));
    }
    Plan planned;
    planned.row = GatewayRow{
        .gateway_id = wish.gateway_id,
        .tenant_id = wish.tenant_id,
        .instance_id = wish.instance_id,
        .secrets = {},
        .wake_url = {},
        .display_name = {},
        .made_by = wish.principal,
        .made_at = turn.now(),
        .revoked_at = std::nullopt};
    TRY(fill_secrets(planned, turn.now(), wish.secret.clone()));
    TRY(fill_delivery_key(planned, turn.now()));
    if (instance == nullptr) {
        planned.instance.emplace();
        planned.instance->instance_id = wish.instance_id;
        planned.instance->tenant_id = wish.tenant_id;
        planned.instance->made_at = turn.now();
    }
    return planned;
}

// Gives the secret that the gateway has already: clients keep only what they were told first.
Result<RelayCredentials::Plan> RelayCredentials::plan_known(
    const GatewayRow& row, Timestamp now) const {
    Plan planned;
    planned.row = row;
    planned.is_changed = false;
    TRY_ASSIGN(
        planned.secret, parts_.seal.open(row.secrets.front().sealed, secret_bound(row.gateway_id)));
    TRY(fill_delivery_key(planned, now));
    planned.is_changed = planned.new_delivery_key.has_value();
    return planned;
}

// The tenant has one delivery key, whichever gateway asks.
Result<void> RelayCredentials::fill_delivery_key(Plan& planned, Timestamp now) const {
    const TenantId& tenant_id = planned.row.tenant_id;
    TRY_ASSIGN(const DeliveryKeyRow* held, parts_.state.delivery_keys.find(tenant_id.text(), now));
    if (held != nullptr) {
        TRY_ASSIGN(planned.delivery_key, parts_.seal.open(held->sealed, delivery_bound(tenant_id)));
        return {};
    }
    planned.delivery_key = parts_.ids.new_secret(kCredentialPrefix);
    TRY_ASSIGN(
        std::string sealed,
        parts_.seal.seal(planned.delivery_key.reveal(), delivery_bound(tenant_id)));
    planned.new_delivery_key = DeliveryKeyRow{std::move(sealed)};
    return {};
}

Result<void> RelayCredentials::fill_secrets(
    Plan& planned, Timestamp now, SecretString secret) const {
    planned.secret = secret.empty() ? parts_.ids.new_secret(kCredentialPrefix) : std::move(secret);
    const std::string& id = planned.row.gateway_id;
    TRY_ASSIGN(std::string sealed, parts_.seal.seal(planned.secret.reveal(), secret_bound(id)));
    planned.row.secrets = {{std::move(sealed), now, std::nullopt}};
    return {};
}

// The facts are made first: once rows are in the turn nothing may fail.
Result<void> RelayCredentials::apply(RelayTurn& turn, Plan& planned) {
    TRY_ASSIGN(GatewayFactsPtr facts, facts_of(planned.row));
    parts_.holdings.put_gateway(turn, planned.row);
    if (planned.new_delivery_key) {
        parts_.state.delivery_keys.put(
            turn, planned.row.tenant_id.text(), *planned.new_delivery_key);
    }
    if (planned.instance) {
        parts_.state.instances.put(turn, planned.row.instance_id, *planned.instance);
    }
    turn.after([this, facts = std::move(facts)](bool is_committed) {
        if (is_committed) {
            directory_.put(facts);
        }
    });
    return {};
}

}  // namespace interlock
