#include "relay/service/relay_issuers.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/text.h"

namespace interlock {
namespace {

std::int64_t seconds_of(Timestamp at) {
    return at.microseconds / 1'000'000;
}

std::string text_claim(const Json& claims, const std::string& name) {
    const Json* const value = claims.find(name);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

}  // namespace

std::optional<Json> unverified_claims(std::string_view token) {
    const auto parts = split(token, '.');
    if (token.size() > kJwtBytesMax || parts.size() != 3) {
        return std::nullopt;
    }
    const auto text = from_base64url(parts[1]);
    if (!text) {
        return std::nullopt;
    }
    auto json = parse_json(*text);
    return json && json->is_object() ? std::optional(*std::move(json)) : std::nullopt;
}

RelayIssuers::RelayIssuers(Parts parts) : parts_(std::move(parts)), held_(parts_.issuers.size()) {
    CHECK(parts_.issuers.size() <= kRelayIssuersMax);
}

void RelayIssuers::prefetch() {
    for (std::size_t i = 0; i < held_.size(); ++i) {
        begin_fetch(i);
    }
}

std::optional<std::size_t> RelayIssuers::issuer_of(std::string_view token) const {
    const auto claims = unverified_claims(token);
    const std::string issuer = claims ? text_claim(*claims, "iss") : std::string();
    for (std::size_t i = 0; i < parts_.issuers.size(); ++i) {
        if (!issuer.empty() && parts_.issuers[i].issuer == issuer) {
            return i;
        }
    }
    return std::nullopt;
}

IssuerJudgement RelayIssuers::judge(std::string_view token, const std::string& audience) {
    const auto index = issuer_of(token);
    if (!index) {
        return {IssuerVerdict::rejected, {}, "unknown_issuer"};
    }
    const RelayIssuer& issuer = parts_.issuers[*index];
    const Timestamp now = parts_.clock.now();
    KeySet keys;
    Duration age;
    bool is_fetching = false;
    {
        const std::lock_guard lock(mutex_);
        keys = held_[*index].keys;
        age = now - held_[*index].fetched_at;
        is_fetching = held_[*index].is_fetching;
    }
    if (!keys || age > kKeySetStale) {
        begin_fetch(*index);
        return {IssuerVerdict::unavailable, {}, "no_keys"};
    }
    if (age > kKeySetFresh) {
        begin_fetch(*index);
    }
    const auto claims = verify_jwt(
        token,
        {.issuer = issuer.issuer,
         .audience = audience.empty() ? issuer.audience : audience,
         .keys = *keys,
         .now_seconds = seconds_of(now)});
    if (!claims) {
        const JwtProblem problem = claims.error();
        if (problem == JwtProblem::unknown_key && (is_fetching || begin_fetch(*index))) {
            return {IssuerVerdict::unavailable, {}, "fetching_keys"};
        }
        return {
            problem == JwtProblem::expired ? IssuerVerdict::expired : IssuerVerdict::rejected,
            {},
            std::string(to_word(problem))};
    }
    const std::string tenant = text_claim(*claims, issuer.tenant_claim);
    if (!is_tenant_text(tenant)) {
        return {IssuerVerdict::rejected, {}, "no_tenant"};
    }
    return {IssuerVerdict::accepted, TenantId::trusted(tenant), ""};
}

void RelayIssuers::judge_later(std::string token, std::function<void(IssuerJudgement)> done) {
    IssuerJudgement first = judge(token, "");
    const auto index = issuer_of(token);
    if (first.verdict != IssuerVerdict::unavailable || !index) {
        done(std::move(first));
        return;
    }
    const auto again = [this, token, done] { done(judge(token, "")); };
    if (!await_fetch(*index, again)) {
        again();  // It has ended meanwhile, or too many wait for it.
    }
}

bool RelayIssuers::begin_fetch(std::size_t index) {
    const Timestamp now = parts_.clock.now();
    {
        const std::lock_guard lock(mutex_);
        Held& held = held_[index];
        if (held.is_fetching || (held.asked_at && now < *held.asked_at + kKeySetRefreshGap)) {
            return false;
        }
        held.is_fetching = true;
        held.asked_at = now;
    }
    const bool is_begun = parts_.workers.try_run([this, index] {
        const auto json = parts_.fetch(parts_.issuers[index]);
        finish_fetch(index, json ? decode_jwks(*json) : std::unexpected(json.error()));
    });
    if (!is_begun) {
        finish_fetch(index, fail(errors::overloaded, "No worker is free to fetch the key set."));
    }
    return is_begun;
}

void RelayIssuers::finish_fetch(std::size_t index, Result<std::vector<JwtKey>> keys) {
    if (!keys) {
        log_warn(
            "relay_key_set_not_fetched",
            {{"issuer", parts_.issuers[index].issuer},
             {"message", keys.error().message},
             {"next", "Check the issuer's jwks_url; tokens of keys not known yet get 503."}});
    }
    std::vector<std::function<void()>> waiters;
    {
        const std::lock_guard lock(mutex_);
        Held& held = held_[index];
        held.is_fetching = false;
        waiters = std::exchange(held.waiters, {});
        if (keys) {
            held.keys = std::make_shared<const std::vector<JwtKey>>(*std::move(keys));
            held.fetched_at = parts_.clock.now();
        }
    }
    for (const auto& call : waiters) {
        call();
    }
}

bool RelayIssuers::await_fetch(std::size_t index, std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    Held& held = held_[index];
    if (!held.is_fetching || held.waiters.size() >= kKeySetWaitersMax) {
        return false;
    }
    held.waiters.push_back(std::move(call));
    return true;
}

}  // namespace interlock
