#include "host/face/probe_operations.h"

#include "host/face/answer_reply.h"
#include "host/face/call_arguments.h"

namespace interlock {

void register_probe_operations(OperationTable& table, ProbeService& probes) {
    table.add({
        .id = "submit_probe",
        .method = "POST",
        .path = "/api/{tenant_id}/probes",
        .summary = "Run one harmless turn through the whole machine.",
        .description =
            "Writes a counted, audited, durable record and, on request, one effect to the "
            "recording "
            "sink; moves no money. On a retry reuse the same idempotency_key: the stored answer "
            "comes back byte for byte. The same key with another request is refused.",
        .access = {.host_operator = true, .human = true, .agent = Scope::probe},
        .query = {},
        .request_schema = probe_request_schema(),
        .answer_schema = probe_answer_schema(),
        .tool = ToolHints{.read_only = false, .destructive = false, .idempotent = true},
        .handle =
            [&probes](ApiCall call, ApiReplyTo reply) {
                auto request = decode_probe_request(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                auto hash = request_hash(call, "submit_probe");
                if (!hash) {
                    reply(std::unexpected(std::move(hash).error()));
                    return;
                }
                probes.run(
                    {std::move(call.principal), std::move(call.tenant_id), *std::move(hash)},
                    *std::move(request),
                    answer_to(std::move(reply)));
            },
    });
}

}  // namespace interlock
