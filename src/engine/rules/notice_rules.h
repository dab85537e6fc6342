// Which records people are told of (docs/contracts/notices.md#1-what-is-told-and-to-whom).
#pragma once

#include <optional>

#include "engine/wire/audit_record.h"
#include "engine/wire/notice.h"

namespace interlock {

// Its event asks for a notice to the caller's own addresses, to see whether they arrive.
inline constexpr std::string_view kNoticeTestEvent = "NOTICE_TEST";
// Notices that did not leave; never told, or one failure would be the cause of the next.
inline constexpr std::string_view kNoticesUndeliveredEvent = "NOTICES_UNDELIVERED";
// A trial that is about to end.
inline constexpr std::string_view kTrialEndsEvent = "PLAN_EXPIRES_SOON";

// Nothing for most records. Cheap: asked of every one.
std::optional<Notice> notice_of(const AuditRecord& record);
// The host's people are told, too, whosever chain it is.
bool concerns_host(const Notice& notice);
// Letters of their own tell people of it (host/service/recovery_letters).
bool has_letters_of_its_own(const Notice& notice);

}  // namespace interlock
