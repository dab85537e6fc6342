// The words of notices: a letter to a person, a body for a webhook. Fixed words, ids and times.
#pragma once

#include <string>

#include "host/rules/notice_board.h"
#include "host/wire/mail.h"

namespace interlock {

struct NoticeEnvelope {
    TenantId tenant_id;  // Whose people are told.
    std::string link;    // Where to look, without any right in it; empty: not known.
};
Mail notice_letter(
    const std::string& to, const NoticeDelivery& delivery, const NoticeEnvelope& envelope);

// JSON text. A repeat says when it was sent anew, and names the same notices.
std::string notice_body(
    const NoticeDelivery& delivery, const NoticeEnvelope& envelope, Timestamp sent_at);

// "t=<unix seconds>,v1=<hex>": HMAC-SHA256 over the seconds, a dot and the body.
inline constexpr std::string_view kNoticeSignatureHeader = "Interlock-Signature";
std::string notice_signature(std::string_view secret, Timestamp sent_at, std::string_view body);

}  // namespace interlock
