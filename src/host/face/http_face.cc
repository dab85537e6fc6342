#include "host/face/http_face.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/match.h"
#include "base/text.h"
#include "host/face/call_arguments.h"
#include "host/face/face_words.h"
#include "host/face/host_check.h"
#include "host/face/peer.h"
#include "host/face/problem.h"
#include "host/wire/approval.h"
#include "host/wire/key_lock.h"
#include "host/wire/tenant.h"

namespace interlock {
namespace {

// Whether a browser asks, which shows pages and no JSON.
bool wants_page(const HttpRequest& request) {
    return request.method == "GET" &&
           request.header("Accept").value_or("").find("text/html") != std::string_view::npos;
}

constexpr std::string_view kMcpPath = "/mcp";
constexpr std::string_view kKillSwitchSuffix = "kill_switch";
constexpr std::string_view kBotStop = "stop";  // Of bot_endpoints().
constexpr std::size_t kQueryParametersMax = 32;
// Two for each tenant that a server can have, so that no bucket is forgotten. Only those who proved
// that they belong to a tenant make one.
constexpr std::size_t kTenantBucketsMax = 2 * kTenantsMax;

Result<std::map<std::string, std::string>> parse_query(std::string_view query) {
    std::map<std::string, std::string> values;
    if (query.empty()) {
        return values;
    }
    for (const std::string_view part : split(query, '&')) {
        if (part.empty()) {
            continue;
        }
        const std::size_t equals = part.find('=');
        const auto name = percent_decode(part.substr(0, equals), true);
        const auto value = percent_decode(
            equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1), true);
        if (!name || !value || !is_valid_utf8(*name) || !is_valid_utf8(*value)) {
            return fail(errors::invalid_request, "The query string is not properly encoded.");
        }
        if (values.size() >= kQueryParametersMax || !values.emplace(*name, *value).second) {
            return fail(errors::invalid_request, "A query parameter is given twice, or too many.");
        }
    }
    return values;
}

// Stopping must always be possible, however busy the caller has been.
bool is_emergency_stop(const Operation& operation, const ApiCall& call) {
    const Json* active = call.body.find("active");
    return operation.id.ends_with(kKillSwitchSuffix) && active != nullptr && active->is_bool() &&
           active->as_bool();
}

// Whose common bucket a call draws on; nothing for people and the operator.
std::optional<TenantId> tenant_charged(const Principal& principal) {
    if (principal.kind != PrincipalKind::agent || principal.tenants.size() != 1) {
        return std::nullopt;
    }
    return *principal.tenants.begin();
}

Result<void> verdict(const RateDecision& decision, const char* sentence) {
    if (decision.allowed) {
        return {};
    }
    auto refusal = fail(errors::rate_limited, sentence);
    refusal.error().retry_after_seconds = decision.retry_after_seconds;
    return refusal;
}

// Whoever holds a locked key knows it already, so its state gives nothing away.
Error refusal_of(const Authenticated& who) {
    return who.is_key_locked
               ? fail(
                     errors::key_locked,
                     "This access key came back with a backup and waits for a human's word.")
                     .error()
               : unauthenticated_error();
}

}  // namespace

std::string holder_of(const TenantId& tenant_id) {
    return "tenant:" + tenant_id.text();
}

std::string holder_of(const Principal& principal) {
    const auto tenant = tenant_charged(principal);
    return tenant ? holder_of(*tenant) : to_text(principal);
}

Error unauthenticated_error() {
    return fail(errors::unauthenticated, "The credential is missing or not valid for this tenant.")
        .error();
}

HttpFace::HttpFace(Parts parts, HttpFaceConfig config)
    : parts_(std::move(parts)),
      config_(std::move(config)),
      charge_(
          [this](const Principal& principal, std::int64_t records) { charge(principal, records); }),
      // With no limit set the buckets are never asked.
      rate_(
          {.count = std::max<std::int64_t>(1, config_.requests_per_second),
           .burst = std::max<std::int64_t>(1, config_.requests_per_second * 2),
           .owed_max = std::max<std::int64_t>(1, config_.requests_per_second * 2)}),
      tenant_rate_(
          {.count = std::max<std::int64_t>(1, config_.tenant_requests_per_second),
           .burst = std::max<std::int64_t>(1, config_.tenant_requests_per_second),
           .owed_max = std::max<std::int64_t>(1, config_.tenant_requests_per_second),
           .keys_max = kTenantBucketsMax}),
      anonymous_rate_(
          {.count = std::max<std::int64_t>(1, config_.anonymous_requests_per_second),
           .burst = std::max<std::int64_t>(1, config_.anonymous_requests_per_second * 2)}),
      page_rate_({.count = kPageRequestsPerSecond, .burst = kPageRequestsPerSecond * 2}),
      entrance_rate_({.count = kEntrancesPerSecond, .burst = kEntrancesAtOnce}) {
    if (!config_.origin.public_host().empty()) {
        config_.allowed_hosts.push_back(config_.origin.public_host());
    }
    const std::vector<Operation>& operations = parts_.table.all();
    for (std::size_t i = 0; i < operations.size(); ++i) {
        router_.add(operations[i].method, operations[i].path, i);
    }
}

bool HttpFace::is_host_allowed(const HttpRequest& request) const {
    // The operator socket is reached through the file system; a browser cannot be tricked onto it.
    return request.listener == Listener::operator_socket ||
           is_allowed_host(request.header("Host").value_or(""), config_.allowed_hosts);
}

void HttpFace::handle(HttpRequest request, HttpResponderPtr responder) {
    const std::optional<PathKey> path_key = unfold_path_key(request, parts_.directory);
    const bool has_path_key = path_key.has_value();
    const bool tls = config_.origin.is_secure(request);
    const auto send = [responder, tls, has_path_key](HttpResponse response) {
        add_security_headers(response, tls);
        if (has_path_key) {
            response.set("Cache-Control", "no-store");  // No cache may keep an address with a key.
        }
        responder->send(std::move(response));
    };
    if (!is_host_allowed(request)) {
        send(problem(fail(errors::host_not_allowed, "The Host header names no host of this server.")
                         .error()));
        return;
    }
    if (parts_.mcp && request.path() == kMcpPath) {
        handle_mcp(std::move(request), std::move(responder));
        return;
    }
    auto routed = route(request);
    if (!routed) {
        HttpResponse response = parts_.lost_page != nullptr && wants_page(request)
                                    ? parts_.lost_page(routed.error().http_status())
                                    : problem(routed.error());
        const auto found = router_.find(request.method, request.path());
        if (const auto* refused = std::get_if<Router::MethodNotAllowed>(&found)) {
            response.set("Allow", refused->allow);
        }
        send(std::move(response));
        return;
    }
    const Operation* operation = routed->operation;
    Result<ApiCall> call = admit(request, *std::move(routed), path_key ? &*path_key : nullptr);
    if (!call) {
        parts_.metrics.on_request(operation->id, call.error().http_status());
        send(problem(call.error(), *operation));
        return;
    }
    // Who came over the host's own socket has its commands; nobody else has.
    const bool is_at_host = request.listener == Listener::operator_socket;
    const FaceWords words = is_at_host ? in_route_words : in_remote_words;
    operation->handle(*std::move(call), [=, this](Result<ApiReply> reply) {
        if (reply && !reply->is_document &&
            (reply->status >= 400 || (!is_at_host && names_a_command(reply->body)))) {
            reply->body = spoken_answer(reply->body, parts_.table, words);
        }
        HttpResponse response =
            reply ? to_response(*std::move(reply))
                  : problem(spoken(std::move(reply).error(), parts_.table, words), *operation);
        parts_.metrics.on_request(operation->id, response.status);
        send(std::move(response));
    });
}

// How long the body may be, or why there will be no other answer than that one.
Result<std::size_t> HttpFace::body_bytes_of(
    const HttpRequest& head, const Authenticated& who, bool& is_urgent) const {
    if (!is_host_allowed(head)) {
        return fail(errors::host_not_allowed, "The Host header names no host of this server.");
    }
    if (parts_.mcp && head.path() == kMcpPath) {
        if (!who.principal || who.principal->kind != PrincipalKind::agent) {
            return std::unexpected(refusal_of(who));
        }
        return kOperationBodyBytesMax;
    }
    TRY_ASSIGN(const Routed routed, route(head));
    const Operation& operation = *routed.operation;
    TRY(check_access(routed, who));
    TRY(check_origin(head, who, config_.origin));
    is_urgent =
        who.principal && (operation.id == kBotStop || operation.id.ends_with(kKillSwitchSuffix));
    return who.principal ? operation.body_bytes_max
                         : std::min(operation.body_bytes_max, kStrangerBodyBytesMax);
}

HeadVerdict HttpFace::judge(const HttpRequest& head) const {
    // Only a path that may begin with a key is worth a copy.
    std::optional<HttpRequest> unfolded;
    std::optional<PathKey> path_key;
    if (head.target.starts_with("/i") || head.target.starts_with("/%")) {
        unfolded = head;
        path_key = unfold_path_key(*unfolded, parts_.directory);
    }
    const HttpRequest& request = unfolded ? *unfolded : head;
    const Authenticated who = authenticate(
        request, parts_.directory, parts_.clock.now(), path_key ? &*path_key : nullptr);
    HeadVerdict verdict{.body_bytes_max = kStrangerBodyBytesMax};
    if (who.principal) {
        verdict.holder = holder_of(*who.principal);
    }
    if (const auto bytes = body_bytes_of(request, who, verdict.is_urgent)) {
        verdict.body_bytes_max = *bytes;
    } else {
        // A short body is read all the same: so the connection lives on and the flood on it is
        // slowed down.
        verdict.refusal = problem(bytes.error());
        add_security_headers(*verdict.refusal, request.tls);
    }
    return verdict;
}

Result<HttpFace::Routed> HttpFace::route(const HttpRequest& request) const {
    return match(
        router_.find(request.method, request.path()),
        [&](const Router::Match& found) -> Result<Routed> {
            Routed routed;
            routed.operation = &parts_.table.all()[found.id];
            for (const auto& [name, value] : found.params) {
                if (name == "tenant_id") {
                    // A text that can be no tenant is as unknown as one that is none.
                    routed.tenant = TenantId::parse(value).value_or(TenantId());
                } else {
                    routed.path[name] = value;
                }
            }
            return routed;
        },
        [](const Router::NotFound&) -> Result<Routed> {
            return fail(errors::no_such_route, "There is nothing at this path.");
        },
        [](const Router::MethodNotAllowed&) -> Result<Routed> {
            return fail(errors::method_not_allowed, "This path does not take this method.");
        });
}

Result<void> HttpFace::check_access(const Routed& routed, const Authenticated& who) const {
    const Operation& operation = *routed.operation;
    const auto instance = routed.path.find("strategy_id");
    VoteRest rest;
    if (who.principal && who.principal->kind == PrincipalKind::human) {
        rest = parts_.directory.vote_rest_of(HumanId::trusted(who.principal->id));
    }
    const Timestamp now = parts_.clock.now();
    const AccessVerdict verdict = decide_access(
        operation.access,
        {.principal = who.principal ? &*who.principal : nullptr,
         .tenant = routed.tenant,
         .tenant_exists = routed.tenant && parts_.directory.tenant_exists(*routed.tenant),
         .changes = operation.method != "GET",
         .is_of_bot =
             instance != routed.path.end() && instance->second.starts_with(kKeptStrategyPrefix),
         .vote_rests = rest.rests_at(now)});
    switch (verdict) {
        case AccessVerdict::allowed:
            return {};
        case AccessVerdict::unauthenticated:
            return std::unexpected(refusal_of(who));
        case AccessVerdict::no_such_tenant:
            return fail(errors::not_found, "There is no tenant with this id.");
        case AccessVerdict::vote_rests:
            return check_vote(rest, now);
        case AccessVerdict::forbidden:
            break;
    }
    const Access& access = operation.access;
    if (access.human && !access.host_operator && !access.agent && !access.agent_with_any_scope) {
        return fail(
            errors::human_required,
            "Only a human may do this; this call came from an " +
                std::string(to_word(who.principal->kind)) + ".");
    }
    return fail(
        errors::forbidden,
        "This " + std::string(to_word(who.principal->kind)) + " may not call " + operation.id +
            ".");
}

Result<void> HttpFace::check_rate(const Operation& operation, const ApiCall& call) {
    if (is_emergency_stop(operation, call)) {
        return {};
    }
    if (call.http != nullptr && call.principal.kind == PrincipalKind::internal) {
        return take_anonymous(operation.lane, *call.http);
    }
    // Stopping a bot has buckets of its own: nothing else that a caller does can use them up.
    return take_tokens(call.principal, operation.id == kBotStop ? "stop " : "");
}

Result<void> HttpFace::check_rate(const Principal& principal) {
    return take_tokens(principal, "");
}

Result<void> HttpFace::take_tokens(const Principal& principal, const std::string& lane) {
    const Timestamp now = parts_.clock.now();
    const std::lock_guard lock(rate_mutex_);
    if (config_.requests_per_second != 0) {
        TRY(verdict(
            rate_.take(lane + to_text(principal), now),
            "This credential sends more requests than allowed."));
    }
    const auto tenant = tenant_charged(principal);
    if (config_.tenant_requests_per_second != 0 && tenant) {
        TRY(verdict(
            tenant_rate_.take(lane + tenant->text(), now),
            "The keys of this tenant together send more requests than allowed."));
    }
    return {};
}

// After the read: before it nobody knows how far back it has to look. The operator pays nothing:
// exports and checks of the host read everything on purpose.
void HttpFace::charge(const Principal& principal, std::int64_t records) {
    const std::int64_t requests = records / kRecordsPerRequest;
    if (requests == 0 || principal.kind == PrincipalKind::host_operator) {
        return;
    }
    const Timestamp now = parts_.clock.now();
    const std::lock_guard lock(rate_mutex_);
    if (config_.requests_per_second != 0) {
        rate_.charge(to_text(principal), requests, now);
    }
    const auto tenant = tenant_charged(principal);
    if (config_.tenant_requests_per_second != 0 && tenant) {
        tenant_rate_.charge(tenant->text(), requests, now);
    }
}

Result<void> HttpFace::take_anonymous(AnonymousLane lane, const HttpRequest& request) {
    if (lane == AnonymousLane::none || config_.requests_per_second == 0) {
        return {};
    }
    const Timestamp now = parts_.clock.now();
    const std::string peer = peer_group_of(request);
    const std::lock_guard lock(rate_mutex_);
    switch (lane) {
        case AnonymousLane::page:
            return verdict(
                page_rate_.take(peer, now), "This address asks for more files than allowed.");
        case AnonymousLane::entrance:
            return verdict(
                entrance_rate_.take(peer, now),
                "This address tries to come in more often than allowed.");
        case AnonymousLane::ordinary:
        case AnonymousLane::none:
            break;
    }
    return verdict(
        anonymous_rate_.take(peer, now),
        "This address sends more requests without a credential than allowed.");
}

Result<ApiCall> HttpFace::admit(
    const HttpRequest& request, Routed routed, const PathKey* path_key) {
    const Operation& operation = *routed.operation;
    ApiCall call;
    call.http = &request;
    call.charge = &charge_;
    Authenticated who = authenticate(request, parts_.directory, parts_.clock.now(), path_key);
    TRY(check_access(routed, who));
    call.path = std::move(routed.path);
    TRY(check_origin(request, who, config_.origin));
    call.principal = who.principal ? *std::move(who.principal) : internal_principal("anyone");
    call.is_own_page = config_.origin.is_same_origin(request);
    call.is_secure = config_.origin.is_secure(request);
    call.tenant_id = std::move(routed.tenant).value_or(TenantId());
    TRY_ASSIGN(call.query, parse_query(request.query()));
    TRY(check_query(operation, call.query));
    if (!operation.request_schema.is_null()) {
        TRY_ASSIGN(call.body, parse_json(request.body.empty() ? "{}" : request.body));
    }
    TRY(check_rate(operation, call));
    TRY(judge_secrets(operation, call));
    return call;
}

void HttpFace::handle_mcp(HttpRequest request, HttpResponderPtr responder) {
    const Authenticated who = authenticate(request, parts_.directory, parts_.clock.now());
    if (!who.principal || who.principal->kind != PrincipalKind::agent) {
        HttpResponse response = problem(refusal_of(who));
        add_security_headers(response, config_.origin.is_secure(request));
        responder->send(std::move(response));
        return;
    }
    if (request.header("Origin") && !config_.origin.is_same_origin(request)) {
        HttpResponse response = problem(
            fail(errors::cross_origin, "MCP is not open to pages of other origins.").error());
        add_security_headers(response, config_.origin.is_secure(request));
        responder->send(std::move(response));
        return;
    }
    parts_.mcp(std::move(request), *who.principal, std::move(responder));
}

}  // namespace interlock
