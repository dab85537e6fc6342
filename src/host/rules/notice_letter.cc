#include "host/rules/notice_letter.h"

#include <array>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

struct LetterWords {
    std::string_view one;  // Behind a number of one, in the subject.
    std::string_view many;
    std::string_view next;  // What to do.
};
constexpr std::array<LetterWords, kNoticeWords.size()> kLetterWords{{
    {"approval waits",
     "approvals wait",
     "Look at each before you vote; a request that nobody answers expires."},
    {"critical alert", "critical alerts", "Look at the records; stop the tenant if in doubt."},
    {"change of what trades",
     "changes of what trades",
     "Look at the status: it says what is blocked, why, and what to do."},
    {"broken chain",
     "broken chains",
     "Nothing of that chain trades until a human has accepted the break; see `interlock audit "
     "verify`."},
    {"word on the trial",
     "words on the trial",
     "What runs ends with the trial; the operator of this host sets another plan."},
    {"test", "tests", "Nothing is to be done: somebody tried whether notices arrive."},
}};

std::string line_of(const Notice& notice) {
    std::string line = "  " + to_text(notice.at) + "  " + notice.event;
    if (!notice.subject.empty()) {
        line += "  " + notice.subject;
    }
    return line + "\n      record " + notice.audit_id + ", notice " + notice.notice_id.text() +
           "\n";
}

}  // namespace

Mail notice_letter(
    const std::string& to, const NoticeDelivery& delivery, const NoticeEnvelope& envelope) {
    const LetterWords& words = kLetterWords[static_cast<std::size_t>(delivery.kind)];
    const std::int64_t count = delivery.more + std::ssize(delivery.notices);
    const std::string what =
        std::to_string(count) + " " + std::string(count == 1 ? words.one : words.many);
    std::string text = "Tenant " + envelope.tenant_id.text() + ": " + what + ".\n\n";
    for (const Notice& notice : delivery.notices) {
        text += line_of(notice);
    }
    if (delivery.more > 0) {
        text += "  and " + std::to_string(delivery.more) + " more, earlier\n";
    }
    text += "\n" + std::string(words.next) + "\n";
    if (!envelope.link.empty()) {
        text += "\n    " + envelope.link + "\n";
    }
    text +=
        "\nWhich of these letters you get is yours to choose: `interlock notices letters` on the "
        "host, or\nset_notices over HTTP. This letter holds no password and no code, and nobody "
        "will ask you\nfor one.\n";
    return {
        .to = to,
        .subject = "Interlock: " + what + " (" + envelope.tenant_id.text() + ")",
        .text = std::move(text)};
}

std::string notice_body(
    const NoticeDelivery& delivery, const NoticeEnvelope& envelope, Timestamp sent_at) {
    Json notices = Json::array();
    for (const Notice& notice : delivery.notices) {
        notices.push(encode(notice));
    }
    return to_text(Json::object({
        {"tenant_id", envelope.tenant_id.text()},
        {"sent_at", to_text(sent_at)},
        {"notices", std::move(notices)},
        {"more", delivery.more},
        {"link", envelope.link.empty() ? Json() : Json(envelope.link)},
    }));
}

std::string notice_signature(std::string_view secret, Timestamp sent_at, std::string_view body) {
    constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
    const std::string seconds = std::to_string(sent_at.microseconds / kMicrosecondsPerSecond);
    std::string signed_text = seconds + ".";
    signed_text += body;
    return "t=" + seconds + ",v1=" + to_hex(hmac_sha256(secret, signed_text));
}

}  // namespace interlock
