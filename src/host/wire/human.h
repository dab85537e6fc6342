// A person who approves: what is stored about them, what other people see of them.
// docs/contracts/principals.md is the table of these fields.
//
// Sessions live inside the human's state: at most kSessionsMax of them, so nothing is left behind
// when one ends, and a changed password ends the others in the same write.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/secret_string.h"
#include "base/time.h"
#include "engine/wire/ids.h"
#include "engine/wire/principal.h"
#include "host/wire/recovery.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind bootstrap_closed{
    "bootstrap_closed",
    403,
    false,
    "Ask a human of this tenant to invite; the operator invites only the first one."};
inline constexpr ErrorKind invitation_pending{
    "invitation_pending",
    409,
    false,
    "Have the person accept the invitation they hold, then invite again."};
// Told to a caller who is logged in already, so it gives nothing away.
inline constexpr ErrorKind wrong_credential{
    "wrong_credential", 403, false, "Give the right password or a fresh one-time code."};
inline constexpr ErrorKind totp_not_started{
    "totp_not_started", 409, false, "Start the enrolment first, then confirm it with a code."};
}  // namespace errors

inline constexpr std::size_t kSessionsMax = 10;      // Per human; the oldest gives way.
inline constexpr std::size_t kMembershipsMax = 100;  // Tenants of one human.
inline constexpr std::size_t kEmailLengthMax = 254;
inline constexpr std::size_t kDevicesMax = 8;  // Per human; the one unused longest gives way.

struct HumanSession {
    SessionId session_id;
    std::string token_hash;  // SHA-256 hex of the whole "ils_…" text.
    Timestamp created_at;
    Timestamp authenticated_at;  // When the password or a code was last given.
    Timestamp expires_at;
    std::int64_t failed_proofs = 0;  // Wrong passwords given inside this session.
};

struct OneTimeCode {
    std::string code_hash;  // SHA-256 hex of the whole "ilc_…" text.
    Timestamp expires_at;
};

struct LoginCounter {
    std::int64_t failed = 0;  // In a row.
    Timestamp locked_until;
    friend bool operator==(const LoginCounter&, const LoginCounter&) = default;
};

// A browser in which this human has logged in before. Its cookie proves nothing but that: it has a
// count of failures of its own, so that strangers who guess cannot shut the human out.
struct KnownDevice {
    std::string token_hash;  // SHA-256 hex of the whole "ild_…" text.
    Timestamp used_at;       // By a login.
    LoginCounter logins;
    friend bool operator==(const KnownDevice&, const KnownDevice&) = default;
};

struct Human {
    HumanId human_id;
    std::string email;                         // Lower case; unique on this host.
    std::set<TenantId> memberships;            // May hold `_system`.
    std::optional<std::string> password_hash;  // Argon2id text; nothing until activated.
    // Base32. A secret that has to be kept: never in answers, logs or audit records.
    std::optional<std::string> totp_key;
    std::optional<std::string> totp_key_offered;  // Enrolled, not yet confirmed.
    std::int64_t totp_last_step = 0;              // A step is used once.
    std::optional<OneTimeCode> one_time_code;
    LoginCounter logins;
    std::vector<HumanSession> sessions;  // Oldest first.
    std::vector<KnownDevice> devices;    // Unused longest first.
    LoginRecovery recovery;              // Rows from before it existed have none of it.
    Timestamp created_at;

    bool is_activated() const { return password_hash.has_value(); }
};

Json encode_state(const Human& human);
Result<Human> decode_human_state(const Json& json);

// As other members of a tenant see it: not the other tenants it belongs to (I7).
Json encode(const Human& human);
Json human_schema();
// {"humans": […]}.
Json encode_humans(const std::vector<Human>& humans);
Json humans_schema();

// Lower-cased; `invalid_request` for what cannot be an address.
Result<std::string> parse_email(std::string_view text);

struct InviteHuman {
    std::string email;
    bool system_member = false;  // Also a member of `_system`.
};
Result<InviteHuman> decode_invite_human(const Json& json);
Json invite_human_schema();

struct Invitation {
    Human human;
    // Nothing when the person is activated already: then there is nothing to accept.
    std::optional<SecretString> code;
    std::string audit_ref;
};
Json encode(const Invitation& invitation);
Json invitation_schema();

}  // namespace interlock
