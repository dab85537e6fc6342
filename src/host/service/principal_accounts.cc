// The part of the principal service that a logged-in human uses: their session, password and second
// factor. A wrong proof inside a session is counted there and ends it at the fifth.
#include <utility>

#include "base/bytes.h"
#include "base/errors.h"
#include "base/text.h"
#include "host/rules/approval_step.h"
#include "host/rules/login_policy.h"
#include "host/rules/session_policy.h"
#include "host/service/principal_service.h"
#include "host/wire/approval.h"

namespace interlock {
namespace {

constexpr std::size_t kTotpKeyCharacters = 32;  // 160 bits in base32, as RFC 4226 advises.

// The key as authenticator apps take it. Secrets are made of base32 characters in lower case.
SecretString totp_key_from(const SecretString& secret, std::string_view prefix) {
    const std::string_view random = secret.reveal().substr(prefix.size());
    std::string text(random.substr(0, kTotpKeyCharacters));
    for (char& c : text) {
        c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return SecretString(std::move(text));
}

}  // namespace

void PrincipalService::session(Principal principal, Reply<SessionInfo> reply) {
    in_session<SessionInfo>(
        std::move(principal),
        "session",
        [this](InSession in) -> Result<Outcome<SessionInfo>> {
            return info_of(in.human, in.session, in.turn.now());
        },
        std::move(reply));
}

void PrincipalService::logout(Principal principal, Reply<SessionInfo> reply) {
    in_session<SessionInfo>(
        std::move(principal),
        "logout",
        [this](InSession in) -> Result<Outcome<SessionInfo>> {
            const SessionInfo info = info_of(in.human, in.session, in.turn.now());
            const Human human = end_session(std::move(in.human), in.session.session_id);
            records_.save(in.turn, human);
            TRY(record_human(in.turn, human, "HUMAN_LOGGED_OUT"));
            return info;
        },
        std::move(reply));
}

Result<Outcome<SessionInfo>> PrincipalService::refuse_proof(InSession in) {
    const Human human = note_failed_proof(std::move(in.human), in.session.session_id);
    records_.save(in.turn, human);
    TRY(record_human(in.turn, human, "HUMAN_PROOF_FAILED", AuditStatus::failed));
    return Refused{
        fail(errors::wrong_credential, "The password or one-time code is not right.").error()};
}

Result<Outcome<SessionInfo>> PrincipalService::accept_proof(InSession in, std::string event) {
    const SessionId session_id = in.session.session_id;
    const Human human = note_proof(
        std::move(in.human), session_id, parts_.directory.time_of_sessions(in.turn.now()));
    records_.save(in.turn, human);
    TRY(record_human(in.turn, human, std::move(event)));
    return info_of(human, *find_session(human, session_id, in.turn.now()), in.turn.now());
}

// Gives what the worker found; a second turn has to check that the hash is still the human's.
void PrincipalService::check_password(
    Principal principal, std::shared_ptr<SecretString> password, Reply<PasswordProof> next) {
    const std::string human_id = principal.id;
    in_session<std::string>(
        std::move(principal),
        "check_password",
        [this](InSession in) -> Result<Outcome<std::string>> {
            return in.human.password_hash.value_or(dummy_password_hash(parts_.password_cost));
        },
        [this, human_id, password, next](Result<std::string> stored) {
            if (!stored) {
                next(std::unexpected(std::move(stored).error()));
                return;
            }
            run_job(
                {.is_known = true, .name = human_id},
                [password, next, stored = *stored] {
                    next(PasswordProof{verify_password(*password, stored), stored});
                },
                [next](Error error) { next(std::unexpected(std::move(error))); });
        });
}

void PrincipalService::reauthenticate(
    Principal principal, ReauthenticateRequest request, Reply<SessionInfo> reply) {
    if (!request.password) {
        in_session<SessionInfo>(
            std::move(principal),
            "reauthenticate",
            [this, code = request.totp.value_or("")](InSession in) -> Result<Outcome<SessionInfo>> {
                const auto step = accepted_totp_step(
                    {.key_text = in.human.totp_key.value_or(""),
                     .code = code,
                     .last_step = in.human.totp_last_step},
                    in.turn.now());
                if (!step || !in.human.totp_key) {
                    return refuse_proof(std::move(in));
                }
                in.human.totp_last_step = *step;
                return accept_proof(std::move(in), "HUMAN_REAUTHENTICATED");
            },
            std::move(reply));
        return;
    }
    const auto password = std::make_shared<SecretString>(*std::move(request.password));
    check_password(principal, password, [this, principal, reply](Result<PasswordProof> proof) {
        if (!proof) {
            reply(std::unexpected(std::move(proof).error()));
            return;
        }
        in_session<SessionInfo>(
            principal,
            "reauthenticate",
            [this, proof = *std::move(proof)](InSession in) {
                const bool right = proof.right && in.human.password_hash == proof.checked_hash;
                return right ? accept_proof(std::move(in), "HUMAN_REAUTHENTICATED")
                             : refuse_proof(std::move(in));
            },
            reply);
    });
}

void PrincipalService::change_password(
    Principal principal, ChangePasswordRequest request, Reply<SessionInfo> reply) {
    if (const auto good = check_new_password(request.new_password.reveal()); !good) {
        reply(std::unexpected(good.error()));
        return;
    }
    const auto old_password = std::make_shared<SecretString>(std::move(request.old_password));
    const auto new_password = std::make_shared<SecretString>(std::move(request.new_password));
    const auto finish = [this, principal, new_password, reply](Result<PasswordProof> proof) {
        // Still on the worker: the new hash is made only for somebody who knew the old password.
        Result<std::string> hash = std::string();
        if (proof && proof->right) {
            hash = hash_password(*new_password, parts_.password_cost);
        }
        if (!proof || !hash) {
            reply(std::unexpected(!proof ? proof.error() : hash.error()));
            return;
        }
        in_session<SessionInfo>(
            principal,
            "change_password",
            [this, proof = *std::move(proof), hash = *std::move(hash), new_password](
                InSession in) -> Result<Outcome<SessionInfo>> {
                if (!proof.right || in.human.password_hash != proof.checked_hash) {
                    return refuse_proof(std::move(in));
                }
                TRY(check_new_password(new_password->reveal(), in.human.email));
                in.human.password_hash = hash;
                in.human = end_other_sessions(std::move(in.human), in.session.session_id);
                return accept_proof(std::move(in), "HUMAN_PASSWORD_CHANGED");
            },
            reply);
    };
    check_password(principal, old_password, finish);
}

void PrincipalService::enrol_totp(Principal principal, Reply<TotpEnrolment> reply) {
    in_session<TotpEnrolment>(
        std::move(principal),
        "enrol_totp",
        [this](InSession in) -> Result<Outcome<TotpEnrolment>> {
            // A stolen session must not be able to put its own second factor in place.
            const Timestamp now = parts_.directory.time_of_sessions(in.turn.now());
            if (now - in.session.authenticated_at > kFreshAuthentication) {
                return fail(
                    errors::reauthentication_required,
                    "Setting up a second factor needs a fresh login.");
            }
            SecretString key = totp_key_from(parts_.ids.new_secret("totp"), "totp_");
            in.human.totp_key_offered = std::string(key.reveal());
            records_.save(in.turn, in.human);
            TRY(record_human(in.turn, in.human, "HUMAN_TWO_FACTOR_OFFERED"));
            return enrolment_of(in.human.email, std::move(key));
        },
        std::move(reply));
}

void PrincipalService::confirm_totp(
    Principal principal, ConfirmTotpRequest request, Reply<SessionInfo> reply) {
    in_session<SessionInfo>(
        std::move(principal),
        "confirm_totp",
        [this, code = std::move(request.totp)](InSession in) -> Result<Outcome<SessionInfo>> {
            if (!in.human.totp_key_offered) {
                return fail(errors::totp_not_started, "No second factor is waiting for a code.");
            }
            const auto step = accepted_totp_step(
                {.key_text = *in.human.totp_key_offered, .code = code, .last_step = 0},
                in.turn.now());
            if (!step) {
                return refuse_proof(std::move(in));
            }
            in.human.totp_key = std::exchange(in.human.totp_key_offered, std::nullopt);
            in.human.totp_last_step = *step;
            in.human.recovery.second_factor_due = false;
            return accept_proof(std::move(in), "HUMAN_TWO_FACTOR_ENABLED");
        },
        std::move(reply));
}

void PrincipalService::disable_totp(
    Principal principal, DisableTotpRequest request, Reply<SessionInfo> reply) {
    const auto password = std::make_shared<SecretString>(std::move(request.password));
    check_password(principal, password, [this, principal, reply](Result<PasswordProof> proof) {
        if (!proof) {
            reply(std::unexpected(std::move(proof).error()));
            return;
        }
        in_session<SessionInfo>(
            principal,
            "disable_totp",
            [this, proof = *std::move(proof)](InSession in) {
                if (!proof.right || in.human.password_hash != proof.checked_hash) {
                    return refuse_proof(std::move(in));
                }
                in.human.totp_key.reset();
                in.human.totp_key_offered.reset();
                return accept_proof(std::move(in), "HUMAN_TWO_FACTOR_DISABLED");
            },
            reply);
    });
}

}  // namespace interlock
