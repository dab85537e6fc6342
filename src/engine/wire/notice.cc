#include "engine/wire/notice.h"

#include <utility>

#include "codec/field_reader.h"

namespace interlock {
namespace {

// More outlets than people and kinds allow are not read.
constexpr std::size_t kOutletsReadMax = 1000;

NoticeKind read_kind(FieldReader& in) {
    return static_cast<NoticeKind>(in.required_word_index("kind", kNoticeWords));
}

Json encode_held(const Notice& notice) {
    Json json = encode(notice);
    json.set("asked_by", notice.asked_by);
    json.set("number", notice.number);
    json.set("number_of_kind", notice.number_of_kind);
    return json;
}

Result<Notice> decode_held(const Json& json, const std::string& path) {
    FieldReader in(json, path);
    Notice notice{
        .notice_id = in.required<NoticeId>("notice_id"),
        .kind = read_kind(in),
        .event = in.required<std::string>("event"),
        .tenant_id = TenantId::trusted(in.required<std::string>("tenant_id")),
        .audit_id = in.required<std::string>("audit_id"),
        .subject = in.required_nullable<std::string>("subject").value_or(""),
        .at = in.required<Timestamp>("at"),
        .asked_by = in.required<std::string>("asked_by"),
        .number = in.required<std::int64_t>("number"),
        .number_of_kind = in.required<std::int64_t>("number_of_kind"),
    };
    in.reject_unknown();
    return in.finish(std::move(notice));
}

Json encode_counts(const NoticeCounts& counts) {
    Json list = Json::array();
    list.push(counts.all);
    for (const std::int64_t count : counts.of_kind) {
        list.push(count);
    }
    return list;
}

NoticeCounts read_counts(FieldReader& in, std::string_view key) {
    const Json::Array& list = in.required_array(key, kNoticeWords.size() + 1);
    NoticeCounts counts;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto count = read_value(list[i], static_cast<std::int64_t*>(nullptr));
        if (!count) {
            in.add_problem(key, count.error());
            break;
        }
        (i == 0 ? counts.all : counts.of_kind[i - 1]) = *count;
    }
    return counts;
}

Json encode_outlet(const NoticeOutlet& outlet) {
    return Json::object({
        {"to", outlet.to},
        {"kind", to_word(outlet.kind)},
        {"told", outlet.told},
        {"attempts", outlet.attempts},
        {"serial", outlet.serial},
        {"next_at", to_text(outlet.next_at)},
        {"last_error", outlet.last_error},
        {"sent_at", outlet.sent_at ? Json(to_text(*outlet.sent_at)) : Json()},
        {"took_ms", outlet.took_ms},
        {"given_up", outlet.given_up},
        {"is_slow", outlet.is_slow},
    });
}

Result<NoticeOutlet> decode_outlet(const Json& json, const std::string& path) {
    FieldReader in(json, path);
    NoticeOutlet outlet{
        .to = in.required<std::string>("to"),
        .kind = read_kind(in),
        .told = in.required<std::int64_t>("told"),
        .attempts = in.required<std::int64_t>("attempts"),
        .serial = in.required<std::int64_t>("serial"),
        .next_at = in.required<Timestamp>("next_at"),
        .last_error = in.required<std::string>("last_error"),
        .sent_at = in.required_nullable<Timestamp>("sent_at"),
        .took_ms = in.required<std::int64_t>("took_ms"),
        .given_up = in.required<std::int64_t>("given_up"),
        .is_slow = in.required<bool>("is_slow"),
    };
    in.reject_unknown();
    return in.finish(std::move(outlet));
}

}  // namespace

std::string_view to_word(NoticeKind kind) {
    return kNoticeWords[static_cast<std::size_t>(kind)];
}

Json encode(const Notice& notice) {
    return Json::object({
        {"notice_id", notice.notice_id.text()},
        {"kind", to_word(notice.kind)},
        {"event", notice.event},
        {"tenant_id", notice.tenant_id.text()},
        {"audit_id", notice.audit_id},
        {"subject", notice.subject.empty() ? Json() : Json(notice.subject)},
        {"at", to_text(notice.at)},
    });
}

std::string notice_machine(const TenantId& tenant_id) {
    return std::string(kNoticePrefix) + tenant_id.text();
}

Json encode(const NoticeRow& row) {
    Json held = Json::array();
    for (const Notice& notice : row.held) {
        held.push(encode_held(notice));
    }
    Json outlets = Json::array();
    for (const NoticeOutlet& outlet : row.outlets) {
        outlets.push(encode_outlet(outlet));
    }
    return Json::object({
        {"held", std::move(held)},
        {"noted", encode_counts(row.noted)},
        {"routed", encode_counts(row.routed)},
        {"outlets", std::move(outlets)},
        {"wake_at", row.wake_at ? Json(to_text(*row.wake_at)) : Json()},
    });
}

Result<NoticeRow> decode_notice_row(const Json& json) {
    FieldReader in(json);
    NoticeRow row;
    for (const Json& item : in.required_array("held", kNoticesHeldMax)) {
        TRY_ASSIGN(Notice notice, decode_held(item, "held"));
        row.held.push_back(std::move(notice));
    }
    row.noted = read_counts(in, "noted");
    row.routed = read_counts(in, "routed");
    for (const Json& item : in.required_array("outlets", kOutletsReadMax)) {
        TRY_ASSIGN(NoticeOutlet outlet, decode_outlet(item, "outlets"));
        row.outlets.push_back(std::move(outlet));
    }
    row.wake_at = in.required_nullable<Timestamp>("wake_at");
    in.reject_unknown();
    return in.finish(std::move(row));
}

}  // namespace interlock
