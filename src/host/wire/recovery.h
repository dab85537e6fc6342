// How a human who lost password or second factor gets back in: what their row keeps about it, what
// is asked and answered. docs/contracts/principals.md 8 is the table of these rules.
//
// Codes are 100 random bits, so a plain SHA-256 bound to the human is as good as a slow hash: there
// is no dictionary to try. None is kept readable.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/secret_string.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind vote_rests{
    "vote_rests",
    403,
    false,
    "Wait until the time named, or have another human do it; stopping is always possible."};
inline constexpr ErrorKind recovery_waits{
    "recovery_waits", 409, true, "Use the code again at the time named."};
inline constexpr ErrorKind recovery_elsewhere{
    "recovery_elsewhere",
    409,
    false,
    "Have the operator start the recovery; it then waits so that everybody concerned can object."};
inline constexpr ErrorKind recovery_open{
    "recovery_open", 409, false, "Let the recovery that is open end, or have it withdrawn first."};
inline constexpr ErrorKind recovery_not_open{
    "recovery_not_open", 409, false, "Nothing waits for this person; list the humans to see."};
inline constexpr ErrorKind not_activated{
    "not_activated", 409, false, "Invite the person again, or have the letter sent again."};
}  // namespace errors

inline constexpr std::size_t kRecoveryCodesMax = 10;
// People who helped one human back in, and the helpers of those: at the bound no further one helps.
inline constexpr std::size_t kHelpersMax = 100;
inline constexpr std::size_t kRecoveryReasonMax = 200;

// A recovery that somebody else started: one code, used once, within a time.
struct RecoveryCase {
    std::string started_by;  // A principal's text form.
    std::string reason;      // In their words; may be empty.
    Timestamp started_at;
    Timestamp good_from;
    Timestamp expires_at;                  // The first moment at which the code is no longer good.
    std::optional<std::string> code_hash;  // Nothing until the letter that brings it is made.
};

// The failures of strangers and of the human with codes; bounds what is recorded of them.
struct RecoveryTries {
    std::int64_t failed = 0;  // In a row.
    Timestamp quiet_until;    // Until then further ones leave no record.
};

struct LoginRecovery {
    std::vector<std::string> code_hashes;  // Of the human's own unused codes.
    std::optional<RecoveryCase> open;
    std::optional<Timestamp> last_started_at;
    std::optional<Timestamp> recovered_at;
    std::optional<Timestamp> vote_rests_until;
    bool second_factor_due = false;  // There was one before: the vote rests until there is again.
    // Whoever may have had a hand in this account, as principals' texts; never forgotten.
    std::set<std::string> helpers;
    RecoveryTries tries;
};
Json encode_state(const LoginRecovery& state);
Result<LoginRecovery> decode_login_recovery(const Json& json);

// "ilr-abcd-efgh-ijkl-mnop-qrst" from a random secret of base32 characters.
SecretString recovery_code_from(const SecretString& secret);
// What a person typed, in any case, with or without the signs between: 20 characters, or nothing.
std::optional<SecretString> read_recovery_code(std::string_view typed);
// Bound to the human, so that one search does not try the codes of everybody.
std::string recovery_code_hash(const HumanId& human_id, const SecretString& code);

struct RecoverRequest {
    std::string email;  // Lower-cased.
    SecretString code;  // As typed.
    SecretString password;
    bool want_token = false;
};
Result<RecoverRequest> decode_recover(const Json& json);
Json recover_schema();

struct StartRecovery {
    std::string reason;
    bool show_code = false;  // To whoever starts it, to hand over; otherwise it goes by letter.
};
Result<StartRecovery> decode_start_recovery(const Json& json);
Json start_recovery_schema();

struct ActivationLetterRequest {
    std::string email;  // Lower-cased.
};
Result<ActivationLetterRequest> decode_activation_letter(const Json& json);
Json activation_letter_schema();

// As people of the same tenant see it: one that is open, or one that made a vote rest.
struct RecoveryNotice {
    TenantId tenant_id;  // One that the reader shares with the person.
    HumanId human_id;
    std::string email;
    std::string state;  // "waiting", "ready", "recovered"
    std::string started_by;
    std::string reason;
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> good_from;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> vote_rests_until;
};
Json encode(const RecoveryNotice& notice);
Json recovery_notice_schema();

struct StartedRecovery {
    RecoveryNotice notice;
    std::optional<SecretString> code;  // When it was to be shown.
    std::string audit_ref;
};
Json encode(const StartedRecovery& started);
Json started_recovery_schema();

// A new set, shown this once.
struct RecoveryCodes {
    std::vector<SecretString> codes;
};
Json encode(const RecoveryCodes& codes);
Json recovery_codes_schema();

}  // namespace interlock
