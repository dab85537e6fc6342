#include "host/wire/notice_settings.h"

#include <algorithm>

#include "base/check.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

// People of one tenant who ever chose; those who left are dropped when somebody chooses.
constexpr std::size_t kChoosersReadMax = 200;

Json words_of(const std::set<NoticeKind>& kinds) {
    Json list = Json::array();
    for (const NoticeKind kind : kinds) {
        list.push(to_word(kind));
    }
    return list;
}

std::set<NoticeKind> read_kinds(FieldReader& in, std::string_view key) {
    std::set<NoticeKind> kinds;
    for (const Json& item : in.required_array(key, kNoticeWords.size())) {
        const auto word = item.is_string() ? std::ranges::find(kNoticeWords, item.as_string())
                                           : kNoticeWords.end();
        const auto kind = static_cast<NoticeKind>(word - kNoticeWords.begin());
        if (word == kNoticeWords.end() || kind == NoticeKind::test || !kinds.insert(kind).second) {
            in.add_problem(
                key,
                "must hold approval, critical, blocked, chain_broken or trial, each once at most");
            break;
        }
    }
    return kinds;
}

Json schema_from(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace

Json encode(const NoticeWebhook& webhook) {
    return Json::object({
        {"host", webhook.host},
        {"set_by", webhook.set_by},
        {"set_at", to_text(webhook.set_at)},
    });
}

bool NoticeSettings::wants(const HumanId& human_id, NoticeKind kind) const {
    const auto chosen = letters.find(human_id);
    return kind == NoticeKind::test || chosen == letters.end() || chosen->second.contains(kind);
}

std::string notice_settings_machine(const TenantId& tenant_id) {
    return "notify/" + tenant_id.text();
}

Json encode_state(const NoticeSettings& settings) {
    Json webhook;
    if (settings.webhook) {
        webhook = encode(*settings.webhook);
        webhook.set("url", settings.webhook->url);
        webhook.set("secret", settings.webhook->secret);
    }
    Json letters = Json::array();
    for (const auto& [human_id, kinds] : settings.letters) {
        letters.push(Json::object({{"human_id", human_id.text()}, {"kinds", words_of(kinds)}}));
    }
    return Json::object({{"webhook", std::move(webhook)}, {"letters", std::move(letters)}});
}

Result<NoticeSettings> decode_notice_settings(const Json& json) {
    FieldReader in(json);
    NoticeSettings settings;
    if (const Json* const webhook = in.optional_object("webhook")) {
        FieldReader inner(*webhook, "webhook");
        settings.webhook = NoticeWebhook{
            .url = inner.required<std::string>("url"),
            .host = inner.required<std::string>("host"),
            .secret = inner.required<std::string>("secret"),
            .set_by = inner.required<std::string>("set_by"),
            .set_at = inner.required<Timestamp>("set_at"),
        };
        inner.reject_unknown();
        TRY(inner.finish(true));
    }
    for (const Json& item : in.required_array("letters", kChoosersReadMax)) {
        FieldReader inner(item, "letters");
        const HumanId human_id = inner.required<HumanId>("human_id");
        settings.letters[human_id] = read_kinds(inner, "kinds");
        inner.reject_unknown();
        TRY(inner.finish(true));
    }
    in.reject_unknown();
    return in.finish(std::move(settings));
}

Result<SetNotices> decode_set_notices(const Json& json) {
    FieldReader in(json);
    SetNotices request{.letters = read_kinds(in, "letters")};
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json set_notices_schema() {
    return schema_from(R"({
        "type": "object",
        "required": ["letters"],
        "additionalProperties": false,
        "properties": {"letters": {
            "type": "array",
            "description": "Kinds that you want letters about; an empty list turns mail off.",
            "maxItems": 5,
            "uniqueItems": true,
            "items": {"type": "string",
                "enum": ["approval", "critical", "blocked", "chain_broken", "trial"]}}}})");
}

Result<SetNoticeWebhook> decode_set_notice_webhook(const Json& json) {
    FieldReader in(json);
    SetNoticeWebhook request{
        .url = in.required_text("url", {.length_min = 1, .length_max = kWebhookUrlBytesMax})};
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json set_notice_webhook_schema() {
    return schema_from(R"({
        "type": "object",
        "required": ["url"],
        "additionalProperties": false,
        "properties": {"url": {
            "type": "string",
            "description": "An http or https URL that the public can reach; it gets POSTs.",
            "minLength": 1,
            "maxLength": 2048}}})");
}

std::vector<NoticeKind> notice_choices() {
    return {
        NoticeKind::approval,
        NoticeKind::critical,
        NoticeKind::blocked,
        NoticeKind::chain_broken,
        NoticeKind::trial};
}

}  // namespace interlock
