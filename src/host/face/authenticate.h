// Who sent this HTTP request. Finds the one credential it carries and looks it up; decides nothing
// about what the caller may do (host/rules/access does).
//
// A credential that was given counts even when it is bad: a mistyped key on the operator socket is
// not the operator, and two different credentials are nobody, so that no proxy or browser can add a
// second identity to a request.
#pragma once

#include <optional>

#include "host/face/own_origin.h"
#include "host/service/principal_directory.h"
#include "net/http_message.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind cross_origin{
    "cross_origin",
    403,
    false,
    "Make this call from the server's own pages, or send the credential in a header."};
}  // namespace errors

inline constexpr std::string_view kSessionCookie = "interlock_session";
// Of a browser in which somebody has logged in; proves nothing by itself.
inline constexpr std::string_view kDeviceCookie = "interlock_device";
// Ours have 56 characters; what is longer is not hashed, only refused.
inline constexpr std::size_t kCredentialLengthMax = 256;

struct Authenticated {
    std::optional<Principal> principal;  // Nothing: no credential, or not a valid one.
    bool by_cookie = false;         // The browser sent it by itself: writes need the same origin.
    bool credential_given = false;  // True also for a bad one.
    bool is_key_locked = false;     // A right access key that a human has to confirm first.
};

// A key that stood in a path, and whose it is.
struct PathKey {
    std::string key;
    std::optional<Principal> holder;  // Nothing: nobody's.
};

// Looks at `X-Access-Key`, `Authorization: Bearer` and the session cookie; a request without any on
// the operator socket is the operator. `known` is what was found out when the request was unfolded,
// so that no key is looked up twice; null: nothing.
Authenticated authenticate(
    const HttpRequest& request,
    const PrincipalDirectory& directory,
    Timestamp now,
    const PathKey* known = nullptr);

// The second base pattern: `/{access_key}/rest` stands for `/api/{tenant_id}/rest` with the key in
// X-Access-Key, and becomes just that. Keys begin with `ilk_`, so no route is shadowed. The key is
// cut out of the target before anyone else sees the request, and what a browser may have repeated
// of it in Referer goes too. A wrong key gets a tenant that cannot exist, so that it is refused as
// everywhere, by the same steps. Nothing when the path began with no key, right or wrong.
std::optional<PathKey> unfold_path_key(HttpRequest& request, const PrincipalDirectory& directory);

// The cookie of that name; nothing when there is none, or none that could be ours.
std::optional<std::string> cookie_of(const HttpRequest& request, std::string_view name);

// `cross_origin` for a write that a foreign page may have made with the browser's cookie.
Result<void> check_origin(
    const HttpRequest& request, const Authenticated& caller, const OwnOrigin& own);

}  // namespace interlock
