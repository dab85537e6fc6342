#include "relay/face/relay_registrar.h"

#include "base/errors.h"
#include "relay/face/relay_operations.h"
#include "relay/wire/wire_reader.h"

namespace interlock {

void RelayRegistrar::add(RelayEntry entry, RelayAsk ask) {
    RelayPlane& plane = plane_;
    table_.add({
        .id = entry.id,
        .method = entry.method,
        .path = entry.path,
        .summary = entry.summary,
        .description = entry.description,
        .access = kRelayOperator,
        .query = std::move(entry.query),
        .request_schema = std::move(entry.request),
        .answer_schema = std::move(entry.answer),
        .statuses = {entry.status},
        .tool = std::nullopt,
        .handle =
            [&plane, ask = std::move(ask), status = entry.status](
                const ApiCall& call, const ApiReplyTo& reply) {
                if (!plane.is_ready()) {
                    reply(RelayAnswer::unavailable());
                    return;
                }
                const auto answer = [reply, status](Result<Json> answered) {
                    if (!answered) {
                        reply(std::unexpected(std::move(answered).error()));
                        return;
                    }
                    reply(json_reply(status, operator_answer(*answered)));
                };
                if (const auto asked = ask(call, answer); !asked) {
                    reply(std::unexpected(asked.error()));
                }
            },
    });
}

std::string query_text(const ApiCall& call, const std::string& name) {
    const auto found = call.query.find(name);
    return found == call.query.end() ? std::string() : found->second;
}

Result<std::string> needed_query(const ApiCall& call, const std::string& name) {
    std::string text = query_text(call, name);
    if (text.empty()) {
        Error error = fail(errors::invalid_request, "The query parameters are not valid.").error();
        error.problems.push_back({name, "is required"});
        return std::unexpected(std::move(error));
    }
    return text;
}

Result<TenantId> query_tenant(const ApiCall& call) {
    const std::string text = query_text(call, "tenant_id");
    return text.empty() ? Result<TenantId>(TenantId()) : TenantId::parse(text);
}

std::string needed_id(FieldReader& in, std::string_view key) {
    return in.required_text(key, {.length_min = 1, .length_max = kRelayIdBytesMax});
}

std::string optional_id(FieldReader& in, std::string_view key) {
    return in.optional_text(key, {.length_min = 0, .length_max = kRelayIdBytesMax}).value_or("");
}

QueryParameter text_query(const char* name, const char* description) {
    return {name, description, Json::object({{"type", "string"}})};
}

QueryParameter tenant_query() {
    return text_query("tenant_id", "Only of this tenant.");
}

}  // namespace interlock
