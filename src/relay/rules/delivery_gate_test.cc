#include "relay/rules/delivery_gate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "relay/rules/discord_permissions.h"
#include "relay/rules/egress_guard.h"

namespace interlock {
namespace {

const TenantId kTenant = TenantId::trusted("acme");
const TenantId kOther = TenantId::trusted("rival");

GateEvent guild_event() {
    return {
        .tenant = kTenant,
        .platform = "discord",
        .is_dm = false,
        .channel_id = "C",
        .parent_channel_id = "P",
        .author_id = "U",
        .is_author_linked = true,
        .is_author_bot = false,
        .is_own_bot = false,
        .addresses_bot = false};
}

GateInstance owner() {
    GateInstance instance;
    instance.instance_id = "mine";
    instance.tenant = kTenant;
    instance.is_author_owner = true;
    instance.is_dm_choice = true;
    instance.owner_can_view = true;
    return instance;
}

// Somebody else's instance that claimed the channel and admits anybody who is linked.
GateInstance scoped() {
    GateInstance instance;
    instance.instance_id = "theirs";
    instance.tenant = kTenant;
    instance.holds_scope = true;
    instance.principal.audience = PrincipalAudience::any;
    instance.owner_can_view = true;
    return instance;
}

std::string_view last_code(const GateEvent& event, const GateInstance& instance) {
    const GateDecision decision = judge_delivery(event, instance);
    EXPECT_EQ(decision.delivers, decision.steps.back().passed);
    EXPECT_FALSE(decision.steps.back().reason.empty());
    return decision.steps.back().code;
}

TEST(DeliveryGate, DeliversToTheOwnerAndToAScopeThatAdmits) {
    EXPECT_EQ(last_code(guild_event(), owner()), "owner_bypass");
    EXPECT_TRUE(judge_delivery(guild_event(), scoped()).delivers);
}

TEST(DeliveryGate, StopsAtAnotherTenant) {
    GateInstance instance = owner();
    instance.tenant = kOther;
    EXPECT_EQ(last_code(guild_event(), instance), "other_tenant");
    GateEvent unrouted = guild_event();
    unrouted.tenant = TenantId();
    instance.tenant = TenantId();
    EXPECT_EQ(last_code(unrouted, instance), "other_tenant");
}

TEST(DeliveryGate, DropsOurOwnBotsAndUnboundAuthors) {
    GateEvent event = guild_event();
    event.is_own_bot = true;
    EXPECT_EQ(last_code(event, owner()), "own_bot");
    event = guild_event();
    event.is_author_linked = false;
    EXPECT_EQ(last_code(event, scoped()), "unbound_author");
    event = guild_event();
    event.author_id.clear();
    EXPECT_EQ(last_code(event, scoped()), "unbound_author");
}

TEST(DeliveryGate, AsksForAScopeAndThePrincipalPolicy) {
    GateInstance instance = scoped();
    instance.holds_scope = false;
    EXPECT_EQ(last_code(guild_event(), instance), "no_scope");
    instance = scoped();
    instance.principal.audience = PrincipalAudience::owner_only;
    EXPECT_EQ(last_code(guild_event(), instance), "principal_refused");
    instance.principal = {
        .platform = {}, .audience = PrincipalAudience::allow_list, .allow = {"V"}};
    EXPECT_EQ(last_code(guild_event(), instance), "principal_refused");
    instance.principal.allow = {"U", "V"};
    EXPECT_TRUE(judge_delivery(guild_event(), instance).delivers);
    instance.principal.audience = PrincipalAudience::owner_only;  // Whatever a list says.
    EXPECT_EQ(last_code(guild_event(), instance), "principal_refused");
    instance.principal.audience = PrincipalAudience::allow_list;
    instance.principal.platform = "discord";
    EXPECT_TRUE(judge_delivery(guild_event(), instance).delivers);
    instance.principal.platform = "telegram";
    EXPECT_EQ(last_code(guild_event(), instance), "principal_refused");
}

TEST(DeliveryGate, AChannelWithoutANameIsNoChannelOfFreeResponse) {
    GateInstance instance = scoped();
    instance.relevance.require_address = true;
    instance.relevance.free_response_scopes = {""};
    GateEvent event = guild_event();
    event.parent_channel_id.clear();
    EXPECT_EQ(last_code(event, instance), "not_addressed");
    EXPECT_EQ(gate_reason("no such code"), "");
}

TEST(DeliveryGate, FailsClosedOnTheVisibilityFloor) {
    for (GateInstance instance : {owner(), scoped()}) {
        instance.owner_can_view = std::nullopt;
        EXPECT_EQ(last_code(guild_event(), instance), "view_unknown");
        instance.owner_can_view = false;
        EXPECT_EQ(last_code(guild_event(), instance), "owner_blind");
    }
}

TEST(DeliveryGate, HasNoFloorOutsideDiscordGuilds) {
    GateInstance instance = scoped();
    instance.owner_can_view = std::nullopt;
    GateEvent event = guild_event();
    event.platform = "telegram";
    EXPECT_TRUE(judge_delivery(event, instance).delivers);
    instance = owner();
    instance.owner_can_view = std::nullopt;
    event = guild_event();
    event.is_dm = true;
    EXPECT_TRUE(judge_delivery(event, instance).delivers);
}

TEST(DeliveryGate, AsksOthersToAddressTheBot) {
    GateInstance instance = scoped();
    instance.relevance.require_address = true;
    EXPECT_EQ(last_code(guild_event(), instance), "not_addressed");
    GateEvent addressed = guild_event();
    addressed.addresses_bot = true;
    EXPECT_TRUE(judge_delivery(addressed, instance).delivers);
    instance.relevance.free_response_scopes = {"C"};
    EXPECT_EQ(last_code(guild_event(), instance), "free_response");
    instance.relevance.free_response_scopes = {"P"};
    EXPECT_EQ(last_code(guild_event(), instance), "free_response");
}

TEST(DeliveryGate, KeepsOtherBotsOutUnlessAllowed) {
    GateEvent event = guild_event();
    event.is_author_bot = true;
    GateInstance instance = scoped();
    EXPECT_EQ(last_code(event, instance), "other_bot");
    instance.relevance.allow_other_bots = true;
    EXPECT_TRUE(judge_delivery(event, instance).delivers);
}

TEST(DeliveryGate, SendsADirectMessageToOneInstanceOfItsAuthor) {
    GateEvent event = guild_event();
    event.is_dm = true;
    EXPECT_EQ(last_code(event, scoped()), "not_the_owner");
    GateInstance instance = owner();
    instance.is_dm_choice = false;
    EXPECT_EQ(last_code(event, instance), "other_dm_default");
    EXPECT_EQ(dm_choice({"a", "b"}, "b"), "b");
    EXPECT_EQ(dm_choice({"a", "b"}, "gone"), "a");
    EXPECT_EQ(dm_choice({}, "b"), "");
}

// Whatever the facts are: what is delivered had every reason to be.
TEST(DeliveryGate, NeverDeliversWithoutEveryReason) {
    EXPECT_TRUE(rc::check([] {
        const auto coin = [] { return *rc::gen::arbitrary<bool>(); };
        GateEvent event = guild_event();
        event.tenant = coin() ? kTenant : kOther;
        event.platform = coin() ? "discord" : "telegram";
        event.is_dm = coin();
        event.is_author_linked = coin();
        event.is_author_bot = coin();
        event.is_own_bot = coin();
        event.addresses_bot = coin();
        GateInstance instance = scoped();
        instance.tenant = coin() ? kTenant : kOther;
        instance.is_author_owner = coin();
        instance.is_dm_choice = coin();
        instance.holds_scope = coin();
        instance.principal.audience =
            coin() ? PrincipalAudience::any : PrincipalAudience::owner_only;
        instance.owner_can_view = coin() ? std::optional(coin()) : std::nullopt;
        instance.relevance.require_address = coin();
        instance.relevance.allow_other_bots = coin();
        if (!judge_delivery(event, instance).delivers) {
            return;
        }
        RC_ASSERT((event.tenant == instance.tenant));
        RC_ASSERT((event.is_author_linked && !event.is_own_bot));
        RC_ASSERT(
            (instance.is_author_owner || (!event.is_dm && instance.holds_scope &&
                                          instance.principal.audience == PrincipalAudience::any)));
        RC_ASSERT((!event.is_dm || instance.is_dm_choice));
        RC_ASSERT((event.is_dm || event.platform != "discord" || instance.owner_can_view == true));
        RC_ASSERT(
            (instance.is_author_owner || !event.is_author_bot ||
             instance.relevance.allow_other_bots));
    }));
}

EgressFacts allowed_facts() {
    EgressFacts facts;
    facts.caller = {
        .tenant = kTenant, .instance_id = "mine", .platform = "discord", .has_identity = true};
    facts.chat = EgressChat{};
    facts.chat->platform = "discord";
    facts.chat->routed_tenant = kTenant;
    facts.chat->delivered_to = {"mine"};
    return facts;
}

TEST(EgressGuard, AllowsAChatThatWasDeliveredClaimedOrOwned) {
    const SendAction send{.chat_id = "C", .content = "x", .reply_to = {}, .metadata = {}};
    EgressFacts facts = allowed_facts();
    EXPECT_EQ(judge_egress(send, facts), EgressVerdict::allowed);
    facts.chat->delivered_to.clear();
    EXPECT_EQ(judge_egress(send, facts), EgressVerdict::not_a_destination);
    facts.chat->scope_instance = "mine";
    EXPECT_EQ(judge_egress(send, facts), EgressVerdict::allowed);
    facts.chat->is_dm = true;
    EXPECT_EQ(judge_egress(send, facts), EgressVerdict::not_a_destination);
    facts.chat->dm_instance = "mine";
    EXPECT_EQ(judge_egress(send, facts), EgressVerdict::allowed);
}

TEST(EgressGuard, DeclinesWhatIsUnknownOrSomebodyElses) {
    const GetChatInfoAction ask{.chat_id = "C"};
    EgressFacts facts = allowed_facts();
    facts.chat.reset();
    EXPECT_EQ(judge_egress(ask, facts), EgressVerdict::unknown_chat);
    facts = allowed_facts();
    facts.chat->routed_tenant = kOther;
    EXPECT_EQ(judge_egress(ask, facts), EgressVerdict::other_tenant);
    facts = allowed_facts();
    facts.chat->platform = "telegram";
    EXPECT_EQ(judge_egress(ask, facts), EgressVerdict::other_platform);
    facts = allowed_facts();
    facts.caller.has_identity = false;
    EXPECT_EQ(judge_egress(ask, facts), EgressVerdict::no_identity);
    facts = allowed_facts();
    facts.caller.tenant = TenantId();
    facts.chat->routed_tenant = TenantId();
    EXPECT_EQ(judge_egress(ask, facts), EgressVerdict::no_identity);
}

TEST(EgressGuard, LetsAnInstanceChangeItsOwnMessagesOnly) {
    EgressFacts facts = allowed_facts();
    const EditAction edit{.chat_id = "C", .message_id = "M", .content = "x", .metadata = {}};
    ReactAction react{
        .chat_id = "C", .message_id = "M", .emoji = "👍", .remove = false, .metadata = {}};
    EXPECT_EQ(judge_egress(edit, facts), EgressVerdict::not_own_message);
    EXPECT_EQ(judge_egress(react, facts), EgressVerdict::allowed);
    react.remove = true;
    EXPECT_EQ(judge_egress(react, facts), EgressVerdict::not_own_message);
    facts.message_sender = "mine";
    EXPECT_EQ(judge_egress(edit, facts), EgressVerdict::allowed);
    EXPECT_EQ(judge_egress(react, facts), EgressVerdict::allowed);
}

TEST(EgressGuard, LetsAnInstanceTakeItsOwnReactionAway) {
    EgressFacts facts = allowed_facts();
    facts.is_own_reaction = true;
    const ReactAction react{
        .chat_id = "C", .message_id = "M", .emoji = "👀", .remove = true, .metadata = {}};
    EXPECT_EQ(judge_egress(react, facts), EgressVerdict::allowed);
    const EditAction edit{.chat_id = "C", .message_id = "M", .content = "x", .metadata = {}};
    EXPECT_EQ(judge_egress(edit, facts), EgressVerdict::not_own_message);
    facts.chat->routed_tenant = kOther;
    EXPECT_EQ(judge_egress(react, facts), EgressVerdict::other_tenant);
}

TEST(EgressGuard, JudgesNoActionWithoutAChat) {
    const EgressFacts facts = allowed_facts();
    EXPECT_EQ(judge_egress(FollowUpAction{}, facts), EgressVerdict::not_a_chat_action);
    EXPECT_EQ(judge_egress(UnknownAction{}, facts), EgressVerdict::not_a_chat_action);
}

TEST(EgressGuard, GivesACapabilityToItsOwnSessionWhileItLasts) {
    const EgressCaller caller = allowed_facts().caller;
    CapabilityFacts held{
        .tenant = kTenant,
        .instance_id = "mine",
        .platform = "discord",
        .expires_at = Timestamp{1000}};
    EXPECT_TRUE(may_follow_up(held, caller, Timestamp{999}));
    EXPECT_FALSE(may_follow_up(held, caller, Timestamp{1000}));
    EXPECT_FALSE(may_follow_up(std::nullopt, caller, Timestamp{0}));
    held.instance_id = "theirs";
    EXPECT_FALSE(may_follow_up(held, caller, Timestamp{0}));
    held.instance_id = "mine";
    held.tenant = kOther;
    EXPECT_FALSE(may_follow_up(held, caller, Timestamp{0}));
}

// Facts that are empty on both sides are not the same; they are unknown.
TEST(EgressGuard, TakesNoMissingNameForAMatch) {
    EgressFacts facts = allowed_facts();
    facts.caller.instance_id.clear();
    facts.chat->scope_instance.clear();
    const GetChatInfoAction ask{.chat_id = "C"};
    EXPECT_EQ(judge_egress(ask, facts), EgressVerdict::no_identity);
    const EgressCaller whole = allowed_facts().caller;
    const auto may = [](const EgressCaller& caller) {
        const CapabilityFacts same{
            .tenant = caller.tenant,
            .instance_id = caller.instance_id,
            .platform = caller.platform,
            .expires_at = Timestamp{1000}};
        return may_follow_up(same, caller, Timestamp{0});
    };
    EXPECT_TRUE(may(whole));
    EgressCaller caller = whole;
    caller.tenant = TenantId();
    EXPECT_FALSE(may(caller));
    caller = whole;
    caller.instance_id.clear();
    EXPECT_FALSE(may(caller));
    caller = whole;
    caller.has_identity = false;
    EXPECT_FALSE(may(caller));
}

TEST(EgressGuard, ACapabilityServesOnOnePlatform) {
    const EgressCaller caller = allowed_facts().caller;
    const CapabilityFacts held{
        .tenant = kTenant,
        .instance_id = "mine",
        .platform = "telegram",
        .expires_at = Timestamp{1000}};
    EXPECT_FALSE(may_follow_up(held, caller, Timestamp{0}));
}

TEST(DiscordPermissions, HideAPrivateThreadFromThoseOutsideIt) {
    DiscordMember member;
    member.guild_id = "G";
    member.owner_id = "O";
    member.user_id = "U";
    member.roles = {{.id = "G", .permissions = kDiscordViewChannel}};
    EXPECT_TRUE(can_view_channel(member));
    EXPECT_TRUE(can_view_channel(member, DiscordThread{.is_private = false, .is_joined = false}));
    EXPECT_FALSE(can_view_channel(member, DiscordThread{.is_private = true, .is_joined = false}));
    EXPECT_TRUE(can_view_channel(member, DiscordThread{.is_private = true, .is_joined = true}));
    member.roles[0].permissions |= kDiscordManageThreads;
    EXPECT_TRUE(can_view_channel(member, DiscordThread{.is_private = true, .is_joined = false}));
}

TEST(DiscordPermissions, WhoeverMayNotViewTheChannelSeesNoThreadOfIt) {
    DiscordMember member;
    member.guild_id = "G";
    member.user_id = "U";
    member.roles = {{.id = "G", .permissions = kDiscordManageThreads}};
    EXPECT_FALSE(can_view_channel(member));
    EXPECT_FALSE(can_view_channel(member, DiscordThread{.is_private = true, .is_joined = true}));
}

TEST(DiscordPermissions, AreReadToTheEndOfTheirTextAndNoFurther) {
    EXPECT_EQ(read_permissions(std::string_view("12345").substr(0, 2)), 12u);
    EXPECT_FALSE(read_permissions("12x").has_value());
    EXPECT_FALSE(read_permissions("x").has_value());
}

TEST(DiscordPermissions, AreNoneWithoutFacts) {
    EXPECT_EQ(effective_permissions(DiscordMember{}), 0u);
    EXPECT_FALSE(read_permissions("").has_value());
    EXPECT_FALSE(read_permissions("-1").has_value());
    EXPECT_FALSE(read_permissions("18446744073709551616").has_value());
    EXPECT_EQ(read_permissions("18446744073709551615"), UINT64_MAX);
}

}  // namespace
}  // namespace interlock
