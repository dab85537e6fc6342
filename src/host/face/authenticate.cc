#include "host/face/authenticate.h"

#include <algorithm>

#include "base/text.h"

namespace interlock {
namespace {

constexpr std::string_view kKeyPrefix = "ilk_";
constexpr std::string_view kAccessKeyHeader = "X-Access-Key";
// No tenant id begins with '_' but the host's own.
constexpr std::string_view kNoTenant = "_";

enum class Place { access_key_header, bearer, cookie };

struct Credential {
    Place place;
    std::string_view text;
};

std::string_view bearer_of(std::string_view header) {
    const std::size_t space = header.find(' ');
    if (space == std::string_view::npos ||
        !equal_ignoring_case(header.substr(0, space), "bearer")) {
        return {};  // Another scheme is a credential we do not know: given, and bad.
    }
    return trim(header.substr(space));
}

// The values of a cookie in one header.
std::vector<std::string_view> cookies_in(std::string_view header, std::string_view name) {
    std::vector<std::string_view> values;
    for (const std::string_view part : split(header, ';')) {
        const std::string_view pair = trim(part);
        const std::size_t equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
            values.push_back(pair.substr(equals + 1));
        }
    }
    return values;
}

// Every occurrence, not only the first: a second header must not pass unseen.
std::vector<Credential> credentials_of(const HttpRequest& request) {
    std::vector<Credential> found;
    for (const auto& [name, value] : request.headers) {
        if (equal_ignoring_case(name, kAccessKeyHeader)) {
            found.push_back({Place::access_key_header, trim(value)});
        } else if (equal_ignoring_case(name, "authorization")) {
            found.push_back({Place::bearer, bearer_of(value)});
        } else if (equal_ignoring_case(name, "cookie")) {
            for (const std::string_view session : cookies_in(value, kSessionCookie)) {
                found.push_back({Place::cookie, session});
            }
        }
    }
    return found;
}

Principal operator_principal() {
    Principal principal;
    principal.kind = PrincipalKind::host_operator;
    principal.id = "local";
    return principal;
}

struct Source {
    const PrincipalDirectory& directory;
    Timestamp now;
    const PathKey* known;
};

std::optional<Principal> look_up(const Credential& credential, const Source& source) {
    const auto [place, text] = credential;
    const auto& [directory, now, known] = source;
    if (text.size() > kCredentialLengthMax) {
        return std::nullopt;
    }
    if (text.starts_with(kKeyPrefix) && place != Place::cookie) {
        return known != nullptr && known->key == text ? known->holder
                                                      : directory.by_access_key(text);
    }
    if (text.starts_with("ils_") && place != Place::access_key_header) {
        return directory.by_session_token(text, now);
    }
    if (text.starts_with("ilo_") && place == Place::bearer && directory.is_operator_token(text)) {
        return operator_principal();
    }
    return std::nullopt;
}

}  // namespace

Authenticated authenticate(
    const HttpRequest& request,
    const PrincipalDirectory& directory,
    Timestamp now,
    const PathKey* known) {
    const std::vector<Credential> found = credentials_of(request);
    Authenticated caller;
    if (found.empty()) {
        if (request.listener == Listener::operator_socket) {
            caller.principal = operator_principal();
        }
        return caller;
    }
    caller.credential_given = true;
    caller.by_cookie = std::all_of(found.begin(), found.end(), [](const Credential& one) {
        return one.place == Place::cookie;
    });
    for (const Credential& one : found) {
        if (one.text != found.front().text) {
            return caller;
        }
    }
    // The same text twice is one credential, but it must be right in every place it stands.
    for (const Credential& one : found) {
        caller.principal = look_up(one, {directory, now, known});
        if (!caller.principal) {
            break;
        }
    }
    // Such a key is nobody's until a human confirms it.
    if (caller.principal && caller.principal->kind == PrincipalKind::agent &&
        caller.principal->tenants.empty()) {
        caller.is_key_locked = true;
        caller.principal.reset();
    }
    return caller;
}

std::optional<PathKey> unfold_path_key(HttpRequest& request, const PrincipalDirectory& directory) {
    const std::string_view target = request.target;
    if (!target.starts_with('/')) {
        return std::nullopt;
    }
    const std::string_view segment = target.substr(1, target.find_first_of("/?", 1) - 1);
    if (!segment.starts_with(kKeyPrefix.front()) && !segment.starts_with('%')) {
        return std::nullopt;
    }
    // What cannot be decoded is no key of ours, but may be one that was copied badly.
    std::string key = percent_decode(segment).value_or(std::string(segment));
    if (!key.starts_with(kKeyPrefix)) {
        return std::nullopt;
    }
    PathKey found;
    if (key.size() <= kCredentialLengthMax) {
        found.holder = directory.by_access_key(key);
    }
    const bool has_tenant = found.holder && found.holder->tenants.size() == 1;
    const std::string_view tenant =
        has_tenant ? std::string_view(found.holder->tenants.begin()->text()) : kNoTenant;
    request.target = "/api/" + std::string(tenant) + std::string(target.substr(1 + segment.size()));
    std::erase_if(request.headers, [](const HttpHeader& header) {
        return equal_ignoring_case(header.first, "referer");
    });
    request.headers.emplace_back(kAccessKeyHeader, key);
    found.key = std::move(key);
    return found;
}

std::optional<std::string> cookie_of(const HttpRequest& request, std::string_view name) {
    for (const auto& [header, value] : request.headers) {
        if (!equal_ignoring_case(header, "cookie")) {
            continue;
        }
        const auto found = cookies_in(value, name);
        if (!found.empty() && !found.front().empty() &&
            found.front().size() <= kCredentialLengthMax) {
            return std::string(found.front());
        }
    }
    return std::nullopt;
}

Result<void> check_origin(
    const HttpRequest& request, const Authenticated& caller, const OwnOrigin& own) {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (caller.by_cookie && !reads && !own.is_same_origin(request)) {
        return fail(
            errors::cross_origin,
            "A change that is authorised by a cookie must come from a page of this server.");
    }
    return {};
}

}  // namespace interlock
