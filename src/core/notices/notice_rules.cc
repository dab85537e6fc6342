#include "core/notices/notice_rules.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

constexpr std::size_t kIdHexDigits = 32;

struct Told {
    std::string_view event;
    NoticeKind kind;
};
constexpr std::array<Told, 11> kTold{{
    {"APPROVAL_REQUESTED", NoticeKind::approval},
    {"CHAIN_BROKEN", NoticeKind::chain_broken},
    {"OTHER_CHAIN_BROKEN", NoticeKind::chain_broken},
    {"WITNESS_DISAGREES", NoticeKind::chain_broken},
    {"TRADING_BLOCKED", NoticeKind::blocked},
    {"TRADING_BLOCK_CHANGED", NoticeKind::blocked},
    {"TRADING_UNBLOCKED", NoticeKind::blocked},
    {kTrialEndsEvent, NoticeKind::trial},
    {"PLAN_EXPIRED", NoticeKind::trial},
    {"PLAN_ENDED", NoticeKind::trial},
    {kNoticeTestEvent, NoticeKind::test},
}};

std::optional<NoticeKind> kind_of(const AuditDraft& draft) {
    if (draft.event == kNoticesUndeliveredEvent) {
        return std::nullopt;
    }
    const auto* const told = std::ranges::find(kTold, draft.event, &Told::event);
    if (told != kTold.end()) {
        return told->kind;
    }
    return draft.severity == AuditSeverity::critical ? std::optional(NoticeKind::critical)
                                                     : std::nullopt;
}

std::string subject_of(const AuditDraft& draft) {
    for (const std::string_view key : {"approval_id", "strategy_id"}) {
        const Json* const id = draft.detail.find(key);
        if (id != nullptr && id->is_string()) {
            return id->as_string();
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
