// What the gateways of one tenant have in common, and what one may leave unsaid.
#include <gtest/gtest.h>

#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;

ProvisionRequest provision_of(const std::string& gateway, const std::string& instance = "") {
    ProvisionRequest request;
    request.gateway_id = gateway;
    request.instance_id = instance;
    return request;
}

// relay-management.md#2-routes: a delivery key is the tenant's, whichever of its gateways asks.
TEST(RelayProvision, ATenantHasOneDeliveryKey) {
    World world;
    const std::string bearer = world.tenant_token();
    const auto key_of = [](const Result<Json>& told) {
        return World::text_of(told, "deliveryKey");
    };
    const std::string key = key_of(world.provision(bearer, provision_of("gw-1")));
    EXPECT_FALSE(key.empty());
    EXPECT_EQ(key_of(world.provision(bearer, provision_of("gw-2"))), key);
    EXPECT_EQ(key_of(world.enroll(bearer, world.enrollment(), "gw-3")), key);
    EXPECT_EQ(
        key_of(world.add_gateway(
            {.tenant_id = TenantId::trusted("acme"),
             .gateway_id = "gw-4",
             .instance_id = {},
             .secret = {},
             .wake_url = {},
             .display_name = {}})),
        key);
    ASSERT_TRUE(world.restart().has_value());
    EXPECT_EQ(key_of(world.provision(bearer, provision_of("gw-5"))), key);
    const std::string other =
        key_of(world.provision(world.tenant_token("globex"), provision_of("gw-6")));
    EXPECT_NE(other, key);
    EXPECT_EQ(world.stored_text().find(key), std::string::npos);  // It lies sealed.
}

TEST(RelayProvision, AGatewayMayLeaveItsInstanceUnsaidWhenItComesAgain) {
    World world;
    const std::string bearer = world.tenant_token();
    ASSERT_EQ(World::code_of(world.provision(bearer, provision_of("gw-1", "inst-9"))), "ok");
    const auto again = world.provision(bearer, provision_of("gw-1"));
    ASSERT_EQ(World::code_of(again), "ok");
    EXPECT_EQ(World::text_of(again, "instanceId"), "inst-9");
    EXPECT_EQ(
        World::code_of(world.provision(world.tenant_token("globex"), provision_of("gw-1"))),
        "relay_name_taken");
}

}  // namespace
}  // namespace interlock
