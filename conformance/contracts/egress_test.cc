// Every URL that a tenant can set passes the guard, and all others are the operator's alone
// (docs/contracts/relay-connector.md#8-the-egress-guard). The operations are walked for fields that
// could name a place to call; a new one has to be put into the list below, and through the guard.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api_world.h"
#include "base/text.h"

namespace interlock {
namespace {

bool could_name_a_place(std::string_view field) {
    static constexpr std::array<std::string_view, 12> kWords = {
        "url",
        "uri",
        "endpoint",
        "host",
        "webhook",
        "callback",
        "server",
        "proxy",
        "issuer",
        "witness",
        "smtp",
        "jwks"};
    const std::string name = to_lower(field);
    return std::ranges::any_of(kWords, [&](std::string_view word) { return name.contains(word); });
}

// Every property name of a schema, at any depth.
void collect(const Json& schema, std::set<std::string>& names) {
    if (schema.is_array()) {
        for (const Json& item : schema.items()) {
            collect(item, names);
        }
        return;
    }
    if (!schema.is_object()) {
        return;
    }
    for (const auto& [key, value] : schema.members()) {
        if (key == "properties" && value.is_object()) {
            for (const auto& [name, inner] : value.members()) {
                names.insert(name);
                collect(inner, names);
            }
        } else {
            collect(value, names);
        }
    }
}

TEST(EgressContract, NoOperationOfATenantTakesAPlaceToCall) {
    ApiWorld world;
    std::map<std::string, std::string> found;  // "operation.field" to who may call it.
    for (const Operation& operation : world.table().all()) {
        std::set<std::string> names;
        collect(operation.request_schema, names);
        for (const auto& parameter : operation.query) {
            names.insert(parameter.name);
        }
        for (const std::string& name : names) {
            if (could_name_a_place(name)) {
                const Access& access = operation.access;
                const bool is_operators = access.host_operator && !access.human && !access.agent &&
                                          !access.agent_with_any_scope && !access.anyone;
                found[operation.id + "." + name] = is_operators ? "operator" : "others";
            }
        }
    }
    // What gateways send besides goes over the relay's own routes and frames: `wakeUrl`
    // (relay_manage_test.cc) and `source_url` (relay_media_test.cc).
    const std::map<std::string, std::string> expected = {
        {"add_relay_gateway.wake_url", "operator"},
        // Through the guard when it is set and at each call: src/host/webhook and notices.md 4.
        {"set_notice_webhook.url", "others"},
    };
    EXPECT_EQ(found, expected);
}

// The walk notices a field when there is one.
TEST(EgressContract, TheWalkSeesFieldsAtAnyDepth) {
    const Json schema = *parse_json(
        R"({"type":"object","properties":{"a":{"type":"array","items":
            {"type":"object","properties":{"alertWebhook":{"type":"string"}}}}}})");
    std::set<std::string> names;
    collect(schema, names);
    EXPECT_TRUE(std::ranges::any_of(names, could_name_a_place));
}

}  // namespace
}  // namespace interlock
