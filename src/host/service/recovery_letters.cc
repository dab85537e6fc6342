#include "host/service/recovery_letters.h"

#include <optional>
#include <set>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "codec/field_reader.h"
#include "host/rules/letter_retry.h"

namespace interlock {
namespace {

constexpr std::string_view kTimer = "recovery_letter";

using Step = PrincipalService::RecoveryStep;

std::string who(const PrincipalService::RecoveryNews& news) {
    return news.by.starts_with("operator:") ? "the operator of this host" : "a colleague";
}

// Fixed words: nobody's reason is carried into another's mailbox.
std::string started_text(const PrincipalService::RecoveryNews& news) {
    const RecoveryCase& open = *news.human.recovery.open;
    return "A recovery of the login of " + news.human.email + " was started by " + who(news) +
           " at " + to_text(open.started_at) + ".\n\nIts code is good from " +
           to_text(open.good_from) + " until " + to_text(open.expires_at) +
           ". Whoever has it then can\nset a new password. The vote of that login rests for 72 "
           "hours afterwards.\n\nIf this is not as it should be, log in and object. Anybody of the "
           "tenant can; when " +
           news.human.email + "\nlogs in as usual, it ends by itself.\n";
}

std::string ended_text(const PrincipalService::RecoveryNews& news) {
    return "The recovery of the login of " + news.human.email +
           " that was open has ended: somebody objected, or\n" + news.human.email +
           " logged in. Its code is void, and nothing else has changed.\n";
}

std::string recovered_text(const PrincipalService::RecoveryNews& news) {
    return "The login of " + news.human.email + " was recovered at " +
           to_text(*news.human.recovery.recovered_at) +
           ": it has a new password, and all its\nsessions have ended. Its vote rests until " +
           to_text(*news.human.recovery.vote_rests_until) +
           ".\n\nIf this is not as it should be, stop the tenant and look at the record; another "
           "human of the\ntenant can recover the login again.\n";
}

Mail code_letter(const Human& to, const SecretString& code, const std::string& base_url) {
    const RecoveryCase& open = *to.recovery.open;
    std::string text = "Somebody helps you back in to your Interlock login.\n\nYour code: ";
    text += code.reveal();
    text += "\n\nIt is good once, from " + to_text(open.good_from) + " until " +
            to_text(open.expires_at) + ". Of several letters only the\nnewest one's is.\n\n    " +
            base_url +
            "/recover\n\nThere you set a new password. Your vote then rests for 72 hours.\n\nIf "
            "you did not ask for this: log in as usual, which ends it, and tell your colleagues. "
            "Do not\npass this letter on: whoever has the code can take your login.\n";
    return {.to = to.email, .subject = "Your Interlock recovery code", .text = std::move(text)};
}

}  // namespace

Json RecoveryLetters::encode_order(const Order& order) {
    return Json::object({
        {"to", order.to.text()},
        {"attempts", order.attempts},
        {"is_code", order.is_code},
        {"started_at", to_text(order.started_at)},
        {"subject", order.subject},
        {"text", order.text},
    });
}

Result<RecoveryLetters::Order> RecoveryLetters::decode_order(const std::string& text) {
    TRY_ASSIGN(const Json json, parse_json(text));
    FieldReader in(json);
    Order order{
        .to = in.required<HumanId>("to"),
        .attempts = in.required<std::int64_t>("attempts"),
        .is_code = in.required<bool>("is_code"),
        .started_at = in.required<Timestamp>("started_at"),
        .subject = in.required<std::string>("subject"),
        .text = in.required<std::string>("text"),
    };
    return in.finish(std::move(order));
}

RecoveryLetters::RecoveryLetters(Parts parts) : parts_(std::move(parts)) {
    parts_.principals.set_recovery_rule(
        [this](
            Turn& turn, const PrincipalService::RecoveryNews& news) { return write(turn, news); });
    parts_.runner.on_timer(std::string(kTimer), [this](Turn& turn, const TimerItem& timer) {
        return attempt(turn, timer);
    });
}

void RecoveryLetters::set(Turn& turn, const TimerId& timer_id, const Order& order, Timestamp at) {
    turn.set_timer(
        {.timer_id = timer_id,
         .tenant_id = system_tenant(),
         .kind = std::string(kTimer),
         .json = to_text(encode_order(order)),
         .due_at = at});
}

// One letter for each person, at most kMembershipsMax × kHumansMax of them.
Result<void> RecoveryLetters::write(Turn& turn, const PrincipalService::RecoveryNews& news) {
    Order order;
    switch (news.step) {
        case Step::started:
            order.subject = "A login is to be recovered: object if that is wrong";
            order.text = started_text(news);
            break;
        case Step::ended:
            order.subject = "The recovery of a login has ended";
            order.text = ended_text(news);
            break;
        case Step::recovered:
            order.subject = "A login was recovered";
            order.text = recovered_text(news);
            break;
    }
    std::set<HumanId> people{news.human.human_id};
    for (const TenantId& tenant_id : news.human.memberships) {
        TRY_ASSIGN(const Tenant tenant, parts_.principals.records().tenant(turn, tenant_id));
        people.insert(tenant.human_ids.begin(), tenant.human_ids.end());
    }
    for (const HumanId& human_id : people) {
        order.to = human_id;
        set(turn, TimerId::trusted(turn.new_id("letter")), order, turn.now());
    }
    if (news.code_by_letter) {
        Order code;
        code.to = news.human.human_id;
        code.is_code = true;
        code.started_at = news.human.recovery.open->started_at;
        set(turn, TimerId::trusted(turn.new_id("letter")), code, turn.now());
    }
    return {};
}

Result<void> RecoveryLetters::attempt(Turn& turn, const TimerItem& timer) {
    TRY_ASSIGN(Order order, decode_order(timer.json));
    const auto to = parts_.principals.records().human(turn, order.to);
    if (!to || (!to->is_activated() && !order.is_code)) {
        return {};  // Gone meanwhile, or invited and without a login to look with.
    }
    if (order.attempts >= kMailAttemptsMax) {
        AuditDraft draft = turn.draft("HUMAN_RECOVERY_LETTER_FAILED");
        draft.status = AuditStatus::failed;
        draft.severity = AuditSeverity::critical;
        draft.detail.set("human_id", order.to.text());
        TRY(turn.audit(std::move(draft)));
        return {};
    }
    TRY_ASSIGN(std::optional<Mail> mail, compose(turn, order, *to));
    if (!mail) {
        return {};
    }
    ++order.attempts;
    set(turn, timer.timer_id, order, turn.now() + mail_retry_delay(order.attempts));
    const auto letter = std::make_shared<Mail>(*std::move(mail));
    turn.after_commit(
        [this, timer_id = timer.timer_id, to = order.to, letter] { send(timer_id, to, letter); });
    return {};
}

Result<std::optional<Mail>> RecoveryLetters::compose(
    Turn& turn, const Order& order, const Human& to) {
    if (!order.is_code) {
        return std::optional<Mail>(
            {to.email, order.subject, order.text + "\n    " + parts_.base_url() + "/\n"});
    }
    const auto& open = to.recovery.open;
    if (!open || open->started_at != order.started_at || turn.now() >= open->expires_at) {
        return std::optional<Mail>();
    }
    const SecretString code = recovery_code_from(parts_.ids.new_secret("ilr"));
    Human changed = to;
    changed.recovery.open->code_hash =
        recovery_code_hash(to.human_id, *read_recovery_code(code.reveal()));
    parts_.principals.records().save(turn, changed);
    return std::optional<Mail>(code_letter(changed, code, parts_.base_url()));
}

// On the engine thread; the letter goes out on a worker. One that no worker takes is tried again
// with its timer.
void RecoveryLetters::send(TimerId timer_id, HumanId to, std::shared_ptr<Mail> letter) {
    const bool taken = parts_.workers.try_run([this, timer_id, to, letter] {
        if (!is_stopping_) {
            const Result<void> sent = parts_.mailer.send(*letter);
            if (sent || !sent.error().retryable()) {
                settle(timer_id, to, sent ? nullptr : &sent.error());
            } else {
                log_warn(
                    "recovery_letter_failed",
                    {{"human_id", to.text()}, {"error", sent.error().code()}});
            }
        }
        wipe(letter->text);
    });
    if (!taken) {
        wipe(letter->text);
    }
}

void RecoveryLetters::settle(const TimerId& timer_id, const HumanId& to, const Error* error) {
    TurnRequest request;
    request.principal = internal_principal("mail");
    request.tenant_id = system_tenant();
    request.function = "settle_recovery_letter";
    const std::string code = error == nullptr ? "" : std::string(error->code());
    request.decide = [timer_id, to, code](Turn& turn) -> Result<TurnReply> {
        turn.clear_timer(timer_id);
        if (!code.empty()) {
            AuditDraft draft = turn.draft("HUMAN_RECOVERY_LETTER_FAILED");
            draft.status = AuditStatus::failed;
            draft.severity = AuditSeverity::critical;
            draft.detail.set("human_id", to.text());
            draft.detail.set("error", code);
            TRY(turn.audit(std::move(draft)));
        }
        return Answer{};
    };
    // Not recorded: the timer is still set, and a second copy does no harm.
    request.reply = [](const Result<Answer>&) {};
    parts_.submit(std::move(request));
}

}  // namespace interlock
