// What people are told of, and how it is kept until it has left: docs/contracts/notices.md.
//
// A notice carries ids, words of the program and a time. Nobody's own words are in it, so that
// nothing an agent writes reaches a mailbox or another's server.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

enum class NoticeKind { approval, critical, blocked, chain_broken, trial, test };
inline constexpr std::array<std::string_view, 6> kNoticeWords = {
    "approval", "critical", "blocked", "chain_broken", "trial", "test"};
std::string_view to_word(NoticeKind kind);

struct Notice {
    NoticeId notice_id;  // Of one record always the same.
    NoticeKind kind = NoticeKind::critical;
    std::string event;     // Of the record.
    TenantId tenant_id;    // On whose chain the record is.
    std::string audit_id;  // Of the record.
    std::string subject;   // An approval's or a strategy's id; empty without one.
    Timestamp at;
    std::string asked_by = {};  // Whose record it is, a principal's text; told nobody.
    // Its place among all notices of the row, and among those of its kind; both from 1.
    std::int64_t number = 0;
    std::int64_t number_of_kind = 0;
};
// As receivers see it.
Json encode(const Notice& notice);

// Notices that a tenant's row holds; the oldest of more are only counted.
inline constexpr std::size_t kNoticesHeldMax = 50;
inline constexpr std::string_view kWebhookOutlet = "webhook";

struct NoticeCounts {
    std::int64_t all = 0;
    std::array<std::int64_t, kNoticeWords.size()> of_kind{};
};

// Where notices leave: a person's letters of one kind, or the tenant's webhook for all kinds.
struct NoticeOutlet {
    std::string to;                          // A human's id, or kWebhookOutlet.
    NoticeKind kind = NoticeKind::critical;  // Of the letters.
    std::int64_t told = 0;        // Up to this number of its kind; of all for the webhook.
    std::int64_t attempts = 0;    // Of what it has not told yet.
    std::int64_t serial = 0;      // Of the newest attempt.
    Timestamp next_at = {};       // No attempt before this.
    std::string last_error = {};  // Of the newest attempt; a word of the program.
    std::optional<Timestamp> sent_at = {};
    std::int64_t took_ms = 0;   // Asked → sent, of the oldest notice of the last delivery.
    std::int64_t given_up = 0;  // Notices that never left, ever.
    bool is_slow = false;       // The newest attempt took longer than others may have to wait.

    bool is_webhook() const { return to == kWebhookOutlet; }
};

// The state "notices/<tenant>".
struct NoticeRow {
    std::vector<Notice> held;  // Oldest first.
    NoticeCounts noted;        // Ever.
    NoticeCounts routed;       // For which it was worked out who is told.
    std::vector<NoticeOutlet> outlets;
    std::optional<Timestamp> wake_at;  // For when the row's timer is set.
};
inline constexpr std::string_view kNoticePrefix = "notices/";
std::string notice_machine(const TenantId& tenant_id);
Json encode(const NoticeRow& row);
Result<NoticeRow> decode_notice_row(const Json& json);

}  // namespace interlock
