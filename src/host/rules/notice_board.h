// One tenant's notices on their way: who is told what, when, and when it is over
// (docs/contracts/notices.md#2-how-it-leaves). Pure: the row comes in and goes out as a value.
//
// Invariants:
//   - a notice is held until every outlet that is to tell it has told it or given up;
//   - at most kNoticesHeldMax are held; of older ones an outlet tells how many there were;
//   - an outlet has one delivery under way, and none before its `next_at`;
//   - numbers only grow, so whatever is repeated tells the same notices under the same ids.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/wire/notice.h"

namespace interlock {

// Between two letters to a person about the same kind; what comes meanwhile is in the next one.
inline constexpr Duration kLetterPause = Duration::of_minutes(5);
// The same for approvals while so few wait: they end by themselves, a release after fifteen
// minutes. More of them are a flood.
inline constexpr Duration kApprovalLetterPause = Duration::of_minutes(1);
inline constexpr std::int64_t kApprovalsSoonMax = 5;
// Between two calls of a webhook.
inline constexpr Duration kWebhookPause = Duration::of_seconds(1);
// A receiver that took longer than this is called by the worker of those that failed.
inline constexpr Duration kSlowCall = Duration::of_seconds(1);
// A delivery that failed so often is given up, and that is on record.
inline constexpr std::int64_t kNoticeAttemptsMax = 6;
// Deliveries that begin in one turn; the rest begins in the next.
inline constexpr std::size_t kDeliveriesPerTurn = 32;

// How long after this attempt (from 1) the next one is made: a minute, then five times as long each
// time, six hours at most.
Duration notice_retry_delay(std::int64_t attempt);

struct NoticePerson {
    std::string human_id;
    bool may_vote = false;
    std::set<NoticeKind> wants;
};
struct NoticeAudience {
    std::vector<NoticePerson> people;  // Who can log in.
    bool has_webhook = false;
};

// Takes a notice in. Notices are numbered in the order of their records.
void note(NoticeRow& row, Notice notice);

// Works out who is told: outlets of people who are gone or do not want them end, others begin.
// Drops what nobody is still to be told.
void route(NoticeRow& row, const NoticeAudience& audience);

struct NoticeDelivery {
    std::string to;
    NoticeKind kind = NoticeKind::critical;
    std::int64_t serial = 0;
    std::int64_t attempt = 0;          // From 1.
    std::int64_t upto = 0;             // What the outlet has told once this has left.
    std::vector<Notice> notices = {};  // Oldest first.
    std::int64_t more = 0;             // Before those, without their ids.

    bool is_suspect = false;  // It failed or was slow the last time: nobody else waits for it.

    bool is_webhook() const { return to == kWebhookOutlet; }
};
// Whose time has come; each counts as an attempt, and the next is set.
std::vector<NoticeDelivery> begin_due(NoticeRow& row, Timestamp now);
// When begin_due() has something to do next; nothing: not before another notice.
std::optional<Timestamp> next_due(const NoticeRow& row);

struct NoticeOutcome {
    std::string to;
    NoticeKind kind = NoticeKind::critical;
    std::int64_t serial = 0;
    std::int64_t upto = 0;
    std::string error = {};    // Empty: it left.
    bool is_final = false;     // The same would be refused again.
    bool was_tried = true;     // False: nobody was free to send it.
    std::int64_t took_ms = 0;  // Asked → sent.
    Duration call_took = {};   // Of this attempt alone.
};
struct NoticesGivenUp {
    std::string to;
    NoticeKind kind = NoticeKind::critical;
    std::int64_t count = 0;
    std::string error;
};
// What came of a delivery; of one that was overtaken nothing comes. Gives what is lost by it.
std::optional<NoticesGivenUp> settle(NoticeRow& row, const NoticeOutcome& outcome, Timestamp now);

// The receiver was set anew: what waits is tried at once, and what is under way to the old one
// counts for nothing.
void begin_anew(NoticeRow& row, std::string_view to);

// When what waits there is tried next.
Timestamp due_of(const NoticeRow& row, const NoticeOutlet& outlet);
// What this outlet has not told yet, folded ones included.
std::int64_t waiting_of(const NoticeRow& row, const NoticeOutlet& outlet);

}  // namespace interlock
