// Who is told and where: docs/contracts/notices.md#3-what-a-person-decides. The row says where
// facts of the tenant go, so it is one of the protected ones (engine/rules/protected_rows.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/secret_string.h"
#include "engine/wire/notice.h"

namespace interlock {

inline constexpr std::size_t kWebhookUrlBytesMax = 2048;

struct NoticeWebhook {
    std::string url;  // May hold a secret of the receiver: only its host is told.
    std::string host;
    std::string secret;  // Signs; told once, when it is made.
    std::string set_by;  // A principal's text.
    Timestamp set_at;
};
// What people see of it.
Json encode(const NoticeWebhook& webhook);

// The state "notify/<tenant>".
struct NoticeSettings {
    std::optional<NoticeWebhook> webhook;
    // Which letters a person wants; who is not in here wants all.
    std::map<HumanId, std::set<NoticeKind>> letters;

    bool wants(const HumanId& human_id, NoticeKind kind) const;
};
std::string notice_settings_machine(const TenantId& tenant_id);
Json encode_state(const NoticeSettings& settings);
Result<NoticeSettings> decode_notice_settings(const Json& json);

struct SetNotices {
    std::set<NoticeKind> letters;  // Never `test`: that is answered whatever is wanted.
};
Result<SetNotices> decode_set_notices(const Json& json);
Json set_notices_schema();

struct SetNoticeWebhook {
    std::string url;
};
Result<SetNoticeWebhook> decode_set_notice_webhook(const Json& json);
Json set_notice_webhook_schema();

// The kinds that a person may choose among.
std::vector<NoticeKind> notice_choices();

}  // namespace interlock
