// The part of the onboarding service that gets the activation letter to the owner.
//
// One attempt is: a turn, asked for by a timer, that makes a new code, keeps its hash and sets the
// timer of the next attempt; after its commit a worker that sends; then a turn that records what
// came of it. Whatever is lost on the way, the timer is there.
#include <set>

#include "base/errors.h"
#include "base/log.h"
#include "bots/service/activation_letter.h"
#include "bots/service/onboarding_service.h"
#include "host/rules/letter_retry.h"
#include "host/rules/login_policy.h"

namespace interlock {
namespace {

TimerId mail_timer(const TenantId& tenant_id) {
    return TimerId::trusted("activation_mail_" + tenant_id.text());
}

}  // namespace

void OnboardingService::set_mail_timer(Turn& turn, const TenantId& tenant_id, Timestamp at) {
    turn.set_timer(
        {.timer_id = mail_timer(tenant_id),
         .tenant_id = tenant_id,
         .kind = "activation_mail",
         .json = "{}",
         .due_at = at});
}

Result<void> OnboardingService::repair_letters(std::span<const TenantId> tenants) {
    // A turn of its own, run here: the engine does not go round yet.
    Result<void> repaired;
    TurnRequest request =
        turn_of({internal_principal("start"), system_tenant()}, "repair_activation_mail");
    request.decide = [tenants](Turn& turn) -> Result<TurnReply> {
        for (const TenantId& tenant_id : tenants) {
            set_mail_timer(turn, tenant_id, turn.now());
        }
        return Answer{};
    };
    request.reply = [&](Result<Answer> answer) {
        if (!answer) {
            repaired = std::unexpected(std::move(answer).error());
        }
    };
    std::vector<TurnRequest> batch;
    batch.push_back(std::move(request));
    parts_.runner.run_batch(std::move(batch));
    return repaired;
}

Result<void> OnboardingService::try_letter(Turn& turn) {
    const TenantId tenant_id = turn.tenant_id();
    TRY_ASSIGN(OnboardingRow row, load_row(turn, tenant_id));
    if (!row.signup || row.signup->mail.state != MailState::due) {
        return {};
    }
    ActivationMail& mail = row.signup->mail;
    if (mail.attempts >= kMailAttemptsMax) {
        return give_up_letter(turn, row, "interrupted");
    }
    PrincipalRecords& records = parts_.principals.records();
    TRY_ASSIGN(Human owner, records.human(turn, row.signup->human_id));
    if (owner.is_activated() || !owner.memberships.contains(tenant_id)) {
        // The operator may have invited somebody else in the owner's place.
        return give_up_letter(turn, row, owner.is_activated() ? "activated" : "withdrawn");
    }
    const SecretString code = parts_.ids.new_secret("ilc");
    const Timestamp expires = turn.now() + kOneTimeCodeLife;
    owner.one_time_code = {sha256_hex(code.reveal()), expires};
    records.save(turn, owner);
    ++mail.attempts;
    ++mail.serial;
    mail.last_try_at = turn.now();
    set_mail_timer(turn, tenant_id, turn.now() + mail_retry_delay(mail.attempts));
    save_row(turn, tenant_id, row);
    const auto letter = std::make_shared<Mail>(activation_letter(
        {.tenant_id = tenant_id,
         .signup = *row.signup,
         .code = code,
         .code_expires = expires,
         .base_url = parts_.base_url()}));
    turn.after_commit([this, tenant_id, serial = mail.serial, letter] {
        send_letter(tenant_id, serial, letter);
    });
    return {};
}

Result<void> OnboardingService::give_up_letter(Turn& turn, OnboardingRow& row, std::string error) {
    ActivationMail& mail = row.signup->mail;
    mail.state = error == "activated" ? MailState::not_needed : MailState::failed;
    mail.last_error = std::move(error);
    turn.clear_timer(mail_timer(turn.tenant_id()));
    save_row(turn, turn.tenant_id(), row);
    if (mail.state == MailState::not_needed) {
        return {};
    }
    AuditDraft draft = turn.draft("ACTIVATION_MAIL_FAILED");
    draft.status = AuditStatus::failed;
    draft.detail.set("attempts", mail.attempts);
    draft.detail.set("error", mail.last_error);
    TRY(turn.audit(std::move(draft)));
    return {};
}

// On the engine thread; the letter goes out on a worker.
void OnboardingService::send_letter(
    TenantId tenant_id, std::int64_t serial, std::shared_ptr<Mail> letter) {
    const bool taken = parts_.workers.try_run([this, tenant_id, serial, letter] {
        if (is_stopping_) {
            wipe(letter->text);
            return;
        }
        const Result<void> sent = parts_.mailer.send(*letter);
        wipe(letter->text);
        MailOutcome outcome{.serial = serial, .error = {}};
        if (!sent) {
            outcome.error = sent.error().code();
            outcome.is_final = !sent.error().retryable();
            log_warn(
                "activation_mail_failed",
                {{"tenant_id", tenant_id.text()}, {"error", outcome.error}});
        }
        record_letter(tenant_id, std::move(outcome));
    });
    if (!taken) {
        wipe(letter->text);
        record_letter(
            tenant_id,
            {.serial = serial, .error = std::string(errors::overloaded.code), .was_tried = false});
    }
}

void OnboardingService::record_letter(const TenantId& tenant_id, MailOutcome outcome) {
    TurnRequest request =
        turn_of({internal_principal("mail"), tenant_id}, "record_activation_mail");
    request.decide = [this, outcome = std::move(outcome)](Turn& turn) -> Result<TurnReply> {
        TRY(decide_letter(turn, outcome));
        return Answer{};
    };
    request.reply = [tenant_id](const Result<Answer>& answer) {
        if (!answer) {
            // The timer is still set: the letter may go out twice, which does no harm.
            log_warn(
                "activation_mail_not_recorded",
                {{"tenant_id", tenant_id.text()}, {"error", answer.error().code()}});
        }
    };
    parts_.submit(std::move(request));
}

Result<void> OnboardingService::decide_letter(Turn& turn, const MailOutcome& outcome) {
    TRY_ASSIGN(OnboardingRow row, load_row(turn, turn.tenant_id()));
    if (!row.signup || row.signup->mail.state != MailState::due ||
        row.signup->mail.serial != outcome.serial) {
        return {};  // Overtaken: activated, or begun anew.
    }
    ActivationMail& mail = row.signup->mail;
    if (!outcome.was_tried) {
        --mail.attempts;
    }
    if (!outcome.error.empty()) {
        if (outcome.is_final || mail.attempts >= kMailAttemptsMax) {
            return give_up_letter(turn, row, outcome.error);
        }
        mail.last_error = outcome.error;
        save_row(turn, turn.tenant_id(), row);
        return {};
    }
    mail.state = MailState::sent;
    mail.last_error.clear();
    turn.clear_timer(mail_timer(turn.tenant_id()));
    save_row(turn, turn.tenant_id(), row);
    AuditDraft draft = turn.draft("ACTIVATION_MAIL_SENT");
    draft.detail.set("attempts", mail.attempts);
    TRY(turn.audit(std::move(draft)));
    return {};
}

void OnboardingService::resend_activation(Caller caller, Reply<BotAccountView> reply) {
    change(
        std::move(caller),
        "resend_activation",
        [this](Turn& turn, OnboardingRow& row) { return decide_resend(turn, row); },
        std::move(reply));
}

void OnboardingService::ask_letter(
    const AttemptPeer& peer, const std::string& email, const Reply<std::monostate>& reply) {
    const auto let_in = letter_door_.enter(peer, sha256_hex(email), parts_.clock.now());
    if (!let_in) {
        reply(std::unexpected(let_in.error()));
        return;
    }
    reply(std::monostate{});
    TurnRequest request = turn_of({somebody(), system_tenant()}, "ask_letter");
    const auto waiting = std::make_shared<Human>();
    request.decide = [this, email, waiting](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(
            const std::optional<Human> owner,
            parts_.principals.records().find_human_by_email(turn, email));
        *waiting = owner && !owner->is_activated() ? *owner : Human{};
        return Answer{};
    };
    request.reply = [this, waiting](const Result<Answer>& answer) {
        for (const TenantId& tenant_id : answer ? waiting->memberships : std::set<TenantId>{}) {
            resend_for(tenant_id, waiting->human_id);
        }
    };
    parts_.submit(std::move(request));
}

// Nobody hears how it went: who asked may be anyone.
void OnboardingService::resend_for(const TenantId& tenant_id, const HumanId& owner) {
    change(
        {somebody(), tenant_id},
        "resend_activation",
        [this, owner](Turn& turn, OnboardingRow& row) -> Result<void> {
            if (!row.signup || row.signup->human_id != owner) {
                return fail(errors::not_found, "Somebody else owns this account.");
            }
            return decide_resend(turn, row);
        },
        [](const Result<BotAccountView>&) {});
}

Result<void> OnboardingService::decide_resend(Turn& turn, OnboardingRow& row) {
    TRY_ASSIGN(SignupFacts * signup, signup_of(row));
    if (signup->activated_at) {
        return fail(errors::already_activated, "The owner has set a password already.");
    }
    ActivationMail& mail = signup->mail;
    if (mail.last_try_at && turn.now() < *mail.last_try_at + kResendGap) {
        constexpr std::int64_t kSecond = Duration::of_seconds(1).microseconds;
        const Duration wait = *mail.last_try_at + kResendGap - turn.now();
        auto refusal = fail(errors::rate_limited, "A letter was sent a moment ago.");
        refusal.error().retry_after_seconds =
            static_cast<int>((wait.microseconds + kSecond - 1) / kSecond);
        return refusal;
    }
    mail.state = MailState::due;
    mail.attempts = 0;
    ++mail.serial;  // What is still on its way is of an earlier round.
    mail.last_error.clear();
    set_mail_timer(turn, turn.tenant_id(), turn.now());
    TRY(turn.audit(turn.draft("ACTIVATION_MAIL_ASKED")));
    return {};
}

Result<void> OnboardingService::on_activated(
    Turn& turn, const PrincipalService::Activation& activation) {
    const Human& human = activation.human;
    for (const TenantId& tenant_id : human.memberships) {
        if (tenant_id == system_tenant()) {
            continue;
        }
        TRY_ASSIGN(OnboardingRow row, load_row(turn, tenant_id));
        const bool owns = row.signup && row.signup->human_id == human.human_id;
        if (owns) {
            row.signup->activated_at = turn.now();
            ActivationMail& mail = row.signup->mail;
            mail.state = mail.state == MailState::sent ? mail.state : MailState::not_needed;
            turn.clear_timer(mail_timer(tenant_id));
            set_unclaimed_timer(turn, tenant_id, *row.signup);
        }
        if (activation.grant_key_provisioning) {
            TRY(give_grant(turn, {tenant_id, "human:" + human.human_id.text(), {}}, row));
        }
        if (owns || activation.grant_key_provisioning) {
            save_row(turn, tenant_id, row);
        }
    }
    return {};
}

}  // namespace interlock
