#include "app/face/health_operations.h"

#include <memory>

#include "app/face/metrics_face.h"
#include "app/face/openapi.h"
#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr Access kAnyone{.place = Access::Place::host, .anyone = true};
constexpr Access kOperator{.place = Access::Place::host, .host_operator = true};

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Operation get_operation(std::string id, std::string path, std::string summary) {
    Operation operation;
    operation.id = std::move(id);
    operation.method = "GET";
    operation.path = std::move(path);
    operation.summary = std::move(summary);
    operation.access = kAnyone;
    return operation;
}

}  // namespace

void register_health_operations(OperationTable& table, HealthParts parts) {
    Operation health = get_operation("healthz", "/healthz", "The process is up.");
    health.description =
        "Answers as long as the network thread runs; says nothing about the engine.";
    health.answer_schema = schema_of(R"({"type": "object", "required": ["status", "version"],
        "properties": {"status": {"const": "ok"}, "version": {"type": "string"}}})");
    health.handle = [version = parts.version](ApiCall, ApiReplyTo reply) {
        reply(json_reply(200, Json::object({{"status", "ok"}, {"version", version}})));
    };
    health.lane = AnonymousLane::none;
    table.add(std::move(health));

    Operation ready = get_operation("readyz", "/readyz", "The engine takes and commits turns.");
    ready.description = "503 with the reason while starting, failing or shutting down.";
    ready.answer_schema = schema_of(R"({"type": "object", "required": ["status"],
        "properties": {"status": {"const": "ready"}}})");
    ready.handle = [why = parts.not_ready_because](ApiCall, ApiReplyTo reply) {
        if (std::string reason = why(); !reason.empty()) {
            auto refusal = fail(errors::unavailable, std::move(reason));
            refusal.error().retry_after_seconds = 1;
            reply(std::move(refusal));
            return;
        }
        reply(json_reply(200, Json::object({{"status", "ready"}})));
    };
    ready.lane = AnonymousLane::none;
    table.add(std::move(ready));

    Operation metrics = get_operation("metrics", "/metrics", "Numbers in Prometheus' text form.");
    metrics.description =
        "For the operator. A scraper without a credential uses the listener of `metrics.listen`.";
    // Not by where a call comes from: behind a proxy everybody comes from this machine.
    metrics.access = kOperator;
    metrics.answer_content_types = {std::string(kMetricsContentType)};
    metrics.handle = [&source = parts.metrics](ApiCall, ApiReplyTo reply) {
        ApiReply out;
        out.content_type = kMetricsContentType;
        out.body = source.render();
        reply(std::move(out));
    };
    table.add(std::move(metrics));

    Operation exposure =
        get_operation("exposure", "/exposure", "How the server can be reached, as it is now.");
    exposure.description =
        "For the operator: addresses, TLS with the certificate that is served, the public URL, "
        "trusted proxies, where the numbers are, and what went wrong with the last reload.";
    exposure.access = kOperator;
    exposure.answer_schema = schema_of(R"({"type": "object",
        "required": ["address", "public_url", "trusted_proxies", "metrics_listen",
                     "certificate_until", "reload_problem"],
        "properties": {
            "address": {"type": "string"},
            "public_url": {"type": "string"},
            "trusted_proxies": {"type": "array", "items": {"type": "string"}},
            "metrics_listen": {"type": "string"},
            "certificate_until": {"type": ["string", "null"], "format": "date-time"},
            "reload_problem": {"type": "string"}}})");
    exposure.handle = [tell = parts.exposure](
                          ApiCall, ApiReplyTo reply) { reply(json_reply(200, tell())); };
    table.add(std::move(exposure));
}

void register_openapi_operation(OperationTable& table, std::string version) {
    Operation document = get_operation("openapi", "/openapi.json", "This description.");
    document.description = "OpenAPI 3.1, made from the table the server routes by.";
    document.answer_schema = schema_of(R"({"type": "object"})");
    const auto text = std::make_shared<std::string>();
    document.handle = [text](ApiCall, ApiReplyTo reply) {
        ApiReply out;
        out.body = *text;
        out.is_document = true;
        reply(std::move(out));
    };
    table.add(std::move(document));
    *text = to_text(openapi_document(table, version));
}

}  // namespace interlock
