#include "host/rules/notice_board.h"

#include <algorithm>
#include <utility>

#include "engine/rules/notice_rules.h"

namespace interlock {
namespace {

constexpr Duration kRetryFirst = Duration::of_minutes(1);
constexpr Duration kRetryLongest = Duration::of_hours(6);
constexpr std::int64_t kRetryFactor = 5;
// When nobody was free to send.
constexpr Duration kBusyPause = Duration::of_seconds(5);
constexpr std::string_view kHumanPrefix = "human:";

std::int64_t& count_of(NoticeCounts& counts, NoticeKind kind) {
    return counts.of_kind[static_cast<std::size_t>(kind)];
}

// The outlet's own way of counting.
std::int64_t count_for(const NoticeCounts& counts, const NoticeOutlet& outlet) {
    return outlet.is_webhook() ? counts.all : counts.of_kind[static_cast<std::size_t>(outlet.kind)];
}

std::int64_t number_for(const Notice& notice, const NoticeOutlet& outlet) {
    return outlet.is_webhook() ? notice.number : notice.number_of_kind;
}

bool is_about(const NoticeOutlet& outlet, const Notice& notice) {
    return outlet.is_webhook() || outlet.kind == notice.kind;
}

// Whether the notice is told there at all: who asked for something needs not hear that it was.
bool is_told(const NoticeOutlet& outlet, const Notice& notice) {
    if (!is_about(outlet, notice)) {
        return false;
    }
    if (outlet.is_webhook()) {
        return true;
    }
    const bool is_askers = notice.asked_by == std::string(kHumanPrefix) + outlet.to;
    return notice.kind == NoticeKind::test       ? is_askers
           : notice.kind == NoticeKind::approval ? !is_askers
                                                 : !has_letters_of_its_own(notice);
}

struct Pending {
    std::vector<const Notice*> told;
    std::int64_t more = 0;
};
Pending pending_of(const NoticeRow& row, const NoticeOutlet& outlet) {
    Pending pending;
    std::int64_t held = 0;
    for (const Notice& notice : row.held) {
        if (is_about(outlet, notice) && number_for(notice, outlet) > outlet.told) {
            ++held;
            if (is_told(outlet, notice)) {
                pending.told.push_back(&notice);
            }
        }
    }
    pending.more = count_for(row.noted, outlet) - outlet.told - held;
    return pending;
}

// When what waits there is told.
Timestamp due_at(const NoticeOutlet& outlet, const Pending& pending) {
    const bool rests = outlet.sent_at && outlet.next_at == *outlet.sent_at + kLetterPause;
    const bool are_few = pending.more + std::ssize(pending.told) <= kApprovalsSoonMax;
    const bool is_soon = !outlet.is_webhook() && outlet.kind == NoticeKind::approval;
    return rests && are_few && is_soon ? *outlet.sent_at + kApprovalLetterPause : outlet.next_at;
}

NoticeOutlet* find_outlet(NoticeRow& row, const std::string& to, NoticeKind kind) {
    const auto found = std::ranges::find_if(row.outlets, [&](const NoticeOutlet& outlet) {
        return outlet.to == to && (outlet.is_webhook() || outlet.kind == kind);
    });
    return found == row.outlets.end() ? nullptr : &*found;
}

bool is_wanted(const NoticeOutlet& outlet, const NoticeAudience& audience) {
    if (outlet.is_webhook()) {
        return audience.has_webhook;
    }
    return std::ranges::any_of(audience.people, [&](const NoticePerson& person) {
        return person.human_id == outlet.to && person.wants.contains(outlet.kind) &&
               (outlet.kind != NoticeKind::approval || person.may_vote);
    });
}

// An outlet begins with the first notice that it is to tell, and with none from before.
void begin_outlet(NoticeRow& row, const std::string& to, NoticeKind kind) {
    if (find_outlet(row, to, kind) != nullptr) {
        return;
    }
    NoticeOutlet outlet{.to = to, .kind = kind};
    outlet.told = count_for(row.routed, outlet);
    const Pending pending = pending_of(row, outlet);
    if (!pending.told.empty() || pending.more > 0) {
        row.outlets.push_back(std::move(outlet));
    }
}

// A person whose only news is their own has none.
void pass_over(NoticeRow& row) {
    for (NoticeOutlet& outlet : row.outlets) {
        const Pending pending = pending_of(row, outlet);
        if (pending.told.empty() && pending.more == 0) {
            outlet.told = count_for(row.noted, outlet);
        }
    }
}

void drop_told(NoticeRow& row) {
    std::erase_if(row.held, [&](const Notice& notice) {
        return notice.number <= row.routed.all &&
               std::ranges::none_of(row.outlets, [&](const NoticeOutlet& outlet) {
                   return is_told(outlet, notice) && number_for(notice, outlet) > outlet.told;
               });
    });
}

}  // namespace

Duration notice_retry_delay(std::int64_t attempt) {
    Duration delay = kRetryFirst;
    for (std::int64_t i = 1; i < attempt && delay < kRetryLongest; ++i) {
        delay.microseconds *= kRetryFactor;
    }
    return std::min(delay, kRetryLongest);
}

void note(NoticeRow& row, Notice notice) {
    notice.number = ++row.noted.all;
    notice.number_of_kind = ++count_of(row.noted, notice.kind);
    if (row.held.size() >= kNoticesHeldMax) {
        row.held.erase(row.held.begin());
    }
    row.held.push_back(std::move(notice));
}

void route(NoticeRow& row, const NoticeAudience& audience) {
    std::erase_if(
        row.outlets, [&](const NoticeOutlet& outlet) { return !is_wanted(outlet, audience); });
    if (audience.has_webhook) {
        begin_outlet(row, std::string(kWebhookOutlet), NoticeKind::critical);
    }
    for (const NoticePerson& person : audience.people) {
        for (const NoticeKind kind : person.wants) {
            if (kind != NoticeKind::approval || person.may_vote) {
                begin_outlet(row, person.human_id, kind);
            }
        }
    }
    row.routed = row.noted;
    pass_over(row);
    drop_told(row);
}

std::vector<NoticeDelivery> begin_due(NoticeRow& row, Timestamp now) {
    std::vector<NoticeDelivery> due;
    for (NoticeOutlet& outlet : row.outlets) {
        if (due.size() >= kDeliveriesPerTurn) {
            break;
        }
        const Pending pending = pending_of(row, outlet);
        if (due_at(outlet, pending) > now || (pending.told.empty() && pending.more == 0)) {
            continue;
        }
        ++outlet.attempts;
        ++outlet.serial;
        outlet.next_at = now + notice_retry_delay(outlet.attempts);
        NoticeDelivery delivery{
            .to = outlet.to,
            .kind = outlet.kind,
            .serial = outlet.serial,
            .attempt = outlet.attempts,
            .upto = count_for(row.noted, outlet),
            .more = pending.more};
        delivery.is_suspect = outlet.attempts > 1 || outlet.is_slow;
        for (const Notice* const notice : pending.told) {
            delivery.notices.push_back(*notice);
        }
        due.push_back(std::move(delivery));
    }
    return due;
}

std::optional<Timestamp> next_due(const NoticeRow& row) {
    std::optional<Timestamp> next;
    for (const NoticeOutlet& outlet : row.outlets) {
        const Pending pending = pending_of(row, outlet);
        if (!pending.told.empty() || pending.more > 0) {
            const Timestamp due = due_at(outlet, pending);
            next = next ? std::min(*next, due) : due;
        }
    }
    return next;
}

std::optional<NoticesGivenUp> settle(NoticeRow& row, const NoticeOutcome& outcome, Timestamp now) {
    NoticeOutlet* const outlet = find_outlet(row, outcome.to, outcome.kind);
    if (outlet == nullptr || outlet->serial != outcome.serial) {
        return std::nullopt;
    }
    if (!outcome.was_tried) {
        --outlet->attempts;
        outlet->next_at = now + kBusyPause;
        return std::nullopt;
    }
    outlet->last_error = outcome.error;
    outlet->is_slow = outcome.call_took > kSlowCall;
    std::optional<NoticesGivenUp> lost;
    if (!outcome.error.empty()) {
        if (!outcome.is_final && outlet->attempts < kNoticeAttemptsMax) {
            return std::nullopt;
        }
        lost = NoticesGivenUp{outcome.to, outcome.kind, waiting_of(row, *outlet), outcome.error};
        outlet->given_up += lost->count;
        outlet->told = count_for(row.noted, *outlet);
    } else {
        outlet->told = outcome.upto;
        outlet->sent_at = now;
        outlet->took_ms = outcome.took_ms;
    }
    outlet->attempts = 0;
    outlet->next_at = now + (outlet->is_webhook() ? kWebhookPause : kLetterPause);
    pass_over(row);
    drop_told(row);
    return lost;
}

void begin_anew(NoticeRow& row, std::string_view to) {
    for (NoticeOutlet& outlet : row.outlets) {
        if (outlet.to == to) {
            ++outlet.serial;
            outlet.attempts = 0;
            outlet.next_at = {};
            outlet.last_error.clear();
            outlet.is_slow = false;
        }
    }
}

Timestamp due_of(const NoticeRow& row, const NoticeOutlet& outlet) {
    return due_at(outlet, pending_of(row, outlet));
}

std::int64_t waiting_of(const NoticeRow& row, const NoticeOutlet& outlet) {
    const Pending pending = pending_of(row, outlet);
    return pending.more + std::ssize(pending.told);
}

}  // namespace interlock
