#include "host/face/notice_operations.h"

#include "base/check.h"
#include "host/face/answer_reply.h"

namespace interlock {
namespace {

Json notice_schema(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json notice_ref_schema() {
    return notice_schema(R"({
        "type": "object",
        "required": ["audit_ref"],
        "properties": {"audit_ref": {"type": "string"}}})");
}

NoticeService::Caller notice_caller(ApiCall& call) {
    return {std::move(call.principal), std::move(call.tenant_id)};
}

Operation get_notices_operation(NoticeService& notices) {
    return {
        .id = "get_notices",
        .method = "GET",
        .path = "/api/{tenant_id}/notices",
        .summary = "What you are told by letter, the tenant's webhook, and what has not left.",
        .description =
            "`letters` are the caller's own, null for the operator. Each outlet is a person's "
            "letters of one kind or the webhook, since somebody was first told there: how many "
            "notices wait, when the next attempt is, why the newest one failed.",
        .access = {.host_operator = true, .human = true, .system_tenant = true},
        .query = {},
        .request_schema = {},
        .answer_schema = notice_schema(R"({
            "type": "object",
            "required": ["letters", "webhook", "outlets"],
            "properties": {
                "letters": {"type": ["array", "null"], "items": {"type": "string"}},
                "webhook": {"type": ["object", "null"],
                    "required": ["host", "set_by", "set_at"],
                    "properties": {
                        "host": {"type": "string"},
                        "set_by": {"type": "string"},
                        "set_at": {"type": "string", "format": "date-time"}}},
                "outlets": {"type": "array", "items": {"type": "object",
                    "required": ["to", "kind", "waiting", "attempts", "next_at", "last_error",
                                 "sent_at", "took_ms", "given_up"],
                    "properties": {
                        "to": {"type": "string"},
                        "kind": {"type": ["string", "null"]},
                        "waiting": {"type": "integer"},
                        "attempts": {"type": "integer"},
                        "next_at": {"type": ["string", "null"], "format": "date-time"},
                        "last_error": {"type": "string"},
                        "sent_at": {"type": ["string", "null"], "format": "date-time"},
                        "took_ms": {"type": ["integer", "null"]},
                        "given_up": {"type": "integer"}}}}}})"),
        .handle =
            [&notices](ApiCall call, ApiReplyTo reply) {
                notices.get(notice_caller(call), answer_to(std::move(reply)));
            },
    };
}

Operation set_notices_operation(NoticeService& notices) {
    return {
        .id = "set_notices",
        .method = "PUT",
        .path = "/api/{tenant_id}/notices/letters",
        .summary = "Choose which notices of this tenant you get by letter.",
        .description =
            "For yourself alone and this tenant alone. Whoever has never chosen gets all kinds; "
            "an empty list turns mail off. The webhook hears of everything all the same.",
        .access = {.human = true, .system_tenant = true},
        .query = {},
        .request_schema = set_notices_schema(),
        .answer_schema = notice_schema(R"({
            "type": "object",
            "required": ["letters", "audit_ref"],
            "properties": {
                "letters": {"type": "array", "items": {"type": "string"}},
                "audit_ref": {"type": "string"}}})"),
        .handle =
            [&notices](ApiCall call, ApiReplyTo reply) {
                auto request = decode_set_notices(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                notices.set(notice_caller(call), *std::move(request), answer_to(std::move(reply)));
            },
    };
}

Operation set_notice_webhook_operation(NoticeService& notices) {
    return {
        .id = "set_notice_webhook",
        .method = "PUT",
        .path = "/api/{tenant_id}/notices/webhook",
        .summary = "Have this tenant's notices posted to a URL, signed.",
        .description =
            "In place of the one before. The URL is judged now and at each call; no redirect is "
            "followed. `secret` is shown this once: with it the receiver checks the header "
            "Interlock-Signature. Setting the same URL again makes a new secret.",
        .access = {.human = true, .system_tenant = true},
        .query = {},
        .request_schema = set_notice_webhook_schema(),
        .answer_schema = notice_schema(R"({
            "type": "object",
            "required": ["host", "set_by", "set_at", "secret", "audit_ref"],
            "properties": {
                "host": {"type": "string"},
                "set_by": {"type": "string"},
                "set_at": {"type": "string", "format": "date-time"},
                "secret": {"type": "string"},
                "audit_ref": {"type": "string"}}})"),
        .handle =
            [&notices](ApiCall call, ApiReplyTo reply) {
                auto request = decode_set_notice_webhook(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                notices.set_webhook(
                    notice_caller(call), *std::move(request), answer_to(std::move(reply)));
            },
    };
}

Operation delete_notice_webhook_operation(NoticeService& notices) {
    return {
        .id = "delete_notice_webhook",
        .method = "DELETE",
        .path = "/api/{tenant_id}/notices/webhook",
        .summary = "Post this tenant's notices nowhere any more.",
        .description = "What still waits for the webhook is dropped; letters go on.",
        .access = {.human = true, .system_tenant = true, .human_at_rest = true},
        .query = {},
        .request_schema = {},
        .answer_schema = notice_ref_schema(),
        .handle =
            [&notices](ApiCall call, ApiReplyTo reply) {
                notices.delete_webhook(notice_caller(call), answer_to(std::move(reply)));
            },
    };
}

Operation test_notices_operation(NoticeService& notices) {
    return {
        .id = "test_notices",
        .method = "POST",
        .path = "/api/{tenant_id}/notices/test",
        .summary = "Send a notice of kind `test` to yourself and to the webhook.",
        .description =
            "The same way as all others, within seconds; get_notices tells what came of it. "
            "Letters of one kind leave once in five minutes at most.",
        .access = {.human = true, .system_tenant = true},
        .query = {},
        .request_schema = {},
        .answer_schema = notice_ref_schema(),
        .statuses = {202},
        .handle =
            [&notices](ApiCall call, ApiReplyTo reply) {
                notices.test(notice_caller(call), answer_to(std::move(reply)));
            },
    };
}

Operation notice_status_operation(NoticeService& notices) {
    return {
        .id = "notice_status",
        .method = "GET",
        .path = "/notices",
        .summary = "Which tenants' notices have not left.",
        .description =
            "For the operator: at most 200 tenants, those first whose newest attempt failed, with "
            "how many notices wait, how many were given up, and how long the last one took from "
            "its record to whoever took it.",
        .access = {.place = Access::Place::host, .host_operator = true},
        .query = {},
        .request_schema = {},
        .answer_schema = notice_schema(R"({
            "type": "object",
            "required": ["tenants"],
            "properties": {"tenants": {"type": "array", "items": {"type": "object",
                "required": ["tenant_id", "waiting", "given_up", "failing", "sent_at", "took_ms"],
                "properties": {
                    "tenant_id": {"type": "string"},
                    "waiting": {"type": "integer"},
                    "given_up": {"type": "integer"},
                    "failing": {"type": "string"},
                    "sent_at": {"type": ["string", "null"], "format": "date-time"},
                    "took_ms": {"type": ["integer", "null"]}}}}}})"),
        .handle =
            [&notices](ApiCall call, ApiReplyTo reply) {
                notices.status(std::move(call.principal), answer_to(std::move(reply)));
            },
    };
}

}  // namespace

void register_notice_operations(OperationTable& table, NoticeService& notices) {
    table.add(get_notices_operation(notices));
    table.add(set_notices_operation(notices));
    table.add(set_notice_webhook_operation(notices));
    table.add(delete_notice_webhook_operation(notices));
    table.add(test_notices_operation(notices));
    table.add(notice_status_operation(notices));
}

}  // namespace interlock
