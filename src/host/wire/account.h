// What a human asks for their own account, and what the answers look like. Passwords, codes and
// tokens are SecretStrings from the moment they are read.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/secret_string.h"
#include "base/time.h"
#include "host/wire/human.h"

namespace interlock {

struct LoginRequest {
    std::string email;  // Lower-cased; not checked further: a bad one is simply unknown.
    SecretString password;
    std::optional<std::string> totp;
    bool want_token = false;  // The token in the body as well: for programs without cookies.
    // Not of the document: where the request comes from, and the cookie of a known device.
    std::string peer = {};
    std::optional<SecretString> device = std::nullopt;
};
Result<LoginRequest> decode_login(const Json& json);
Json login_schema();

struct ActivateRequest {
    SecretString code;
    SecretString password;
    bool want_token = false;
    // Also lets an agent provision exchange keys, once (docs/contracts/onboarding.md).
    bool grant_key_provisioning = false;
    std::string peer = {};  // Not of the document.
};
Result<ActivateRequest> decode_activate(const Json& json);
Json activate_schema();

// Exactly one of the two.
struct ReauthenticateRequest {
    std::optional<SecretString> password;
    std::optional<std::string> totp;
};
Result<ReauthenticateRequest> decode_reauthenticate(const Json& json);
Json reauthenticate_schema();

struct ChangePasswordRequest {
    SecretString old_password;
    SecretString new_password;
};
Result<ChangePasswordRequest> decode_change_password(const Json& json);
Json change_password_schema();

struct ConfirmTotpRequest {
    std::string totp;
};
Result<ConfirmTotpRequest> decode_confirm_totp(const Json& json);
Json confirm_totp_schema();

struct DisableTotpRequest {
    SecretString password;
};
Result<DisableTotpRequest> decode_disable_totp(const Json& json);
Json disable_totp_schema();

// What a logged-in human sees of their session.
struct SessionInfo {
    HumanId human_id;
    std::string email;
    std::set<TenantId> tenants;
    SessionId session_id;
    Timestamp authenticated_at;
    Timestamp expires_at;
    bool two_factor = false;
    std::int64_t recovery_codes_left = 0;
    std::optional<Timestamp> vote_rests_until = std::nullopt;
    bool second_factor_due = false;  // The vote rests until it is set up again.
    // Of people of the same tenants, and of this human.
    std::vector<RecoveryNotice> recoveries = {};
};
SessionInfo session_info_of(const Human& human, const HumanSession& session);
Json encode(const SessionInfo& info);
Json session_info_schema();

struct LoggedIn {
    SessionInfo info;
    SecretString token;
    std::optional<SecretString> device = std::nullopt;  // Of a browser that is known from now on.
    RecoveryCodes codes = {};  // After an activation or a recovery; empty after a login.
};
// The token is in the document only when it was asked for.
Json encode(const LoggedIn& logged_in, bool with_token);
Json logged_in_schema();

struct TotpEnrolment {
    SecretString key_text;  // Base32.
    SecretString uri;       // otpauth://…, the same key for a QR code.
};
TotpEnrolment enrolment_of(std::string_view email, SecretString key_text);
Json encode(const TotpEnrolment& enrolment);
Json totp_enrolment_schema();

}  // namespace interlock
