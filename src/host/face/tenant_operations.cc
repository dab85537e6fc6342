#include "host/face/tenant_operations.h"

#include "host/face/answer_reply.h"
#include "host/face/call_arguments.h"

namespace interlock {
namespace {

constexpr Access kOperatorOnly{.place = Access::Place::host, .host_operator = true};
constexpr std::int64_t kPageDefault = 100;

Operation create_operation(PrincipalService& principals) {
    return {
        .id = "create_tenant",
        .method = "POST",
        .path = "/tenants",
        .summary = "Make a tenant.",
        .description =
            "A tenant has its own ledger, keys, humans and kill switch. Repeating the same request "
            "answers 200 and changes nothing; another name for a known id answers tenant_exists.",
        .access = kOperatorOnly,
        .query = {},
        .request_schema = create_tenant_schema(),
        .answer_schema = tenant_schema(),
        .statuses = {201, 200},
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                auto request = decode_create_tenant(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                principals.create_tenant(
                    std::move(call.principal), *std::move(request), answer_to(std::move(reply)));
            },
    };
}

void list(PrincipalService& principals, ApiCall call, ApiReplyTo reply) {
    PrincipalService::Page page;
    page.count_max = static_cast<std::size_t>(query_integer(call, "limit", kPageDefault));
    if (const auto after = call.query.find("after"); after != call.query.end()) {
        auto parsed = TenantId::parse(after->second);
        if (!parsed) {
            reply(std::unexpected(std::move(parsed).error()));
            return;
        }
        page.after = *std::move(parsed);
    }
    principals.list_tenants(
        std::move(call.principal), std::move(page), answer_to(std::move(reply)));
}

}  // namespace

void register_tenant_operations(OperationTable& table, PrincipalService& principals) {
    table.add(create_operation(principals));
    table.add({
        .id = "list_tenants",
        .method = "GET",
        .path = "/tenants",
        .summary = "List tenants in order of their ids.",
        .description = "Read on with `after` while `next_after` is not null.",
        .access = kOperatorOnly,
        .query =
            {{"after",
              "Only tenants whose id comes after this one.",
              Json::object({{"type", "string"}})},
             {"limit",
              "How many at most; 100 unless told.",
              Json::object(
                  {{"type", "integer"},
                   {"minimum", 1},
                   {"maximum", PrincipalService::kTenantPageMax}})}},
        .request_schema = {},
        .answer_schema = tenant_page_schema(),
        .tool = std::nullopt,
        .handle = [&principals](
                      ApiCall call,
                      ApiReplyTo reply) { list(principals, std::move(call), std::move(reply)); },
    });
}

}  // namespace interlock
