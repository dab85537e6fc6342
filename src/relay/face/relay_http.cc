#include "relay/face/relay_http.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/errors.h"
#include "base/log.h"
#include "host/face/http_face.h"
#include "host/face/peer.h"
#include "host/face/problem.h"
#include "relay/face/relay_face.h"

namespace interlock {
namespace {

struct RoutePath {
    std::string_view method;
    std::string_view path;
    std::size_t id;
};

HttpResponse json_response(int status, const Json& body) {
    return text_response(status, "application/json", to_text(body));
}

// Clients of this wire know 400 where the rest of the server says 422.
HttpResponse relay_problem(const Error& error) {
    const int status = error.http_status() == 422 ? 400 : error.http_status();
    HttpResponse response = json_response(
        status,
        Json::object({{"error", error.message}, {"code", error.code()}, {"next", error.next()}}));
    if (status == 503 || status == 429 || error.retry_after_seconds > 0) {
        response.set("Retry-After", std::to_string(std::max(1, error.retry_after_seconds)));
    }
    if (status == 401) {
        response.set("WWW-Authenticate", "Bearer");
    }
    return response;
}

void send(const HttpResponderPtr& responder, bool tls, HttpResponse response) {
    add_security_headers(response, tls);
    responder->send(std::move(response));
}

Result<Json> body_of(const HttpRequest& request) {
    if (request.body.size() > kRelayBodyBytesMax) {
        return fail(
            errors::body_too_large,
            "The body is larger than " + std::to_string(kRelayBodyBytesMax) + " bytes.");
    }
    return parse_json(request.body.empty() ? "{}" : request.body);
}

template <class Wish, class Call>
void with(Result<Wish> wish, const RelayReply& reply, Call&& call) {
    if (wish) {
        call(*std::move(wish));
    } else {
        reply(std::unexpected(std::move(wish).error()));
    }
}

HttpResponse webhook_response(WebhookAnswer answer) {
    if (answer.status >= 400 && answer.body.empty()) {
        // The reason stays in our log: a forger learns nothing from a refusal.
        return json_response(
            answer.status,
            Json::object(
                {{"error", "The webhook was refused."},
                 {"code", "webhook_refused"},
                 {"next", "Check the platform's settings for this bot."}}));
    }
    const std::string type =
        answer.content_type.empty() ? "text/plain; charset=utf-8" : answer.content_type;
    HttpResponse response = text_response(answer.status, type, std::move(answer.body));
    if (answer.status == 503) {
        response.set("Retry-After", "1");
    }
    return response;
}

}  // namespace

RelayHttp::RelayHttp(Parts parts, RelayHttpLimits limits)
    : parts_(std::move(parts)), join_rate_(limits.join), manage_rate_(limits.manage) {
    const auto id = [](Route route) { return static_cast<std::size_t>(route); };
    const std::array<RoutePath, 11> paths = {{
        {"POST", "/relay/enroll", id(Route::enroll)},
        {"POST", "/relay/provision", id(Route::provision)},
        {"POST", "/relay/policy", id(Route::policy)},
        {"POST", "/manage/link", id(Route::link)},
        {"POST", "/manage/scope", id(Route::scope)},
        {"POST", "/manage/scope/release", id(Route::scope_release)},
        {"POST", "/manage/principal", id(Route::principal)},
        {"POST", "/manage/dm-default", id(Route::dm_default)},
        {"POST", "/manage/deprovision", id(Route::deprovision)},
        {"POST", "/webhooks/{platform}/{bot_id}", id(Route::webhook)},
        {"GET", "/webhooks/{platform}/{bot_id}", id(Route::webhook)},
    }};
    for (const RoutePath& path : paths) {
        router_.add(std::string(path.method), path.path, path.id);
    }
}

bool RelayHttp::takes(const HttpRequest& request) const {
    const auto found = router_.find(request.method, request.path());
    return !std::holds_alternative<Router::NotFound>(found) ||
           request.path().starts_with("/manage/") || request.path().starts_with("/webhooks/");
}

// A webhook is judged over its whole body, so that is read for strangers, too; the server bounds
// what they may have in flight.
HeadVerdict RelayHttp::judge(const HttpRequest& head) const {
    const auto found = router_.find(head.method, head.path());
    const auto* match = std::get_if<Router::Match>(&found);
    if (match == nullptr) {
        return {.body_bytes_max = kStrangerBodyBytesMax};
    }
    switch (static_cast<Route>(match->id)) {
        case Route::enroll:
        case Route::provision:
            return {.body_bytes_max = kJoinBodyBytesMax};
        case Route::webhook: {
            const BotKey key{match->param("platform"), match->param("bot_id")};
            const bool is_here = parts_.bot && parts_.bot(key) != nullptr;
            return {.body_bytes_max = is_here ? kWebhookBodyBytesMax : kStrangerBodyBytesMax};
        }
        default: {
            const auto caller = caller_of(head);
            if (!caller) {
                HttpResponse refusal = relay_problem(caller.error());
                add_security_headers(refusal, head.tls);
                return {.body_bytes_max = kStrangerBodyBytesMax, .refusal = std::move(refusal)};
            }
            return {.holder = holder_of(caller->tenant_id), .body_bytes_max = kRelayBodyBytesMax};
        }
    }
}

void RelayHttp::handle(HttpRequest request, HttpResponderPtr responder) {
    counters_.calls.fetch_add(1, std::memory_order_relaxed);
    const auto found = router_.find(request.method, request.path());
    const bool tls = request.tls;
    if (const auto* match = std::get_if<Router::Match>(&found)) {
        const auto route = static_cast<Route>(match->id);
        if (route == Route::webhook) {
            take_webhook(*match, std::move(request), std::move(responder));
            return;
        }
        const RelayReply reply = [this, tls, responder](const Result<Json>& answer) {
            if (!answer) {
                counters_.refused.fetch_add(1, std::memory_order_relaxed);
            }
            send(
                responder,
                tls,
                answer ? json_response(200, *answer) : relay_problem(answer.error()));
        };
        if (route == Route::enroll || route == Route::provision) {
            join(route, request, reply);
        } else {
            manage(route, request, reply);
        }
        return;
    }
    counters_.refused.fetch_add(1, std::memory_order_relaxed);
    const auto* refused = std::get_if<Router::MethodNotAllowed>(&found);
    HttpResponse response = relay_problem(
        refused == nullptr
            ? fail(errors::no_such_route, "There is nothing at this path.").error()
            : fail(errors::method_not_allowed, "This path does not take this method.").error());
    if (refused != nullptr) {
        response.set("Allow", refused->allow);
    }
    send(responder, tls, std::move(response));
}

Result<void> RelayHttp::check_rate(RateLimiter& limiter, std::string_view key) {
    const std::lock_guard lock(rate_mutex_);
    const RateDecision decision = limiter.take(key, parts_.clock.now());
    if (decision.allowed) {
        return {};
    }
    auto refusal = fail(errors::rate_limited, "This caller sends more requests than allowed.");
    refusal.error().retry_after_seconds = decision.retry_after_seconds;
    return refusal;
}

void RelayHttp::join(Route route, const HttpRequest& request, RelayReply reply) {
    if (auto allowed = check_rate(join_rate_, peer_group_of(request)); !allowed) {
        reply(std::unexpected(allowed.error()));
        return;
    }
    const auto body = body_of(request);
    if (!body) {
        reply(std::unexpected(body.error()));
        return;
    }
    const std::string bearer = bearer_of(request);
    if (route == Route::enroll) {
        with(decode_enroll_request(*body), reply, [&](EnrollRequest wish) {
            parts_.credentials.enroll(bearer, std::move(wish), reply);
        });
    } else {
        with(decode_provision_request(*body), reply, [&](ProvisionRequest wish) {
            parts_.credentials.provision(bearer, std::move(wish), reply);
        });
    }
}

// Who calls comes from the record of the credential, whatever the body says.
Result<RelayCaller> RelayHttp::caller_of(const HttpRequest& request) const {
    const AuthVerdict verdict =
        parts_.credentials.authenticate(bearer_of(request), parts_.clock.now());
    switch (verdict.kind) {
        case AuthVerdict::Kind::accepted:
            return verdict.caller;
        case AuthVerdict::Kind::expired:
            return fail(
                errors::unauthenticated,
                "The token has expired.",
                "Make a fresh token and send the request again.");
        case AuthVerdict::Kind::rejected:
            return fail(
                errors::unauthenticated,
                "The credential is missing, wrong or revoked.",
                "Send the token of an enrolled gateway.");
        case AuthVerdict::Kind::unavailable:
            break;
    }
    return RelayAnswer::unavailable();
}

void RelayHttp::manage(Route route, const HttpRequest& request, RelayReply reply) {
    auto caller = caller_of(request);
    if (!caller) {
        reply(std::unexpected(caller.error()));
        return;
    }
    if (auto allowed = check_rate(manage_rate_, caller->gateway_id); !allowed) {
        reply(std::unexpected(allowed.error()));
        return;
    }
    const auto body = body_of(request);
    if (!body) {
        reply(std::unexpected(body.error()));
        return;
    }
    run(route, *std::move(caller), *body, std::move(reply));
}

void RelayHttp::run(Route route, RelayCaller caller, const Json& body, RelayReply reply) {
    RelayManagement& management = parts_.management;
    switch (route) {
        case Route::policy:
            return with(decode_relevance_policy(body), reply, [&](RelevancePolicy wish) {
                management.set_relevance(caller, std::move(wish), reply);
            });
        case Route::link:
            return with(decode_link_request(body), reply, [&](LinkRequest wish) {
                management.link(caller, std::move(wish), reply);
            });
        case Route::scope:
            return with(decode_scope_request(body), reply, [&](ScopeRequest wish) {
                management.claim_scope(caller, std::move(wish), reply);
            });
        case Route::scope_release:
            return with(decode_scope_request(body), reply, [&](ScopeRequest wish) {
                management.release_scope(caller, std::move(wish), reply);
            });
        case Route::principal:
            return with(decode_principal_policy(body), reply, [&](PrincipalPolicy wish) {
                management.set_principal(caller, std::move(wish), reply);
            });
        case Route::dm_default:
            return with(decode_dm_default_request(body), reply, [&](DmDefaultRequest wish) {
                management.set_dm_default(caller, std::move(wish), reply);
            });
        case Route::deprovision:
            return parts_.credentials.deprovision(std::move(caller), std::move(reply));
        case Route::enroll:
        case Route::provision:
        case Route::webhook:
            break;
    }
}

void RelayHttp::take_webhook(
    const Router::Match& found, HttpRequest request, HttpResponderPtr responder) {
    const bool tls = request.tls;
    const BotKey key{found.param("platform"), found.param("bot_id")};
    ChatPlatform* const bot = parts_.bot ? parts_.bot(key) : nullptr;
    if (bot == nullptr) {
        counters_.refused.fetch_add(1, std::memory_order_relaxed);
        send(
            responder,
            tls,
            relay_problem(fail(errors::not_found, "There is no such bot here.").error()));
        return;
    }
    counters_.webhooks.fetch_add(1, std::memory_order_relaxed);
    if (request.body.size() > kWebhookBodyBytesMax) {
        counters_.webhooks_refused.fetch_add(1, std::memory_order_relaxed);
        send(
            responder,
            tls,
            relay_problem(fail(errors::body_too_large, "The body is too large.").error()));
        return;
    }
    WebhookAnswer answer = bot->receive(
        {.method = std::move(request.method),
         .url = std::move(request.target),
         .headers = std::move(request.headers),
         .body = std::move(request.body),
         .now_seconds = parts_.clock.now().microseconds / 1'000'000});
    if (!answer.refusal.empty() || answer.status >= 400) {
        counters_.webhooks_refused.fetch_add(1, std::memory_order_relaxed);
        log_info(
            "relay_webhook_refused",
            {{"platform", key.platform}, {"bot_id", key.bot_id}, {"why", answer.refusal}});
    }
    store_arrivals(std::move(answer), tls, std::move(responder));
}

// The platform is told only when all of them are stored.
void RelayHttp::store_arrivals(WebhookAnswer answer, bool tls, HttpResponderPtr responder) {
    if (answer.arrivals.empty()) {
        send(responder, tls, webhook_response(std::move(answer)));
        return;
    }
    struct Waiting {
        WebhookAnswer answer;
        std::vector<InboxAnswer> told;  // Each is written once, by its own arrival.
        std::atomic<std::size_t> left{0};
    };
    const auto waiting = std::make_shared<Waiting>();
    auto arrivals = std::exchange(answer.arrivals, {});
    waiting->answer = std::move(answer);
    waiting->told.resize(arrivals.size());
    waiting->left = arrivals.size();
    const auto finish = [this, waiting, tls, responder] {
        const auto& told = waiting->told;
        if (!std::ranges::all_of(told, &InboxAnswer::is_stored)) {
            counters_.webhooks_deferred.fetch_add(1, std::memory_order_relaxed);
            send(responder, tls, relay_problem(RelayAnswer::unavailable().error()));
            return;
        }
        if (waiting->answer.undelivered_body &&
            std::ranges::none_of(told, &InboxAnswer::is_delivered)) {
            waiting->answer.body = waiting->answer.undelivered_body(told.front());
        }
        send(responder, tls, webhook_response(std::move(waiting->answer)));
    };
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        parts_.inbox.submit(std::move(arrivals[i]), [waiting, finish, i](InboxAnswer told) {
            waiting->told[i] = std::move(told);
            if (waiting->left.fetch_sub(1) == 1) {
                finish();
            }
        });
    }
}

}  // namespace interlock
