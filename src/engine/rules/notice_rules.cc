#include "engine/rules/notice_rules.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

constexpr std::size_t kIdHexDigits = 32;
constexpr std::size_t kSubjectBytesMax = 128;

enum class When { always, critical };
struct Told {
    std::string_view event;
    NoticeKind kind;
    When when = When::always;
};
constexpr std::array<Told, 17> kTold{{
    {"APPROVAL_REQUESTED", NoticeKind::approval},
    {"CHAIN_BROKEN", NoticeKind::chain_broken},
    {"OTHER_CHAIN_BROKEN", NoticeKind::chain_broken},
    {"WITNESS_DISAGREES", NoticeKind::chain_broken},
    {"TRADING_BLOCKED", NoticeKind::blocked},
    {"TRADING_BLOCK_CHANGED", NoticeKind::blocked},
    {"TRADING_UNBLOCKED", NoticeKind::blocked},
    // A bot that was stopped from trading by no person: its record is critical then, and so is that
    // of the end. A start of the server or a person's own call is nobody's news.
    {"BOT_STALLED", NoticeKind::blocked, When::critical},
    {"BOT_FAILED", NoticeKind::blocked, When::critical},
    {"BOT_DISCONNECTED", NoticeKind::blocked, When::critical},
    {"BOT_CONNECTED", NoticeKind::blocked, When::critical},
    {"BOT_RESUMED", NoticeKind::blocked, When::critical},
    // Getting worse is an alert; whoever heard of it hears of its end.
    {"EXECUTION_QUALITY", NoticeKind::critical},
    {kTrialEndsEvent, NoticeKind::trial},
    {"PLAN_EXPIRED", NoticeKind::trial},
    {"PLAN_ENDED", NoticeKind::trial},
    {kNoticeTestEvent, NoticeKind::test},
}};

std::optional<NoticeKind> kind_of(const AuditDraft& draft) {
    if (draft.event == kNoticesUndeliveredEvent) {
        return std::nullopt;
    }
    const bool is_critical = draft.severity == AuditSeverity::critical;
    const auto* const told = std::ranges::find(kTold, draft.event, &Told::event);
    if (told == kTold.end()) {
        return is_critical ? std::optional(NoticeKind::critical) : std::nullopt;
    }
    return told->when == When::always || is_critical ? std::optional(told->kind) : std::nullopt;
}

// A gateway names itself, in any words: what is no plain id is left out, so that nobody writes into
// a mailbox.
bool is_plain_id(std::string_view text) {
    return text.size() <= kSubjectBytesMax && std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '/' || c == '.';
           });
}

std::string subject_of(const AuditDraft& draft) {
    for (const std::string_view key : {"approval_id", "strategy_id", "instance_id", "bot"}) {
        const Json* const id = draft.detail.find(key);
        if (id != nullptr && id->is_string()) {
            return is_plain_id(id->as_string()) ? id->as_string() : std::string();
        }
    }
    return {};
}

}  // namespace

std::optional<Notice> notice_of(const AuditRecord& record) {
    const std::optional<NoticeKind> kind = kind_of(record.draft);
    if (!kind) {
        return std::nullopt;
    }
    return Notice{
        .notice_id = NoticeId::trusted("ntc_" + record.hash.substr(0, kIdHexDigits)),
        .kind = *kind,
        .event = record.draft.event,
        .tenant_id = record.draft.tenant_id,
        .audit_id = audit_id(record),
        .subject = subject_of(record.draft),
        .at = record.draft.timestamp,
        .asked_by = record.draft.principal,
    };
}

bool concerns_host(const Notice& notice) {
    return notice.kind == NoticeKind::chain_broken;
}

bool has_letters_of_its_own(const Notice& notice) {
    return notice.event.starts_with("HUMAN_RECOVER");
}

}  // namespace interlock
